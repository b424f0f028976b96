package images

import (
	"encoding/binary"
	"math"

	codec "github.com/idxport/idxport/png"
	"github.com/idxport/idxport/source"
)

// An Encoder makes the PNG files of the records of one column. One goroutine has it at a time.
type Encoder struct {
	image  Image
	png    *codec.Encoder
	pixels []byte // channels interleaved, if they are not in the table
}

// NewEncoder returns an encoder for m. It takes about m.Memory() bytes from the first image on.
func (m Image) NewEncoder() (*Encoder, error) {
	png, err := m.newPNG()
	if err != nil {
		return nil, err
	}
	return &Encoder{image: m, png: png}, nil
}

// Memory is about the number of bytes that an encoder and one file take: scanlines, zlib stream, file, and pixels if they are interleaved.
func (m Image) Memory() int64 {
	copies := int64(3)
	if m.planes {
		copies++
	}
	return copies * int64(m.size())
}

// MaxSize is an upper bound of the bytes that Append appends.
func (e *Encoder) MaxSize() int { return e.png.MaxSize() }

// Append appends the file of record i of data, the column in a batch, whose row in the table is row. A negative sample is a *sink.Error with
// ErrUnsupported.
func (e *Encoder) Append(dst, data []byte, i int, row int64) ([]byte, error) {
	size := e.image.size()
	record := data[i*size : (i+1)*size]
	if e.image.depth == 16 {
		if at := codec.FirstNegative(record); at >= 0 {
			return dst, Unsupported(e.image.format, AdviceOther, "row %d: found the value %d, expected 0 to %d",
				row, int16(binary.LittleEndian.Uint16(record[2*at:])), math.MaxInt16)
		}
	}
	if e.image.planes {
		e.pixels = source.Grow(e.pixels, size)
		interleave(e.pixels, record, e.image.channels)
		record = e.pixels
	}
	return e.png.Append(dst, record), nil
}

// interleave writes to dst the samples of each pixel together that src has in one plane for each channel.
func interleave(dst, src []byte, channels int) {
	plane := len(src) / channels
	for c := range channels {
		at := c
		for _, v := range src[c*plane : (c+1)*plane] {
			dst[at] = v
			at += channels
		}
	}
}
