package parquet

import (
	"context"
	"io"

	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink/compressed"
	"github.com/idxport/idxport/sink/layout"
)

// magic is at both ends of a file.
const magic = "PAR1"

// A Sink writes one file. It is a sink.Sink and a sink.Sizer.
type Sink struct {
	// What Encode and the steps share does not change.
	schema       *schema.Schema
	columns      []layout.Column
	leaves       []leaf
	press        press // with the codec that was asked for
	plain        press // for values that are compressed already
	encoderSize  int64 // bytes that each goroutine which compresses keeps
	maxGroupRows int
	footer       format.FileMetaData // without rows and row groups

	// What follows is the steps' alone.
	out         output
	distinct    distinct // of a scalar's chunk
	chunks      []chunk  // of the row group that is being written, one for each leaf
	groupRows   int      // rows in it
	groupOffset int64    // where it starts
	held        int64    // bytes of it in memory
	rows        int64    // rows of the row groups before it
	groups      []format.RowGroup
	indexes     []chunkIndex // of all chunks, row group by row group
}

// New starts a file of s in w. It writes a few bytes. The error is fault.Usage if the layout cannot hold
// one of the columns, if a record is too large for a page, or if o asks for a codec or a level that does not exist.
func New(w io.Writer, s *schema.Schema, o Options) (*Sink, error) {
	codec, err := compressed.Find(codecs(), o.codec())
	if err != nil {
		return nil, unsupported("%v", err)
	}
	chosen, err := layout.Get(o.Layout)
	if err != nil {
		return nil, unsupported("%v", err)
	}
	chosen.Channels = o.Channels
	columns, err := chosen.Columns(s)
	if err != nil {
		return nil, err
	}
	s = chosen.Describe(s)
	made := &Sink{schema: s, columns: columns, maxGroupRows: groupRows(s), press: press{codec: codec}, encoderSize: o.codec().EncoderSize(), out: output{w: w}}
	if err := made.plan(); err != nil {
		return nil, err
	}
	made.footer, err = newFooter(s, columns, len(made.leaves), o.Version)
	if err != nil {
		return nil, err
	}
	return made, made.out.write([]byte(magic))
}

// plan decides how the leaves of the columns are written.
func (s *Sink) plan() error {
	rows := s.maxGroupRows
	if s.schema.Rows >= 0 {
		rows = int(min(int64(rows), s.schema.Rows))
	}
	for _, column := range s.columns {
		for _, l := range column.Leaves {
			x := &s.press
			if l.Compressed {
				x = &s.plain
			}
			planned, err := newLeaf(l, column.Source, rows, x)
			if err != nil {
				return err
			}
			if err := planned.check(s.schema); err != nil {
				return err
			}
			s.leaves = append(s.leaves, planned)
		}
	}
	s.chunks = make([]chunk, len(s.leaves))
	return nil
}

// A piece is what Encode makes of a batch for one leaf: a page, or what is needed of a scalar's elements.
type piece struct {
	page   page
	values []byte
}

// Encode makes the pages of the tensor columns of b: see sink.Sink. Where nothing is compressed, they are b's own memory.
func (s *Sink) Encode(ctx context.Context, b schema.Batch) (func() error, error) {
	if err := layout.Check(s.columns, b); err != nil {
		return nil, err
	}
	prepared := layout.Prepared(s.columns, b)
	pieces := make([]piece, len(s.leaves))
	for i := range s.leaves {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l, data := &s.leaves[i], prepared[s.leaves[i].source]
		if l.Scalar {
			pieces[i].values = l.Values(data, b.Rows)
			continue
		}
		p := page{
			encoding: l.encoding(),
			entries:  b.Rows * l.Entries,
			nulls:    b.Rows * (l.Entries - l.Count),
			rows:     b.Rows,
		}
		var err error
		if pieces[i].page, err = l.press.data(p, l.body(data, b.Rows)); err != nil {
			return nil, err
		}
	}
	return func() error { return s.append(b.Rows, pieces) }, nil
}

// BatchSize is the most memory that the pages of rows rows, and making them, take beside the batch: see sink.Sizer.
func (s *Sink) BatchSize(rows int) int64 {
	size := int64(0)
	for i := range s.leaves {
		l := &s.leaves[i]
		switch {
		case l.Names != nil:
			size += int64(rows) * layout.NameIndexSize
		case l.Scalar:
			if l.Made {
				size += int64(rows * l.Element.Size())
			}
		case l.press.codec.encode != nil || l.widens() || l.Made:
			size += l.bodySize(rows)
		default:
			size += int64(rows) * int64(len(l.Repetition))
		}
	}
	return size + s.encoderSize
}

// Close ends the file.
func (s *Sink) Close() error {
	if s.groupRows > 0 {
		if err := s.endGroup(); err != nil {
			return err
		}
	}
	if err := s.writeIndexes(); err != nil {
		return err
	}
	return s.writeFooter()
}
