package png

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	stdpng "image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sourcetest"
)

// open opens a valid folder.
func open(t *testing.T, path string, o source.ReadOptions) *Table {
	t.Helper()
	table := must.Get(Open(path, o))(t)
	t.Cleanup(func() {
		must.Do(t, table.Close())
	})
	return table.(*Table)
}

func TestFoldersThatPillowMade(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		shape   []int
		label   idx.DType // 0: no labels
		classes string
		notes   []string
	}{
		{"imagefolder", []int{4, 5, 3}, idx.Uint8, "Bear ant cat", []string{"Bear has label 0, ant has label 1, cat has label 2"}},
		{"numbered", []int{3, 2}, idx.Int32, "", nil},
		{"restarting", []int{3, 2}, idx.Uint8, "", nil},
		{"flat", []int{3, 2}, 0, "", []string{"images without labels"}},
		{"metadata", []int{3, 2}, idx.Uint8, "dog, small cat", nil},
		{"mapped", []int{3, 2}, idx.Uint8, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			table := open(t, filepath.Join("testdata", c.name), source.ReadOptions{})
			columns := table.Columns()
			if columns[0].Name != "image" || columns[0].DType != idx.Uint8 || !slices.Equal(columns[0].Shape, c.shape) || columns[0].Origin != c.name {
				t.Errorf("found images %+v", columns[0])
			}
			if (len(columns) == 2) != (c.label != 0) {
				t.Fatalf("found %d columns", len(columns))
			}
			if c.label != 0 && (columns[1].Name != "label" || columns[1].DType != c.label || strings.Join(columns[1].Classes, " ") != c.classes) {
				t.Errorf("found labels %+v", columns[1])
			}
			all := slices.Concat(table.Info().Notes, table.Info().Warnings)
			if len(all) != len(c.notes) {
				t.Fatalf("found the notes %q, expected %q", all, c.notes)
			}
			for i, n := range all {
				if !strings.Contains(n, c.notes[i]) {
					t.Errorf("found the note %q, expected %q", n, c.notes[i])
				}
			}
			expectRows(t, table, c.name)
		})
	}
}

// expectRows compares table with the rows that its script recorded.
func expectRows(t *testing.T, table *Table, name string) {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join("testdata", name+".json")))(t)
	var want [][2]*int64
	must.Do(t, json.Unmarshal(text, &want))
	if table.Rows() != int64(len(want)) {
		t.Errorf("found %d rows, expected %d", table.Rows(), len(want))
	}
	data := must.Get(sourcetest.ReadAll(table, 2))(t)
	size := table.Columns()[0].RecordSize()
	if len(data[0]) != len(want)*size {
		t.Fatalf("found %d bytes of images, expected %d", len(data[0]), len(want)*size)
	}
	for row, w := range want {
		sum := int64(0)
		for _, v := range data[0][row*size : (row+1)*size] {
			sum += int64(v)
		}
		if sum != *w[1] {
			t.Errorf("row %d: the samples add up to %d, expected %d", row, sum, *w[1])
		}
		if w[0] == nil {
			continue
		}
		if found := source.Int(table.Columns()[1].DType, data[1], row); found != *w[0] {
			t.Errorf("row %d: found the label %d, expected %d", row, found, *w[0])
		}
	}
}

// pixels returns a PNG file of one colour.
func pixels(t *testing.T, width, height int, m func(image.Rectangle) image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	must.Do(t, stdpng.Encode(&out, m(image.Rect(0, 0, width, height))))
	return out.Bytes()
}

func grey(r image.Rectangle) image.Image { return image.NewGray(r) }

