package layout

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
)

// fixedBinary is the layout fixed-binary: the bytes of a record as one value of fixed size.
func fixedBinary(c source.Column) ([]Column, error) {
	size := c.RecordSize()
	if size > math.MaxInt32 {
		return nil, tooLarge("fixed-binary", c, size, "bytes")
	}
	if size == 0 {
		return []Column{emptyBinary(c)}, nil
	}
	kind := &arrow.FixedSizeBinaryType{ByteWidth: size}
	return []Column{{
		Field: arrow.Field{Name: c.Name, Type: kind, Metadata: schema.FieldMetadata(c)},
		Data: func(data []byte, rows int) arrow.ArrayData {
			return array.NewData(kind, rows, []*memory.Buffer{nil, memory.NewBufferBytes(data)}, nil, 0, 0)
		},
		Elements: []format.SchemaElement{{
			Name:           c.Name,
			Type:           thrift.New(format.FixedLenByteArray),
			TypeLength:     thrift.New(int32(size)),
			RepetitionType: thrift.New(format.Required),
		}},
		Leaves: []Leaf{{Path: []string{c.Name}, Type: format.FixedLenByteArray, Size: size, Entries: 1, Count: 1, Values: identity}},
	}}, nil
}

// emptyBinary represents records of no elements as values of no bytes. Their type is the one of variable length: a fixed length of 0 is
// not legal in Parquet, and not every reader of Arrow takes it.
func emptyBinary(c source.Column) Column {
	const prefix = 4 // bytes of the offset in Arrow and of the length before a value in Parquet, all 0
	return Column{
		Field: arrow.Field{Name: c.Name, Type: arrow.BinaryTypes.Binary, Metadata: schema.FieldMetadata(c)},
		Data: func(_ []byte, rows int) arrow.ArrayData {
			buffers := []*memory.Buffer{nil, memory.NewBufferBytes(make([]byte, prefix*(rows+1))), memory.NewBufferBytes(nil)}
			return array.NewData(arrow.BinaryTypes.Binary, rows, buffers, nil, 0, 0)
		},
		Elements: []format.SchemaElement{{
			Name:           c.Name,
			Type:           thrift.New(format.ByteArray),
			RepetitionType: thrift.New(format.Required),
		}},
		Leaves: []Leaf{{
			Path:    []string{c.Name},
			Type:    format.ByteArray,
			Size:    prefix,
			Made:    true,
			Entries: 1,
			Count:   1,
			Values:  func(_ []byte, rows int) []byte { return make([]byte, prefix*rows) },
		}},
	}
}
