package png

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	stdpng "image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sourcetest"
)

// open opens a valid folder.
func open(t *testing.T, path string, o source.ReadOptions) *table {
	t.Helper()
	opened := must.Get(Open(path, o))(t)
	t.Cleanup(func() { must.Do(t, opened.Close()) })
	return opened.(*table)
}

// pixels returns a PNG file of one colour.
func pixels(t testing.TB, width, height int) string {
	t.Helper()
	var out bytes.Buffer
	must.Do(t, stdpng.Encode(&out, image.NewGray(image.Rect(0, 0, width, height))))
	return out.String()
}

// makeFolder makes a folder of files, given as contents by name with slashes. A name that ends with
// a slash is that of a folder.
func makeFolder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			must.Do(t, os.MkdirAll(path, 0o777))
			continue
		}
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o777))
		must.Do(t, os.WriteFile(path, []byte(data), 0o666))
	}
	return dir
}

func TestFoldersThatPillowMade(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		shape   []int
		label   idx.DType // 0: no labels
		classes string
		note    string
	}{
		{"imagefolder", []int{4, 5, 3}, idx.Uint8, "Bear ant cat", "Bear has label 0, ant has label 1, cat has "},
		{"numbered", []int{3, 2}, idx.Int32, "", ""}, {"restarting", []int{3, 2}, idx.Uint8, "", ""},
		{"flat", []int{3, 2}, 0, "", "images without labels"},
		{"metadata", []int{3, 2}, idx.Uint8, "dog, small cat", ""}, {"mapped", []int{3, 2}, idx.Uint8, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			table := open(t, filepath.Join("testdata", c.name), source.ReadOptions{})
			images, rest := table.Columns()[0], table.Columns()[1:]
			if images.Name != "image" || images.DType != idx.Uint8 || !slices.Equal(images.Shape, c.shape) ||
				images.Origin != c.name {
				t.Errorf("found images %+v", images)
			}
			if (len(rest) == 1) != (c.label != 0) {
				t.Fatalf("found %d columns beside the images", len(rest))
			}
			if c.label != 0 && (rest[0].Name != "label" || rest[0].DType != c.label ||
				strings.Join(rest[0].Classes, " ") != c.classes) {
				t.Errorf("found labels %+v", rest[0])
			}
			all := strings.Join(slices.Concat(table.Info().Notes, table.Info().Warnings), "\n")
			if (all == "") != (c.note == "") || !strings.Contains(all, c.note) {
				t.Errorf("found the notes %q, expected %q", all, c.note)
			}
			expectRows(t, table, c.name)
		})
	}
}

