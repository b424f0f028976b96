package parquet

import (
	"bytes"
	"errors"
	"io"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
)

// rowsOf reads all rows with parquet-go: the values of all leaves of each.
func rowsOf(tb testing.TB, f *pq.File) []pq.Row {
	tb.Helper()
	var rows []pq.Row
	for _, group := range f.RowGroups() {
		r := group.Rows()
		for {
			buffer := make([]pq.Row, 10)
			n, err := r.ReadRows(buffer)
			for _, row := range buffer[:n] {
				rows = append(rows, row.Clone())
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				tb.Fatal(err)
			}
		}
		if err := r.Close(); err != nil {
			tb.Fatal(err)
		}
	}
	return rows
}

// checkImages writes t in a layout of images, or sees that it is refused, and compares every value with what parquet-go reads.
func checkImages(tb testing.TB, t layouttest.Table, o Options, batch int) *pq.File {
	tb.Helper()
	if t.Refuses(o.Layout) {
		if _, err := New(io.Discard, t.Schema(), o); !errors.Is(err, fault.Usage) {
			tb.Errorf("found the error %v, expected ErrUnsupported", err)
		}
		return nil
	}
	t.ClearSigns()
	f := open(tb, write(tb, t, o, batch))
	rows := rowsOf(tb, f)
	if len(rows) != t.Rows {
		tb.Fatalf("found %d rows, expected %d", len(rows), t.Rows)
	}
	for row, values := range rows {
		for i, c := range t.Columns {
			switch {
			case c.Scalar():
				var found []byte
				if v := values[0]; v.Kind() == pq.Int64 { // a label
					if v.Int64() != t.Label(i, row) || v.DefinitionLevel() != 1 {
						tb.Fatalf("row %d: found the label %+v, expected %d", row, v, t.Label(i, row))
					}
				} else if found = elementOf(v, c.DType); !bytes.Equal(found, t.Record(i, row)) {
					tb.Fatalf("row %d: found % x, expected % x", row, found, t.Record(i, row))
				}
				values = values[1:]
			case o.Layout == "huggingface":
				checkFile(tb, row, values[:2], t.Record(i, row), c)
				values = values[2:]
			default:
				checkStruct(tb, row, values[:6], t.Record(i, row), c)
				values = values[6:]
			}
		}
		if len(values) > 0 {
			tb.Fatalf("row %d: found %d more values than expected", row, len(values))
		}
	}
	return f
}

// checkFile looks at the bytes and the path of an image.
func checkFile(tb testing.TB, row int, values pq.Row, want []byte, c source.Column) {
	tb.Helper()
	size, found := layouttest.Decode(tb, values[0].ByteArray())
	if size.Y != c.Shape[0] || size.X != c.Shape[1] || !bytes.Equal(found, want) || !values[1].IsNull() || values[1].DefinitionLevel() != 1 {
		tb.Fatalf("row %d: found a file of %v and the path %+v, expected the record of shape %v and none", row, size, values[1], c.Shape)
	}
}

// checkStruct looks at an image of Spark's.
func checkStruct(tb testing.TB, row int, values pq.Row, want []byte, c source.Column) {
	tb.Helper()
	channels := 1
	if len(c.Shape) == 3 {
		channels = c.Shape[2]
	}
	mode := map[int]int32{1: 0, 3: 16, 4: 24}[channels]
	pixels := bytes.Clone(want)
	for i := 0; channels > 1 && i < len(pixels); i += channels {
		pixels[i], pixels[i+2] = want[i+2], want[i]
	}
	for i, n := range []int32{int32(c.Shape[0]), int32(c.Shape[1]), int32(channels), mode} {
		if values[1+i].Int32() != n || values[1+i].DefinitionLevel() != 2 {
			tb.Fatalf("row %d: found %+v in field %d, expected %d", row, values[1+i], 1+i, n)
		}
	}
	if values[0].IsNull() || len(values[0].ByteArray()) != 0 || !bytes.Equal(values[5].ByteArray(), pixels) {
		tb.Fatalf("row %d: found the origin %+v and the pixels % x, expected an empty one and % x", row, values[0], values[5].ByteArray(), pixels)
	}
}

