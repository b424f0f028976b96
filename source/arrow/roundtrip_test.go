package arrow

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	sinkarrow "github.com/idxport/idxport/sink/arrow"
	"github.com/idxport/idxport/sink/layout"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
)

// drain reads t to its end, in batches of most rows, with two of them on their way at once, and returns the bytes of each column.
func drain(tb testing.TB, t source.Table, most int) [][]byte {
	tb.Helper()
	found, err := readAll(t, most)
	if err != nil {
		tb.Fatal(err)
	}
	return found
}

func readAll(t source.Table, most int) ([][]byte, error) {
	found := make([][]byte, len(t.Columns()))
	slots := []*source.Raw{{Cap: most}, {Cap: most}}
	rows := int64(0)
	for end := false; !end; {
		var filled []*source.Raw
		for _, b := range slots { // Decode may run after the next Read
			err := t.Read(context.Background(), b)
			if end = err == io.EOF; end {
				break
			}
			if err != nil {
				return nil, err
			}
			if b.First != rows || b.Rows < 1 || b.Rows > most {
				panic("a batch of other rows than the next")
			}
			rows += int64(b.Rows)
			filled = append(filled, b)
		}
		for _, b := range filled {
			if err := t.Decode(b); err != nil {
				return nil, err
			}
			for i, c := range t.Columns() {
				if len(b.Columns[i]) != b.Rows*c.RecordSize() {
					panic("a batch of other size than its rows")
				}
				found[i] = append(found[i], b.Columns[i]...)
				clear(b.Columns[i]) // others may write there
			}
		}
	}
	if t.Rows() >= 0 && t.Rows() != rows {
		panic("other rows than promised")
	}
	return found, nil
}

// save puts file where Open finds it.
func save(tb testing.TB, file []byte) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "table.arrow")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// ways are those in which a file can be opened.
func ways(tb testing.TB, file []byte) map[string]func(source.ReadOptions) (source.Table, error) {
	path := save(tb, file)
	return map[string]func(source.ReadOptions) (source.Table, error){
		"file": func(o source.ReadOptions) (source.Table, error) { return Open(path, o) },
		"pipe": func(o source.ReadOptions) (source.Table, error) { return New(bytes.NewBuffer(file), "-", o) },
	}
}

// compare demands that t has the columns and the data of want.
func compare(tb testing.TB, t source.Table, want layouttest.Table, most int) {
	tb.Helper()
	defer t.Close()
	if t.Rows() >= 0 && t.Rows() != int64(want.Rows) {
		tb.Errorf("found %d rows, expected %d", t.Rows(), want.Rows)
	}
	columns := t.Columns()
	if len(columns) != len(want.Columns) {
		tb.Fatalf("found the columns %v, expected %v", columns, want.Columns)
	}
	for i, c := range want.Columns {
		if f := columns[i]; f.Name != c.Name || f.DType != c.DType || !slices.Equal(f.Shape, c.Shape) {
			tb.Errorf("column %d: found %s %v %v, expected %s %v %v", i, f.Name, f.DType, f.Shape, c.Name, c.DType, c.Shape)
		}
	}
	for i, data := range drain(tb, t, most) {
		if !bytes.Equal(data, want.Data[i]) {
			tb.Errorf("column %s: found %d bytes, expected the %d bytes that were written", want.Columns[i].Name, len(data), len(want.Data[i]))
		}
	}
}

func encode(tb testing.TB, t layouttest.Table, o sinkarrow.Options, batch int) []byte {
	tb.Helper()
	return t.Write(tb, func(w io.Writer, s *schema.Schema) (sink.Sink, error) { return sinkarrow.New(w, s, o) }, t.Schema(), batch)
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	layouttest.Each(t, layout.Names(), []int{0, 1, 203}, func(t *testing.T, name string, written layouttest.Table) {
		if layouttest.ImagesOnly(name) {
			if written.Refuses(name) {
				t.Skip("no images")
			}
			written.ClearSigns()
		}
		scalars := written.Columns[0].Scalar()
		if name == "columns" && !scalars {
			if written.Columns[0].Elements() == 0 { // there are no columns for it
				written.Columns, written.Data = written.Columns[1:2], written.Data[1:2]
			} // with two tensors they keep their names: x0, x1, …
		}
		for i, codec := range sinkarrow.Codecs() {
			if i > 0 && written.Rows == 1 {
				continue // nothing new
			}
			for k, stream := range []bool{false, true} {
				file := encode(t, written, sinkarrow.Options{Layout: name, Compression: codec, Stream: stream}, 97)
				for way, open := range ways(t, file) {
					for _, most := range [][]int{{97, 13, 1000}, {13, 97, 1000}, {1000, 50, 97}}[(i+k)%3][:1+k] {
						table, err := open(source.ReadOptions{})
						if err != nil {
							t.Fatalf("%s, %s: %v", codec, way, err)
						}
						compare(t, table, written, most)
						if meta := source.Meta(table); meta["sources"] != "a, b" {
							t.Errorf("found the metadata %v", meta)
						}
						if notes := source.Notes(table); len(notes) > 0 {
							t.Errorf("found the notes %q, expected none", notes)
						}
					}
				}
			}
		}
	})
}

// Images whose channels come first are stored with the channels last.
func TestChannelsFirst(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"spark-image", "huggingface"} {
		written := layouttest.Random(20, source.Column{Name: "image", DType: idx.Uint8, Shape: []int{3, 5, 7}})
		file := encode(t, written, sinkarrow.Options{Layout: name, Channels: "first"}, 20)
		for _, open := range ways(t, file) {
			table, err := open(source.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			compare(t, table, written, 7)
		}
	}
}