// expectRows compares table with the rows that its script recorded.
func expectRows(t *testing.T, table *table, name string) {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join("testdata", name+".json")))(t)
	var want [][2]*int64
	must.Do(t, json.Unmarshal(text, &want))
	data := must.Get(sourcetest.ReadAll(table, 2))(t)
	size := table.Columns()[0].RecordSize()
	if table.Rows() != int64(len(want)) || len(data[0]) != len(want)*size {
		t.Fatalf("found %d rows, %d bytes of images, expected %d rows", table.Rows(), len(data[0]), len(want))
	}
	for row, w := range want {
		sum := int64(0)
		for _, v := range data[0][row*size : (row+1)*size] {
			sum += int64(v)
		}
		if sum != *w[1] {
			t.Errorf("row %d: the samples add up to %d, expected %d", row, sum, *w[1])
		}
		if w[0] != nil && source.Int(table.Columns()[1].DType, data[1], row) != *w[0] {
			t.Errorf("row %d: found another label than %d", row, *w[0])
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	good := pixels(t, 3, 2)
	metadata := func(lines string) map[string]string {
		return map[string]string{"a.png": good, "b.png": good, "metadata.csv": lines}
	}
	for _, c := range []struct {
		about string
		files map[string]string
		kind  fault.Kind
		want  string
		hint  string
	}{
		{"nothing", nil, fault.Unsupported, "found no images", "give a folder"},
		{"images that are not read", map[string]string{"0/a.png": good, "1/c.AVIF": "x"}, fault.Unsupported,
			"c.AVIF: row 1: the file begins with \"x\", expected a PNG, JPEG", "mogrify"},
		{"a split", map[string]string{"train/0/1.png": good}, fault.Malformed,
			filepath.Join("train", "0") + ": found a folder in a class folder", "give the folder that holds class"},
		{"images below a class folder", map[string]string{"0/a.png": good, "0/more/b.png": good}, fault.Malformed,
			filepath.Join("0", "more") + ": found a folder in a class folder", "move it"},
		{"words in names", map[string]string{"Dog (1).png": good, "cat_2.png": good, "dog.3.png": good},
			fault.Usage, "names such as Dog (1).png may begin with labels", "--columns image"},
		{"labels in names", map[string]string{"7-label_3.png": good}, fault.Usage, "7-label_3.png: found", "write"},
		{"classes in names", map[string]string{"class3_0.png": good}, fault.Usage, "class3_0.png: found what", "write"},
		{"images beside class folders", map[string]string{"0/1.png": good, "2.png": good}, fault.Malformed,
			"found images beside the class folder 0, expected all in class folders", "move the images"},
		{"a number without images", map[string]string{"0/a.png": good, "1/x.txt": ""}, fault.Malformed,
			"1: the folder has no images", "move it away"},
		{"too large a number", map[string]string{"0/0.png": good, "2147483648/1.png": good}, fault.Usage,
			"2147483648 may be label 2147483648 or, by the order of names, 1", "--classes"},
		{"an even larger number", map[string]string{"a/0.png": good, "98765432109876543210/1.png": good}, fault.Usage,
			"the class folder 98765432109876543210 may be label 98765432109876543210", "--classes"},
		{"numbers and spaces", map[string]string{" 1.0/0.png": good, " 2/1.png": good}, fault.Usage,
			"the class folder  1.0 may be label  1.0 or, by the order of names, 0", "--classes"},
		{"numbers in names", map[string]string{"no_2/0.png": good, "no_10/1.png": good}, fault.Usage,
			"the class folder no_10 may be label 1 or, by the order of names, 0", "--classes"},
		{"another size", map[string]string{"0/0.png": good, "1/1.png": pixels(t, 2, 3)}, fault.Malformed,
			"1.png: row 1: found 2×3, 8-bit grey, expected 3×2, 8-bit grey", "size: --resize 3x2"},
		{"too large a record", map[string]string{"a.png": pixels(t, 4097, 4096)}, fault.Unsupported,
			"a.png: the image is 4097×4096, 8-bit grey, 16781312 bytes, expected at most 6291456",
			"--max-record-bytes 16781312"},
		{"damage", map[string]string{"0/0.png": good, "1/1.png": good[:50]}, fault.Malformed,
			"1.png: row 1: the PNG image is damaged", "again"},
		{"damage in the first", map[string]string{"0/0.png": ""}, fault.Truncated, "0.png: the file is empty", ""},
		{"a cut JPEG by another name", map[string]string{"0.png": "\xff\xd8\xff"}, fault.Truncated,
			"ends inside its JPEG image", "again"},
		{"a quote in metadata.csv", metadata("\"file_name,label\n"), fault.Malformed, "metadata.csv: ", ""},
		{"metadata.csv is a folder", map[string]string{"a.png": good, "metadata.csv/x.txt": ""}, fault.IO,
			"metadata.csv: ", ""},
		{"an empty metadata.csv", metadata(""), fault.Malformed, "metadata.csv: the file is empty", ""},
		{"no line in metadata.csv", metadata("file_name,label\na.png,1\n"), fault.Malformed,
			"metadata.csv: found 0 lines for b.png, expected 1", "line"},
		{"no image of a line", metadata("file_name,label\na.png,1\nc.png,3\nb.png,2\n"), fault.Malformed,
			"metadata.csv: found a line for c.png, but no such image", "line"},
		{"two labels of a file", metadata("file_name,label\na.png,1\na.png,2\n"), fault.Malformed,
			"found 2 lines for a.png, expected 1", "one line"},
		{"row numbers", metadata(",file_name,label\n0,a.png,1\n1,b.png,1\n"), fault.Malformed,
			`metadata.csv: column 1 has the name ""`, "index=False"},
		{"a column called as the images", metadata("file_name,image\na.png,1\nb.png,1\n"), fault.Malformed,
			`metadata.csv: column 2 has the name "image"`, "rename"},
		{"two columns of one name", metadata("file_name,label,label\na.png,1,2\nb.png,1,2\n"), fault.Malformed,
			`metadata.csv: column 3 has the name "label", expected another`, "rename"},
		{"no names of files", metadata("image,label\na.png,1\n"), fault.Malformed,
			"metadata.csv: found the columns image, label, expected file_name and label", "rename"},
		{"a name of a class in Latin-1", metadata("file_name,label,class\na.png,0,th\xe9\nb.png,1,tea\n"),
			fault.Malformed, "metadata.csv: the file is not UTF-8", "iconv -f WINDOWS-1252"},
		{"a name of a column in Latin-1", metadata("file_name,label,\xe2ge\na.png,0,7\nb.png,1,8\n"),
			fault.Malformed, "metadata.csv: the file is not UTF-8", "iconv -f WINDOWS-1252"},
		{"lines of another length", metadata("file_name,label\na.png\n"), fault.Malformed, "wrong number of ", ""},
		{"a hidden file of other text", map[string]string{"x/a.png": good, ".idxport-classes": "["}, fault.Malformed,
			".idxport-classes: unexpected end", "--classes"},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			table, err := Open(makeFolder(t, c.files), source.ReadOptions{})
			if err == nil {
				defer table.Close()
				_, err = sourcetest.ReadAll(table, 10)
			}
			var known *fault.Error
			if fault.KindOf(err) != c.kind || !errors.As(err, &known) || known.Path == "" {
				t.Fatalf("found %v, expected a %v", err, c.kind)
			}
			if hint := fault.HintOf(err); !strings.Contains(err.Error(), c.want) || !strings.Contains(hint, c.hint) {
				t.Errorf("found %v, hint %q, expected %q, %q", err, hint, c.want, c.hint)
			}
		})
	}
}