// makeFolder makes a folder of files, given as contents by name with slashes.
func makeFolder(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o777))
		must.Do(t, os.WriteFile(path, data, 0o666))
	}
	return dir
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	good := pixels(t, 3, 2, grey)
	for _, c := range []struct {
		about string
		files map[string][]byte
		kind  fault.Kind
		want  []string
		hint  string
	}{
		{"nothing", nil, fault.Unsupported, []string{"found no images"}, "give a folder"},
		{"images that are not read", map[string][]byte{"0/a.png": good, "1/c.AVIF": {1}}, fault.Unsupported,
			[]string{filepath.Join("1", "c.AVIF") + ": AVIF images are not read"}, "mogrify"},
		{"a split", map[string][]byte{"train/0/1.png": good, "train/0/2.png": good}, fault.Malformed,
			[]string{filepath.Join("train", "0") + ": found a folder that is no class folder"}, "give the folder that holds the class folders, such as "},
		{"images beside class folders", map[string][]byte{"0/1.png": good, "2.png": good}, fault.Malformed,
			[]string{"0: found a folder that is no class folder, expected images directly in class folders, or no folders"}, "or move the images"},
		{"another size", map[string][]byte{"0/0.png": good, "1/1.png": pixels(t, 2, 3, grey)}, fault.Malformed,
			[]string{"1.png: row 1: found 2×3, 8-bit grey, expected 3×2, 8-bit grey"}, "the same size and type: --resize 3x2 scales all images"},
		{"damage", map[string][]byte{"0/0.png": good, "1/1.png": good[:50]}, fault.Malformed, []string{filepath.Join("1", "1.png"), "row 1", "damaged"}, "again"},
		{"damage in the first", map[string][]byte{"0/0.png": {}}, fault.Truncated, []string{"0.png: the file is empty"}, ""},
		{"a cut JPEG by another name", map[string][]byte{"0.png": []byte("\xff\xd8\xff")}, fault.Truncated, []string{"ends inside its JPEG image"}, "again"},
		{"no line in metadata.csv", map[string][]byte{"a.png": good, "b.png": good, "metadata.csv": []byte("file_name,label\na.png,1\n")}, fault.Malformed,
			[]string{"metadata.csv: found no line for b.png"}, "line"},
		{"two labels of a file", map[string][]byte{"a.png": good, "metadata.csv": []byte("file_name,label\na.png,1\na.png,2\n")}, fault.Malformed,
			[]string{"found two lines for a.png"}, ""},
		{"labels by name", map[string][]byte{"a.png": good, "b.png": good, "metadata.csv": []byte("file_name,label\na.png,dog\nb.png,cat\n")}, fault.Usage,
			[]string{"metadata.csv: column label: found names, whose numbers are not known: cat, dog"}, `printf '%s\n' cat dog > classes.txt`},
		{"names without labels", map[string][]byte{"a.png": good, "metadata.csv": []byte("file_name,class\na.png,dog\n")}, fault.Unsupported,
			[]string{`metadata.csv: column class, row 0: found "dog", expected a number`}, "leave the column out with --columns"},
		{"a label with two names", map[string][]byte{"a.png": good, "b.png": good, "metadata.csv": []byte("file_name,label,class\na.png,0,dog\nb.png,0,cat\n")}, fault.Unsupported,
			[]string{`metadata.csv: column class, row 0: found "dog", expected a number`}, "leave the column out with --columns"},
		{"too large a record", map[string][]byte{"a.png": pixels(t, 4097, 4096, grey)}, fault.Unsupported,
			[]string{"a.png: the image is 4097×4096, 8-bit grey, 16781312 bytes, expected at most 16777216"}, "--max-record-bytes 16781312"},
		{"labels in lines of JSON", map[string][]byte{"a.png": good, "metadata.csv": []byte("file_name,label\na.png,1\n"), "metadata.jsonl": {1}}, fault.Unsupported,
			[]string{"metadata.jsonl: labels are read from metadata.csv only"}, "duckdb -c 'COPY (FROM "},
		{"labels in Parquet", map[string][]byte{"a.png": good, "metadata.parquet": {1}}, fault.Unsupported, []string{"metadata.parquet: labels are read from metadata.csv only"}, "metadata.csv"},
		{"texts", map[string][]byte{"a.png": good, "metadata.csv": []byte("file_name,text\na.png,a cat\n")}, fault.Unsupported,
			[]string{"metadata.csv: column text, row 0: found \"a cat\""}, "leave the column out"},
		{"row numbers", map[string][]byte{"a.png": good, "metadata.csv": []byte(",file_name,label\n0,a.png,1\n")}, fault.Malformed,
			[]string{`metadata.csv: column 0 has the name ""`}, "index=False"},
		{"a column called as the images", map[string][]byte{"a.png": good, "metadata.csv": []byte("file_name,image\na.png,1\n")}, fault.Malformed,
			[]string{`metadata.csv: column 1 has the name "image"`}, "rename"},
		{"no names of files", map[string][]byte{"a.png": good, "metadata.csv": []byte("image,label\na.png,1\n")}, fault.Malformed,
			[]string{"metadata.csv: found the columns image, label, expected file_name and label"}, "rename"},
		{"metadata.csv of other lines", map[string][]byte{"a.png": good, "metadata.csv": []byte("file_name,label\na.png\n")}, fault.Malformed,
			[]string{"metadata.csv: ", "wrong number of fields"}, ""},
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
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("found %v, expected %q", err, w)
				}
			}
			if hint := fault.HintOf(err); !strings.Contains(hint, c.hint) {
				t.Errorf("found the hint %q, expected %q", hint, c.hint)
			}
		})
	}
}

