package layout

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// A Column is one column of an output.
type Column struct {
	Source int // index of the schema's column that it represents
	Field  arrow.Field
	// Prepare converts the source column's data for Data and Values, see Prepared. It is the same
	// for all columns of a source, and nil if they take the data as it is.
	Prepare func(data []byte, rows int) []byte
	// Names is the dictionary, if Field's type is dictionary<string>: Data returns indices into it.
	// It is the same for the whole output.
	Names []string
	// Data wraps data, rows records of the source column, as an array of Field's type.
	Data func(data []byte, rows int) Array
	// Allocates is the approximate maximum number of bytes per row that Data allocates, without a
	// few bytes per batch.
	Allocates int
	// Check returns a fault for the first value of data that the layout cannot hold; the records in
	// data begin at row first of the table. It is called before Data and Values, and is nil if the
	// layout can hold every value.
	Check func(data []byte, first int64) error
	// Elements are the nodes of the column in a Parquet schema, depth first. Leaves are the nodes
	// that hold values, in the same order.
	Elements []format.SchemaElement
	Leaves   []Leaf
}

// nameIndexSize is the number of bytes of an index into Leaf.Names.
const nameIndexSize = 2

// A Leaf is one Parquet column: the contents of its pages, which differ between rows in the values
// only.
type Leaf struct {
	Path []string    // names of the nodes from below the root to the leaf itself
	Type format.Type // physical type of the values

	// Element is the data type of the values that Values returns. If it is narrower than Type, the
	// page writer widens the values or uses them as indices into a dictionary. It is 0 if Values
	// returns the contents of PLAIN pages of Type.
	Element idx.DType
	// Names is the dictionary of the leaf's chunks, for text: Values returns indices into it.
	// Element is 0 then, and Scalar is set.
	Names []string
	// Scalar reports whether a row is one value of a few bytes. Page writers collect scalars over
	// many batches and record their minimum and maximum.
	Scalar bool
	// Size is the maximum number of bytes of each value that Values returns, including its length.
	Size int
	// Allocates reports whether Values allocates memory.
	Allocates bool
	// Compressed reports whether values are already compressed, so that a codec would gain nothing.
	Compressed bool

	Entries       int  // level entries per row, at least 1
	Count         int  // values per row: Entries, or 0 if all are null or empty
	MaxRepetition byte // if 0, pages have no repetition levels
	MaxDefinition byte // if 0, pages have no definition levels

	Repetition []byte // repetition levels of a row, as whole runs of the RLE and bit-packing hybrid
	Definition byte   // definition level of every entry

	// Values returns the values of rows records of the source column, packed and little-endian:
	// data itself wherever possible.
	Values func(data []byte, rows int) []byte
}

// identity is Leaf.Values for leaves whose values are the batch's bytes.
func identity(data []byte, _ int) []byte { return data }

// columnOf returns a column of f, whose nodes and leaves in Parquet follow from the field's type.
// All values are present, one in each leaf and row. The caller sets Data and the leaves' details.
func columnOf(f arrow.Field) Column {
	c := Column{Field: f}
	c.Elements, c.Leaves = nodesOf(f, Leaf{Entries: 1, Count: 1, Values: identity})
	return c
}

// nodesOf returns the nodes of f and the leaves below it. above has what a leaf inherits from the
// nodes above f: its path and levels.
func nodesOf(f arrow.Field, above Leaf) (elements []format.SchemaElement, leaves []Leaf) {
	node := format.SchemaElement{Name: f.Name, RepetitionType: thrift.New(format.Required)}
	if f.Nullable {
		node.RepetitionType = thrift.New(format.Optional)
		above.MaxDefinition++
	}
	above.Path = append(slices.Clip(above.Path), f.Name)
	var children []arrow.Field
	switch kind := f.Type.(type) {
	case *arrow.StructType:
		children = kind.Fields()
		node.NumChildren = thrift.New(int32(len(children)))
		elements = append(elements, node)
	case arrow.ListLikeType:
		children = []arrow.Field{kind.ElemField()}
		node.NumChildren, node.ConvertedType = thrift.New(int32(1)), thrift.New(deprecated.List)
		node.LogicalType = format.LogicalType{Value: &format.ListType{}}
		elements = append(elements, node, format.SchemaElement{
			Name: "list", NumChildren: thrift.New(int32(1)), RepetitionType: thrift.New(format.Repeated)})
		above.Path = append(above.Path, "list")
		above.MaxRepetition++
		above.MaxDefinition++
	default:
		setType(&node, f.Type)
		above.Type, above.Definition = node.Type.V, above.MaxDefinition
		return []format.SchemaElement{node}, []Leaf{above}
	}
	for _, child := range children {
		nodes, below := nodesOf(child, above)
		elements, leaves = append(elements, nodes...), append(leaves, below...)
	}
	return elements, leaves
}

