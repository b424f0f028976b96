package parquet

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	wrap "github.com/idxport/idxport/internal/compressed"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/sink/layout"
	sinkparquet "github.com/idxport/idxport/sink/parquet"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sourcetest"
)

// TestRoundTrip reads every layout, type and rank that sink/parquet writes.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	layouttest.Each(t, layout.Names(), []int{0, 1, 1003}, func(t *testing.T, layoutName string, table layouttest.Table) {
		if layouttest.ImagesOnly(layoutName) && table.Refuses(layoutName) {
			t.Skip("no images")
		}
		table.ClearSigns()
		columns, data := table.Columns, table.Data
		if layoutName == "columns" && columns[0].Elements() == 0 { // no columns
			columns, data = columns[1:2], data[1:2]
		}
		for _, codec := range []string{"", "none"} {
			o := sinkparquet.Options{Layout: layoutName, Compression: wrap.Codec{Name: codec}}
			file := written(t, table, o, 104)
			for _, rows := range []int{104, 1, 97, 5000} { // one as written, others across pages
				if rows == 1 && layoutName == "columns" {
					continue // slow
				}
				got := must.Get(fromBytes(file, source.ReadOptions{}))(t)
				sourcetest.Expect(t, got, rows, columns, data)
			}
		}
	})
}

// TestRowGroups reads a table of several row groups, starting at various rows.
func TestRowGroups(t *testing.T) {
	t.Parallel()
	table := layouttest.Random(50_000, source.Column{Name: "x", DType: idx.Uint8, Shape: []int{3, 5}},
		source.Column{Name: "label", DType: idx.Int16})
	for _, name := range []string{"list", "nested", "columns", "fixed-binary", "binary"} {
		file := written(t, table, sinkparquet.Options{Layout: name}, 1000)
		for _, skip := range []int{0, 1, 999, 1000, 1001, 20_000, 21_003, 49_999, 50_000} {
			t.Run(fmt.Sprintf("%s from row %d", name, skip), func(t *testing.T) {
				t.Parallel()
				got := must.Get(fromBytes(file, source.ReadOptions{}))(t)
				if got.Rows() != 50_000 {
					t.Errorf("found %d rows, expected 50000", got.Rows())
				}
				must.Do(t, got.(source.Seeker).Skip(int64(skip)))
				var data [][]byte
				for i, c := range table.Columns {
					data = append(data, table.Data[i][skip*c.RecordSize():])
				}
				sourcetest.Expect(t, got, 1000, got.Columns(), data) // layout columns names x image
			})
		}
	}
}

// written returns the file that sink/parquet writes of t, in batches of batch rows.
func written(tb testing.TB, t layouttest.Table, o sinkparquet.Options, batch int) []byte {
	tb.Helper()
	open := func(w io.Writer, s *schema.Schema) (sink.Sink, error) { return sinkparquet.New(w, s, o) }
	return t.Write(tb, open, t.Schema(), batch)
}

// fromBytes opens a file in memory.
func fromBytes(file []byte, o source.ReadOptions) (source.Table, error) {
	t, err := newTable(bytes.NewReader(file), io.NopCloser(nil), int64(len(file)), "test.parquet", o)
	if err != nil {
		return nil, err
	}
	return t, nil
}
