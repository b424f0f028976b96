package images

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/idxport/idxport/internal/fault"
	codec "github.com/idxport/idxport/internal/png"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
)

// An Encoder makes the PNG files of the records of one column. It is not safe for concurrent use.
type Encoder struct {
	image  Image
	png    *codec.Encoder
	pixels []byte // the record with interleaved channels, if the table has planes
}

// NewEncoder returns an encoder for m. It takes about m.Memory() bytes from the first image on.
func (m Image) NewEncoder() *Encoder {
	png, _ := m.newPNG() // New has checked the size
	return &Encoder{image: m, png: png}
}

// Memory returns about the number of bytes that an encoder and one file take: the scanlines, the
// zlib stream, the file, and the pixels if they must be interleaved.
func (m Image) Memory() int64 {
	copies := int64(3)
	if m.planes {
		copies++
	}
	return copies * int64(m.Size())
}

// MaxSize returns an upper bound for the size of a file, in bytes.
func (e *Encoder) MaxSize() int { return e.png.MaxSize() }

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

// Append appends the file of record i of data, which is the given row of the table. Its errors are
// those of Check.
func (e *Encoder) Append(dst, data []byte, i int, row int64) ([]byte, error) {
	size := e.image.Size()
	record := data[i*size : (i+1)*size]
	if err := e.image.Check(record, row); err != nil {
		return dst, err
	}
	if e.image.planes {
		e.pixels = source.Grow(e.pixels, size)
		e.image.interleave(e.pixels, record)
		record = e.pixels
	}
	return e.png.Append(dst, record), nil
}

// interleave fills dst with the samples of record, which has one plane per channel, those of each
// pixel together.
func (m Image) interleave(dst, record []byte) {
	plane := len(record) / m.Channels
	for c := range m.Channels {
		at := c
		for _, v := range record[c*plane : (c+1)*plane] {
			dst[at] = v
			at += m.Channels
		}
	}
}

// A Table is a table of images that become files, named after their rows.
type Table struct {
	Columns
	Pixels Image // of the image column
	// Digits is the number of digits of the source's last row, so that names do not depend on the
	// range of rows that is converted.
	Digits int
	rows   int64 // of the source
}

// NewTable returns how the schema s becomes files of a format that consists of PNG files. The error
// is fault.Usage if the number of rows is not known, or if s has no column of images.
func NewTable(format string, s *schema.Schema) (t Table, err error) {
	if s.SourceRows < 0 {
		return t, fault.New(fault.Usage, "%s: the number of rows is needed in advance, for the file names, "+
			"but it is known only at the end of this input", format).
			WithHint("write Parquet or Arrow first, and convert that file")
	}
	t = Table{Digits: Digits(s.SourceRows - 1), rows: s.SourceRows}
	if t.Columns, err = Find(format, s); err == nil {
		t.Pixels, err = New(PNG(format), s.Columns[t.Image])
	}
	return t, err
}

// Check returns an error if b has a row that the source does not have.
func (t Table) Check(b schema.Batch) error {
	if last := b.First + int64(b.Rows) - 1; last >= t.rows {
		return fmt.Errorf("%s: found row %d, expected %d rows", t.Pixels.rules.Format, last, t.rows)
	}
	return nil
}

// Digits returns the number of decimal digits of n ≥ 0.
func Digits(n int64) int { return len(strconv.FormatInt(max(n, 0), 10)) }

// AppendPadded appends n ≥ 0, padded with zeros to width digits.
func AppendPadded(dst []byte, n int64, width int) []byte {
	var space [19]byte
	digits := strconv.AppendInt(space[:0], n, 10)
	for range width - len(digits) {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}