func TestLinksLeadNowhereElse(t *testing.T) {
	t.Parallel()
	good := pixels(t, 3, 2, grey)
	outside := makeFolder(t, map[string][]byte{"secret.png": good})
	dir := makeFolder(t, map[string][]byte{"0/0.png": good})
	if err := os.Symlink("0.png", filepath.Join(dir, "0", "1.png")); err != nil {
		t.Skip(err)
	}
	if table := open(t, dir, source.ReadOptions{}); table.Rows() != 2 {
		t.Errorf("found %d rows, expected 2: a link inside of the folder is good", table.Rows())
	}
	for link, target := range map[string]string{
		filepath.Join("0", "2.png"): filepath.Join(outside, "secret.png"),
		filepath.Join("0", "3.png"): "gone.png",
		"1":                         outside, // a class folder is not silently ignored
		"LICENSE":                   filepath.Join(outside, "secret.png"),
	} {
		must.Do(t, os.Symlink(target, filepath.Join(dir, link)))
		_, err := Open(dir, source.ReadOptions{})
		if !errors.Is(err, fault.Malformed) || !strings.Contains(err.Error(), link+": the link does not lead to a file or a folder within the folder") {
			t.Errorf("found %v, expected a refusal of %s", err, link)
		}
		must.Do(t, os.Remove(filepath.Join(dir, link)))
	}
	must.Do(t, os.Symlink(dir, filepath.Join(dir, "0", "loop")))
	if _, err := Open(dir, source.ReadOptions{}); !errors.Is(err, fault.Malformed) {
		t.Errorf("found %v, expected a refusal of a link to the folder above", err)
	}
}

func TestManyClassFolders(t *testing.T) {
	t.Parallel()
	good := pixels(t, 3, 2, grey)
	files := map[string][]byte{}
	for label := range maxOpen + 1 {
		files[string(rune('a'+label%26))+strings.Repeat("x", label/26)+"/i.png"] = good
	}
	table := open(t, makeFolder(t, files), source.ReadOptions{})
	data := must.Get(sourcetest.ReadAll(table, 50))(t)
	if len(table.roots) != maxOpen || len(table.Columns()[1].Classes) != maxOpen+1 || table.Columns()[1].DType != idx.Int32 {
		t.Errorf("found %d open folders, labels %v", len(table.roots), table.Columns()[1])
	}
	for row := range maxOpen + 1 {
		if v := source.Int(idx.Int32, data[1], row); v != int64(row) {
			t.Fatalf("row %d has the label %d", row, v)
		}
	}
}

