package idx

import (
	"context"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink/compressed"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// Options say what to write. The zero value writes the first column, uncompressed.
type Options struct {
	Column      int              // index of the column in the schema
	Compression compressed.Codec // the zero value does not compress
}

// A Sink writes one column behind a header that counts the rows. It is a sink.Sink and a
// sink.Sizer.
type Sink struct {
	format  string // in errors
	out     *compressed.Writer
	column  source.Column
	index   int       // of the column, in a batch
	want    int64     // rows, as the header says
	swaps   bool      // elements are big-endian
	packed  bool      // out compresses
	buffers sync.Pool // of *[]byte: big-endian elements, or what compression makes of them

	// Of the steps and Close alone.
	header []byte // nil once it is written
	rows   int64  // written so far
}

// New returns a sink for tables of the schema s. Nothing is written to w before the first step. It
// fails with fault.Usage if the number of rows is not known, or if the header has no place for the
// dimensions.
func New(w io.Writer, s *schema.Schema, o Options) (*Sink, error) {
	made, err := NewColumn(w, s, "idx", o, newHeader)
	if err != nil {
		return nil, err
	}
	made.swaps = made.column.DType.Size() > 1
	return made, nil
}

// NewColumn returns a sink for another format that is a header and then the elements of a column,
// little-endian. header makes the header for so many rows of the column.
func NewColumn(w io.Writer, s *schema.Schema, format string, o Options,
	header func(c source.Column, rows int64) ([]byte, error)) (*Sink, error) {
	if o.Column < 0 || o.Column >= len(s.Columns) {
		return nil, fmt.Errorf("%s: column %d does not exist, expected 0 to %d", format, o.Column, len(s.Columns)-1)
	}
	if s.Rows < 0 {
		return nil, fault.New(fault.Usage, "%s: the header counts the rows, and this input tells their number only at its end", format).
			WithHint("write Parquet or Arrow first, and convert that file")
	}
	made := &Sink{
		format: format, column: s.Columns[o.Column], index: o.Column, want: s.Rows, packed: !o.Compression.Plain(),
	}
	var err error
	if made.header, err = header(made.column, s.Rows); err != nil {
		return nil, err
	}
	made.out, err = compressed.NewSeekable(w, o.Compression)
	return made, err
}

// newHeader returns the bytes of the header for rows records of c.
func newHeader(c source.Column, rows int64) ([]byte, error) {
	if rows > math.MaxUint32 {
		return nil, fault.New(fault.Usage, "idx: found %d rows, expected at most %d", rows, uint32(math.MaxUint32)).
			WithHint("take a part of them with --rows")
	}
	h := idx.Header{DType: c.DType, Dims: []int64{rows}}
	for _, d := range c.Shape {
		h.Dims = append(h.Dims, int64(d))
	}
	header, err := h.AppendBinary(nil)
	if err != nil {
		return nil, fault.New(fault.Usage, "idx: column %q: %v", c.Name, err)
	}
	return header, nil
}

// BatchSize is what Encode makes of rows rows, and takes for it: nothing if the batch's own bytes
// are written as they are.
func (s *Sink) BatchSize(rows int) int64 {
	if !s.swaps && !s.packed {
		return 0
	}
	return int64(rows)*int64(s.column.RecordSize()) + s.out.EncoderSize()
}

// Encode turns the column of b to big-endian, and compresses it. The step writes it.
func (s *Sink) Encode(ctx context.Context, b schema.Batch) (func() error, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	block, buffer, err := s.encode(b.Columns[s.index])
	if err != nil {
		return nil, err
	}
	return func() error {
		defer s.release(buffer)
		if err := s.begin(); err != nil {
			return err
		}
		s.rows += int64(b.Rows)
		return s.out.Append(block)
	}, nil
}

// encode returns the block for data and the buffer that it lies in, which is nil if that is data
// itself.
func (s *Sink) encode(data []byte) (block compressed.Block, buffer *[]byte, err error) {
	if s.swaps {
		buffer = s.buffer(len(data))
		idx.SwapBytes(*buffer, data, s.column.DType.Size())
		data = *buffer
	}
	if !s.packed {
		block, err = s.out.Encode(nil, data)
		return block, buffer, err
	}
	defer s.release(buffer)
	code := s.buffer(len(data))
	block, err = s.out.Encode(*code, data)
	*code = block.Bytes() // which may have grown
	return block, code, err
}

// buffer takes a buffer of n bytes from the pool.
func (s *Sink) buffer(n int) *[]byte {
	b, ok := s.buffers.Get().(*[]byte)
	if !ok {
		b = new([]byte)
	}
	*b = source.Grow(*b, n)
	return b
}

// release gives b back to the pool; it may be nil.
func (s *Sink) release(b *[]byte) {
	if b != nil {
		s.buffers.Put(b)
	}
}

// begin writes the header before the first batch.
func (s *Sink) begin() error {
	if s.header == nil {
		return nil
	}
	block, err := s.out.Encode(nil, s.header)
	if err != nil {
		return err
	}
	s.header = nil
	return s.out.Append(block)
}

// Close writes what ends the compressed stream. It fails if the header counts other rows than were
// written.
func (s *Sink) Close() error {
	if s.rows != s.want {
		return fmt.Errorf("%s: wrote %d rows, but the header says %d", s.format, s.rows, s.want)
	}
	if err := s.begin(); err != nil {
		return err
	}
	return s.out.Close()
}
