package sources

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/test/must"
)

// touch makes empty files and their folders in a new folder.
func touch(t *testing.T, names ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "in")
	must.Do(t, os.Mkdir(dir, 0o777))
	for _, name := range names {
		path := filepath.Join(dir, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o777))
		must.Do(t, os.WriteFile(path, nil, 0o666))
	}
	return dir
}

func TestFind(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files string
		want  string // format, name and number of files of each table
	}{
		"nothing":           {"", ""},
		"IDX":               {"train-images-idx3-ubyte train.parquet train/0.png test/0.png", ""},
		"IDX by its ending": {"x.idx.gz", ""},
		"splits":            {"train.parquet test.parquet _SUCCESS .x x.txt", "parquet test 1, parquet train 1"},
		"texts":             {"b.TSV c-1-of-2.csv.xz c-2-of-2.csv.gz d.tsv.bz2", "csv b 1, csv c 2, csv d 1"},
		"arrays":            {"y.txt train-image.npy train-label.npy", "npy train-image 1, npy train-label 1"},
		"arrays in folders": {"train/images.npy labels/train.npy split=val/X.npy test/X_test.npy",
			"npy train-labels 1, npy X-val 1, npy X_test 1, npy images-train 1"},
		"arrays of a number": {"part-0.npy x-1-of-2.npy", "npy part-0 1, npy x-1-of-2 1"},
		"parts": {"part-00000-0123456789abcdef.parquet part-00001-0123456789abcdef.parquet _SUCCESS",
			"parquet in 2"},
		"parts of pyarrow":  {"part-0.parquet part-1.parquet part-10.parquet part-2.parquet", "parquet in 4"},
		"parts of Spark":    {"part-00001-c000.csv part-00003-c000.csv", "csv in 2"},
		"a table: metadata": {"metadata.csv", "csv metadata 1"},
		"parts in folders": {"train.parquet/part-00000-a.parquet train.parquet/part-00001-a.parquet " +
			"test.parquet/part-00000-a.parquet", "parquet test 1, parquet train 2"},
		"the Hub": {"README.md data/train-00000-of-00002.parquet data/train-00001-of-00002.parquet " +
			"data/test-00000-of-00001.parquet", "parquet test 1, parquet train 2"},
		"Hive":                   {"split=train/a.parquet split=test/b.parquet", "parquet test 1, parquet train 1"},
		"images":                 {"frame-idx0.png frame-idx1.PNG a.jpg", "png in 1"},
		"class folders":          {"0/0.png 1/_DSC1.jpg empty/README.md metadata.csv class.idx.json", "png in 1"},
		"a preview":              {"train.csv test.csv _preview.png runs/1/metrics.csv", "csv test 1, csv train 1"},
		"class folders: symbols": {"=/0.png b=/1.png", "png in 1"},
		"splits of classes":      {"train/0/0.png test/0/1.png", "png test 1, png train 1"},
		"splits of two kinds":    {"trainA/0.png trainB/0.png testA/0.png", "png testA 1, png trainA 1, png trainB 1"},
		"unpacked":               {"dev.zip dev.csv X.npy X.npy.xz a.csv a.csv.dvc", "npy X 1, csv a 1, csv dev 1"},
		"folders of systems":     {"lost+found/a.png @eaDir/0.csv train.csv $RECYCLE.BIN/x", "csv train 1"},
		"splits without labels":  {"trainSet/_0_36.png Test/0.png", "png Test 1, png trainSet 1"},
		"splits of a name":       {"seg_train/seg_train/a/0.png seg_test/0.png", "png seg_test 1, png seg_train 1"},
		"our class folders":      {"train/0.png test/0.png .idxport-classes", "png in 1"},
		"folders of other files": {"train_data/train.csv train_data/dev.csv docs/x.html", "csv dev 1, csv train 1"},
	} {
		var got []string
		for _, table := range must.Get(Find(source.Local{}, touch(t, strings.Fields(test.files)...)))(t) {
			got = append(got, fmt.Sprintf("%s %s %d", table.Format.Name, table.Name, len(table.Paths)))
			if !slices.IsSortedFunc(table.Paths, source.CompareNames) {
				t.Errorf("%s: found %q, expected the order of numbers", name, table.Paths)
			}
		}
		if found := strings.Join(got, ", "); found != test.want {
			t.Errorf("%s: found %s, expected %s", name, found, test.want)
		}
	}
}

