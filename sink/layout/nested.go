package layout

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
)

// maxNested is the most dimensions of a record in the layout nested: readers descend by recursion. DuckDB 2.0 reads 16 at once, and does not come back from 32.
const maxNested = 16

// nested is the layout of the name: a FixedSizeList in a FixedSizeList for each dimension of the record, LIST groups in LIST groups in Parquet. Records
// of no elements are empty lists, as in list: there are no fixed-size lists of size 0.
func nested(c source.Column) ([]Column, error) {
	depth, n := len(c.Shape), c.Elements()
	if depth > maxNested {
		return nil, refuse("nested", "use the layout list, which has one list for all dimensions",
			"a record of column %s has %d dimensions, expected at most %d", c.Name, depth, maxNested)
	}
	if depth == 1 || n == 0 || n > math.MaxInt32 {
		return listOf("nested", c)
	}
	types := nestedTypes(c)
	leaf := Leaf{
		Path:          []string{c.Name},
		Type:          physical(c.DType),
		Element:       c.DType,
		Entries:       n,
		Count:         n,
		MaxRepetition: byte(depth),
		MaxDefinition: byte(2 * depth),
		Repetition:    nestedRepetition(c.Shape),
		Definition:    byte(2 * depth),
		Values:        identity,
	}
	var elements []format.SchemaElement
	name, repetition := c.Name, format.Required
	for range depth {
		elements = append(elements, listGroups(name, repetition)...)
		name, repetition = schema.ElementName, format.Optional
		leaf.Path = append(leaf.Path, "list", name)
	}
	return []Column{{
		Field:    arrow.Field{Name: c.Name, Type: types[0], Metadata: schema.FieldMetadata(c)},
		Data:     func(data []byte, rows int) arrow.ArrayData { return nestedData(c, types, data, rows) },
		Elements: append(elements, primitive(name, c.DType, format.Optional)),
		Leaves:   []Leaf{leaf},
	}}, nil
}

// listGroups is the two groups of a LIST in a Parquet schema, with one child.
func listGroups(name string, repetition format.FieldRepetitionType) []format.SchemaElement {
	return []format.SchemaElement{
		{
			Name:           name,
			NumChildren:    thrift.New(int32(1)),
			RepetitionType: thrift.New(repetition),
			ConvertedType:  thrift.New(deprecated.List),
			LogicalType:    format.LogicalType{Value: &format.ListType{}},
		},
		{Name: "list", NumChildren: thrift.New(int32(1)), RepetitionType: thrift.New(format.Repeated)},
	}
}

// nestedTypes is the type of the lists of each dimension, the outermost first, and of the elements.
func nestedTypes(c source.Column) []arrow.DataType {
	depth := len(c.Shape)
	types := make([]arrow.DataType, depth+1)
	types[depth] = schema.ElementType(c.DType)
	for i := depth - 1; i >= 0; i-- {
		types[i] = arrow.FixedSizeListOfField(int32(c.Shape[i]), arrow.Field{Name: schema.ElementName, Type: types[i+1], Nullable: true})
	}
	return types
}

// nestedData wraps data, rows records of c, as lists of types.
func nestedData(c source.Column, types []arrow.DataType, data []byte, rows int) arrow.ArrayData {
	depth := len(c.Shape)
	length := rows * c.Elements()
	made := array.NewData(types[depth], length, []*memory.Buffer{nil, memory.NewBufferBytes(data)}, nil, 0, 0)
	for i := depth - 1; i >= 0; i-- {
		length /= c.Shape[i]
		child := made
		made = array.NewData(types[i], length, []*memory.Buffer{nil}, []arrow.ArrayData{child}, 0, 0)
		child.Release()
	}
	return made
}
