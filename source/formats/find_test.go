package formats

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
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
	for _, test := range []struct {
		name  string
		files []string
		want  []string // format, name and number of files
	}{
		{"nothing", nil, nil},
		{"IDX", []string{"train-images-idx3-ubyte", "train.parquet"}, nil},
		{"IDX, unpacked", []string{"train-images.idx3-ubyte"}, nil},
		{"IDX by its ending", []string{"x.idx.gz"}, nil},
		{"splits", []string{"train.parquet", "test.parquet", "_SUCCESS", ".x.idxport", "notes.txt"}, []string{"parquet test 1", "parquet train 1"}},
		{"compressed text", []string{"a.csv.gz", "b.TSV"}, []string{"csv a 1", "csv b 1"}},
		{"arrays", []string{"train-image.npy", "train-label.npy"}, []string{"npy train-image 1", "npy train-label 1"}},
		{"parts", []string{"part-00000-0123456789abcdef.parquet", "part-00001-0123456789abcdef.parquet", "_SUCCESS"}, []string{"parquet in 2"}},
		{"parts of pyarrow", []string{"part-0.parquet", "part-1.parquet", "part-10.parquet", "part-2.parquet"}, []string{"parquet in 4"}},
		{"a table called metadata", []string{"metadata.csv"}, []string{"csv metadata 1"}},
		{"class folders and metadata", []string{"0/0.png", "metadata.csv", "README.md", "_manifest.json"}, []string{"png in 1"}},
		{"parts in folders", []string{"train.parquet/part-00000-a.parquet", "train.parquet/part-00001-a.parquet", "test.parquet/part-00000-a.parquet"},
			[]string{"parquet test 1", "parquet train 2"}},
		{"the Hub", []string{"README.md", "data/train-00000-of-00002.parquet", "data/train-00001-of-00002.parquet", "data/test-00000-of-00001.parquet"},
			[]string{"parquet test 1", "parquet train 2"}},
		{"Hive", []string{"split=train/data.parquet", "split=test/data.parquet"}, []string{"parquet test 1", "parquet train 1"}},
		{"images", []string{"0.png", "1.PNG"}, []string{"png in 1"}},
		{"class folders", []string{"0/0.png", "1/1.png", "_manifest.json"}, []string{"png in 1"}},
		{"class folders of splits", []string{"train/0/0.png", "test/0/1.png"}, []string{"png test 1", "png train 1"}},
		{"splits of images without labels", []string{"train/0.png", "Test/0.png"}, []string{"png Test 1", "png train 1"}},
		{"class folders, one called as a split", []string{"train/0.png", "car/0.png"}, []string{"png in 1"}},
		{"images with names like IDX files", []string{"frame-idx0.png", "frame-idx1.png"}, []string{"png in 1"}},
		{"compressed text of all kinds", []string{"a.csv.xz", "b.csv.bz2", "c.tsv.xz", "d.tsv.bz2"}, []string{"csv a 1", "csv b 1", "csv c 1", "csv d 1"}},
		{"photos", []string{"a.jpg"}, []string{"png in 1"}},
		{"class folders of photos", []string{"cat/a.JPEG", "dog/b.webp"}, []string{"png in 1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tables := must.Get(Find(source.Local{}, touch(t, test.files...)))(t)
			var got []string
			for _, table := range tables {
				got = append(got, fmt.Sprintf("%s %s %d", table.Format.Name, table.Name, len(table.Paths)))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("found %q, expected %q", got, test.want)
			}
		})
	}
}

