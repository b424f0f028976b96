package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/internal/compressed"
	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/layout"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
	"github.com/idxport/idxport/test/must"
)

// check reads file back and compares it with written, bit for bit.
func check(tb testing.TB, t layouttest.Table, file []byte, layoutName string) {
	tb.Helper()
	rows := rowsOf(tb, open(tb, file))
	columns, _, err := layout.Represent(t.Schema(), layoutName)
	if len(rows) != t.Rows || err != nil {
		tb.Fatalf("found %d rows and the error %v, expected %d and none", len(rows), err, t.Rows)
	}
	leaves := make([][]byte, len(columns)) // the values of each; a column has one leaf
	for row, all := range rows {
		all.Range(func(k int, found []pq.Value) bool {
			c := t.Columns[columns[k].Source]
			entries, missing := 1, 0
			if slices.Contains([]string{"list", "nested", "tensor"}, layoutName) && !c.Scalar() {
				entries = max(c.Elements(), 1)
				missing = entries - c.Elements() // an empty list is one entry without a value
			}
			nulls := 0
			for _, v := range found {
				switch {
				case v.IsNull():
					nulls++
				case v.Kind() == pq.FixedLenByteArray || v.Kind() == pq.ByteArray:
					leaves[k] = append(leaves[k], v.ByteArray()...)
				default:
					leaves[k] = append(leaves[k], elementOf(v, c.DType)...)
				}
			}
			if len(found) != entries || nulls != missing {
				tb.Fatalf("leaf %d, row %d: found %d entries and %d nulls, expected %d and %d",
					k, row, len(found), nulls, entries, missing)
			}
			return true
		})
	}
	parts := make([][][]byte, len(t.Columns))
	for k, column := range columns {
		parts[column.Source] = append(parts[column.Source], leaves[k])
	}
	for i, c := range t.Columns {
		if values := layouttest.Join(parts[i], c.DType.Size()); !bytes.Equal(values, t.Data[i]) {
			tb.Errorf("column %d: found %d bytes of values, expected the %d that were written",
				i, len(values), len(t.Data[i]))
		}
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	rows := []int{0, 1, 1003}
	layouttest.Each(t, layouttest.Names(), rows, func(t *testing.T, layoutName string, written layouttest.Table) {
		o := sink.Options{Layout: layoutName, Compression: compressed.Codec{Name: "snappy"}}
		if layoutName == "huggingface" {
			checkImages(t, written, o, 97)
		} else {
			check(t, written, write(t, written, o, 97), layoutName)
		}
	})
}

func TestCodecs(t *testing.T) {
	t.Parallel()
	for _, codec := range Codecs() {
		for _, level := range []int{0, 1, 9} {
			for _, d := range []idx.DType{idx.Uint8, idx.Float64} {
				t.Run(fmt.Sprintf("%s %d %v", codec, level, d), func(t *testing.T) {
					t.Parallel()
					o := sink.Options{Compression: compressed.Codec{Name: codec, Level: level}}
					written := layouttest.Random(700, source.Column{Name: "image", DType: d, Shape: []int{7, 9}},
						source.Column{Name: "label", DType: d})
					if level > 0 && (codec == "none" || codec == "snappy") {
						if _, err := New(&bytes.Buffer{}, written.Schema(), o); !errors.Is(err, fault.Usage) {
							t.Errorf("found the error %v, expected a fault.Usage: there are no levels", err)
						}
						return
					}
					for i := range written.Data { // half of it is compressible
						clear(written.Data[i][:len(written.Data[i])/2])
					}
					file := write(t, written, o, 64)
					check(t, written, file, "list")
					plain := write(t, written, sink.Options{Compression: compressed.Codec{Name: "none"}}, 64)
					if codec != "none" && len(file) > len(plain)*3/4 {
						t.Errorf("found %d bytes, and %d without compression", len(file), len(plain))
					}
				})
			}
		}
	}
}

// TestInt16Dictionary writes enough elements for the dictionary of 65,536 entries to pay, with an
// incomplete last group of indices.
func TestInt16Dictionary(t *testing.T) {
	t.Parallel()
	written := layouttest.Random(2501, source.Column{Name: "x", DType: idx.Int16, Shape: []int{71}})
	file := write(t, written, sink.Options{Compression: compressed.Codec{Name: "none"}}, 2501)
	check(t, written, file, "list")
	if plain := 4 * 2501 * 71; len(file) >= plain {
		t.Errorf("found a file of %d bytes, expected less than the %d of PLAIN values", len(file), plain)
	}
}

func TestUnsupported(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		column  source.Column
		options sink.Options
	}{
		{"codec", source.Column{}, sink.Options{Compression: compressed.Codec{Name: "lzo"}}},
		{"level", source.Column{}, sink.Options{Compression: compressed.Codec{Name: "zstd", Level: 23}}},
		{"negative level", source.Column{}, sink.Options{Compression: compressed.Codec{Level: -1}}},
		{"layout", source.Column{}, sink.Options{Layout: "lists"}},
		{"record of 2 GiB", source.Column{Shape: []int{math.MaxInt32}}, sink.Options{}},
		{"record of 2 GiB as bytes", source.Column{Shape: []int{math.MaxInt32}}, sink.Options{Layout: "fixed-binary"}},
		{"record of 2 GiB as bytes after a length", source.Column{Shape: []int{math.MaxInt32 - 4}},
			sink.Options{Layout: "binary"}},
		{"PNG file of 2 GiB", source.Column{Shape: []int{1 << 15, 1<<16 - 2}}, sink.Options{Layout: "huggingface"}},
		{"2 GiB in PLAIN values", source.Column{DType: idx.Float64, Shape: []int{1 << 28}}, sink.Options{}},
	} {
		test.column.Name = "x"
		if test.column.DType == 0 {
			test.column.DType = idx.Uint8
		}
		s := &schema.Schema{Columns: []source.Column{test.column}}
		if _, err := New(io.Discard, s, test.options); !errors.Is(err, fault.Usage) {
			t.Errorf("%s: found the error %v, expected a fault.Usage", test.name, err)
		}
	}
}

