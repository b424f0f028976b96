package layout

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/idxport/idxport/internal/images"
	"github.com/idxport/idxport/source"
)

// huggingFace is the layout huggingface: an optional struct of a PNG file and a null path, as
// Hugging Face's datasets store an Image. Samples of 16 bits must be gray and not negative.
func (l Layout) huggingFace(c source.Column) ([]Column, error) {
	m, err := images.New(images.Rules{Format: "layout " + l.Name,
		Advice: "use --layout list, which holds every type and shape"}, c)
	if err != nil {
		return nil, err
	}
	made := columnOf(arrow.Field{Name: c.Name, Nullable: true, Metadata: fieldMetadata(c), Type: arrow.StructOf(
		arrow.Field{Name: source.HubBytes, Type: arrow.BinaryTypes.Binary, Nullable: true},
		arrow.Field{Name: source.HubPath, Type: arrow.BinaryTypes.String, Nullable: true})})
	made.Allocates = lengthSize + m.MaxFile + lengthSize + 1 // of the paths, offsets and nulls
	made.Data = func(data []byte, rows int) Array {
		paths := Array{[]Node{{rows, rows}}, [][]byte{make([]byte, (rows+7)/8), offsets(rows, 0), nil}} // all null
		begins := make([]byte, lengthSize, lengthSize*(rows+1))
		files := appendFiles(m, data, rows, 0, func(dst []byte, _ int) {
			begins = binary.LittleEndian.AppendUint32(begins, uint32(len(dst)))
		})
		return flat(rows).above(flat(rows, begins, files), paths)
	}
	file, path := &made.Leaves[0], &made.Leaves[1]
	file.Size, file.Allocates, file.Compressed = lengthSize+m.MaxFile, true, true
	file.Values = func(data []byte, rows int) []byte { // each file after its length, as in PLAIN pages of BYTE_ARRAY
		return appendFiles(m, data, rows, lengthSize, func(dst []byte, start int) {
			binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start-lengthSize))
		})
	}
	path.Definition, path.Count = 1, 0 // the struct is present, its member is null
	path.Values = func([]byte, int) []byte { return nil }
	if m.Depth > 8 {
		made.Check = m.Check
	}
	return []Column{made}, nil
}

// appendFiles returns the PNG files of rows records, each after prefix bytes. After each file it
// calls finish with all bytes so far, which finish may change, and the offset of the file's prefix.
func appendFiles(m images.Image, data []byte, rows, prefix int, finish func(dst []byte, start int)) []byte {
	// Usually enough, as images compress to half their size.
	dst := make([]byte, 0, rows*(m.MaxFile-m.Size()/2))
	for i := range rows {
		start := len(dst)
		dst, _ = m.Append(append(dst, make([]byte, prefix)...), data, i, 0) // cannot fail after Check
		finish(dst, start)
	}
	return dst
}