// TestFindMixed has folders in which something would be silently ignored.
func TestFindMixed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		files []string
		want  string
	}{
		{[]string{"train.csv", "a.jpg", "docs/b.jpg"}, "found images, such as a.jpg, and tables, such as train.csv"},
		{[]string{"train/part-0.csv", "docs/b.jpg"}, "found images, such as docs/b.jpg, and tables, such as train/part-0.csv"},
		{[]string{"train.csv", "logo.png"}, "found images, such as logo.png, and tables, such as train.csv"},
		{[]string{"train.parquet/part-0.parquet", "figures/a.png"}, "found images, such as figures/a.png, and tables, such as train.parquet/part-0.parquet"},
		{[]string{"cat/a.png", "labels/all.csv"}, "found images, such as cat/a.png, and tables, such as labels/all.csv"},
		{[]string{"train-00000-of-00003.parquet", "train-00002-of-00003.parquet"}, "found 2 shards of train, such as train-00000-of-00003.parquet, expected 3"},
		{[]string{"part-0.csv", "part-1.parquet"}, "found in in two formats, part-0.csv and part-1.parquet"},
		{[]string{"train.csv", "train.csv.gz"}, "found train in two formats, train.csv and train.csv.gz"},
	} {
		_, err := Find(source.Local{}, touch(t, test.files...))
		if !errors.Is(err, fault.Usage) || !strings.Contains(filepath.ToSlash(err.Error()), test.want) || fault.HintOf(err) == "" {
			t.Errorf("%q: found %v, expected %q", test.files, err, test.want)
		}
	}
}

// TestLabelsOfSplits: all splits record the labels of their class folders, or none.
func TestLabelsOfSplits(t *testing.T) {
	t.Parallel()
	dir := touch(t, "train/cat/0.png", "train/"+schema.ClassesFile, "test/cat/0.png")
	_, err := Find(source.Local{}, dir)
	if !errors.Is(err, fault.Usage) || !strings.Contains(fault.HintOf(err), "cp "+filepath.Join(dir, "train", schema.ClassesFile)+" "+filepath.Join(dir, "test")) {
		t.Errorf("found %v, %q", err, fault.HintOf(err))
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "test", schema.ClassesFile), nil, 0o666))
	if tables, err := Find(source.Local{}, dir); err != nil || len(tables) != 2 {
		t.Errorf("found %v, %v", tables, err)
	}
}

// TestRefused has folders that are not read, with the command or the path that leads out.
func TestRefused(t *testing.T) {
	t.Parallel()
	for file, want := range map[string][2]string{
		"_delta_log/00000000000000000000.json": {"found a table of Delta Lake", "delta_scan('DIR')) TO 'DIR.parquet'\""},
		"metadata/v1.metadata.json":            {"found a table of Iceberg", "iceberg_scan('DIR', allow_moved_paths = true)) TO 'DIR.parquet'\""},
		".hoodie/hoodie.properties":            {"found a table of Hudi", "H.from_base_uri(\"DIR\")"},
		"train/writer1/0/0.png":                {"found images 3 folders down, such as DIR/train/writer1/0/0.png", "class folders: DIR/train/writer1"},
		"a/b/c/0/0.jpg":                        {"found images 4 folders down", "class folders: DIR/a/b/c"},
	} {
		dir := touch(t, file, "data/a.parquet")
		if strings.HasSuffix(file, "g") {
			must.Do(t, os.RemoveAll(filepath.Join(dir, "data")))
		}
		_, err := Find(source.Local{}, dir)
		found, hint := strings.ReplaceAll(fmt.Sprint(err), dir, "DIR"), strings.ReplaceAll(fault.HintOf(err), dir, "DIR")
		if !errors.Is(err, fault.Unsupported) || !strings.Contains(found, want[0]) || !strings.Contains(hint, want[1]) {
			t.Errorf("%s: found %s, %q, expected %q", file, found, hint, want)
		}
	}
}

// TestFindLinks: a link to a folder is read like the folder.
func TestFindLinks(t *testing.T) {
	t.Parallel()
	dir, far := touch(t, "test.parquet/part-0.parquet"), touch(t, "part-0.parquet", "part-1.parquet")
	if err := errors.Join(os.Symlink(far, filepath.Join(dir, "train.parquet")), os.Symlink("nothing", filepath.Join(dir, "gone"))); err != nil {
		t.Skip(err)
	}
	tables, err := Find(source.Local{}, dir)
	if err != nil || len(tables) != 2 || tables[1].Name != "train" || len(tables[1].Paths) != 2 {
		t.Errorf("found %+v, %v, expected train of two parts too", tables, err)
	}
}

func TestFindFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"a": "PAR1 and more", "b": "ARROW1\x00\x00", "c": "\x93NUMPY\x01", "d.csv": "1,2", "e.tsv.zst": "", "f": "\x00\x00\x08\x01", "g.parquet": "no", "h.arrows": "",
		".csv": "1,2", "short": "P",
	} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666))
	}
	for name, want := range map[string]string{"a": "parquet", "b": "arrow", "c": "npy", "d.csv": "csv", "e.tsv.zst": "csv", "f": "", "g.parquet": "parquet",
		"h.arrows": "arrow", ".csv": "", "short": ""} {
		tables, err := Find(source.Local{}, filepath.Join(dir, name))
		got := ""
		if len(tables) == 1 {
			got = tables[0].Format.Name
		}
		if err != nil || got != want {
			t.Errorf("%s: found %q, %v, expected %q", name, got, err, want)
		}
	}
	if tables, err := Find(source.Local{}, source.Stdin); tables != nil || err != nil {
		t.Errorf("standard input: found %v, %v", tables, err)
	}
	if _, err := Find(source.Local{}, filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("found %v, expected %v", err, os.ErrNotExist)
	}
}

// TestAs opens tables with hidden names.
func TestAs(t *testing.T) {
	t.Parallel()
	dir := touch(t, "train-00000-of-00002.parquet", "train-00001-of-00002.parquet", "test-00000-of-00001.parquet", "_SUCCESS")
	table, ok, err := As("parquet", dir, "train-", "hub")
	if !ok || err != nil || len(table.Paths) != 2 || table.Path() != "hub" {
		t.Errorf("found %+v, %v, %v, expected two files", table, ok, err)
	}
	for name, known := range map[string]bool{"arrows": true, "tsv": true, "png": true, "npy": true, "tar": false, "idx": false} {
		if _, ok, err := As(name, dir, "", "x"); ok != known || err != nil {
			t.Errorf("%s: found %v, %v, expected %v", name, ok, err, known)
		}
	}
	arrays, _, err := As("npy", touch(t, "part-00000-a.npy", "part-00001-a.npy"), "part-", "x.npy")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := arrays.Open(source.ReadOptions{}); !errors.Is(err, fault.Usage) {
		t.Errorf("found %v, expected %v", err, fault.Usage)
	}
}

// TestFindNumbers: parts are in the order of their numbers, with or without leading zeros.
func TestFindNumbers(t *testing.T) {
	t.Parallel()
	for _, test := range [][]string{
		{"part-0.parquet", "part-1.parquet", "part-2.parquet", "part-10.parquet", "part-11.parquet"},
		{"part.8.parquet", "part.9.parquet", "part.10.parquet"},
		{"part-00009-b.csv", "part-00010-a.csv", "part-99999-a.csv", "part-100000-0.csv"},
		{"part-9.csv", "part-10.csv", "part-99999999999999999999.csv", "part-100000000000000000000.csv"}, // more than 64 bits
		{"part-00000-c-c000.parquet", "part-00000-c-c001.parquet", "part-00001-c-c000.parquet"},
	} {
		tables, err := Find(source.Local{}, touch(t, test...))
		if err != nil || len(tables) != 1 {
			t.Fatalf("found %d tables and the error %v, expected one table of %q", len(tables), err, test)
		}
		var got []string
		for _, path := range tables[0].Paths {
			got = append(got, filepath.Base(path))
		}
		if !slices.Equal(got, test) {
			t.Errorf("found %q, expected %q", got, test)
		}
	}
}
