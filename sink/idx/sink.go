package idx

import (
	"context"
	"fmt"
	"io"

	"github.com/idxport/idxport/internal/compressed"
	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// A Sink writes a header and then one column. It implements sink.Sink and sink.Sizer.
type Sink struct {
	format string // name of the format, for errors
	out    *compressed.Writer
	column source.Column
	index  int   // of the column, in a batch
	want   int64 // number of rows in the header
	swaps  bool  // elements are big-endian

	// Used by the steps and Close only.
	header []byte // nil once it is written
	rows   int64  // written so far
}

// New returns a sink of an IDX file. It writes nothing to w before the first step. It fails with
// fault.Usage if the number of rows of s is not known, or if the dimensions do not fit the header.
func New(w io.Writer, s *schema.Schema, o sink.Options) (*Sink, error) {
	return newSink(w, s, "idx", o, true, idxHeader)
}

// NewNPY is New for a .npy file, which must not have more dimensions than NumPy supports.
func NewNPY(w io.Writer, s *schema.Schema, o sink.Options) (*Sink, error) {
	return newSink(w, s, "npy", o, false, npyHeader)
}

// newSink returns a sink of files that are a header and the elements of a column, big-endian or
// little-endian. header returns the header of a file with the given number of records of c.
func newSink(w io.Writer, s *schema.Schema, format string, o sink.Options, bigEndian bool,
	header func(c source.Column, rows int64) ([]byte, error)) (*Sink, error) {
	if o.Column < 0 || o.Column >= len(s.Columns) {
		return nil, fmt.Errorf("%s: column %d does not exist, expected 0 to %d", format, o.Column, len(s.Columns)-1)
	}
	if s.Rows < 0 {
		return nil, fault.New(fault.Usage, "%s: the number of rows is needed in advance, for the header, "+
			"but it is known only at the end of this input", format).
			WithHint("write Parquet or Arrow first, and convert that file")
	}
	made := &Sink{format: format, column: s.Columns[o.Column], index: o.Column, want: s.Rows}
	made.swaps = bigEndian && made.column.DType.Size() > 1
	var err error
	if made.header, err = header(made.column, s.Rows); err != nil {
		return nil, err
	}
	made.out, err = compressed.NewWriter(w, o.Compression)
	return made, err
}

// BatchSize implements sink.Sizer. It returns 0 if the batch's own bytes are written as they are.
func (s *Sink) BatchSize(rows int) int64 {
	if !s.swaps && s.out.Codec.Plain() {
		return 0
	}
	return int64(rows)*int64(s.column.RecordSize()) + s.out.Codec.EncoderSize()
}

// Encode implements sink.Sink: it makes the column of b big-endian, if needed, and compresses it.
func (s *Sink) Encode(_ context.Context, b schema.Batch) (func() error, error) {
	data := b.Columns[s.index]
	var block compressed.Block
	if s.swaps {
		buffer := s.out.Buffer(len(data))
		*buffer = (*buffer)[:len(data)]
		idx.SwapBytes(*buffer, data, s.column.DType.Size())
		block = s.out.EncodeBuffer(buffer)
	} else {
		block = s.out.Encode(data)
	}
	return func() error {
		if err := s.begin(); err != nil {
			return err
		}
		s.rows += int64(b.Rows)
		return s.out.Append(block)
	}, nil
}

// begin writes the header, once.
func (s *Sink) begin() error {
	header := s.header
	s.header = nil
	return s.out.AppendData(header)
}

// Close ends the compressed stream. It fails unless the header has the number of rows written.
func (s *Sink) Close() error {
	if s.rows != s.want {
		return fmt.Errorf("%s: wrote %d rows, but the header says %d", s.format, s.rows, s.want)
	}
	if err := s.begin(); err != nil {
		return err
	}
	return s.out.Close()
}