// TestLinksLeadNowhereElse: an image may be a link into another class folder, but not to elsewhere.
func TestLinksLeadNowhereElse(t *testing.T) {
	t.Parallel()
	good := pixels(t, 3, 2)
	outside := makeFolder(t, map[string]string{"secret.png": good})
	dir := makeFolder(t, map[string]string{"0/0.png": good, "5/1.png": good})
	must.Link(t, filepath.Join("..", "0", "0.png"), filepath.Join(dir, "5", "2.png"))
	data := must.Get(sourcetest.ReadAll(open(t, dir, source.ReadOptions{}), 10))(t)
	if string(data[1]) != "\x00\x05\x05" {
		t.Errorf("found the labels % x, expected 0, 5, 5", data[1])
	}
	for link, target := range map[string]string{
		filepath.Join("0", "2.png"): filepath.Join(outside, "secret.png"),
		filepath.Join("0", "3.png"): "gone.png",
		filepath.Join("0", "loop"):  dir,
		"1":                         outside, // a class folder is not silently ignored
		"LICENSE":                   filepath.Join(outside, "secret.png"),
	} {
		must.Link(t, target, filepath.Join(dir, link))
		_, err := Open(dir, source.ReadOptions{})
		want := link + ": found a link that does not lead to a file or a folder within the folder "
		if !errors.Is(err, fault.Malformed) || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %s", err, want)
		}
		must.Do(t, os.Remove(filepath.Join(dir, link)))
	}
}

func TestManyClassFolders(t *testing.T) {
	t.Parallel()
	files, want := map[string]string{}, []byte(nil)
	for label := range 300 {
		files[fmt.Sprintf("c%03d/i.png", label)] = pixels(t, 3, 2)
		want = binary.LittleEndian.AppendUint32(want, uint32(label))
	}
	table := open(t, makeFolder(t, files), source.ReadOptions{})
	data, c := must.Get(sourcetest.ReadAll(table, 50))(t), table.Columns()[1]
	if len(c.Classes) != 300 || c.DType != idx.Int32 || !bytes.Equal(data[1], want) {
		t.Errorf("found the labels %v, % x", c, data[1])
	}
}

