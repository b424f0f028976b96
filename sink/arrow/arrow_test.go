package arrow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

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

// check reads file back and compares it, bit for bit, with written, in batches of batch rows.
func check(tb testing.TB, t layouttest.Table, file []byte, o sink.Options, batch int) {
	tb.Helper()
	found, batches := read(tb, file, o.Stream)
	columns, _, err := layout.Represent(t.Schema(), o.Layout)
	if err != nil {
		tb.Fatal(err)
	}
	if m := found.Metadata(); len(found.Fields()) != len(columns) || m.Len() != 1 || m.Keys()[0] != "sources" ||
		m.Values()[0] != "a, b" {
		tb.Errorf("found the schema %v, expected %d columns and the sources", found, len(columns))
	}
	for k, column := range columns {
		if want := column.Field; !found.Field(k).Equal(want) {
			tb.Errorf("found the field %v, expected %v", found.Field(k), want)
		}
	}
	if want := (t.Rows + batch - 1) / batch; len(batches) != want {
		tb.Fatalf("found %d record batches, expected %d", len(batches), want)
	}
	for i, c := range t.Columns {
		var parts [][]byte // of the columns that it became
		for k, column := range columns {
			if column.Source != i {
				continue
			}
			var values []byte
			rows := 0
			for _, b := range batches {
				values = append(values, bytesOf(tb, b.Column(k))...)
				rows += b.Column(k).Len()
			}
			if rows != t.Rows {
				tb.Errorf("column %d: found %d rows, expected %d", i, rows, t.Rows)
			}
			parts = append(parts, values)
		}
		if values := layouttest.Join(parts, c.DType.Size()); !bytes.Equal(values, t.Data[i]) {
			tb.Errorf("column %d: found %d bytes, expected the %d bytes that were written",
				i, len(values), len(t.Data[i]))
		}
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	rows := []int{0, 1, 203}
	layouttest.Each(t, layouttest.Names(), rows, func(t *testing.T, layoutName string, written layouttest.Table) {
		for _, codec := range Codecs() {
			for _, stream := range []bool{false, true} {
				o := sink.Options{Layout: layoutName, Compression: compressed.Codec{Name: codec}, Stream: stream}
				if layoutName == "huggingface" {
					checkImages(t, written, o, 97)
					continue
				}
				check(t, written, write(t, written, o, 97), o, 97)
			}
		}
	})
}

func TestLevels(t *testing.T) {
	t.Parallel()
	written := layouttest.Random(700, source.Column{Name: "image", DType: idx.Uint8, Shape: []int{7, 9}})
	for at, source := 0, rand.New(rand.NewPCG(1, 2)); at < len(written.Data[0]); { // words out of a few
		word := source.IntN(64)
		at += copy(written.Data[0][at:], written.Data[0][word*9:][:3+word%7])
	}
	for codec, highest := range map[string]int{"lz4": 9, "zstd": 22} {
		var sizes []int
		for _, level := range []int{0, highest} {
			o := sink.Options{Compression: compressed.Codec{Name: codec, Level: level}}
			file := write(t, written, o, 700)
			check(t, written, file, o, 700)
			sizes = append(sizes, len(file))
		}
		if sizes[1] >= sizes[0] {
			t.Errorf("%s: found %d bytes at the fastest and %d at the highest level, expected less",
				codec, sizes[0], sizes[1])
		}
	}
}

// TestFileIsAStream removes from a file what a stream does not have. The rest must equal the
// stream.
func TestFileIsAStream(t *testing.T) {
	t.Parallel()
	written := layouttest.Random(50, source.Column{Name: "x", DType: idx.Uint8, Shape: []int{3}})
	file, stream := write(t, written, sink.Options{}, 20), write(t, written, sink.Options{Stream: true}, 20)
	if !bytes.HasPrefix(file, []byte("ARROW1\x00\x00")) || !bytes.HasSuffix(file, []byte("ARROW1")) ||
		!bytes.HasPrefix(file[8:], stream) {
		t.Error("the file is not a magic number, the stream and a footer")
	}
	// In Message.fbs, field 0 of the root table is the version, which arrow-go does not check.
	number := binary.LittleEndian
	message := stream[8+number.Uint32(stream[4:])+8:] // the first after that of the schema
	root := int(number.Uint32(message))
	fields := root - int(int32(number.Uint32(message[root:])))
	version := number.Uint16(message[root+int(number.Uint16(message[fields+4:])):])
	if version != 4 {
		t.Errorf("found MetadataVersion %d, expected 4, V5", version)
	}
}

func TestUnsupported(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		shape   []int
		options sink.Options
	}{
		{"codec", nil, sink.Options{Compression: compressed.Codec{Name: "gzip"}}},
		{"level of no codec", nil, sink.Options{Compression: compressed.Codec{Level: 1}}},
		{"level", nil, sink.Options{Compression: compressed.Codec{Name: "lz4", Level: 10}}},
		{"layout", nil, sink.Options{Layout: "lists"}},
		{"body of 256 MiB", []int{256 << 20}, sink.Options{}},
		{"list of 2^31 elements", []int{min(1<<31, math.MaxInt)}, sink.Options{}},
	} {
		s := &schema.Schema{Columns: []source.Column{{Name: "x", DType: idx.Uint8, Shape: test.shape}}}
		if _, err := New(io.Discard, s, test.options); !errors.Is(err, fault.Usage) {
			t.Errorf("%s: found the error %v, expected a fault.Usage", test.name, err)
		}
	}
}

