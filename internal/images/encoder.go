package images

import (
	"encoding/binary"
	"math"

	"github.com/idxport/idxport/internal/fault"
	codec "github.com/idxport/idxport/internal/png"
	"github.com/idxport/idxport/source"
)

// An encoder makes the PNG files of the records of one column. It is not safe for concurrent use.
type encoder struct {
	png    *codec.Encoder
	pixels []byte // the record with interleaved channels, if the table has planes
}

// Memory returns about the number of bytes that an encoder and one file take: the scanlines, the
// zlib stream, the file, and the pixels if they must be interleaved.
func (m Image) Memory() int64 {
	copies := int64(3)
	if m.Planes {
		copies++
	}
	return copies * int64(m.Size())
}

// BadValue returns the error for a value in the given column and row that the format does not
// support: fault.Unsupported.
func BadValue(format, advice, column string, row int64, message string, args ...any) error {
	return fault.New(fault.Unsupported, format+": "+message, args...).InColumn(column).InRow(row).WithHint("%s", advice)
}

// Check returns an error for the first negative sample of data: fault.Unsupported. The first record
// in data is row first of the table.
func (m Image) Check(data []byte, first int64) error {
	for at := 1; m.Depth == 16 && at < len(data); at += 2 {
		if data[at]&0x80 != 0 { // the sign: in PNG, whose samples are unsigned, this one would be bright
			return BadValue(m.rules.Format, m.rules.Advice, m.column, first+int64(at/m.Size()),
				"found the value %d, expected 0 to %d", int16(binary.LittleEndian.Uint16(data[at-1:])), math.MaxInt16)
		}
	}
	return nil
}

// Append appends the PNG file of record i of data, which is the given row of the table. Its errors
// are those of Check. It is safe for concurrent use.
func (m Image) Append(dst, data []byte, i int, row int64) ([]byte, error) {
	size := m.Size()
	record := data[i*size : (i+1)*size]
	if err := m.Check(record, row); err != nil {
		return dst, err
	}
	e := m.encoders.Get().(*encoder)
	defer m.encoders.Put(e)
	if m.Planes {
		e.pixels = source.Grow(e.pixels, size)
		source.SwapAxes(e.pixels, record, m.Channels, size/m.Channels, 1)
		record = e.pixels
	}
	return e.png.Append(dst, record), nil
}
