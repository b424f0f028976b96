package csv

import (
	"context"
	"io"
	"sync"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink/compressed"
)

// Options say how to write. The zero value writes uncompressed CSV in the default style.
type Options struct {
	Style       string           // the Name of one of Styles; empty: DefaultStyle
	Comma       byte             // what separates fields; 0: a comma. Tab for .tsv
	Compression compressed.Codec // the zero value does not compress
}

const (
	// pieceSize is the number of bytes of text that is made at a time: a batch of 1 MiB of unsigned bytes needs no more than one piece.
	pieceSize = 4 << 20
	// maxReady is the most pieces of a batch that Encode makes. The step makes the others, of records beyond 4 MiB, one by one.
	maxReady = 4
	// codeShare is how many times smaller than its text the compressed text is, at least: a digit or separator has less than four bits.
	codeShare = 2
)

// A Sink writes a table as CSV. It is a sink.Sink and a sink.Sizer.
type Sink struct {
	out    *compressed.Writer
	layout *layout
	packed bool      // out compresses
	room   int       // bytes of a piece of text, with slack
	texts  sync.Pool // of *[]byte: pieces of text
	codes  sync.Pool // of *[]byte: what is left of them, if out compresses

	// Of the steps and Close alone.
	begun bool // a batch, or the header alone, is written
}

// New returns a sink for tables of the schema s. Nothing is written to w before the first step. It fails with fault.Usage for a
// unknown style, for a separator that cannot be one, for a table whose records all have no elements, for more than one column in the style matrix, and for class
// names in a style without a header.
func New(w io.Writer, s *schema.Schema, o Options) (*Sink, error) {
	if o.Comma == 0 {
		o.Comma = ','
	}
	style, err := findStyle(o.Style)
	if err != nil {
		return nil, err
	}
	l, err := newLayout(s, style, o.Comma)
	if err != nil {
		return nil, err
	}
	out, err := compressed.New(w, o.Compression)
	if err != nil {
		return nil, err
	}
	rows := int64(s.BatchRows())
	if s.Rows >= 0 {
		rows = min(rows, max(s.Rows, 1))
	}
	room := int(min(pieceSize, rows*l.rowSize())) + slack
	return &Sink{out: out, layout: l, packed: !o.Compression.Plain(), room: room}, nil
}

// BatchSize is the most text that Encode makes of rows rows; where it is compressed, what that leaves, the piece that it is made from, and what
// the encoder keeps.
func (s *Sink) BatchSize(rows int) int64 {
	size := min(int64(rows)*s.layout.rowSize(), maxReady*pieceSize)
	if s.packed {
		return size/codeShare + min(size, pieceSize) + s.out.EncoderSize()
	}
	return size
}

// A piece is text on its way to the output, and the buffer that its block lies in, of pool.
type piece struct {
	block  compressed.Block
	buffer *[]byte
	pool   *sync.Pool
}

// Encode renders b as far as maxReady pieces go. The step writes them, and renders and writes what is left of b. The error is of the kind fault.Malformed
// for a label whose class has no name where names are written.
func (s *Sink) Encode(ctx context.Context, b schema.Batch) (func() error, error) {
	if k := s.layout.classes; k != nil {
		if err := k.Check(b.Columns[k.Label], b.First); err != nil {
			return nil, err
		}
	}
	c := s.layout.start(b)
	var ready []piece
	for len(ready) < maxReady && !c.done() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p, err := s.render(c)
		if err != nil {
			return nil, err
		}
		ready = append(ready, p)
	}
	return func() error {
		if err := s.begin(); err != nil {
			return err
		}
		for _, p := range ready {
			if err := s.append(p); err != nil {
				return err
			}
		}
		for !c.done() {
			p, err := s.render(c)
			if err != nil {
				return err
			}
			if err := s.append(p); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// render makes the next piece of c.
func (s *Sink) render(c *cursor) (piece, error) {
	text := buffer(&s.texts, s.room)
	*text = c.render((*text)[:0])
	if !s.packed {
		block, err := s.out.Encode(nil, *text)
		return piece{block, text, &s.texts}, err
	}
	defer s.texts.Put(text)
	code := buffer(&s.codes, s.room/codeShare)
	block, err := s.out.Encode(*code, *text)
	*code = block.Bytes() // which may have grown
	return piece{block, code, &s.codes}, err
}

// buffer takes a buffer out of pool, or makes one of n bytes. A buffer whose step never runs is simply
// lost to the pool.
func buffer(pool *sync.Pool, n int) *[]byte {
	if b, ok := pool.Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, 0, n)
	return &b
}

// append writes p and gives its buffer back.
func (s *Sink) append(p piece) error {
	defer p.pool.Put(p.buffer)
	return s.out.Append(p.block)
}

// begin writes what stands before a batch: the header, or the separator that joins it to the batch
// before where all rows make one line.
func (s *Sink) begin() error {
	first := !s.begun
	s.begun = true
	switch {
	case first && s.layout.header != nil:
		return s.layout.writeHeader(s.write)
	case !first && s.layout.flat:
		return s.write([]byte{s.layout.comma})
	}
	return nil
}

// Close writes the header if there were no rows, the end of the line if all rows make one, and what ends
// the compressed stream.
func (s *Sink) Close() error {
	var err error
	switch {
	case !s.begun:
		err = s.begin()
	case s.layout.flat:
		err = s.write([]byte{'\n'})
	}
	if err != nil {
		return err
	}
	return s.out.Close()
}

// write writes text that is in no batch.
func (s *Sink) write(text []byte) error {
	b, err := s.out.Encode(nil, text)
	if err != nil {
		return err
	}
	return s.out.Append(b)
}

// Next ends the file and begins another in w, with a header if the style has one: see sink.Splitter.
func (s *Sink) Next(w io.Writer) error {
	if err := s.Close(); err != nil {
		return err
	}
	s.out.Reset(w)
	s.begun = false
	return nil
}

// Held is 0: nothing is held back.
func (s *Sink) Held() int64 { return 0 }

// A cursor renders a batch, as much at a time as there is room for.
type cursor struct {
	fields  []field
	flat    bool
	columns [][]byte
	rows    int

	// The place of the next element.
	row, field, element int
}

// start returns a cursor before the first element of b.
func (l *layout) start(b schema.Batch) *cursor {
	c := &cursor{fields: l.fields, flat: l.flat, columns: b.Columns, rows: b.Rows}
	if l.flat { // a row of as many elements as there are rows
		f := l.fields[0]
		f.elements = b.Rows
		c.fields, c.rows = []field{f}, 1
	}
	return c
}

// done reports whether the whole batch was rendered.
func (c *cursor) done() bool { return c.row == c.rows }

// render appends to dst until it is full or the batch ends, and never makes it grow. The text of a flat layout has no separator at its end.
func (c *cursor) render(dst []byte) []byte {
	for ; !c.done(); c.row++ {
		for ; c.field < len(c.fields); c.field++ {
			f := &c.fields[c.field]
			n := min(f.elements-c.element, (cap(dst)-len(dst)-slack)/f.width)
			from := (c.row*f.elements + c.element) * f.size
			dst = f.render(dst, c.columns[f.index][from:from+n*f.size])
			c.element += n
			if c.element < f.elements {
				return dst
			}
			c.element = 0
		}
		c.field = 0
		if c.flat {
			dst = dst[:len(dst)-1]
		} else {
			dst[len(dst)-1] = '\n' // in place of the last separator
		}
	}
	return dst
}