// setType sets the Parquet type of a node without children. Integers of 8 and 16 bits are INT32
// values with an annotation.
func setType(node *format.SchemaElement, kind arrow.DataType) {
	physical := format.Int32
	integer := func(converted deprecated.ConvertedType, bits int8, signed bool) {
		node.ConvertedType = thrift.New(converted)
		node.LogicalType = format.LogicalType{Value: &format.IntType{BitWidth: bits, IsSigned: signed}}
	}
	switch kind := kind.(type) {
	case *arrow.Uint8Type:
		integer(deprecated.Uint8, 8, false)
	case *arrow.Int8Type:
		integer(deprecated.Int8, 8, true)
	case *arrow.Int16Type:
		integer(deprecated.Int16, 16, true)
	case *arrow.Int64Type:
		physical = format.Int64
	case *arrow.Float32Type:
		physical = format.Float
	case *arrow.Float64Type:
		physical = format.Double
	case *arrow.FixedSizeBinaryType:
		physical, node.TypeLength = format.FixedLenByteArray, thrift.New(int32(kind.ByteWidth))
	case *arrow.BinaryType:
		physical = format.ByteArray
	case *arrow.StringType, *arrow.DictionaryType: // of text
		physical, node.ConvertedType = format.ByteArray, thrift.New(deprecated.UTF8)
		node.LogicalType = format.LogicalType{Value: &format.StringType{}}
	}
	node.Type = thrift.New(physical)
}

// primitive returns a required column of single elements of d. The function values returns them.
func primitive(name string, d idx.DType, metadata arrow.Metadata, values func([]byte, int) []byte) Column {
	c := columnOf(arrow.Field{Name: name, Type: elementTypes[d], Metadata: metadata})
	c.Data = func(data []byte, rows int) Array { return flat(rows, values(data, rows)) }
	leaf := &c.Leaves[0]
	leaf.Element, leaf.Size, leaf.Scalar, leaf.Values = d, d.Size(), true, values
	return c
}

// An Array is an Arrow array and its children, depth first, as in a record batch.
type Array struct {
	Nodes   []Node
	Buffers [][]byte // nil for the validity bitmap of an array without nulls
}

// A Node is the length of an array and the number of its nulls.
type Node struct{ Length, Nulls int }

// flat returns an array of rows values without nulls. buffers are those after the validity bitmap.
func flat(rows int, buffers ...[]byte) Array {
	return Array{[]Node{{Length: rows}}, append([][]byte{nil}, buffers...)}
}

// above returns a without nulls, with the given children after its own.
func (a Array) above(children ...Array) Array {
	for _, child := range children {
		a.Nodes, a.Buffers = append(a.Nodes, child.Nodes...), append(a.Buffers, child.Buffers...)
	}
	return a
}

// elementTypes has the Arrow type of elements by their data type.
var elementTypes = map[idx.DType]arrow.DataType{
	idx.Uint8: arrow.PrimitiveTypes.Uint8, idx.Int8: arrow.PrimitiveTypes.Int8,
	idx.Int16: arrow.PrimitiveTypes.Int16, idx.Int32: arrow.PrimitiveTypes.Int32,
	idx.Float32: arrow.PrimitiveTypes.Float32, idx.Float64: arrow.PrimitiveTypes.Float64,
}

// fieldMetadata returns the metadata that stores c's data type and shape in Arrow and Parquet.
func fieldMetadata(c source.Column) arrow.Metadata {
	return arrow.NewMetadata([]string{schema.KeyDType, schema.KeyShape}, []string{c.DType.String(), shapeJSON(c)})
}

// shapeJSON returns the shape of c as JSON: "[28,28]", or "[]" for scalars.
func shapeJSON(c source.Column) string { return text.JSON(append([]int{}, c.Shape...)) }
