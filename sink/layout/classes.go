package layout

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/schema"
)

// maxNames is the most class names that there is room for: indices of NameIndexSize bytes.
const maxNames = 1 << (8 * NameIndexSize)

// checkClasses refuses a column of class names where the layout has no place for it.
func (l Layout) checkClasses(k *schema.Classes) error {
	if l.labelled {
		return refuse(l.Name, "leave out --class-column, or use another layout", "the names of the classes are in the type of the labels, not in a column of their own")
	}
	if len(k.Names) > maxNames {
		return refuse(l.Name, "", "found %d class names, expected at most %d", len(k.Names), maxNames)
	}
	return nil
}

// classes is the column of class names behind the labels: text with a dictionary of all names, in the order of their labels. It is the same in every
// layout.
func classes(k *schema.Classes) Column {
	index, size := indexType(len(k.Names))
	kind := &arrow.DictionaryType{IndexType: index, ValueType: arrow.BinaryTypes.String}
	element := format.SchemaElement{
		Name:           schema.ClassName,
		Type:           thrift.New(format.ByteArray),
		RepetitionType: thrift.New(format.Required),
		ConvertedType:  thrift.New(deprecated.UTF8),
		LogicalType:    format.LogicalType{Value: &format.StringType{}},
	}
	return Column{
		Source: k.Label,
		Field:  arrow.Field{Name: schema.ClassName, Type: kind},
		Names:  k.Names,
		Check:  k.Check,
		Made:   size,
		Data: func(data []byte, rows int) arrow.ArrayData {
			buffers := []*memory.Buffer{nil, memory.NewBufferBytes(places(k, data, rows, size))}
			return array.NewData(kind, rows, buffers, nil, 0, 0)
		},
		Elements: []format.SchemaElement{element},
		Leaves: []Leaf{{
			Path:    []string{schema.ClassName},
			Type:    format.ByteArray,
			Names:   k.Names,
			Scalar:  true,
			Size:    NameIndexSize,
			Made:    true,
			Entries: 1,
			Count:   1,
			Values:  func(data []byte, rows int) []byte { return places(k, data, rows, NameIndexSize) },
		}},
	}
}

// indexType is the type of indices into a dictionary of n entries, signed as Arrow's readers want them, and its size.
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

// places is the index of the name of each of rows labels, little-endian, in size bytes.
func places(k *schema.Classes, data []byte, rows, size int) []byte {
	made := make([]byte, 0, rows*size)
	for i := range rows {
		place := k.Place(data, i)
		switch size {
		case 1:
			made = append(made, byte(place))
		case 2:
			made = binary.LittleEndian.AppendUint16(made, uint16(place))
		default:
			made = binary.LittleEndian.AppendUint32(made, uint32(place))
		}
	}
	return made
}