// TestRefused has folders in which something would be ignored or misunderstood.
func TestRefused(t *testing.T) {
	t.Parallel()
	const own, unsupported = "-0123456789abcdef.csv", fault.Unsupported
	for files, want := range map[string]struct {
		kind       fault.Kind
		text, hint string
	}{
		"a.jpg train.csv":              {fault.Usage, "found both DIR/a.jpg and DIR/train.csv", "such as DIR/train.c"},
		"cat/a.png labels/all.csv":     {fault.Usage, "found both DIR/cat/a.png and DIR/labels/all.csv", "move"},
		"test.csv train/cat/a.png":     {fault.Usage, "found both DIR/test.csv and DIR/train", "such as DIR/train,"},
		"0/0.png a/b/c.png":            {fault.Usage, "found both DIR/0/0.png and DIR/a, expected", "such as DIR/a,"},
		"0/0.png 1/0.png a.idx":        {fault.Usage, "found both DIR/1/0.png and DIR/a.idx, ex", "such as DIR/a.idx,"},
		"train/0/0.png x.png":          {fault.Usage, "found both DIR/x.png and DIR/train", "such as DIR/train,"},
		"Train/0.csv Testing/a/b.csv":  {fault.Usage, "found no table in DIR/Testing, but one in DIR/Train/0", ""},
		"a/0/0.png b/train/c/d.png":    {fault.Usage, "DIR/b: found splits of images in it, expec", "alone: DIR/b;"},
		"train/x_test.npy":             {fault.Usage, "x_test.npy: found the split test in the folder of", "alone"},
		"part-0.csv part-1.parquet":    {fault.Usage, "found in in two formats, part-0.csv and part-1.parquet", ""},
		"test.csv my_train.csv.gz.dvc": {fault.Usage, "found both DIR/my_train.csv.gz.dvc and DIR/test.csv", "away"},
		"train.zip test/0.png":         {fault.Usage, "found both DIR/train.zip and DIR/test, expected", "away"},
		"x_dev.npy y_dev.txt y_x.npy":  {fault.Usage, "found both DIR/y_dev.txt and DIR/x_dev.npy", "move one"},
		"a_labels.csv b.npy y.npz":     {fault.Usage, "found both DIR/a_labels.csv and DIR/b.npy", "move one"},
		"targets.dat t/images.npy":     {fault.Usage, "found both DIR/targets.dat and DIR/t/images.npy", "move"},
		"a/y.npy.part a/X.npy":         {fault.Usage, "found both DIR/a/y.npy.part and DIR/a/X.npy", "away"},
		"_temporary/0/x part-0.csv":    {unsupported, "_temporary of a job of Spark that has not", "write DIR again"},
		"train.csv train.csv.gz":       {fault.Usage, "found train in two formats", "of the files: DIR/train.csv.gz"},
		"a-00000-of-00002.csv":         {fault.Malformed, "found 1 file of a, such as a-00000-of-00002", "DIR/a-"},
		"a-1-of-2.csv a-2-of-3.csv":    {fault.Malformed, "of a, such as a-2-of-3.csv, expected all", "DIR/a-2"},
		"part-00001" + own:             {fault.Malformed, "found 1 file of in, such as part-00001-0123", "write"},
		"_delta_log/0.json a.parquet":  {unsupported, "_delta_log of a table of Delta Lake", "delta_scan('DIR')) TO"},
		"metadata/v1.metadata.json":    {unsupported, "metadata of a table of Iceberg", "iceberg_scan('DIR', allow"},
		".hoodie/x 1/a.parquet":        {unsupported, ".hoodie of a table of Hudi", "hudi"},
		"label=7/a.csv label=8/a.csv":  {unsupported, "label=7 of a table with a column in", "**/*.csv for CSV"},
		"split=train/label=7/a.pq":     {unsupported, "found the folder label=7", "'DIR/split=train/**/*.parquet'"},
		"a=7/1.png a=8/x":              {unsupported, "found the folder a=7 of a", "(cd 'DIR' && for d"},
		"split=x/1.png split=y/1.png":  {unsupported, "found the folder split=x", "rename"},
		"a/_delta_log/0.json a/b/c.pq": {unsupported, "Delta Lake", "delta_scan('DIR/a')"},
		"it's$HOME/_delta_log/0.json":  {unsupported, "Delta Lake", "delta_scan('DIR')"}, // a shell would change it
		"0.png metadata.tsv.xz":        {fault.Usage, "DIR/0.png and DIR/metadata.tsv.xz", "go into metadata.csv"},
		"train/a/0.png metadata.jsonl": {fault.Usage, "found both DIR/metadata.jsonl and DIR/train", "move one of"},
		"train/0.png metadata.CSV":     {fault.Usage, "DIR/metadata.CSV and DIR/train", "go into metadata.csv"},
		"a.csv in/a-images-idx3-ubyte": {fault.Usage, "found both DIR/a.csv and DIR/in", "such as DIR/in, or"},
		"MNIST/raw/a.idx k/mnist.npz":  {fault.Usage, "found both DIR/k/mnist.npz and DIR/MNIST/raw", "DIR/MNIST/raw"},
	} {
		dir := touch(t, strings.Fields(files)...)
		_, err := Find(source.Local{}, dir)
		inDIR := func(text string) string {
			return strings.ReplaceAll(filepath.ToSlash(text), filepath.ToSlash(dir), "DIR")
		}
		found, hint := inDIR(fmt.Sprint(err)), inDIR(fault.HintOf(err))
		if !errors.Is(err, want.kind) || !strings.Contains(found, want.text) || !strings.Contains(hint, want.hint) {
			t.Errorf("%s: found %s (%s), expected %+v", files, found, hint, want)
		}
	}
}

