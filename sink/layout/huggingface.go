package layout

import (
	"encoding/binary"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/sink/images"
	"github.com/idxport/idxport/source"
)

// huggingFace is the layout huggingface: a struct of a PNG file and no path, as Hugging Face's datasets store a feature Image. Samples of 16 bits
// are gray, and not negative.
func huggingFace(c source.Column, p images.Image) ([]Column, error) {
	e, err := newEncoders(p)
	if err != nil {
		return nil, err
	}
	made := group(c, []member{
		{
			kind:    arrow.BinaryTypes.Binary,
			element: optionalBytes("bytes"),
			leaf:    Leaf{Size: lengthSize + e.maxSize, Made: true, Compressed: true, Count: 1, Values: e.prefixed},
			data:    e.data,
		},
		{
			kind:    arrow.BinaryTypes.String,
			element: optionalString("path"),
			leaf:    Leaf{Values: func([]byte, int) []byte { return nil }},
			data:    nullStrings,
		},
	})
	made.Made = e.maxSize + 2*lengthSize + 1 // offsets of both members, and the nulls of one
	if p.Depth > 8 {
		made.Check = p.Check
	}
	return []Column{made}, nil
}

// encoders make PNG files of the records of a column, on many goroutines. A file depends on its pixels alone.
type encoders struct {
	size    int // bytes of a record
	maxSize int // most bytes of a file
	pool    *sync.Pool
}

func newEncoders(p images.Image) (encoders, error) {
	encoder, err := p.NewEncoder()
	if err != nil {
		return encoders{}, err
	}
	return encoders{size: p.Size(), maxSize: encoder.MaxSize(), pool: &sync.Pool{New: func() any {
		e, _ := p.NewEncoder() // worked above
		return e
	}}}, nil
}

// appendFiles appends to dst the files of rows records, and calls end with the length of dst after each, which may change what it is given.
func (e encoders) appendFiles(dst, data []byte, rows, prefix int, end func(dst []byte, start int)) []byte {
	encoder := e.pool.Get().(*images.Encoder)
	defer e.pool.Put(encoder)
	for i := range rows {
		start := len(dst)
		dst, _ = encoder.Append(append(dst, make([]byte, prefix)...), data, i, 0) // Check has seen that it can
		end(dst, start)
	}
	return dst
}

// room is memory for the files of rows records, which mostly suffices: images that compress to half their size.
func (e encoders) room(rows int) []byte { return make([]byte, 0, rows*(e.size/2+e.maxSize-e.size)) }

// prefixed is the files as PLAIN pages of BYTE_ARRAY hold them: each after its length.
func (e encoders) prefixed(data []byte, rows int) []byte {
	return e.appendFiles(e.room(rows), data, rows, lengthSize, func(dst []byte, start int) {
		binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start-lengthSize))
	})
}

// data is the files as an array.
func (e encoders) data(data []byte, rows int) arrow.ArrayData {
	offsets := make([]byte, lengthSize, lengthSize*(rows+1))
	files := e.appendFiles(e.room(rows), data, rows, 0, func(dst []byte, _ int) {
		offsets = binary.LittleEndian.AppendUint32(offsets, uint32(len(dst)))
	})
	return bytesData(arrow.BinaryTypes.Binary, offsets, files)
}

// nullStrings is an array of rows nulls.
func nullStrings(_ []byte, rows int) arrow.ArrayData {
	buffers := []*memory.Buffer{
		memory.NewBufferBytes(make([]byte, (rows+7)/8)),
		memory.NewBufferBytes(offsets(rows, 0)),
		memory.NewBufferBytes(nil),
	}
	return array.NewData(arrow.BinaryTypes.String, rows, buffers, nil, rows, 0)
}

// huggingFaceScalar represents a label as an optional int64, which is what a feature ClassLabel is stored as. Other scalars are as everywhere.
func huggingFaceScalar(c source.Column) Column {
	made := scalar(c)
	if !isLabel(c) {
		return made
	}
	made.Field.Type, made.Field.Nullable = arrow.PrimitiveTypes.Int64, true
	made.Made = 8
	made.Data = func(data []byte, rows int) arrow.ArrayData {
		wide := make([]byte, 0, 8*rows)
		for i := range rows {
			wide = binary.LittleEndian.AppendUint64(wide, uint64(source.Int(c.DType, data, i)))
		}
		return array.NewData(made.Field.Type, rows, []*memory.Buffer{nil, memory.NewBufferBytes(wide)}, nil, 0, 0)
	}
	made.Elements = []format.SchemaElement{{
		Name:           c.Name,
		Type:           thrift.New(format.Int64),
		RepetitionType: thrift.New(format.Optional),
	}}
	made.Leaves[0].Type = format.Int64
	made.Leaves[0].MaxDefinition, made.Leaves[0].Definition = 1, 1
	return made
}

// isLabel tells whether a scalar column holds labels: integers that are called so, that were chosen, or that have class names.
func isLabel(c source.Column) bool {
	return c.Scalar() && c.Integer() && (c.Name == "label" || c.Label || len(c.Classes) > 0)
}
