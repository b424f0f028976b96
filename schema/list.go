package schema

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/idxport/idxport/source"
)

// ElementName is the name of the child of a list: the name that the Parquet specification gives it.
const ElementName = "element"

// ListField is c in the default layout: a primitive for a scalar, else a FixedSizeList of nullable elements over the whole record in C order.
// The elements are never null; they are nullable because Arrow C++ restores a FixedSizeList from Parquet only if that says so too. Records of
// no elements become a plain List: list size 0 cannot be read back by pyarrow and polars.
func ListField(c source.Column) arrow.Field {
	f := arrow.Field{Name: c.Name, Type: ElementType(c.DType), Metadata: FieldMetadata(c)}
	if c.Scalar() {
		return f
	}
	element := arrow.Field{Name: ElementName, Type: ElementType(c.DType), Nullable: true}
	if n := c.Elements(); n > 0 {
		f.Type = arrow.FixedSizeListOfField(int32(n), element)
	} else {
		f.Type = arrow.ListOfField(element)
	}
	return f
}

// ListData wraps data, rows records of c, as an array of ListField's type. Nothing is copied: data must not change while the array is in use.
func ListData(c source.Column, data []byte, rows int) arrow.ArrayData {
	n := c.Elements()
	values := array.NewData(ElementType(c.DType), rows*n, []*memory.Buffer{nil, memory.NewBufferBytes(data)}, nil, 0, 0)
	if c.Scalar() {
		return values
	}
	defer values.Release()
	buffers := []*memory.Buffer{nil}
	if n == 0 {
		buffers = append(buffers, memory.NewBufferBytes(make([]byte, 4*(rows+1)))) // all offsets are 0
	}
	return array.NewData(ListField(c).Type, rows, buffers, []arrow.ArrayData{values}, 0, 0)
}
