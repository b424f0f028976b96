package npy

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// format names this sink in errors.
const format = "npy"

// Options say what to write. The zero value writes the first column.
type Options struct {
	Column int // index of the column in the schema
}

// A Sink writes one column as a .npy file. It is a sink.Sink.
type Sink struct {
	out   io.Writer
	index int   // of the column, in a batch
	want  int64 // rows, as the header says

	// Of the steps and Close alone.
	header []byte // nil once it is written
	rows   int64  // written so far
}

var _ sink.Sink = (*Sink)(nil)

// New returns a sink for tables of the schema s. Nothing is written to w before the first step. It fails with fault.Usage if the number of
// rows is not known, or if NumPy has no arrays of so many dimensions.
func New(w io.Writer, s *schema.Schema, o Options) (*Sink, error) {
	if o.Column < 0 || o.Column >= len(s.Columns) {
		return nil, fmt.Errorf("%s: column %d does not exist, expected 0 to %d", format, o.Column, len(s.Columns)-1)
	}
	header, err := newHeader(s.Columns[o.Column], s.Rows)
	if err != nil {
		return nil, err
	}
	return &Sink{out: w, index: o.Column, want: s.Rows, header: header}, nil
}

// Encode returns the step that writes the column of b: nothing is left to encode.
func (s *Sink) Encode(ctx context.Context, b schema.Batch) (func() error, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return func() error {
		if err := s.begin(); err != nil {
			return err
		}
		s.rows += int64(b.Rows)
		_, err := s.out.Write(b.Columns[s.index])
		return err
	}, nil
}

// begin writes the header before the first batch.
func (s *Sink) begin() error {
	if s.header == nil {
		return nil
	}
	_, err := s.out.Write(s.header)
	s.header = nil
	return err
}

// Close writes the header of an array without rows. It fails if the header counts other rows than were written.
func (s *Sink) Close() error {
	if s.rows != s.want {
		return fmt.Errorf("%s: wrote %d rows, but the header says %d", format, s.rows, s.want)
	}
	return s.begin()
}

const (
	magic = "\x93NUMPY\x01\x00" // and the version

	// maxDims is the most dimensions that every NumPy reads: 32 before 2.0, 64 since then.
	maxDims = 32

	// growthDigits is the room for the number of rows, so that a writer that appends can change it in place: the digits of 2⁶⁴−1, and one. NumPy
	// leaves it since 1.23, and so do we, to write the same bytes.
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
	if rows < 0 {
		return nil, fault.New(fault.Usage, "%s: the header counts the rows, and this input tells their number only at its end", format).
			WithHint("write Parquet or Arrow first, and convert that file")
	}
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
