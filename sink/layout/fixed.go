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
		return variableBinary(c) // a fixed length of 0 is not legal in Parquet, and not every reader of Arrow takes it
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