// The lone tensor of the layout columns is called image, as its elements are called pixels.
func TestPixels(t *testing.T) {
	t.Parallel()
	for _, shape := range [][]int{{28, 28}, {1}, {5}, {2, 3, 4}} {
		written := layouttest.Random(70, source.Column{Name: "label", DType: idx.Uint8}, source.Column{Name: "image", DType: idx.Uint8, Shape: shape})
		table, err := Open(save(t, encode(t, written, sinkarrow.Options{Layout: "columns"}, 32)), source.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		compare(t, table, written, 50)
	}
}

// A column of class names is passed over, and the names that Hugging Face's metadata has are taken.
func TestClasses(t *testing.T) {
	t.Parallel()
	names := []string{"zero", "one", "two"}
	written := layouttest.Random(10, source.Column{Name: "label", DType: idx.Uint8, Classes: names}, source.Column{Name: "image", DType: idx.Uint8, Shape: []int{2, 2}})
	for i := range written.Data[0] {
		written.Data[0][i] %= 3
	}
	for _, name := range []string{"list", "huggingface"} {
		written.Named = name == "list"
		table, err := Open(save(t, encode(t, written, sinkarrow.Options{Layout: name}, 10)), source.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(source.Notes(table), "\n")
		if classes := table.Columns()[0].Classes; written.Named != strings.Contains(notes, "passed over column class") || !written.Named && !slices.Equal(classes, names) {
			t.Errorf("%s: found the classes %q and the notes %q", name, classes, notes)
		}
		compare(t, table, written, 3)
	}
}

func TestSkip(t *testing.T) {
	t.Parallel()
	written := layouttest.Random(100, source.Column{Name: "x", DType: idx.Int16, Shape: []int{3}})
	for _, codec := range sinkarrow.Codecs() {
		file := encode(t, written, sinkarrow.Options{Compression: codec}, 16)
		for way, open := range ways(t, file) {
			for _, n := range []int{0, 1, 15, 16, 17, 48, 99, 100} {
				table, err := open(source.ReadOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if err := source.Skip(table, int64(n)); err != nil {
					t.Fatal(err)
				}
				b := &source.Raw{Cap: 1000}
				if err := table.Read(context.Background(), b); n == 100 != (err == io.EOF) || n < 100 && err != nil {
					t.Fatalf("%s, %d: found %v", way, n, err)
				} else if err == nil {
					if err := table.Decode(b); err != nil || b.First != int64(n) || !bytes.Equal(b.Columns[0], written.Data[0][6*n:]) {
						t.Errorf("%s, %d: found row %d, %d rows, error %v", way, n, b.First, b.Rows, err)
					}
				}
				if err := table.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// Files of one table are read one after another, also within a batch.
func TestFiles(t *testing.T) {
	t.Parallel()
	written := layouttest.Random(100, source.Column{Name: "x", DType: idx.Int16, Shape: []int{3}}, source.Column{Name: "label", DType: idx.Uint8})
	for _, codec := range sinkarrow.Codecs() {
		var paths []string
		for first := 0; first < 100; first += 30 {
			rows := min(30, 100-first)
			part := layouttest.Table{Columns: written.Columns, Rows: rows}
			for i, c := range written.Columns {
				part.Data = append(part.Data, written.Data[i][first*c.RecordSize():(first+rows)*c.RecordSize()])
			}
			paths = append(paths, save(t, encode(t, part, sinkarrow.Options{Compression: codec}, 7)))
		}
		for _, most := range []int{1, 7, 11, 64, 1000} {
			table, err := OpenFiles(paths, "train", source.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if origin := table.Columns()[0].Origin; origin != "train" {
				t.Errorf("found the origin %q", origin)
			}
			compare(t, table, written, most)
		}
		other := save(t, encode(t, layouttest.Random(3, source.Column{Name: "x", DType: idx.Int16, Shape: []int{4}}), sinkarrow.Options{}, 7))
		if _, err := OpenFiles(append(paths, other), "train", source.ReadOptions{}); err == nil || !strings.Contains(err.Error(), other) {
			t.Errorf("found %v, expected an error about %s", err, other)
		}
	}
}

// TestConcurrent decodes many batches at once, which share record batches or gather several.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"list", "binary", "columns", "huggingface"} {
		written := layouttest.Random(400, source.Column{Name: "image", DType: idx.Uint8, Shape: []int{5, 6}}, source.Column{Name: "label", DType: idx.Uint8})
		for _, codec := range sinkarrow.Codecs() {
			for _, batch := range []int{400, 40, 7} {
				file := encode(t, written, sinkarrow.Options{Layout: name, Compression: codec}, batch)
				for way, open := range ways(t, file) {
					table, err := open(source.ReadOptions{DType: idx.Uint8})
					if err != nil {
						t.Fatal(err)
					}
					decodeTogether(t, table, written, name+" "+codec+" "+way)
				}
			}
		}
	}
}

// decodeTogether reads t in batches of 40 rows, and decodes four at once.
func decodeTogether(t *testing.T, table source.Table, want layouttest.Table, name string) {
	t.Helper()
	slots := make(chan *source.Raw, 4)
	for range cap(slots) {
		slots <- &source.Raw{Cap: 40}
	}
	var group sync.WaitGroup
	for {
		b := <-slots
		if err := table.Read(context.Background(), b); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		group.Go(func() {
			if err := table.Decode(b); err != nil {
				t.Error(err)
			}
			for i, c := range want.Columns {
				size := c.RecordSize()
				if at := int(b.First) * size; !bytes.Equal(b.Columns[i], want.Data[i][at:at+b.Rows*size]) {
					t.Errorf("%s: column %s: found other values from row %d on", name, c.Name, b.First)
				}
				clear(b.Columns[i])
			}
			slots <- b
		})
	}
	group.Wait()
	if err := table.Close(); err != nil {
		t.Error(err)
	}
}