func TestContract(t *testing.T) {
	t.Parallel()
	for i, layoutName := range layouttest.Names() { // each with another codec
		codec := Codecs()[i%len(Codecs())]
		t.Run(layoutName+" "+codec, func(t *testing.T) {
			t.Parallel()
			layouttest.RunWriter(t, layoutName,
				with(sink.Options{Layout: layoutName, Compression: compressed.Codec{Name: codec}}))
		})
	}
}

// with returns a function that opens sinks with the options o.
func with(o sink.Options) layouttest.Open {
	return func(w io.Writer, s *schema.Schema) (sink.Sink, error) { return New(w, s, o) }
}

// write writes t in batches of up to batch rows.
func write(tb testing.TB, t layouttest.Table, o sink.Options, batch int) []byte {
	tb.Helper()
	return t.Write(tb, with(o), t.Schema(), batch)
}

// open reads the footer and the indexes with parquet-go.
func open(tb testing.TB, file []byte) *pq.File {
	tb.Helper()
	return must.Get(pq.OpenFile(bytes.NewReader(file), int64(len(file))))(tb)
}

// elementOf returns v as an element of d. Values outside d have another length, so comparisons
// fail.
func elementOf(v pq.Value, d idx.DType) []byte {
	switch d {
	case idx.Float32:
		return binary.LittleEndian.AppendUint32(nil, math.Float32bits(v.Float()))
	case idx.Float64:
		return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v.Double()))
	}
	n := int64(v.Int32())
	bits := 8 * d.Size()
	low, high := int64(-1)<<(bits-1), int64(1)<<(bits-1)-1
	if d == idx.Uint8 {
		low, high = 0, math.MaxUint8
	}
	if n < low || n > high {
		return []byte(fmt.Sprintf("%d is no %v", n, d))
	}
	return binary.LittleEndian.AppendUint32(nil, uint32(n))[:d.Size()]
}

// rowsOf reads all rows with parquet-go, with the values of all leaves.
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
		must.Do(tb, r.Close())
	}
	return rows
}

// checkImages writes t in a layout of images, unless that refuses it, and compares every value with
// what parquet-go reads.
func checkImages(tb testing.TB, t layouttest.Table, o sink.Options, batch int) *pq.File {
	tb.Helper()
	if t.Refuses(o.Layout) {
		if _, err := New(io.Discard, t.Schema(), o); !errors.Is(err, fault.Usage) {
			tb.Errorf("found the error %v, expected a fault.Usage", err)
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
					if want := source.Int(c.DType, t.Data[i], row); v.Int64() != want || v.DefinitionLevel() != 1 {
						tb.Fatalf("row %d: found the label %+v, expected %d", row, v, want)
					}
				} else if found = elementOf(v, c.DType); !bytes.Equal(found, t.Record(i, row)) {
					tb.Fatalf("row %d: found % x, expected % x", row, found, t.Record(i, row))
				}
				values = values[1:]
			default:
				checkFile(tb, row, values[:2], t.Record(i, row), c)
				values = values[2:]
			}
		}
		if len(values) > 0 {
			tb.Fatalf("row %d: found %d more values than expected", row, len(values))
		}
	}
	return f
}

