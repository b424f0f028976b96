package images

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/idxport/idxport/fault"
	codec "github.com/idxport/idxport/png"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
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
	return copies * int64(m.Size())
}

// MaxSize is an upper bound of the bytes that Append appends.
func (e *Encoder) MaxSize() int { return e.png.MaxSize() }

// BadValue is the error of the sink for format about a value in the column of that name that it cannot hold.
func BadValue(format, advice, column string, row int64, message string, args ...any) error {
	return fault.New(fault.Unsupported, "%s: %s", format, fmt.Sprintf(message, args...)).InColumn(column).InRow(row).WithHint("%s", advice)
}

// Check is the error for the first sample of data, records from row first of the table on, that is negative: fault.Unsupported.
func (m Image) Check(data []byte, first int64) error {
	for at := 1; m.Depth == 16 && at < len(data); at += 2 {
		if data[at]&0x80 != 0 { // the sign: PNG would show the sample as a bright one
			return BadValue(m.rules.Format, m.rules.Advice, m.column, first+int64(at/m.Size()), "found the value %d, expected 0 to %d",
				int16(binary.LittleEndian.Uint16(data[at-1:])), math.MaxInt16)
		}
	}
	return nil
}

// Append appends the file of record i of data, the column in a batch, whose row in the table is row. The error is Check's.
func (e *Encoder) Append(dst, data []byte, i int, row int64) ([]byte, error) {
	size := e.image.Size()
	record := data[i*size : (i+1)*size]
	if err := e.image.Check(record, row); err != nil {
		return dst, err
	}
	if e.image.planes {
		e.pixels = source.Grow(e.pixels, size)
		e.image.Pixels(e.pixels, record)
		record = e.pixels
	}
	return e.png.Append(dst, record), nil
}

// Pixels writes record to dst, of the same length, with the samples of each pixel together, also if the record has one plane for each channel.
func (m Image) Pixels(dst, record []byte) {
	if !m.planes {
		copy(dst, record)
		return
	}
	plane := len(record) / m.Channels
	for c := range m.Channels {
		at := c
		for _, v := range record[c*plane : (c+1)*plane] {
			dst[at] = v
			at += m.Channels
		}
	}
}

// MaxNumber is the most bytes of a number: -2.2250738585072014e-308.
const MaxNumber = 24

// AppendNumber appends element i of data, little-endian elements of type d, as a decimal number. A float is the shortest that reads back at its
// precision, and has a point or an exponent, so that readers make a float of it: an integer would lose the sign of −0. What is not finite is NaN,
// infinity, or infinity after a minus.
func AppendNumber(dst []byte, d idx.DType, data []byte, i int, infinity string) []byte {
	switch d {
	case idx.Float32:
		return appendFloat(dst, float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))), 32, infinity)
	case idx.Float64:
		return appendFloat(dst, math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:])), 64, infinity)
	}
	return strconv.AppendInt(dst, source.Int(d, data, i), 10)
}

func appendFloat(dst []byte, v float64, bits int, infinity string) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, "NaN"...)
	case math.IsInf(v, 1):
		return append(dst, infinity...)
	case math.IsInf(v, -1):
		return append(append(dst, '-'), infinity...)
	}
	begin := len(dst)
	dst = strconv.AppendFloat(dst, v, 'g', -1, bits)
	for _, c := range dst[begin:] {
		if c == '.' || c == 'e' {
			return dst
		}
	}
	return append(dst, ".0"...)
}

// RowDigits is the number of digits in the names of files that are called after their rows: those of the source's last row, so that names do not
// depend on the rows that are converted. The error is fault.Usage if only the end can tell.
func RowDigits(format string, s *schema.Schema) (int, error) {
	if s.Source < 0 {
		return 0, fault.New(fault.Usage, "%s: file names have as many digits as the number of rows, and this input tells that only at its end", format).
			WithHint("write Parquet or Arrow first, and convert that file")
	}
	return Digits(s.Source - 1), nil
}

// Digits is the number of decimal digits of n, at least 1.
func Digits(n int64) int {
	count := 1
	for ; n >= 10; n /= 10 {
		count++
	}
	return count
}

// AppendPadded appends n, which is not negative, with zeros before it up to width digits.
func AppendPadded(dst []byte, n int64, width int) []byte {
	for range width - Digits(n) {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, n, 10)
}
