package npy

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	column "github.com/idxport/idxport/sink/idx"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// format names this sink in errors.
const format = "npy"

// Options say what to write. The zero value writes the first column.
type Options struct {
	Column int // index of the column in the schema
}

// New returns a sink for tables of the schema s. Nothing is written to w before the first step. It
// fails with fault.Usage if the number of rows is not known, or if NumPy has no arrays of so many
// dimensions.
func New(w io.Writer, s *schema.Schema, o Options) (*column.Sink, error) {
	return column.NewColumn(w, s, format, column.Options{Column: o.Column}, newHeader)
}

const (
	magic = "\x93NUMPY\x01\x00" // and the version

	// maxDims is the most dimensions that every NumPy reads: 32 before 2.0, 64 since then.
	maxDims = 32

	// growthDigits is the room for the number of rows, so that a writer that appends can change it
	// in place: the digits of 2⁶⁴−1, and one. NumPy leaves it since 1.23, and so do we, to write
	// the same bytes.
	growthDigits = 21

	// alignment of the elements within the file, in bytes.
	alignment = 64
)

// descr is d as the array protocol spells it: the order of the bytes, the kind, the size.
func descr(d idx.DType) string {
	switch d {
	case idx.Uint8:
		return "|u1"
	case idx.Int8:
		return "|i1"
	case idx.Int16:
		return "<i2"
	case idx.Int32:
		return "<i4"
	case idx.Float32:
		return "<f4"
	default:
		return "<f8"
	}
}

// newHeader returns the bytes of the header for rows records of c.
func newHeader(c source.Column, rows int64) ([]byte, error) {
	if dims := 1 + len(c.Shape); dims > maxDims {
		return nil, fault.New(fault.Usage, "%s: column %q: found %d dimensions, expected at most the %d that NumPy reads", format, c.Name, dims, maxDims).
			WithHint("give it fewer with --reshape")
	}
	var text strings.Builder
	count := fmt.Sprint(rows)
	fmt.Fprintf(&text, "{'descr': '%s', 'fortran_order': False, 'shape': (%s,", descr(c.DType), count)
	for i, d := range c.Shape {
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, " %d", d)
	}
	text.WriteString("), }")
	text.WriteString(strings.Repeat(" ", growthDigits-len(count)))
	// What fits exactly is padded too, as in NumPy.
	text.WriteString(strings.Repeat(" ", alignment-(len(magic)+2+text.Len()+1)%alignment))
	text.WriteByte('\n')
	header := binary.LittleEndian.AppendUint16([]byte(magic), uint16(text.Len())) // 32 dimensions take less than 1 KiB
	return append(header, text.String()...), nil
}
