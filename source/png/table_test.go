package png

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	stdpng "image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// readAll reads t to its end in batches of rows, and returns the data of all columns.
func readAll(t source.Table, rows int) ([][]byte, error) {
	data := make([][]byte, len(t.Columns()))
	b := &source.Raw{Cap: rows}
	for {
		err := t.Read(context.Background(), b)
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		if err := t.Decode(b); err != nil {
			return nil, err
		}
		for i := range data {
			data[i] = append(data[i], b.Columns[i]...)
		}
	}
}

// open opens a folder that is as it should be.
func open(t *testing.T, path string, o source.ReadOptions) *Table {
	t.Helper()
	table, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := table.Close(); err != nil {
			t.Error(err)
		}
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
		{"imagefolder", []int{4, 5, 3}, idx.Uint8, "Bear ant cat", []string{"in the order of the class folders", "sorted by name: Bear is 0"}},
		{"numbered", []int{3, 2}, idx.Int32, "", []string{"2 to 11; 4 of them are missing", "labels are the names of the class folders"}},
		{"restarting", []int{3, 2}, idx.Uint8, "", []string{"in the order of the class folders", "labels are the names of the class folders"}},
		{"flat", []int{3, 2}, 0, "", []string{"images without labels"}},
		{"metadata", []int{3, 2}, idx.Uint8, "dog, small cat", []string{"in the order of the files' names", "labels are those of metadata.csv"}},
		{"mapped", []int{3, 2}, idx.Uint8, "   dog      cat", []string{"1 to 4; 1 of them are missing", "labels are those of metadata.csv, by class folder"}},
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
			if len(table.Notes()) != len(c.notes) {
				t.Fatalf("found the notes %q, expected %q", table.Notes(), c.notes)
			}
			for i, n := range table.Notes() {
				if !strings.Contains(n, c.notes[i]) || !strings.HasPrefix(n, "testdata/"+c.name+": ") {
					t.Errorf("found the note %q, expected %q", n, c.notes[i])
				}
			}
			expectRows(t, table, c.name)
		})
	}
}

