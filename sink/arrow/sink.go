package arrow

import (
	"context"
	"encoding/binary"
	"io"

	"github.com/idxport/idxport/internal/compressed"
	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/layout"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
)

// A Sink writes one file or stream. It implements sink.Splitter.
type Sink struct {
	columns     []layout.Column
	codec       *codec // nil if buffers are not compressed
	encoderSize int64  // bytes per goroutine that compresses
	stream      bool
	allocates   int64  // bytes of a row that Encode allocates in addition to the batch
	schema      []byte // encapsulated message

	// Used by the steps only.
	out          sink.Appender
	dictionaries []block // for a file's footer
	blocks       []block // the record batches, for a file's footer
}

// New starts a file or a stream for tables of the schema s: it writes the schema and dictionaries
// to w. It uses the options Compression, of which level 0 is the fastest, Layout and Stream. The
// error is fault.Usage if the layout cannot hold a column, if a record is too large for a record
// batch, or for an unknown codec or level.
func New(w io.Writer, s *schema.Schema, o sink.Options) (*Sink, error) {
	codec, err := compressed.Find(codecs(), o.Compression)
	if err != nil {
		return nil, fault.New(fault.Usage, "arrow: %v", err)
	}
	columns, s, err := layout.Represent(s, o.Layout)
	if err != nil {
		return nil, err
	}
	allocates := int64(0)
	for _, c := range columns {
		allocates += int64(c.Allocates)
	}
	const maxBody = 256 << 20 // bytes of a record batch: readers such as arrow-go refuse more
	rowSize := s.RowSize() + allocates
	if size := int64(s.BatchRows()) * rowSize; size > maxBody-maxBody/16 { // compression and padding may add some
		return nil, fault.New(fault.Usage,
			"arrow: a record batch of %d rows would have %d bytes, expected less than 240 MiB", s.BatchRows(), size)
	}
	if codec != nil { // all buffers are compressed into new memory
		allocates = rowSize
	}
	made := &Sink{
		columns: columns, codec: codec, encoderSize: o.Compression.EncoderSize(), allocates: allocates,
		stream: o.Stream, schema: layout.SchemaMessage(s, columns), out: sink.Appender{Writer: w},
	}
	return made, made.start()
}

// start writes what precedes the first record batch. arrow-go numbers the dictionaries of a schema
// from 0, depth first; here only top-level columns have one.
func (s *Sink) start() error {
	if !s.stream {
		if err := s.out.Append([]byte(magic), make([]byte, align(len(magic))-len(magic))); err != nil {
			return err
		}
	}
	if err := s.out.Append(s.schema); err != nil {
		return err
	}
	s.blocks, s.dictionaries = nil, nil
	for _, c := range s.columns {
		if c.Names == nil {
			continue
		}
		r, err := s.dictionary(c.Names)
		if err != nil {
			return err
		}
		head := r.message(int64(len(s.dictionaries)))
		if err := s.append(&s.dictionaries, head, r); err != nil {
			return err
		}
	}
	return nil
}

// dictionary returns the record batch of names.
func (s *Sink) dictionary(names []string) (*recordBatch, error) {
	offsets, text := make([]byte, 4, 4*(len(names)+1)), []byte{}
	for _, name := range names {
		text = append(text, name...)
		offsets = binary.LittleEndian.AppendUint32(offsets, uint32(len(text)))
	}
	r := &recordBatch{rows: len(names), codec: s.codec}
	// No validity bitmap: no name is missing.
	return r, r.add(layout.Array{Nodes: []layout.Node{{Length: len(names)}}, Buffers: [][]byte{nil, offsets, text}})
}

// append writes head and r, and adds the position to index. r must not be used afterwards.
func (s *Sink) append(index *[]block, head []byte, r *recordBatch) error {
	*index = append(*index, block{offset: s.out.Offset, metadata: len(head), body: r.size})
	if err := s.out.Append(head); err != nil {
		return err
	}
	err := s.out.Append(r.body...)
	for _, frame := range r.frames {
		r.codec.frames.Put(frame)
	}
	return err
}

// Encode implements sink.Sink. Buffers are b's own memory or, with compression, new memory.
func (s *Sink) Encode(_ context.Context, b schema.Batch) (func() error, error) {
	prepared, err := layout.Prepared(s.columns, b)
	if err != nil {
		return nil, err
	}
	r := &recordBatch{rows: b.Rows, codec: s.codec}
	for _, c := range s.columns {
		if err := r.add(c.Data(prepared[c.Source], b.Rows)); err != nil {
			return nil, err
		}
	}
	head := r.message(-1)
	return func() error { return s.append(&s.blocks, head, r) }, nil
}

// BatchSize implements sink.Sizer.
func (s *Sink) BatchSize(rows int) int64 { return int64(rows)*s.allocates + s.encoderSize }

// Close ends the stream, and writes the footer of a file.
func (s *Sink) Close() error {
	if err := s.out.Append(binary.LittleEndian.AppendUint64(nil, continuation)); err != nil || s.stream {
		return err
	}
	return s.out.Append(footer(s.schema[prefixSize:], s.dictionaries, s.blocks))
}

// Next implements sink.Splitter.
func (s *Sink) Next(w io.Writer) error {
	s.out = sink.Appender{Writer: w}
	return s.start()
}