// TestLists has class folders beside a list of their names, in another order or in theirs.
func TestLists(t *testing.T) {
	t.Parallel()
	for list, other := range map[string]bool{
		"dog\ncat": true, "cat\r\ndog\r\n\n": false, "bird\ncat\ndog": true, "cat\nbird": false, // the names alone
		"1 cat\n0 dog": true, "2 dog\n1 cat\n": false, "10 dog\n9 \"cat\"": false,
		"dog,0\ncat,1": true, "cat\t0\ndog\t1": false, "cat: 1\ndog: 0": true, "1. cat\n0) dog": true,
		"label,name\n0,cat\n1,dog": false, "label,name\n1,cat\n0,dog": true,
		`{"cat": 1, "dog": 0}`: true, `{"dog":1,"cat":0}`: false, "{\n \"1\": \"cat\",\n \"0\": \"dog\"\n}": true,
		`{"0": ["cat", "tiger"], "1": ["dog", "wolf"]}`: false, `["dog","cat"]`: true,
		"[\n \"cat\",\n \"dog\"\n]\n": false, "# Labels\n- cat\n- dog": false, "names:\n  - dog\n  - cat": true,
		`{"id2label":{"0":"dog","1":"cat"},"label2id":{"cat":1,"dog":0}}`: true, // of one label each
		"1,dog\n2,cat\n3,dog": false, "dog\ncat\ndog": false, "dog: 400\ncat: 500": false, // of images, and counts
		"# Labels\ncat\ndog": false, "class\ndog\ncat": true, "# Labels\nClass names:\ndog\ncat": true,
		"0,cat,4000\n1,dog,39": false, strings.Repeat("\n", 1<<16) + "dog\ncat": false, // too long
	} {
		files := map[string]string{"cat/0.png": pixels(t, 3, 2), "dog/1.png": pixels(t, 3, 2), "labels": list}
		table, err := Open(makeFolder(t, files), source.ReadOptions{})
		if err == nil {
			must.Do(t, table.Close())
		}
		if (err != nil) != other || other && !strings.Contains(err.Error(), "folder cat may be label 1, as in ") {
			t.Errorf("%q: found %v", list, err)
		}
	}
}

// TestOddFolders has folders with something else beside images. Folders without images that are
// no numbers do not prevent numbers as labels.
func TestOddFolders(t *testing.T) {
	t.Parallel()
	good := pixels(t, 3, 2)
	open(t, makeFolder(t, map[string]string{"label_1.png": good, "LABEL-2.png": good}), source.ReadOptions{})
	open(t, makeFolder(t, map[string]string{"a_1.png": good, "IMG_1.png": good, "c_1.png": good}), source.ReadOptions{})
	for name, c := range map[string]struct {
		files  map[string]string
		labels string
		note   string
	}{
		"a folder called as an image": {map[string]string{"1/a.png": good, "b.png/": ""}, "\x01", ""},
		"a name that macOS decomposed": {map[string]string{"cafe\u0301.png": good,
			"metadata.csv": "file_name,label\ncaf\u00e9.png,7\n"}, "\x07", ""},
		"a number without a file": {map[string]string{"7/a.png": good, "8/": ""}, "\x07", ""},
		"a folder of notes":       {map[string]string{"7/a.png": good, "notes/x.txt": "x"}, "\x07", ""},
		"hidden files": {map[string]string{"7/a.png": good, "7/.b.png": "x", "__MACOSX/7/._a.png": "x", "7/@eaDir": "",
			".cache/c.png": "x"}, "\x07", ""},
		"metadata.csv with a mark": {map[string]string{"a.png": good,
			"metadata.csv": "\xef\xbb\xbffile_name,label\na.png,7\n"}, "\x07", ""},
		"a quoted mark": {map[string]string{"a.png": good,
			"metadata.csv": "\xef\xbb\xbf\"file_name\",\"label\"\na.png,7\n"}, "\x07", ""},
		"labels of another name": {map[string]string{"a.png": good, "labels.txt": "",
			"metadata.csv": "file_name,y\na.png,7\n"}, "\x07\x00\x00\x00", ""},
		"labels of another name beside labels": {map[string]string{"3/a.png": good, "9/b.png": good,
			"metadata.csv": "file_name,y\n3/a.png,7\n9/b.png,8\n"}, "\x03\x09", ""},
		"large numbers": {map[string]string{"7/0.png": good, "2147483647/1.png": good},
			"\x07\x00\x00\x00\xff\xff\xff\x7f", ""},
		"numbers in their places": {map[string]string{"00/0.png": good, "1/1.png": good, "a/2.png": good},
			"\x00\x01\x02", "00 has label 0, 1 has label 1, a has label 2"},
		"names": {map[string]string{"cat/0.png": good, "dog/1.png": good}, "\x00\x01",
			"names: cat has label 0, dog has label 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table := open(t, makeFolder(t, c.files), source.ReadOptions{})
			data := must.Get(sourcetest.ReadAll(table, 10))(t)
			notes := strings.Join(table.Info().Warnings, "\n")
			if string(data[1]) != c.labels || !strings.Contains(notes, c.note) {
				t.Errorf("found % x, %q, expected % x, %q", data[1], notes, c.labels, c.note)
			}
		})
	}
	for _, name := range []string{"x.png", "gone"} { // which are no folders
		path := filepath.Join(makeFolder(t, map[string]string{"x.png": good}), name)
		if _, err := Open(path, source.ReadOptions{}); err == nil {
			t.Errorf("%s was opened", name)
		}
	}
	windows := filepath.Join(makeFolder(t, map[string]string{"5.png": good}), `7\1.png`) // of a zip archive
	if err := os.WriteFile(windows, []byte(good), 0o666); err == nil && filepath.Separator == '/' {
		if _, err := Open(filepath.Dir(windows), source.ReadOptions{}); !errors.Is(err, fault.Malformed) {
			t.Errorf("found %v, expected a folder in place of 7\\1.png", err)
		}
	}
}