func TestContract(t *testing.T) {
	t.Parallel()
	for i, layoutName := range layouttest.Names() { // each with another codec, and every other one as a stream
		codec := Codecs()[i%len(Codecs())]
		t.Run(layoutName+" "+codec, func(t *testing.T) {
			t.Parallel()
			o := sink.Options{Layout: layoutName, Compression: compressed.Codec{Name: codec}, Stream: i%2 == 1}
			layouttest.RunWriter(t, layoutName, with(o))
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

// read reads all record batches with arrow-go.
func read(tb testing.TB, file []byte, stream bool) (*arrow.Schema, []arrow.RecordBatch) {
	tb.Helper()
	var batches []arrow.RecordBatch
	if stream {
		r := must.Get(ipc.NewReader(bytes.NewReader(file)))(tb)
		for r.Next() {
			r.RecordBatch().Retain()
			batches = append(batches, r.RecordBatch())
		}
		if r.Err() != nil && r.Err() != io.EOF {
			tb.Fatal(r.Err())
		}
		return r.Schema(), batches
	}
	r := must.Get(ipc.NewFileReader(bytes.NewReader(file)))(tb)
	for i := range r.NumRecords() {
		batches = append(batches, must.Get(r.RecordBatchAt(i))(tb))
	}
	return r.Schema(), batches
}

// bytesOf returns the values of an array without nulls, with nested lists flattened.
func bytesOf(tb testing.TB, a arrow.Array) []byte {
	tb.Helper()
	if a.NullN() != 0 {
		tb.Errorf("found %d nulls, expected none", a.NullN())
	}
	switch a := a.(type) {
	case *array.FixedSizeList:
		return bytesOf(tb, a.ListValues())
	case *array.List:
		return bytesOf(tb, a.ListValues())
	case *array.Binary:
		return a.ValueBytes()
	}
	size := a.DataType().(arrow.FixedWidthDataType).BitWidth() / 8
	if a.Len() == 0 {
		return nil
	}
	return a.Data().Buffers()[1].Bytes()[:a.Len()*size]
}

// named returns a table of n labels with different names.
func named(n int) layouttest.Table {
	t := layouttest.Table{Named: true, Rows: n, Columns: []source.Column{{Name: "label", DType: idx.Int32}},
		Data: [][]byte{nil}}
	for i := range n {
		t.Columns[0].Classes = append(t.Columns[0].Classes, fmt.Sprintf("class %d", i))
		t.Data[0] = append(t.Data[0], byte(i), byte(i>>8), byte(i>>16), 0)
	}
	return t
}

// TestNames reads the names back with arrow-go. Indices must have the smallest signed type that
// holds them.
func TestNames(t *testing.T) {
	t.Parallel()
	for n, index := range map[int]arrow.DataType{1: arrow.PrimitiveTypes.Int8, 128: arrow.PrimitiveTypes.Int8,
		129:     arrow.PrimitiveTypes.Int16,
		1 << 15: arrow.PrimitiveTypes.Int16, 1<<15 + 1: arrow.PrimitiveTypes.Int32,
		1 << 16: arrow.PrimitiveTypes.Int32} {
		for _, o := range []sink.Options{{}, {Stream: true}, {Compression: compressed.Codec{Name: "zstd"}},
			{Stream: true, Compression: compressed.Codec{Name: "lz4"}, Layout: "columns"}} {
			t.Run(fmt.Sprintf("%d %+v", n, o), func(t *testing.T) {
				t.Parallel()
				written := named(n)
				s, batches := read(t, write(t, written, o, n/2+1), o.Stream)
				want := arrow.Field{Name: "class",
					Type: &arrow.DictionaryType{IndexType: index, ValueType: arrow.BinaryTypes.String}}
				if field := s.Field(1); !field.Equal(want) {
					t.Fatalf("found the field %v, expected %v", field, want)
				}
				row := 0
				for _, b := range batches {
					class := b.Column(1).(*array.Dictionary)
					if class.Dictionary().Len() != n {
						t.Errorf("found a dictionary of %d names, expected %d", class.Dictionary().Len(), n)
					}
					for i := range class.Len() {
						if got, want := class.ValueStr(i), written.Columns[0].Classes[row]; got != want ||
							class.GetValueIndex(i) != row {
							t.Fatalf("row %d: found %q, number %d, expected %q", row, got, class.GetValueIndex(i), want)
						}
						row++
					}
				}
				if row != n {
					t.Errorf("found %d rows, expected %d", row, n)
				}
			})
		}
	}
}

// checkImages writes t in a layout of images, unless that refuses it, and compares every value with
// what arrow-go reads.
func checkImages(tb testing.TB, t layouttest.Table, o sink.Options, batch int) {
	tb.Helper()
	if t.Refuses(o.Layout) {
		if _, err := New(io.Discard, t.Schema(), o); !errors.Is(err, fault.Usage) {
			tb.Errorf("found the error %v, expected a fault.Usage", err)
		}
		return
	}
	t.ClearSigns()
	_, batches := read(tb, write(tb, t, o, batch), o.Stream)
	row := 0
	for _, b := range batches {
		for i := range int(b.NumRows()) {
			for k, c := range t.Columns {
				if c.Scalar() {
					checkScalar(tb, b.Column(k), i, t.Record(k, row), c)
				} else {
					checkImage(tb, b.Column(k).(*array.Struct), i, t.Record(k, row), c)
				}
			}
			row++
		}
	}
	if row != t.Rows {
		tb.Errorf("found %d rows, expected %d", row, t.Rows)
	}
}

func checkScalar(tb testing.TB, a arrow.Array, row int, want []byte, c source.Column) {
	tb.Helper()
	if wide, ok := a.(*array.Int64); ok { // a label
		if found := wide.Value(row); found != source.Int(c.DType, want, 0) || wide.IsNull(row) {
			tb.Fatalf("row %d: found the label %s, expected %d", row, a.ValueStr(row), source.Int(c.DType, want, 0))
		}
		return
	}
	size := c.RecordSize()
	if found := bytesOf(tb, a)[row*size:][:size]; !bytes.Equal(found, want) {
		tb.Fatalf("row %d: found % x, expected % x", row, found, want)
	}
}

// checkImage checks an image of gray samples.
func checkImage(tb testing.TB, a *array.Struct, row int, want []byte, c source.Column) {
	tb.Helper()
	if a.IsNull(row) {
		tb.Fatalf("row %d is null", row)
	}
	size, found := layouttest.Decode(tb, a.Field(0).(*array.Binary).Value(row))
	if size.Y != c.Shape[0] || size.X != c.Shape[1] || !bytes.Equal(found, want) {
		tb.Fatalf("row %d: found a file of %v, expected the record of shape %v", row, size, c.Shape)
	}
	if path := a.Field(1); !path.IsNull(row) || path.NullN() != a.Len() {
		tb.Fatalf("row %d: found the path %s, expected none in all rows", row, path.ValueStr(row))
	}
}
