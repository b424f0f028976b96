package layout

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
)

// lengthSize is the number of bytes of a value's length in PLAIN pages of BYTE_ARRAY, and of an offset in Arrow.
const lengthSize = 4

// variableBinary is the layout binary: the bytes of a record as one value of variable size, which more readers know than fixed-binary's.
func variableBinary(c source.Column) ([]Column, error) {
	size := c.RecordSize()
	if size > math.MaxInt32 {
		return nil, tooLarge("binary", c, size, "bytes")
	}
	return []Column{{
		Field: arrow.Field{Name: c.Name, Type: arrow.BinaryTypes.Binary, Metadata: schema.FieldMetadata(c)},
		Data: func(data []byte, rows int) arrow.ArrayData {
			return bytesData(arrow.BinaryTypes.Binary, offsets(rows, size), data)
		},
		Made: lengthSize,
		Elements: []format.SchemaElement{{
			Name:           c.Name,
			Type:           thrift.New(format.ByteArray),
			RepetitionType: thrift.New(format.Required),
		}},
		Leaves: []Leaf{{
			Path:    []string{c.Name},
			Type:    format.ByteArray,
			Size:    lengthSize + size,
			Made:    true,
			Entries: 1,
			Count:   1,
			Values:  func(data []byte, rows int) []byte { return prefixed(data, rows, size) },
		}},
	}}, nil
}

// prefixed is rows values of size bytes each as PLAIN pages of BYTE_ARRAY hold them: each after its length.
func prefixed(data []byte, rows, size int) []byte {
	values := make([]byte, 0, rows*(lengthSize+size))
	for i := range rows {
		values = binary.LittleEndian.AppendUint32(values, uint32(size))
		values = append(values, data[i*size:(i+1)*size]...)
	}
	return values
}

// offsets is Arrow's offsets of rows values of size bytes each.
func offsets(rows, size int) []byte {
	made := make([]byte, 0, lengthSize*(rows+1))
	for i := range rows + 1 {
		made = binary.LittleEndian.AppendUint32(made, uint32(i*size))
	}
	return made
}

// bytesData is an array of kind, binary or string, without nulls.
func bytesData(kind arrow.DataType, offsets, values []byte) arrow.ArrayData {
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(offsets), memory.NewBufferBytes(values)}
	return array.NewData(kind, len(offsets)/lengthSize-1, buffers, nil, 0, 0)
}