// TestLabelsByName has labels that are names, and numbers beside them.
func TestLabelsByName(t *testing.T) {
	t.Parallel()
	good := pixels(t, 3, 2)
	spaces := makeFolder(t, map[string]string{" 2/0.png": good, "b/1.png": good})
	if c := open(t, spaces, source.ReadOptions{Classes: []string{"b", "2"}}).Columns(); len(c) != 2 {
		t.Errorf("found the columns %v", c)
	}
	dir := makeFolder(t, map[string]string{"a.png": good, "b.png": good,
		"metadata.csv": "file_name, label,writer ,score\nb.png,dog,70000,0.5\n./a.png,cat,-1,2\n"})
	table := open(t, dir, source.ReadOptions{Classes: []string{"dog", "fish", "cat"}})
	data := must.Get(sourcetest.ReadAll(table, 10))(t)
	for i, want := range []string{"label \x02\x00", "writer \xff\xff\xff\xff\x70\x11\x01\x00",
		"score \x00\x00\x00\x00\x00\x00\x00\x40\x00\x00\x00\x00\x00\x00\xe0\x3f"} {
		if found := table.Columns()[i+1].Name + " " + string(data[i+1]); found != want {
			t.Errorf("found %q, expected %q", found, want)
		}
	}
	_, err := Open(dir, source.ReadOptions{Classes: []string{"dog"}})
	want := `row 0: found the name "cat", expected the name of a class (1 known)`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("found %v, expected %s", err, want)
	}
	like := open(t, dir, source.ReadOptions{Columns: []string{"image", "score"}, Like: []source.Column{
		{Name: "score", DType: idx.Float32}, {Name: "label", DType: idx.Uint8}}})
	if c := like.Columns(); len(c) != 2 || c[1].DType != idx.Float32 {
		t.Errorf("found the columns %v", c)
	}
}

// TestNamesInMetadata has names of some labels, and names that cannot be in a list, which --columns
// leaves out.
func TestNamesInMetadata(t *testing.T) {
	t.Parallel()
	good := pixels(t, 3, 2)
	for lines, want := range map[string][]string{
		"a.png,0,cat\nb.png,2,dog\n": {"cat", "", "dog"}, "a.png,0,\nb.png,1,dog\n": {"", "dog"},
		"a.png,-1,\nb.png,1,dog\n": {"", "dog"}, "a.png,-1,cat\nb.png,1,dog\n": nil,
		"a.png,0,cat\nb.png,0,dog\n": nil, "a.png,2147483647,cat\nb.png,1,dog\n": nil,
	} {
		dir := makeFolder(t, map[string]string{"a.png": good, "b.png": good,
			"metadata.csv": "file_name,label,class\n" + lines})
		table := open(t, dir, source.ReadOptions{Columns: []string{"image", "label"}})
		if found := table.Columns()[1].Classes; !slices.Equal(found, want) {
			t.Errorf("%q: found %q, expected %q", lines, found, want)
		}
		all, err := Open(dir, source.ReadOptions{})
		if (err == nil) != (want != nil) {
			t.Errorf("%q: found %v", lines, err)
		}
		if err == nil {
			must.Do(t, all.Close())
		}
	}
}