// TestColorImages also ends a row group where pages are held: 40 rows of 100×160×3.
func TestColorImages(t *testing.T) {
	t.Parallel()
	for _, layoutName := range []string{"spark-image", "huggingface"} {
		for _, channels := range []int{1, 3, 4} {
			written := layouttest.Random(40,
				source.Column{Name: "label", DType: idx.Uint8},
				source.Column{Name: "image", DType: idx.Uint8, Shape: []int{100, 160, channels}})
			checkImages(t, written, Options{Layout: layoutName}, 7)
		}
	}
}

// TestPNGFilesAreNotCompressed looks at the codecs of chunks: PNG files do not compress again.
func TestPNGFilesAreNotCompressed(t *testing.T) {
	t.Parallel()
	written := layouttest.Images()
	written.Columns[1].Classes = []string{"a", "b"}
	f := checkImages(t, written, Options{Layout: "huggingface", Compression: "zstd"}, 500)
	columns := f.Metadata().RowGroups[0].Columns
	for i, want := range []format.CompressionCodec{format.Uncompressed, format.Zstd, format.Zstd} {
		if found := columns[i].MetaData.Codec; found != want {
			t.Errorf("leaf %d: found the codec %v, expected %v", i, found, want)
		}
	}
	if m := columns[1].MetaData; m.NumValues != int64(written.Rows) || m.Statistics.NullCount != int64(written.Rows) {
		t.Errorf("found %d paths of which %d are missing, expected all %d", m.NumValues, m.Statistics.NullCount, written.Rows)
	}
	if value, ok := f.Lookup("huggingface"); !ok || value != `{"info":{"features":{"image":{"_type":"Image"},"label":{"names":["a","b"],"_type":"ClassLabel"}}}}` {
		t.Errorf("found the features %s", value)
	}
}

// TestLabelsHaveBounds reads the statistics of an optional label, in INT64 values.
func TestLabelsHaveBounds(t *testing.T) {
	t.Parallel()
	written := layouttest.Table{Rows: 3, Columns: []source.Column{{Name: "label", DType: idx.Int8}}, Data: [][]byte{{5, 254, 7}}}
	m := checkImages(t, written, Options{Layout: "huggingface"}, 3).Metadata().RowGroups[0].Columns[0].MetaData
	if !bytes.Equal(m.Statistics.MinValue, []byte{254, 255, 255, 255, 255, 255, 255, 255}) || !bytes.Equal(m.Statistics.MaxValue, []byte{7, 0, 0, 0, 0, 0, 0, 0}) {
		t.Errorf("found the bounds % x and % x, expected −2 and 7", m.Statistics.MinValue, m.Statistics.MaxValue)
	}
}

// TestMadeMemoryIsCounted: with no codec, what a layout makes of a batch is all that a page takes beside it.
func TestMadeMemoryIsCounted(t *testing.T) {
	t.Parallel()
	s := layouttest.Random(0, source.Column{Name: "x", DType: idx.Uint8, Shape: []int{28, 28, 3}}).Schema()
	for layoutName, least := range map[string]int64{"fixed-binary": 0, "binary": 4 + 28*28*3, "spark-image": 4 + 4 + 28*28*3, "huggingface": 4 + 28*28*3} {
		k, err := New(io.Discard, s, Options{Layout: layoutName, Compression: "none"})
		if err != nil {
			t.Fatal(err)
		}
		if found := k.BatchSize(100); found < 100*least || least == 0 && found != 0 {
			t.Errorf("%s: found %d bytes for 100 rows, expected at least %d", layoutName, found, 100*least)
		}
	}
}
