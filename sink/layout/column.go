package layout

import (
	"encoding/json"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// A Column is one column of an output.
type Column struct {
	Source int // index in the schema's columns of the one it is made of
	Field  arrow.Field
	// Prepare makes what Data and Values take in place of the source column's data: see Prepared.
	// It is the same for all columns of a source, and nil if they take the data as they are.
	Prepare func(data []byte, rows int) []byte
	// Names is the dictionary that Data makes indices of, where Field's type is dictionary<string>;
	// it is the same for the whole output.
	Names []string
	// Data wraps data, rows records of the source column, as an array of Field's type.
	Data func(data []byte, rows int) arrow.ArrayData
	// Made is about the most bytes of a row that Data makes, beside the batch's own; a few for a
	// whole batch do not count.
	Made int
	// Check refuses data, records of the source column from row first of the table on, if the
	// layout cannot hold their values, with a fault. It is called before Data and Values. Nil: it
	// can hold all.
	Check func(data []byte, first int64) error
	// Elements are the nodes of the column in a Parquet schema, depth first; Leaves are those of
	// them that hold values, in the same order.
	Elements []format.SchemaElement
	Leaves   []Leaf
}

// NameIndexSize is the number of bytes of an index into Leaf.Names.
const NameIndexSize = 2

// A Leaf is one Parquet column: what its pages hold, which is the same for every row but for the
// values.
type Leaf struct {
	Path []string    // names of the nodes that lead to it, the root's left out
	Type format.Type // physical type of the values

	// Element is the data type of what Values returns. Those narrower than Type are widened by the
	// page writer, or serve it as indices of a dictionary. It is 0 where Values returns what PLAIN
	// pages of Type hold.
	Element idx.DType
	// Names is the dictionary of the leaf's chunks, for text: Values returns indices into it of
	// NameIndexSize bytes. Element is 0 then, and Scalar is set.
	Names []string
	// Scalar reports whether a row is one value of a few bytes. Page writers gather them over many
	// batches and record their minimum and maximum.
	Scalar bool
	// Size is the most bytes of a value in PLAIN pages, with its length, where Element is 0.
	Size int
	// Made reports whether Values makes memory of its own.
	Made bool
	// Compressed reports whether values are compressed already: no codec gains on them.
	Compressed bool

	Entries       int  // level entries of a row, at least 1
	Count         int  // values of a row: Entries, or 0 where nothing is defined
	MaxRepetition byte // if 0, pages have no repetition levels
	MaxDefinition byte // if 0, pages have no definition levels

	Repetition []byte // repetition levels of a row: whole runs of the run-length and bit-packing hybrid
	Definition byte   // definition level of every entry

	// Values returns the values of rows records of the source column, packed and little-endian:
	// data itself, wherever that is what they are.
	Values func(data []byte, rows int) []byte
}

// identity is Leaf.Values where a batch's bytes are the values.
func identity(data []byte, _ int) []byte { return data }

// required is the required column called name of kind, and of type t in Parquet: one value a row.
// The caller adds Data, and what the leaf's Values need.
func required(name string, kind arrow.DataType, metadata arrow.Metadata, t format.Type) Column {
	return Column{
		Field: arrow.Field{Name: name, Type: kind, Metadata: metadata},
		Elements: []format.SchemaElement{
			{Name: name, Type: thrift.New(t), RepetitionType: thrift.New(format.Required)},
		},
		Leaves: []Leaf{{Path: []string{name}, Type: t, Entries: 1, Count: 1, Values: identity}},
	}
}

// primitive is the required column called name of single elements of d, which values yields.
func primitive(name string, d idx.DType, metadata arrow.Metadata, values func([]byte, int) []byte) Column {
	kind := elementType(d)
	c := required(name, kind, metadata, physical(d))
	c.Data = func(data []byte, rows int) arrow.ArrayData { return arrayOf(kind, rows, values(data, rows)) }
	c.Elements[0] = elementNode(name, d, format.Required)
	leaf := &c.Leaves[0]
	leaf.Element, leaf.Scalar, leaf.Values = d, true, values
	return c
}

// arrayOf is rows values of kind without nulls. The buffers are those behind the validity bitmap.
func arrayOf(kind arrow.DataType, rows int, buffers ...[]byte) *array.Data {
	all := make([]*memory.Buffer, 1, 1+len(buffers))
	for _, b := range buffers {
		all = append(all, memory.NewBufferBytes(b))
	}
	return array.NewData(kind, rows, all, nil, 0, 0)
}

// elementType is the Arrow type of the elements of d, which must be valid.
func elementType(d idx.DType) arrow.FixedWidthDataType {
	switch d {
	case idx.Uint8:
		return &arrow.Uint8Type{}
	case idx.Int8:
		return &arrow.Int8Type{}
	case idx.Int16:
		return &arrow.Int16Type{}
	case idx.Int32:
		return &arrow.Int32Type{}
	case idx.Float32:
		return &arrow.Float32Type{}
	default:
		return &arrow.Float64Type{}
	}
}

// physical is the Parquet type that holds elements of d. Integers of 8 and 16 bits are INT32 values
// with a note of what they are.
func physical(d idx.DType) format.Type {
	switch d {
	case idx.Float32:
		return format.Float
	case idx.Float64:
		return format.Double
	default:
		return format.Int32
	}
}

// elementNode is the node of a Parquet schema that holds elements of d.
func elementNode(name string, d idx.DType, repetition format.FieldRepetitionType) format.SchemaElement {
	e := format.SchemaElement{Name: name, Type: thrift.New(physical(d)), RepetitionType: thrift.New(repetition)}
	integer := func(converted deprecated.ConvertedType, bits int8, signed bool) {
		e.ConvertedType = thrift.New(converted)
		e.LogicalType = format.LogicalType{Value: &format.IntType{BitWidth: bits, IsSigned: signed}}
	}
	switch d {
	case idx.Uint8:
		integer(deprecated.Uint8, 8, false)
	case idx.Int8:
		integer(deprecated.Int8, 8, true)
	case idx.Int16:
		integer(deprecated.Int16, 16, true)
	}
	return e
}

// fieldMetadata is what Arrow and Parquet outputs keep of c's data type and shape.
func fieldMetadata(c source.Column) arrow.Metadata {
	return arrow.NewMetadata([]string{schema.KeyDType, schema.KeyShape}, []string{c.DType.String(), shapeJSON(c)})
}

// shapeJSON is the shape of c as JSON: "[28,28]"; "[]" for scalars.
func shapeJSON(c source.Column) string {
	text, _ := json.Marshal(append([]int{}, c.Shape...)) // a list of integers: cannot fail
	return string(text)
}
