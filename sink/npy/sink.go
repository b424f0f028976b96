package npy

import (
	"context"
	"fmt"
	"io"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
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
