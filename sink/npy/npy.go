package npy

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	sinkidx "github.com/idxport/idxport/sink/idx"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// format names this sink in errors.
const format = "npy"

// Options selects what to write. The zero value writes the first column.
type Options struct {
	Column int // index in the schema
}

// New returns a sink for tables of the schema s. It writes nothing to w before the first step. It
// fails with fault.Usage if the number of rows is not known, or if the array would have more
// dimensions than NumPy supports.
func New(w io.Writer, s *schema.Schema, o Options) (*sinkidx.Sink, error) {
	return sinkidx.NewColumn(w, s, format, sinkidx.Options{Column: o.Column}, newHeader)
}

const (
	magic = "\x93NUMPY\x01\x00" // including the version

	// maxDims is the maximum number of dimensions that every NumPy reads: 32 before 2.0, 64 since
	// then.
	maxDims = 32

	// growthDigits is the space that NumPy has left for the number of rows since version 1.23, so
	// that a writer that appends can change it in place: the digits of 2⁶⁴−1 and one more.
	growthDigits = 21

	// alignment is that of the elements within the file, in bytes.
	alignment = 64
)

// descr returns d in the notation of NumPy's array protocol: byte order, kind and size.
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

// newHeader returns the header of a file with the given number of records of c.
func newHeader(c source.Column, rows int64) ([]byte, error) {
	if dims := 1 + len(c.Shape); dims > maxDims {
		return nil, fault.New(fault.Usage, "%s: column %q: found %d dimensions, expected at most the %d that NumPy supports", format, c.Name, dims, maxDims).
			WithHint("use fewer dimensions with --reshape")
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
	// Like NumPy, this adds a whole block of padding if the text fits exactly.
	text.WriteString(strings.Repeat(" ", alignment-(len(magic)+2+text.Len()+1)%alignment))
	text.WriteByte('\n')
	header := binary.LittleEndian.AppendUint16([]byte(magic), uint16(text.Len())) // 32 dimensions take less than 1 KiB
	return append(header, text.String()...), nil
}