// checkFile checks the bytes and the path of an image.
func checkFile(tb testing.TB, row int, values pq.Row, want []byte, c source.Column) {
	tb.Helper()
	size, found := layouttest.Decode(tb, values[0].ByteArray())
	if size.Y != c.Shape[0] || size.X != c.Shape[1] || !bytes.Equal(found, want) || !values[1].IsNull() ||
		values[1].DefinitionLevel() != 1 {
		tb.Fatalf("row %d: found a file of %v and the path %+v, expected the record of shape %v and none",
			row, size, values[1], c.Shape)
	}
}

// TestColorImages also ends a row group because of waiting pages: 40 rows of 100×160×3.
func TestColorImages(t *testing.T) {
	t.Parallel()
	for _, channels := range []int{1, 3, 4} {
		written := layouttest.Random(40, source.Column{Name: "label", DType: idx.Uint8},
			source.Column{Name: "image", DType: idx.Uint8, Shape: []int{100, 160, channels}})
		checkImages(t, written, sink.Options{Layout: "huggingface"}, 7)
	}
}

// TestPNGFilesAreNotCompressed checks the codecs of chunks, as PNG files do not compress again.
func TestPNGFilesAreNotCompressed(t *testing.T) {
	t.Parallel()
	written := layouttest.Random(1200, source.Column{Name: "image", DType: idx.Uint8, Shape: []int{28, 28}},
		source.Column{Name: "label", DType: idx.Uint8, Classes: []string{"a", "b"}})
	f := checkImages(t, written, sink.Options{Layout: "huggingface", Compression: compressed.Codec{Name: "zstd"}}, 500)
	columns := f.Metadata().RowGroups[0].Columns
	for i, want := range []format.CompressionCodec{format.Uncompressed, format.Zstd, format.Zstd} {
		if found := columns[i].MetaData.Codec; found != want {
			t.Errorf("leaf %d: found the codec %v, expected %v", i, found, want)
		}
	}
	if m := columns[1].MetaData; m.NumValues != int64(written.Rows) || m.Statistics.NullCount != int64(written.Rows) {
		t.Errorf("found %d paths of which %d are missing, expected all %d",
			m.NumValues, m.Statistics.NullCount, written.Rows)
	}
	if value, ok := f.Lookup("huggingface"); !ok ||
		value != `{"info":{"features":{"image":{"_type":"Image"},"label":{"names":["a","b"],"_type":"ClassLabel"}}}}` {
		t.Errorf("found the features %s", value)
	}
}

// TestLabelsHaveBounds reads the statistics of an optional label, which are INT64 values.
func TestLabelsHaveBounds(t *testing.T) {
	t.Parallel()
	written := layouttest.Table{Rows: 3, Columns: []source.Column{{Name: "label", DType: idx.Int8}},
		Data: [][]byte{{5, 254, 7}}}
	m := checkImages(t, written, sink.Options{Layout: "huggingface"}, 3).Metadata().RowGroups[0].Columns[0].MetaData
	if !bytes.Equal(m.Statistics.MinValue, []byte{254, 255, 255, 255, 255, 255, 255, 255}) ||
		!bytes.Equal(m.Statistics.MaxValue, []byte{7, 0, 0, 0, 0, 0, 0, 0}) {
		t.Errorf("found the bounds % x and % x, expected −2 and 7", m.Statistics.MinValue, m.Statistics.MaxValue)
	}
}

// TestAllocatedMemoryIsCounted checks BatchSize without a codec: it is what the layout allocates
// for a batch.
func TestAllocatedMemoryIsCounted(t *testing.T) {
	t.Parallel()
	s := layouttest.Random(0, source.Column{Name: "x", DType: idx.Uint8, Shape: []int{28, 28, 3}}).Schema()
	for layoutName, least := range map[string]int64{"fixed-binary": 0, "binary": 4 + 28*28*3,
		"huggingface": 4 + 28*28*3} {
		o := sink.Options{Layout: layoutName, Compression: compressed.Codec{Name: "none"}}
		k := must.Get(New(io.Discard, s, o))(t)
		if found := k.BatchSize(100); found < 100*least || least == 0 && found != 0 {
			t.Errorf("%s: found %d bytes for 100 rows, expected at least %d", layoutName, found, 100*least)
		}
	}
}