// Paths that are not folders of images, and folders with something else in place of an image or
// a folder.
func TestOddFolders(t *testing.T) {
	t.Parallel()
	good := pixels(t, 3, 2, grey)
	folder := func(name string) func(string) error {
		return func(dir string) error { return os.Mkdir(filepath.Join(dir, name), 0o777) }
	}
	for name, c := range map[string]struct {
		files   map[string][]byte
		also    func(dir string) error
		message string // part of the error; empty if the folder is valid
		rows    int64
	}{
		"a folder called as an image": {map[string][]byte{"a.png": good}, folder("b.png"), "", 1},
		"an empty class folder":       {map[string][]byte{"0/a.png": good}, folder("1"), "", 1},
		"a folder of notes":           {map[string][]byte{"a.png": good, "notes/x.txt": {1}}, nil, "", 1},
		"hidden files":                {map[string][]byte{"a.png": good, ".b.png": {1}, "__MACOSX/._a.png": {1}, ".cache/c.png": {1}}, nil, "", 1},
		"an empty metadata.csv":       {map[string][]byte{"0/a.png": good, metadataName: {}}, nil, "", 1},
		"metadata.csv of a quote":     {map[string][]byte{"0/a.png": good, metadataName: []byte("\"file_name,label\n")}, nil, metadataName, 0},
		"metadata.csv with a mark":    {map[string][]byte{"a.png": good, metadataName: []byte("\xef\xbb\xbffile_name,label\na.png,7\n")}, nil, "", 1},
		"a quoted mark":               {map[string][]byte{"a.png": good, metadataName: []byte("\xef\xbb\xbf\"file_name\",\"label\"\na.png,7\n")}, nil, "", 1},
		"images below a class folder": {map[string][]byte{"0/a.png": good, "0/more/b.png": good}, nil, "found a folder that is no class folder", 0},
		"labels that are text":        {map[string][]byte{"0/a.png": good, metadataName: []byte("file_name,label\n0/a.png,cat\n")}, nil, "column label: found names", 0},
		"lines of other files":        {map[string][]byte{"x/a.png": good, metadataName: []byte("file_name,label\ny/b.png,3\nx/a.png,4\n")}, nil, "", 1},
		"a class folder without line": {map[string][]byte{"x/a.png": good, "y/b.png": good, metadataName: []byte("file_name,label\nx/a.png,4\n")}, nil, "no line for y/b.png", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := makeFolder(t, c.files)
			if c.also != nil {
				must.Do(t, c.also(dir))
			}
			table, err := Open(dir, source.ReadOptions{})
			if c.message != "" {
				if err == nil || !strings.Contains(err.Error(), c.message) {
					t.Errorf("found %v, expected %q", err, c.message)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer table.Close()
			if _, err := sourcetest.ReadAll(table, 10); err != nil || table.Rows() != c.rows {
				t.Errorf("found %d rows, expected %d, and %v", table.Rows(), c.rows, err)
			}
		})
	}
	file := filepath.Join(t.TempDir(), "x.png")
	must.Do(t, os.WriteFile(file, good, 0o666))
	for _, path := range []string{file, file + " is not there"} {
		if _, err := Open(path, source.ReadOptions{}); err == nil {
			t.Errorf("%s was opened", path)
		}
	}
}

// Folders without images need no label: they do not prevent numbers as labels.
func TestFoldersWithoutImages(t *testing.T) {
	t.Parallel()
	good := pixels(t, 3, 2, grey)
	for name, c := range map[string]struct {
		files map[string][]byte
		want  string // labels
		note  string
	}{
		"large numbers": {map[string][]byte{"7/0.png": good, "2147483647/1.png": good}, "\x07\x00\x00\x00\xff\xff\xff\x7f", ""},
		"too large":     {map[string][]byte{"7/0.png": good, "2147483648/1.png": good}, "\x01\x00", "2147483648 has label 0, 7 has label 1"},
		"numbers":       {map[string][]byte{"5/0.png": good, "10/1.png": good, "tmp/x.txt": {1}}, "\x05\x0a", ""},
		"names":         {map[string][]byte{"cat/0.png": good, "dog/1.png": good, "annotations/x.xml": {1}}, "\x00\x01", "cat has label 0, dog has label 1"},
	} {
		table := open(t, makeFolder(t, c.files), source.ReadOptions{})
		data := must.Get(sourcetest.ReadAll(table, 10))(t)
		if notes := strings.Join(table.Info().Warnings, "\n"); string(data[1]) != c.want || !strings.Contains(notes, c.note) {
			t.Errorf("%s: found % x, %q, expected % x, %q", name, data[1], notes, c.want, c.note)
		}
	}
}

// TestLabelsByName has labels that are names, numbers beside them, and labels without names.
func TestLabelsByName(t *testing.T) {
	t.Parallel()
	good := pixels(t, 3, 2, grey)
	lines := "file_name,label,writer,score\nb.png,dog,70000,0.5\n./a.png,cat,-1,2\n"
	dir := makeFolder(t, map[string][]byte{"a.png": good, "b.png": good, metadataName: []byte(lines)})
	table := open(t, dir, source.ReadOptions{Classes: []string{"dog", "fish", "cat"}})
	data := must.Get(sourcetest.ReadAll(table, 10))(t)
	want := []string{"\x02\x00", "\xff\xff\xff\xff\x70\x11\x01\x00", "\x00\x00\x00\x00\x00\x00\x00\x40\x00\x00\x00\x00\x00\x00\xe0\x3f"}
	for i, name := range []string{"label", "writer", "score"} {
		if c := table.Columns()[i+1]; c.Name != name || string(data[i+1]) != want[i] {
			t.Errorf("found %+v, % x, expected %s, % x", c, data[i+1], name, want[i])
		}
	}
	if _, err := Open(dir, source.ReadOptions{Classes: []string{"dog"}}); err == nil || !strings.Contains(err.Error(), `row 0: found the name "cat", expected one of the 1 names of the classes`) {
		t.Errorf("found %v", err)
	}
	like := open(t, dir, source.ReadOptions{Columns: []string{"image", "writer", "score"}, Like: []source.Column{
		{Name: "writer", DType: idx.Int32}, {Name: "score", DType: idx.Float32}, {Name: "label", DType: idx.Uint8}}})
	if c := like.Columns(); len(c) != 3 || c[2].DType != idx.Float32 {
		t.Errorf("found the columns %v", c)
	}
	plain := open(t, makeFolder(t, map[string][]byte{"a.png": good, metadataName: []byte("file_name,label\na.png,7\n")}), source.ReadOptions{})
	if c := plain.Columns()[1]; c.Classes != nil {
		t.Errorf("found the classes %q, expected none", c.Classes)
	}
}

// TestNamesInMetadata has names of some labels, and names that cannot be in a list, which --columns
// leaves out.
func TestNamesInMetadata(t *testing.T) {
	t.Parallel()
	good := pixels(t, 3, 2, grey)
	for lines, want := range map[string][]string{
		"a.png,0,cat\nb.png,2,dog\n":                              {"cat", "", "dog"},
		"a.png,0,\nb.png,1,dog\n":                                 {"", "dog"},
		"a.png,-1,\nb.png,1,dog\n":                                {"", "dog"},
		"a.png,-1,cat\nb.png,1,dog\n":                             nil,
		"a.png,0,cat\nb.png,0,dog\n":                              nil,
		fmt.Sprintf("a.png,%d,cat\nb.png,1,dog\n", math.MaxInt32): nil,
	} {
		dir := makeFolder(t, map[string][]byte{"a.png": good, "b.png": good, metadataName: []byte("file_name,label,class\n" + lines)})
		table := open(t, dir, source.ReadOptions{Columns: []string{"image", "label"}})
		if found := table.Columns()[1].Classes; !slices.Equal(found, want) {
			t.Errorf("%q: found %q, expected %q", lines, found, want)
		}
		if _, err := Open(dir, source.ReadOptions{}); (err == nil) != (want != nil) {
			t.Errorf("%q: found %v", lines, err)
		}
	}
}

// Files that change after they were listed: removed, replaced by a folder, or grown beyond any
// image.
func TestFilesThatChange(t *testing.T) {
	t.Parallel()
	good := pixels(t, 3, 2, grey)
	for name, c := range map[string]struct {
		change func(path string) error
		kind   error
	}{
		"gone":     {os.Remove, os.ErrNotExist},
		"a folder": {func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o777)) }, nil},
		"grown":    {func(path string) error { return os.WriteFile(path, slices.Concat(good, make([]byte, 10<<20)), 0o666) }, fault.Unsupported},
		"cut":      {func(path string) error { return os.Truncate(path, 40) }, fault.Truncated},
	} {
		for _, class := range []string{"", "0"} {
			t.Run(name+" "+class, func(t *testing.T) {
				t.Parallel()
				last := filepath.ToSlash(filepath.Join(class, "b.png"))
				dir := makeFolder(t, map[string][]byte{filepath.ToSlash(filepath.Join(class, "a.png")): good, last: good})
				table := open(t, dir, source.ReadOptions{})
				must.Do(t, c.change(filepath.Join(dir, filepath.FromSlash(last))))
				_, err := sourcetest.ReadAll(table, 1)
				if err == nil || c.kind != nil && !errors.Is(err, c.kind) || !strings.Contains(err.Error(), "b.png") {
					t.Errorf("found %v, expected %v about b.png", err, c.kind)
				}
			})
		}
	}
	table := open(t, makeFolder(t, map[string][]byte{"a.png": good}), source.ReadOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := table.Read(ctx, &source.Raw{Cap: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v", err)
	}
}

// FuzzMetadata reads any metadata.csv beside images: it is refused, or every image has a label and
// every named label has one of the names.
func FuzzMetadata(f *testing.F) {
	f.Add([]byte("file_name,label\nx/a.png,1\ny/b.png,2\n"))
	f.Add([]byte("\xef\xbb\xbffile_name,label,class\nx/a.png,1,cat\ny/b.png,-2147483648,\"d\"\"og\"\n"))
	f.Add([]byte("class,label,file_name\ncat,2147483647,../x/a.png\ncat,0,y/b.png\ncat,0,y/b.png\n"))
	f.Add([]byte("file_name,label\n\"x/a.png,1\n"))
	good := picturesOf(f, "x/a.png", "y/b.png")
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		must.Do(t, os.CopyFS(dir, os.DirFS(good)))
		must.Do(t, os.WriteFile(filepath.Join(dir, metadataName), text, 0o666))
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

// picturesOf makes a folder of images of 2×1.
func picturesOf(f *testing.F, names ...string) string {
	f.Helper()
	dir := f.TempDir()
	m := image.NewGray(image.Rect(0, 0, 2, 1))
	m.Set(1, 0, color.White)
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		must.Do(f, os.MkdirAll(filepath.Dir(path), 0o777))
		out, err := os.Create(path)
		if err == nil {
			err = errors.Join(stdpng.Encode(out, m), out.Close())
		}
		if err != nil {
			f.Fatal(err)
		}
	}
	return dir
}