// TestClassesOfSplits: the class folders of all splits are numbered together.
func TestClassesOfSplits(t *testing.T) {
	t.Parallel()
	dir := touch(t, "train/cat/0.png", "train/_other/0.png", "test/dog/0.png", "test/ant/README", "test/__MACOSX/x")
	for _, table := range must.Get(Find(source.Local{}, dir))(t) {
		want := map[string]bool{"cat": true, "_other": true, "dog": true, "ant": false}
		if fmt.Sprint(table.folders) != fmt.Sprint(want) {
			t.Errorf("%s: found %v, expected %v", table.Name, table.folders, want)
		}
	}
}

// TestDoubts: a lone class folder is none of a split without doubt, unless another split has it.
func TestDoubts(t *testing.T) {
	t.Parallel()
	for files, want := range map[string]bool{"train/good/0.png test/good/0.png test/bad/0.png masks/bad/0.png": false,
		"train/a/0.png train/b/0.png val/all/0.png test/all/0.png": true, "train/0.png car/0.png": true,
		"my_test/0.png car/0.png": true, "train_images/0.png test1/0.png": true, "test_tube/0.png car/0.png": true,
		"test_a/0.png test_b/0.png": true, "valset/0.png masks_dev/0.png": false,
		"test/0.png 0/0.png 1/0.png": true, "test_a/0.png test_b/0.png x/0.png": true,
		"test_a/0.png test_b/0.png x/0.png y/0.png z/0.png": false} {
		for _, table := range must.Get(Find(source.Local{}, touch(t, strings.Fields(files)...)))(t) {
			if (table.unlisted != nil) != want {
				t.Errorf("%s: found %v, expected %v", files, table.unlisted, want)
			}
		}
	}
}

// TestFindListed: of the splits of save_to_disk, those are read, and must be there, that it lists.
func TestFindListed(t *testing.T) {
	t.Parallel()
	const shard = "/data-00000-of-00001.arrow"
	dir := touch(t, "train"+shard, "old"+shard, "a"+shard, "empty/x")
	for list, want := range map[string]string{`{"splits": ["train", "a"]}`: "a train",
		`{"splits": ["train", "gone"]}`: "found no folder gone, which is in dataset_dict.json",
		`{"splits": ["train", ".."]}`:   "found no folder .., which", `{}`: "dataset_dict.json: found no list",
		`{"splits": ["empty", "train"]}`: "found no table in", `{"splits": [`: "dataset_dict.json: found no list"} {
		must.Do(t, os.WriteFile(filepath.Join(dir, "dataset_dict.json"), []byte(list), 0o666))
		tables, err := Find(source.Local{}, dir)
		got := fmt.Sprint(err)
		if err == nil && len(tables) == 2 {
			got = tables[0].Name + " " + tables[1].Name
		}
		if !strings.Contains(got, want) || (err != nil) != (fault.HintOf(err) != "") {
			t.Errorf("%s: found %s, expected %s", list, got, want)
		}
	}
}

