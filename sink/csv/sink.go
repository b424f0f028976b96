package csv

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/idxport/idxport/internal/compressed"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
)

const (
	// pieceSize is the size of a piece of text in bytes: that of 1 MiB of unsigned bytes fits one.
	pieceSize = 4 << 20
	// maxReady is the maximum number of pieces that Encode renders. If a batch has more, as a batch
	// of one huge record can, the step renders the others, one by one.
	maxReady = 4
	// minCompressionRatio is the minimum ratio of text to compressed text: a digit or separator
	// takes eight bits, but carries less than four bits of information.
	minCompressionRatio = 2
)

// A Sink writes a table as CSV. It implements sink.Splitter.
type Sink struct {
	out      *compressed.Writer
	layout   *layout
	pieceCap int // capacity of a piece of text, with slack

	// Used by the steps and Close only.
	begun bool // whether the header or a batch is written
}

// New returns a sink for tables of the schema s. Of the options it uses Compression, Layout and
// Comma. It writes nothing to w before the first step. It fails with fault.Usage for an unknown
// layout, for records without elements, for more than one column in the layout matrix, and for
// class names in a layout without a header.
func New(w io.Writer, s *schema.Schema, o sink.Options) (*Sink, error) {
	if names := sink.Names(Layouts()); o.Layout != "" && !slices.Contains(names, o.Layout) {
		return nil, unsupported("choose one of these layouts",
			"unknown layout %q, expected one of %s", o.Layout, strings.Join(names, ", "))
	}
	l, err := newLayout(s, o.Layout, cmp.Or(o.Comma, ','))
	if err != nil {
		return nil, err
	}
	out, err := compressed.NewWriter(w, o.Compression)
	if err != nil {
		return nil, err
	}
	rows := int64(s.BatchRows())
	if s.Rows >= 0 {
		rows = min(rows, max(s.Rows, 1))
	}
	pieceCap := int(min(pieceSize, rows*l.rowSize())) + slack
	return &Sink{out: out, layout: l, pieceCap: pieceCap}, nil
}

// BatchSize implements sink.Sizer. It returns the maximum size of the text or, with compression,
// the sum of the sizes of the compressed text, the piece that is being compressed, and the encoder.
func (s *Sink) BatchSize(rows int) int64 {
	size := min(int64(rows)*s.layout.rowSize(), maxReady*pieceSize)
	if s.out.Codec.Plain() {
		return size
	}
	return size/minCompressionRatio + min(size, pieceSize) + s.out.Codec.EncoderSize()
}

// Encode implements sink.Sink. It renders up to maxReady pieces of b, which the step writes; then
// the step renders and writes the rest. The error for a label without a class name is
// fault.Malformed if names are written.
func (s *Sink) Encode(ctx context.Context, b schema.Batch) (func() error, error) {
	if k := s.layout.classes; k != nil {
		if err := k.Check(b.Columns[k.Label], b.First); err != nil {
			return nil, err
		}
	}
	c := s.layout.start(b)
	var ready []compressed.Block
	for len(ready) < maxReady && !c.done() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		ready = append(ready, s.render(c))
	}
	return func() error {
		err := s.begin()
		for i := 0; err == nil && i < len(ready); i++ {
			err = s.out.Append(ready[i])
		}
		for err == nil && !c.done() {
			err = s.out.Append(s.render(c))
		}
		return err
	}, nil
}

// render returns the next piece of c.
func (s *Sink) render(c *cursor) compressed.Block {
	text := s.out.Buffer(s.pieceCap)
	*text = c.render((*text)[:0:s.pieceCap]) // not cap(*text), on which the ends of pieces would depend
	return s.out.EncodeBuffer(text)
}

// begin writes what precedes a batch: the header, or the separator of batches if all is one line.
func (s *Sink) begin() error {
	first := !s.begun
	s.begun = true
	switch {
	case first && s.layout.header != nil:
		return s.layout.writeHeader(s.out.AppendData)
	case !first && s.layout.singleLine:
		return s.out.AppendData([]byte{s.layout.comma})
	}
	return nil
}

// Close writes the header if there were no rows, the end of the line if all rows are one line, and
// the end of the compressed stream.
func (s *Sink) Close() error {
	var err error
	switch {
	case !s.begun:
		err = s.begin()
	case s.layout.singleLine:
		err = s.out.AppendData([]byte{'\n'})
	}
	if err != nil {
		return err
	}
	return s.out.Close()
}

// Next implements sink.Splitter. The new file has a header if the layout has one.
func (s *Sink) Next(w io.Writer) error {
	s.out.Reset(w)
	s.begun = false
	return nil
}

// A cursor renders a batch piece by piece.
type cursor struct {
	fields     []field
	singleLine bool
	columns    [][]byte
	rows       int

	// Position of the next element.
	row, field, element int
}

// start returns a cursor at the first element of b.
func (l *layout) start(b schema.Batch) *cursor {
	c := &cursor{fields: l.fields, singleLine: l.singleLine, columns: b.Columns, rows: b.Rows}
	if l.singleLine { // one row with as many elements as b has rows
		f := l.fields[0]
		f.elements = b.Rows
		c.fields, c.rows = []field{f}, 1
	}
	return c
}

func (c *cursor) done() bool { return c.row == c.rows }

// render appends to dst until it is full or the batch ends; it never reallocates dst. If all rows
// form one line, the text does not end with a separator.
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
		if c.singleLine {
			dst = dst[:len(dst)-1]
		} else {
			dst[len(dst)-1] = '\n' // replaces the last separator
		}
	}
	return dst
}
