package layout

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
)

// lengthSize is the number of bytes of a value's length in PLAIN pages of BYTE_ARRAY, and of an
// offset in Arrow.
const lengthSize = 4

// fixedBinary is the layout fixed-binary: the bytes of a record as one value of fixed size.
func (l Layout) fixedBinary(c source.Column) ([]Column, error) {
	size := c.RecordSize()
	if size == 0 {
		// A fixed length of 0 is not valid in Parquet, nor in every reader of Arrow.
		return l.binary(c)
	}
	kind := &arrow.FixedSizeBinaryType{ByteWidth: size}
	made := columnOf(arrow.Field{Name: c.Name, Type: kind, Metadata: fieldMetadata(c)})
	made.Data = func(data []byte, rows int) Array { return flat(rows, data) }
	made.Leaves[0].Size = size
	return []Column{made}, nil
}

// binary is the layout binary: the bytes of a record as one value of variable size, which more
// readers support than fixed-binary.
func (l Layout) binary(c source.Column) ([]Column, error) {
	size := c.RecordSize()
	made := columnOf(arrow.Field{Name: c.Name, Type: arrow.BinaryTypes.Binary, Metadata: fieldMetadata(c)})
	made.Data = func(data []byte, rows int) Array { return flat(rows, offsets(rows, size), data) }
	made.Allocates = lengthSize
	leaf := &made.Leaves[0]
	leaf.Size, leaf.Allocates = lengthSize+size, true
	leaf.Values = func(data []byte, rows int) []byte { // each record after its length
		values := make([]byte, 0, rows*leaf.Size)
		for i := range rows {
			values = binary.LittleEndian.AppendUint32(values, uint32(size))
			values = append(values, data[i*size:(i+1)*size]...)
		}
		return values
	}
	return []Column{made}, nil
}

// offsets returns Arrow's offsets of rows values of size bytes each.
func offsets(rows, size int) []byte {
	made := make([]byte, 0, lengthSize*(rows+1))
	for i := range rows + 1 {
		made = binary.LittleEndian.AppendUint32(made, uint32(i*size))
	}
	return made
}

// classes returns the column of class names after the labels: text with a dictionary of all names,
// in the order of their labels. It is the same in every layout.
func classes(k *schema.Classes) Column {
	index, size := indexType(len(k.Names))
	made := columnOf(arrow.Field{Name: schema.ClassName,
		Type: &arrow.DictionaryType{IndexType: index, ValueType: arrow.BinaryTypes.String}})
	made.Source, made.Names, made.Check, made.Allocates = k.Label, k.Names, k.Check, size
	made.Data = func(data []byte, rows int) Array { return flat(rows, nameIndices(k, data, rows, size)) }
	leaf := &made.Leaves[0]
	leaf.Names, leaf.Scalar, leaf.Size, leaf.Allocates = k.Names, true, nameIndexSize, true
	leaf.Values = func(data []byte, rows int) []byte { return nameIndices(k, data, rows, nameIndexSize) }
	return made
}

// indexType returns the type of indices into a dictionary of n entries, and its size in bytes. It
// is signed, as readers of Arrow expect.
func indexType(n int) (arrow.DataType, int) {
	switch {
	case n <= math.MaxInt8+1:
		return arrow.PrimitiveTypes.Int8, 1
	case n <= math.MaxInt16+1:
		return arrow.PrimitiveTypes.Int16, 2
	default:
		return arrow.PrimitiveTypes.Int32, 4
	}
}

// nameIndices returns the index of the class name of each label, little-endian, in size bytes.
func nameIndices(k *schema.Classes, data []byte, rows, size int) []byte {
	made := make([]byte, 0, rows*size+lengthSize)
	for i := range rows {
		made = binary.LittleEndian.AppendUint32(made, uint32(k.Index(data, i)))[:len(made)+size]
	}
	return made
}
