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

// A Sink writes one column as an IDX file. It is a sink.Sink and a sink.Sizer.
type Sink struct {
	out     *compressed.Writer
	column  source.Column
	index   int       // of the column, in a batch
	want    int64     // rows, as the header says
	packed  bool      // out compresses
	buffers sync.Pool // of *[]byte: big-endian elements, or what compression makes of them

	// Of the steps and Close alone.
	header []byte // nil once it is written
	rows   int64  // written so far
}

// New returns a sink for tables of the schema s. Nothing is written to w before the first step. It fails with fault.Usage if the number of
// rows is not known, or if the header has no place for the dimensions.
func New(w io.Writer, s *schema.Schema, o Options) (*Sink, error) {
	if o.Column < 0 || o.Column >= len(s.Columns) {
		return nil, fmt.Errorf("idx: column %d does not exist, expected 0 to %d", o.Column, len(s.Columns)-1)
	}
	c := s.Columns[o.Column]
	header, err := newHeader(c, s.Rows)
	if err != nil {
		return nil, err
	}
	out, err := compressed.NewSeekable(w, o.Compression)
	if err != nil {
		return nil, err
	}
	return &Sink{out: out, column: c, index: o.Column, header: header, want: s.Rows,
		packed: !o.Compression.Plain()}, nil
}

// newHeader returns the bytes of the header for rows records of c.
func newHeader(c source.Column, rows int64) ([]byte, error) {
	if rows < 0 {
		return nil, fault.New(fault.Usage, "idx: the header counts the rows, and this input tells their number only at its end").
			WithHint("write Parquet or Arrow first, and convert that file")
	}
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

// BatchSize is what Encode makes of rows rows, and takes for it: nothing if the batch's own bytes are written as they are.
func (s *Sink) BatchSize(rows int) int64 {
	if s.column.DType.Size() == 1 && !s.packed {
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

// encode returns the block for data and the buffer that it lies in, which is nil if that is data itself.
func (s *Sink) encode(data []byte) (block compressed.Block, buffer *[]byte, err error) {
	if size := s.column.DType.Size(); size > 1 {
		buffer = s.buffer(len(data))
		idx.SwapBytes(*buffer, data, size)
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

// Close writes what ends the compressed stream. It fails if the header counts other rows than were written.
func (s *Sink) Close() error {
	if s.rows != s.want {
		return fmt.Errorf("idx: wrote %d rows, but the header says %d", s.rows, s.want)
	}
	if err := s.begin(); err != nil {
		return err
	}
	return s.out.Close()
}