// expectRows compares table with the rows that its script wrote down.
func expectRows(t *testing.T, table *Table, name string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var want [][2]*int64
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if table.Rows() != int64(len(want)) {
		t.Errorf("found %d rows, expected %d", table.Rows(), len(want))
	}
	data, err := readAll(table, 2)
	if err != nil {
		t.Fatal(err)
	}
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

// pixels is a PNG file of one colour.
func pixels(t *testing.T, width, height int, m func(image.Rectangle) image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := stdpng.Encode(&out, m(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func grey(r image.Rectangle) image.Image { return image.NewGray(r) }

// makeFolder makes a folder of files: names with slashes to contents.
func makeFolder(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
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
		{"nothing", nil, fault.Unsupported, []string{"found no PNG files"}, "name a folder"},
		{"JPEG files", map[string][]byte{"0/a.jpg": {1}, "0/b.JPEG": {1}, "1/c.png": good}, fault.Unsupported,
			[]string{"found 2 images of other formats", "1 PNG files"}, "mogrify"},
		{"a split", map[string][]byte{"train/0/1.png": good, "test/0/1.png": good}, fault.Malformed, []string{"class folder test holds folders"}, "test"},
		{"images beside class folders", map[string][]byte{"0/1.png": good, "2.png": good}, fault.Malformed, []string{"1 images beside the class folder 0"}, "move"},
		{"another size", map[string][]byte{"0/0.png": good, "1/1.png": pixels(t, 2, 3, grey)}, fault.Malformed,
			[]string{"1.png: row 1: found 2×3, 8-bit grey, expected 3×2, 8-bit grey"}, "alike"},
		{"damage", map[string][]byte{"0/0.png": good, "1/1.png": good[:50]}, fault.Malformed, []string{filepath.Join("1", "1.png"), "row 1", "damaged"}, "again"},
		{"damage in the first", map[string][]byte{"0/0.png": {}}, fault.Truncated, []string{"0.png: the file is empty"}, ""},
		{"a JPEG by another name", map[string][]byte{"0.png": []byte("\xff\xd8\xff")}, fault.Unsupported, []string{"found a JPEG file"}, "mogrify"},
		{"no line in metadata.csv", map[string][]byte{"a.png": good, "b.png": good, "metadata.csv": []byte("file_name,label\na.png,1\n")}, fault.Malformed,
			[]string{"metadata.csv has no line for b.png"}, "line"},
		{"two labels of a file", map[string][]byte{"a.png": good, "metadata.csv": []byte("file_name,label\na.png,1\na.png,2\n")}, fault.Malformed,
			[]string{"gives a.png the labels"}, ""},
		{"two labels in a folder", map[string][]byte{"x/a.png": good, "x/b.png": good, "metadata.csv": []byte("file_name,label\nx/a.png,1\nx/b.png,2\n")},
			fault.Malformed, []string{"class folder x the labels 1 and 2"}, "one label"},
		{"metadata.csv of other lines", map[string][]byte{"a.png": good, "metadata.csv": []byte("file_name,label\na.png\n")}, fault.Malformed,
			[]string{"metadata.csv: ", "wrong number of fields"}, ""},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			table, err := Open(makeFolder(t, c.files), source.ReadOptions{})
			if err == nil {
				defer table.Close()
				_, err = readAll(table, 10)
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

func TestRecordsBeyondTheLimit(t *testing.T) {
	t.Parallel()
	dir := makeFolder(t, map[string][]byte{"0.png": pixels(t, 100, 100, grey)})
	if _, err := Open(dir, source.ReadOptions{MaxRecordSize: 9999}); err == nil || !strings.Contains(err.Error(), "a record of 10000 bytes, expected at most 9999") {
		t.Errorf("found %v", err)
	}
}

func TestWiderTypes(t *testing.T) {
	t.Parallel()
	for d, want := range map[idx.DType]string{idx.Uint8: "\x01\xff", idx.Int16: "\x01\x00\xff\x00", idx.Int32: "\x01\x00\x00\x00\xff\x00\x00\x00",
		idx.Float32: "\x00\x00\x80\x3f\x00\x00\x7f\x43", idx.Float64: "\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\xe0\x6f\x40"} {
		m := image.NewGray(image.Rect(0, 0, 2, 1))
		m.Pix = []byte{1, 255}
		dir := makeFolder(t, map[string][]byte{"0.png": pixels(t, 2, 1, func(image.Rectangle) image.Image { return m })})
		table := open(t, dir, source.ReadOptions{DType: d})
		data, err := readAll(table, 1)
		if err != nil || string(data[0]) != want || table.Columns()[0].DType != d {
			t.Errorf("%v: found % x of %v, error %v", d, data[0], table.Columns()[0].DType, err)
		}
	}
	dir := makeFolder(t, map[string][]byte{"0.png": pixels(t, 2, 1, grey)})
	if _, err := Open(dir, source.ReadOptions{DType: idx.Int8}); !errors.Is(err, fault.Unsupported) {
		t.Errorf("int8: found %v", err)
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
	if err := os.Symlink(filepath.Join(outside, "secret.png"), filepath.Join(dir, "0", "2.png")); err != nil {
		t.Fatal(err)
	}
	demandLinkRefused(t, dir, filepath.Join("0", "2.png"))
	if err := os.Remove(filepath.Join(dir, "0", "2.png")); err != nil {
		t.Fatal(err)
	}
	// A class folder that is a link is not left out in silence, what is no image may lead where it likes.
	if err := errors.Join(os.Symlink(outside, filepath.Join(dir, "1")), os.Symlink(filepath.Join(outside, "secret.png"), filepath.Join(dir, "LICENSE"))); err != nil {
		t.Fatal(err)
	}
	demandLinkRefused(t, dir, "1")
	if err := os.Remove(filepath.Join(dir, "1")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("gone.png", filepath.Join(dir, "0", "3.png")); err != nil {
		t.Fatal(err)
	}
	demandLinkRefused(t, dir, filepath.Join("0", "3.png"))
}

// demandLinkRefused demands that the folder is refused because of a link in it.
func demandLinkRefused(t *testing.T, dir, link string) {
	t.Helper()
	_, err := Open(dir, source.ReadOptions{})
	if !errors.Is(err, fault.Malformed) || !strings.Contains(err.Error(), link+": found a link to nothing in the folder") {
		t.Errorf("found %v, expected a refusal of %s", err, link)
	}
}

func TestSkip(t *testing.T) {
	t.Parallel()
	whole, err := readAll(open(t, "testdata/imagefolder", source.ReadOptions{}), 5)
	if err != nil {
		t.Fatal(err)
	}
	table := open(t, "testdata/imagefolder", source.ReadOptions{})
	if err := table.Skip(7); err != nil {
		t.Fatal(err)
	}
	rest, err := readAll(table, 5)
	if err != nil || !bytes.Equal(rest[0], whole[0][7*60:]) || !bytes.Equal(rest[1], whole[1][7:]) {
		t.Errorf("found other rows, error %v", err)
	}
	if err := table.Skip(1); !errors.Is(err, fault.Usage) {
		t.Errorf("found %v", err)
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
	data, err := readAll(table, 50)
	if err != nil {
		t.Fatal(err)
	}
	if table.folders != nil || len(table.Columns()[1].Classes) != maxOpen+1 || table.Columns()[1].DType != idx.Int32 {
		t.Errorf("found %d open folders, labels %v", len(table.folders), table.Columns()[1])
	}
	for row := range maxOpen + 1 {
		if v := source.Int(idx.Int32, data[1], row); v != int64(row) {
			t.Fatalf("row %d has the label %d", row, v)
		}
	}
}