// TestFirstError has a batch of files, of which several are empty, for any number of workers.
func TestFirstError(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for row := range 100 {
		files[fmt.Sprintf("%02d.png", row)] = pixels(t, 3, 2)
	}
	files["87.png"], files["41.png"], files["39.png"] = "", "", ""
	dir := makeFolder(t, files)
	for workers := range 5 {
		_, err := sourcetest.ReadAll(open(t, dir, source.ReadOptions{Workers: workers}), 100)
		if err == nil || !strings.Contains(err.Error(), "39.png: row 39: the file is empty") {
			t.Errorf("%d workers: found %v, expected an error about row 39", workers, err)
		}
	}
}

// TestFilesThatChange has files that were removed, replaced by a folder, cut, or grown beyond any
// image, after they were listed.
func TestFilesThatChange(t *testing.T) {
	t.Parallel()
	good := pixels(t, 3, 2)
	for name, c := range map[string]struct {
		change func(path string) error
		kind   error
	}{
		"gone":     {os.Remove, os.ErrNotExist},
		"a folder": {func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o777)) }, nil},
		"grown":    {func(path string) error { return os.Truncate(path, 10<<20) }, fault.Unsupported},
		"cut":      {func(path string) error { return os.Truncate(path, 40) }, fault.Truncated},
	} {
		for _, class := range []string{"", "0/"} {
			t.Run(fmt.Sprint(name, class), func(t *testing.T) {
				t.Parallel()
				dir := makeFolder(t, map[string]string{class + "a.png": good, class + "b.png": good})
				table := open(t, dir, source.ReadOptions{})
				must.Do(t, c.change(filepath.Join(dir, filepath.FromSlash(class), "b.png")))
				_, err := sourcetest.ReadAll(table, 1)
				if err == nil || c.kind != nil && !errors.Is(err, c.kind) || !strings.Contains(err.Error(), "b.png") {
					t.Errorf("found %v, expected %v about b.png", err, c.kind)
				}
			})
		}
	}
	table := open(t, makeFolder(t, map[string]string{"a.png": good}), source.ReadOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := table.Read(ctx, &source.Raw{Cap: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v", err)
	}
}

// FuzzMetadata reads any metadata.csv beside images: it is refused, or every image has a label.
func FuzzMetadata(f *testing.F) {
	f.Add([]byte("file_name,label\nx/a.png,1\ny/b.png,2\n"))
	f.Add([]byte("\xef\xbb\xbffile_name,label,class\nx/a.png,1,cat\ny/b.png,-2147483648,\"d\"\"og\"\n"))
	f.Add([]byte("class,label,file_name\ncat,2147483647,../x/a.png\ncat,0,y/b.png\ncat,0,y/b.png\n"))
	f.Add([]byte("file_name,label\n\"x/a.png,1\n"))
	good := makeFolder(f, map[string]string{"x/a.png": pixels(f, 2, 1), "y/b.png": pixels(f, 2, 1)})
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		must.Do(t, os.CopyFS(dir, os.DirFS(good)))
		must.Do(t, os.WriteFile(filepath.Join(dir, "metadata.csv"), text, 0o666))
		table, err := Open(dir, source.ReadOptions{})
		if err != nil {
			if !errors.Is(err, fault.Malformed) && !errors.Is(err, fault.Unsupported) && !errors.Is(err, fault.Usage) {
				t.Errorf("found %v", err)
			}
			return
		}
		defer table.Close()
		data, err := sourcetest.ReadAll(table, 10)
		if err != nil || table.Rows() != 2 || len(data) < 2 || len(data[1]) != 2*table.Columns()[1].DType.Size() {
			t.Errorf("found %d rows, %d columns, %v", table.Rows(), len(data), err)
		}
	})
}

// TestNumberedAgain: a list has the numbers of classes, and not of the names of their folders.
func TestNumberedAgain(t *testing.T) {
	t.Parallel()
	good := pixels(t, 3, 2)
	dir := makeFolder(t, map[string]string{"a_b-0/0.png": good, "a_b-1/1.png": good,
		".idxport-classes": `{"folders":["a_b-0","a_b-1"],"classes":["a/b","a_b"]}`})
	for want, classes := range map[string][]string{"\x00\x01": nil, "\x01\x00": {"a_b", "a/b"},
		"\x02\x01": {"", "a_b", "a/b"}} {
		data := must.Get(sourcetest.ReadAll(open(t, dir, source.ReadOptions{Classes: classes}), 10))(t)
		if string(data[1]) != want {
			t.Errorf("%q: found the labels % x, expected % x", classes, data[1], want)
		}
	}
}
