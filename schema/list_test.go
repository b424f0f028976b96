package schema

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// arrowTypes are what the design promises for each data type.
var arrowTypes = map[idx.DType]arrow.DataType{
	idx.Uint8: arrow.PrimitiveTypes.Uint8, idx.Int8: arrow.PrimitiveTypes.Int8, idx.Int16: arrow.PrimitiveTypes.Int16,
	idx.Int32: arrow.PrimitiveTypes.Int32, idx.Float32: arrow.PrimitiveTypes.Float32, idx.Float64: arrow.PrimitiveTypes.Float64,
}

// elementsOf is the slice that arrow-go's own accessor gives.
func elementsOf(t *testing.T, a arrow.Array) any {
	t.Helper()
	switch a := a.(type) {
	case *array.Uint8:
		return a.Uint8Values()
	case *array.Int8:
		return a.Int8Values()
	case *array.Int16:
		return a.Int16Values()
	case *array.Int32:
		return a.Int32Values()
	case *array.Float32:
		return a.Float32Values()
	case *array.Float64:
		return a.Float64Values()
	}
	t.Fatalf("found an array of %v", a.DataType())
	return nil
}

func TestListField(t *testing.T) {
	t.Parallel()
	for _, d := range idx.DTypes() {
		element := arrow.Field{Name: "element", Type: arrowTypes[d], Nullable: true}
		tests := map[string]struct {
			shape []int
			want  arrow.DataType
		}{
			"scalar":      {nil, arrowTypes[d]},
			"vector":      {[]int{8}, arrow.FixedSizeListOfField(8, element)},
			"image":       {[]int{28, 28}, arrow.FixedSizeListOfField(784, element)},
			"RGB":         {[]int{4, 5, 3}, arrow.FixedSizeListOfField(60, element)},
			"no elements": {[]int{3, 0}, arrow.ListOfField(element)},
		}
		for name, test := range tests {
			c := source.Column{Name: "image", DType: d, Shape: test.shape}
			f := ListField(c)
			if f.Name != "image" || f.Nullable || !arrow.TypeEqual(f.Type, test.want, arrow.CheckMetadata()) || !f.Metadata.Equal(FieldMetadata(c)) {
				t.Errorf("%v %s: found %v, expected %v", d, name, f, test.want)
			}
			if list, ok := f.Type.(arrow.ListLikeType); ok {
				if e := list.ElemField(); !e.Nullable || e.Name != "element" {
					t.Errorf("%v %s: found element %v", d, name, e)
				}
			}
			if ElementType(d).Bytes() != d.Size() {
				t.Errorf("%v: found %d bytes, expected %d", d, ElementType(d).Bytes(), d.Size())
			}
		}
	}
}

func TestListData(t *testing.T) {
	t.Parallel()
	for _, d := range idx.DTypes() {
		for _, shape := range [][]int{nil, {1}, {7}, {3, 5}, {2, 3, 4}} {
			for _, rows := range []int{0, 1, 5} {
				t.Run(fmt.Sprintf("%v %v, %d rows", d, shape, rows), func(t *testing.T) {
					t.Parallel()
					c := source.Column{Name: "x", DType: d, Shape: shape}
					all := values(t, d, rows*c.Elements())
					data := little(t, all)
					wrapped := ListData(c, data, rows)
					defer wrapped.Release()
					a := array.MakeFromData(wrapped)
					defer a.Release()
					if a.Len() != rows || a.NullN() != 0 || !arrow.TypeEqual(a.DataType(), ListField(c).Type) {
						t.Fatalf("found %d rows, %d nulls, %v", a.Len(), a.NullN(), a.DataType())
					}
					checkElements(t, c, a, all, data)
				})
			}
		}
	}
}

// checkElements compares what a holds with all, record by record for lists, and demands that its buffer is data itself.
func checkElements(t *testing.T, c source.Column, a arrow.Array, all any, data []byte) {
	t.Helper()
	elements := a
	if list, ok := a.(*array.FixedSizeList); ok {
		elements = list.ListValues()
		for row := range a.Len() {
			if from, to := list.ValueOffsets(row); from != int64(row*c.Elements()) || to != int64((row+1)*c.Elements()) {
				t.Errorf("row %d: found elements %d to %d", row, from, to)
			}
		}
	} else if !c.Scalar() {
		t.Fatalf("found %T", a)
	}
	if found := elementsOf(t, elements); !reflect.DeepEqual(found, all) && reflect.ValueOf(all).Len() > 0 {
		t.Errorf("found %v, expected %v", found, all)
	}
	buffer := elements.Data().Buffers()[1]
	if !bytes.Equal(buffer.Bytes(), data) || len(data) > 0 && &buffer.Bytes()[0] != &data[0] {
		t.Error("the data were copied")
	}
}

func TestListDataOfNoElements(t *testing.T) {
	t.Parallel()
	for _, rows := range []int{0, 1, 1000} {
		for _, shape := range [][]int{{0}, {3, 0}, {0, 5, 2}} {
			c := source.Column{Name: "x", DType: idx.Int16, Shape: shape}
			wrapped := ListData(c, nil, rows)
			a := array.MakeFromData(wrapped)
			list, ok := a.(*array.List)
			if !ok || a.Len() != rows || list.ListValues().Len() != 0 || a.NullN() != 0 {
				t.Fatalf("%v: found %T of %d rows", shape, a, a.Len())
			}
			if !slices.Equal(list.Offsets(), make([]int32, rows+1)) {
				t.Errorf("%v: found offsets %v, expected %d zeros", shape, list.Offsets(), rows+1)
			}
			a.Release()
			wrapped.Release()
		}
	}
}

// A signalling NaN in, the same bits out.
func TestListDataKeepsNaNs(t *testing.T) {
	t.Parallel()
	const signalling = 0x7ff4dead0000beef
	data := little(t, []uint64{signalling})
	a := array.NewFloat64Data(ListData(source.Column{DType: idx.Float64}, data, 1))
	defer a.Release()
	if found := math.Float64bits(a.Value(0)); found != signalling {
		t.Errorf("found %x, expected %x", found, uint64(signalling))
	}
}

// A record batch of columns of all kinds passes arrow-go's own checks.
func TestListDataInARecordBatch(t *testing.T) {
	t.Parallel()
	var fields []arrow.Field
	var columns []arrow.Array
	for i, d := range idx.DTypes() {
		for _, shape := range [][]int{nil, {2, 2}, {0}} {
			c := source.Column{Name: fmt.Sprint(i, shape), DType: d, Shape: shape}
			fields = append(fields, ListField(c))
			columns = append(columns, array.MakeFromData(ListData(c, little(t, values(t, d, 3*c.Elements())), 3)))
		}
	}
	batch := array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, 3)
	defer batch.Release()
	if batch.NumRows() != 3 || batch.NumCols() != int64(len(fields)) {
		t.Errorf("found %d rows, %d columns", batch.NumRows(), batch.NumCols())
	}
}
