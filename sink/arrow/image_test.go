package arrow

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
)

// checkImages writes t in a layout of images, or sees that it is refused, and compares every value with what arrow-go reads.
func checkImages(tb testing.TB, t layouttest.Table, o Options, batch int) {
	tb.Helper()
	if t.Refuses(o.Layout) {
		if _, err := New(io.Discard, t.Schema(), o); !errors.Is(err, fault.Usage) {
			tb.Errorf("found the error %v, expected ErrUnsupported", err)
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

// checkImage looks at an image of gray samples.
func checkImage(tb testing.TB, a *array.Struct, row int, want []byte, c source.Column) {
	tb.Helper()
	if a.IsNull(row) {
		tb.Fatalf("row %d is null", row)
	}
	if a.NumField() == 2 {
		size, found := layouttest.Decode(tb, a.Field(0).(*array.Binary).Value(row))
		if size.Y != c.Shape[0] || size.X != c.Shape[1] || !bytes.Equal(found, want) || !a.Field(1).IsNull(row) || a.Field(1).NullN() != a.Len() {
			tb.Fatalf("row %d: found a file of %v, expected the record of shape %v; path %s", row, size, c.Shape, a.Field(1).ValueStr(row))
		}
		return
	}
	number := func(i int) int { return int(a.Field(i).(*array.Int32).Value(row)) }
	if number(1) != c.Shape[0] || number(2) != c.Shape[1] || number(3) != 1 || number(4) != 0 || !bytes.Equal(a.Field(5).(*array.Binary).Value(row), want) {
		tb.Fatalf("row %d: found %s, expected the record of shape %v", row, a.ValueStr(row), c.Shape)
	}
}

// TestNegativeSamples: a batch that huggingface cannot hold fails in Encode, with the row in the table.
func TestNegativeSamples(t *testing.T) {
	t.Parallel()
	s := &schema.Schema{Rows: 3, Columns: []source.Column{{Name: "x", DType: idx.Int16, Shape: []int{1, 1}}}}
	k, err := New(io.Discard, s, Options{Layout: "huggingface"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = k.Encode(context.Background(), schema.Batch{First: 1, Rows: 2, Columns: [][]byte{{2, 0, 0, 128}}})
	if want := `column x, row 2: layout huggingface: found the value -32768, expected 0 to 32767`; err == nil || err.Error() != want {
		t.Errorf("found the error %v, expected %s", err, want)
	}
}

// TestMadeMemoryIsCounted: with no codec, what a layout makes of a batch is all that a record batch takes beside it.
func TestMadeMemoryIsCounted(t *testing.T) {
	t.Parallel()
	s := layouttest.Random(0, source.Column{Name: "x", DType: idx.Uint8, Shape: []int{28, 28, 3}}).Schema()
	for layoutName, least := range map[string]int64{"fixed-binary": 0, "binary": 4, "spark-image": 6*4 + 28*28*3, "huggingface": 2*4 + 28*28*3} {
		k, err := New(io.Discard, s, Options{Layout: layoutName})
		if err != nil {
			t.Fatal(err)
		}
		if found := k.BatchSize(100); found < 100*least || least == 0 && found != 0 {
			t.Errorf("%s: found %d bytes for 100 rows, expected at least %d", layoutName, found, 100*least)
		}
	}
}
