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

// group represents c as an optional struct of members, an optional group in Parquet. Members are
// columns with one leaf without levels; they become optional. Every row has the struct and each
// member, except members whose leaf has no values.
func group(c source.Column, members ...Column) Column {
	const (
		structOnly = 1 // definition level if the struct is present and the member is null
		all        = 2
	)
	made := Column{Elements: []format.SchemaElement{{
		Name:           c.Name,
		NumChildren:    thrift.New(int32(len(members))),
		RepetitionType: thrift.New(format.Optional),
	}}}
	var fields []arrow.Field
	for _, m := range members {
		made.Allocates += m.Allocates
		m.Field.Nullable = true
		fields = append(fields, m.Field)
		element, leaf := m.Elements[0], m.Leaves[0]
		element.RepetitionType = thrift.New(format.Optional)
		made.Elements = append(made.Elements, element)
		leaf.Path = append([]string{c.Name}, leaf.Path...)
		leaf.MaxDefinition, leaf.Definition = all, all
		if leaf.Count == 0 {
			leaf.Definition = structOnly
		}
		made.Leaves = append(made.Leaves, leaf)
	}
	kind := arrow.StructOf(fields...)
	made.Field = arrow.Field{Name: c.Name, Type: kind, Nullable: true, Metadata: fieldMetadata(c)}
	made.Data = func(data []byte, rows int) arrow.ArrayData {
		children := make([]arrow.ArrayData, len(members))
		for i, m := range members {
			children[i] = m.Data(data, rows)
			defer children[i].Release()
		}
		return array.NewData(kind, rows, []*memory.Buffer{nil}, children, 0, 0)
	}
	return made
}

// huggingFace is the layout huggingface: a struct of a PNG file and a null path, as Hugging Face's
// datasets store an Image. Samples of 16 bits must be gray and not negative.
func (l Layout) huggingFace(c source.Column) ([]Column, error) {
	p, err := l.image(c)
	if err != nil {
		return nil, err
	}
	e := newEncoders(p)
	file := variable("bytes", e.maxSize)
	file.Allocates += e.maxSize
	file.Data, file.Leaves[0].Values, file.Leaves[0].Compressed = e.data, e.prefixed, true
	path := text(required("path", nil, arrow.Metadata{}, format.ByteArray))
	path.Allocates = lengthSize + 1 // offsets and nulls
	path.Data = nullStrings
	path.Leaves[0].Count, path.Leaves[0].Values = 0, func([]byte, int) []byte { return nil }
	made := group(c, file, path)
	if p.Depth > 8 {
		made.Check = p.Check
	}
	return []Column{made}, nil
}

// encoders make the PNG files of a column's records. They are safe for concurrent use, and a file
// depends on its pixels alone.
type encoders struct {
	size    int // bytes of a record
	maxSize int // maximum bytes of a file
	pool    *sync.Pool
}

func newEncoders(p images.Image) encoders {
	pool := &sync.Pool{New: func() any { return p.NewEncoder() }}
	return encoders{size: p.Size(), maxSize: p.NewEncoder().MaxSize(), pool: pool}
}

// appendFiles returns the files of rows records, each after prefix bytes. After each file it calls
// finish with all bytes so far, which finish may change, and the offset of the file's prefix.
func (e encoders) appendFiles(data []byte, rows, prefix int, finish func(dst []byte, start int)) []byte {
	encoder := e.pool.Get().(*images.Encoder)
	defer e.pool.Put(encoder)
	// Usually enough, as images compress to half their size.
	dst := make([]byte, 0, rows*(e.size/2+e.maxSize-e.size))
	for i := range rows {
		start := len(dst)
		dst, _ = encoder.Append(append(dst, make([]byte, prefix)...), data, i, 0) // cannot fail after Check
		finish(dst, start)
	}
	return dst
}

// prefixed returns the files as PLAIN pages of BYTE_ARRAY store them, each after its length.
func (e encoders) prefixed(data []byte, rows int) []byte {
	return e.appendFiles(data, rows, lengthSize, func(dst []byte, start int) {
		binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start-lengthSize))
	})
}

// data returns the files as an array.
func (e encoders) data(data []byte, rows int) arrow.ArrayData {
	offsets := make([]byte, lengthSize, lengthSize*(rows+1))
	files := e.appendFiles(data, rows, 0, func(dst []byte, _ int) {
		offsets = binary.LittleEndian.AppendUint32(offsets, uint32(len(dst)))
	})
	return arrayOf(arrow.BinaryTypes.Binary, rows, offsets, files)
}

// nullStrings returns an array of rows nulls.
func nullStrings(_ []byte, rows int) arrow.ArrayData {
	buffers := []*memory.Buffer{
		memory.NewBufferBytes(make([]byte, (rows+7)/8)),
		memory.NewBufferBytes(offsets(rows, 0)),
		memory.NewBufferBytes(nil),
	}
	return array.NewData(arrow.BinaryTypes.String, rows, buffers, nil, rows, 0)
}
