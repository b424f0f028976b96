package arrow

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/idxport/idxport/internal/compressed"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	sinkarrow "github.com/idxport/idxport/sink/arrow"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sourcetest"
)

// Small files have windows, too. In pipes their record batches are read as a whole.
func init() { windowSize = 250 }

// save writes file to a folder of the test and returns its path.
func save(tb testing.TB, file []byte) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "table.arrow")
	must.Do(tb, os.WriteFile(path, file, 0o600))
	return path
}

// ways returns the ways in which a file can be opened.
func ways(tb testing.TB, file []byte) map[string]func(source.ReadOptions) (source.Table, error) {
	path := save(tb, file)
	ways := map[string]func(source.ReadOptions) (source.Table, error){
		"file": func(o source.ReadOptions) (source.Table, error) { return Open(path, o) },
	}
	if !bytes.HasPrefix(file, []byte(magic)) {
		ways["pipe"] = func(o source.ReadOptions) (source.Table, error) { return New(bytes.NewBuffer(file), "-", o) }
	}
	return ways
}

// encode returns the Arrow file of t, whose record batches have the given number of rows.
func encode(tb testing.TB, t layouttest.Table, o sink.Options, batch int) []byte {
	tb.Helper()
	return t.Write(tb, func(w io.Writer, s *schema.Schema) (sink.Sink, error) { return sinkarrow.New(w, s, o) },
		t.Schema(), batch)
}

// TestRoundTrip reads what package sink/arrow writes, in every layout.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	layouttest.Each(t, layouttest.Names(), []int{0, 1, 203}, func(t *testing.T, name string, written layouttest.Table) {
		if name == "huggingface" {
			if written.Refuses(name) {
				t.Skip("no images")
			}
			written.ClearSigns()
		}
		// such records have no columns
		if c := written.Columns[0]; name == "columns" && !c.Scalar() && c.Elements() == 0 {
			written.Columns, written.Data = written.Columns[1:2], written.Data[1:2]
		}
		for i, codec := range sinkarrow.Codecs() {
			if i > 0 && written.Rows == 1 {
				continue // one row shows nothing new about a codec
			}
			for k, stream := range []bool{false, true} {
				o := sink.Options{Layout: name, Compression: compressed.Codec{Name: codec}, Stream: stream}
				file := encode(t, written, o, 97)
				for _, open := range ways(t, file) {
					for _, rows := range [][]int{{97, 13, 1000}, {13, 97, 1000}, {1000, 50, 97}}[(i+k)%3][:1+k] {
						table := must.Get(open(source.ReadOptions{}))(t)
						sourcetest.Expect(t, table, rows, written.Columns, written.Data)
						if n := table.Rows(); n != int64(written.Rows) && n >= 0 {
							t.Errorf("found %d rows, expected %d", n, written.Rows)
						}
						if about := source.About(table); about.Meta["sources"] != "a, b" || len(about.Notes) > 0 {
							t.Errorf("found the metadata %v and notes %q, expected no notes", about.Meta, about.Notes)
						}
						must.Do(t, table.Close())
					}
				}
			}
		}
	})
}

// TestSkip skips rows within record batches and their windows, of 41 rows, and at their ends.
func TestSkip(t *testing.T) {
	t.Parallel()
	written := layouttest.Random(100, source.Column{Name: "x", DType: idx.Int16, Shape: []int{3}})
	for _, codec := range sinkarrow.Codecs() {
		path := save(t, encode(t, written, sink.Options{Compression: compressed.Codec{Name: codec}}, 64))
		for _, n := range []int{0, 1, 40, 41, 42, 60, 63, 64, 65, 99, 100} {
			for _, before := range []int{0, 1, 9} { // rows that are read before
				table := must.Get(Open(path, source.ReadOptions{}))(t)
				if before = min(before, 100-n); before > 0 {
					must.Do(t, table.Read(t.Context(), &source.Raw{Cap: before}))
				}
				must.Do(t, source.Skip(table, int64(n)))
				sourcetest.Expect(t, table, 1000, written.Columns, [][]byte{written.Data[0][6*(before+n):]})
				must.Do(t, table.Close())
			}
		}
	}
}
