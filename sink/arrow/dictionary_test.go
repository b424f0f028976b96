package arrow

import (
	"errors"
	"fmt"
	"io"
	"testing"

	arrowapi "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
)

// named is a table of n labels, each with a name of its own.
func named(n int) layouttest.Table {
	t := layouttest.Table{Named: true, Rows: n, Columns: []source.Column{{Name: "label", DType: idx.Int32}}, Data: [][]byte{nil}}
	for i := range n {
		t.Columns[0].Classes = append(t.Columns[0].Classes, fmt.Sprintf("class %d", i))
		t.Data[0] = append(t.Data[0], byte(i), byte(i>>8), byte(i>>16), 0)
	}
	return t
}

// TestNames reads the names back with arrow-go: indices have the smallest signed type that holds them.
func TestNames(t *testing.T) {
	t.Parallel()
	for n, index := range map[int]arrowapi.DataType{1: arrowapi.PrimitiveTypes.Int8, 128: arrowapi.PrimitiveTypes.Int8, 129: arrowapi.PrimitiveTypes.Int16,
		1 << 15: arrowapi.PrimitiveTypes.Int16, 1<<15 + 1: arrowapi.PrimitiveTypes.Int32, 1 << 16: arrowapi.PrimitiveTypes.Int32} {
		for _, o := range []Options{{}, {Stream: true}, {Compression: "zstd"}, {Stream: true, Compression: "lz4", Layout: "columns"}} {
			t.Run(fmt.Sprintf("%d %+v", n, o), func(t *testing.T) {
				t.Parallel()
				written := named(n)
				s, batches := read(t, write(t, written, o, n/2+1), o.Stream)
				want := arrowapi.Field{Name: "class", Type: &arrowapi.DictionaryType{IndexType: index, ValueType: arrowapi.BinaryTypes.String}}
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
						if got, want := class.ValueStr(i), written.Columns[0].Classes[row]; got != want || class.GetValueIndex(i) != row {
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

func TestLabelWithoutName(t *testing.T) {
	t.Parallel()
	table := named(5)
	table.Columns[0].Classes[3] = ""
	k, err := New(io.Discard, table.Schema(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Encode(t.Context(), schema.Batch{Rows: table.Rows, Columns: table.Data}); !errors.Is(err, fault.Malformed) {
		t.Errorf("found %v, expected a label without a name", err)
	}
}