// TestFindLinks: a link to a folder is read like the folder, and one to nothing is an error.
func TestFindLinks(t *testing.T) {
	t.Parallel()
	dir, far := touch(t, "test.parquet/part-0.parquet"), touch(t, "part-0.parquet", "part-1.parquet")
	must.Link(t, far, filepath.Join(dir, "train.parquet"))
	tables, err := Find(source.Local{}, dir)
	if err != nil || len(tables) != 2 || tables[1].Name != "train" || len(tables[1].Paths) != 2 {
		t.Errorf("found %+v, %v, expected train of two parts too", tables, err)
	}
	must.Link(t, "nothing", filepath.Join(dir, "latest")) // no data by its name
	must.Get(Find(source.Local{}, dir))(t)
	must.Link(t, "nothing", filepath.Join(dir, "val"))
	if _, err = Find(source.Local{}, dir); !errors.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "val") {
		t.Errorf("found %v, expected val to lead to nothing", err)
	}
}

// TestFindLoops: links that lead up are not followed without end.
func TestFindLoops(t *testing.T) {
	t.Parallel()
	dir := touch(t, "train/0/0.png", "test/0/1.png", "code/a/x", "code/b/x")
	must.Link(t, "..", filepath.Join(dir, "code", "a", "up"))
	must.Link(t, "..", filepath.Join(dir, "code", "b", "up"))
	if tables, err := Find(source.Local{}, dir); err != nil || len(tables) != 2 {
		t.Errorf("found %+v, %v, expected train and test", tables, err)
	}
}

// TestFindAfterMany: images are found behind any number of other files.
func TestFindAfterMany(t *testing.T) {
	t.Parallel()
	names := []string{"cat/z.png", "dog/z.png"}
	for i := range 1100 {
		names = append(names, fmt.Sprintf("cat/%d.json", i), fmt.Sprintf("dog/%d.json", i))
	}
	tables, err := Find(source.Local{}, touch(t, names...))
	if err != nil || len(tables) != 1 || !tables[0].folders["cat"] || !tables[0].folders["dog"] {
		t.Errorf("found %+v, %v, expected the class folders cat and dog", tables, err)
	}
}

// TestFindFiles: the content tells the format, and the extension if the content does not.
func TestFindFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, test := range map[string]struct{ content, want string }{
		"a": {"PAR1 and more", "parquet"}, "a.csv": {"ARROW1\x00\x00", "arrow"}, "c": {"\x93NUMPY\x01", "npy"},
		"d.csv": {"1,2", "csv"}, "e.tsv.zst": {"", "csv"}, "f": {"\x00\x00\x08\x01", ""},
		"g.parquet": {"no", "parquet"}, "h.arrows": {"", "arrow"}, ".csv": {"1,2", ""}, "short": {"P", ""},
	} {
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, []byte(test.content), 0o666))
		tables, err := Find(source.Local{}, path)
		got := ""
		if len(tables) == 1 {
			got = tables[0].Format.Name
		}
		if err != nil || got != test.want {
			t.Errorf("%s: found %q, %v, expected %q", name, got, err, test.want)
		}
	}
}

// TestAs opens tables with hidden names.
func TestAs(t *testing.T) {
	t.Parallel()
	dir := touch(t, "train-00001-of-00002.parquet", "train-00000-of-00002.parquet", "test-00000-of-00001.parquet")
	table, err := As("arrows", dir, "train-", "hub")
	if err != nil || len(table.Paths) != 2 || table.Path != "hub" || table.Format.Name != "arrow" {
		t.Errorf("found %+v, %v, expected two files", table, err)
	}
}
