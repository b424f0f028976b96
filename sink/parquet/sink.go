package parquet

import (
	"cmp"
	"context"
	"encoding/binary"
	"io"

	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/internal/compressed"
	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/layout"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
)

// magic begins and ends a file.
const magic = "PAR1"

// A Sink writes a file, or several one after the other, see Next. It implements sink.Splitter.
type Sink struct {
	// Used by Encode and the steps; these do not change.
	columns      []layout.Column
	leaves       []*leaf
	encoderSize  int64 // bytes per goroutine that compresses
	rowsPerGroup int

	// Used by the steps only.
	out         sink.Appender
	footer      format.FileMetaData // with the rows and row groups so far
	distinct    distinct            // values of a scalar's chunk
	chunks      []chunk             // of the current row group, one per leaf
	rowsInGroup int                 // rows in the current row group
	groupOffset int64               // start of the current row group
	buffered    int64               // bytes of the current row group in memory
	indexes     []chunkIndex        // of all chunks, row group by row group
}

// New starts a file of s in w, with the options Compression, Layout and Version. It writes a few
// bytes. The error is fault.Usage if the layout cannot hold one of the columns, if a record is too
// large for a page, or for an unknown codec or level.
func New(w io.Writer, s *schema.Schema, o sink.Options) (*Sink, error) {
	o.Compression.Name = cmp.Or(o.Compression.Name, codecs()[0].Name)
	codec, err := compressed.Find(codecs(), o.Compression)
	if err != nil {
		return nil, fault.New(fault.Usage, "parquet: %v", err)
	}
	columns, s, err := layout.Represent(s, o.Layout)
	if err != nil {
		return nil, err
	}
	leaves, err := newLeaves(columns, s, codec)
	if err != nil {
		return nil, err
	}
	made := &Sink{columns: columns, leaves: leaves, chunks: make([]chunk, len(leaves)), rowsPerGroup: groupRows(s),
		encoderSize: o.Compression.EncoderSize(), out: sink.Appender{Writer: w},
		footer: newFooter(s, columns, len(leaves), o.Version)}
	return made, made.out.Append([]byte(magic))
}

// A piece is the part of an encoded batch for one leaf: a page, or the elements of a scalar.
type piece struct {
	page   page
	values []byte
}

// Encode implements sink.Sink. It makes the pages of tensors, uncompressed ones in b's own memory.
func (s *Sink) Encode(ctx context.Context, b schema.Batch) (func() error, error) {
	prepared, err := layout.Prepared(s.columns, b)
	if err != nil {
		return nil, err
	}
	pieces := make([]piece, len(s.leaves))
	for i, l := range s.leaves {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		data := prepared[l.source]
		if l.Scalar {
			pieces[i].values = l.Values(data, b.Rows)
			continue
		}
		if pieces[i].page, err = l.page(data, b.Rows); err != nil {
			return nil, err
		}
	}
	return func() error { return s.append(b.Rows, pieces) }, nil
}

// BatchSize implements sink.Sizer.
func (s *Sink) BatchSize(rows int) int64 {
	size := int64(0)
	for _, l := range s.leaves {
		switch {
		case l.Scalar:
			if l.Allocates {
				size += int64(rows * l.Size)
			}
		case l.pages.codec.encode != nil || l.Allocates || l.valueSize > l.Size: // compressed, made or widened
			size += l.bodySize(rows)
		default:
			size += int64(rows) * int64(len(l.Repetition))
		}
	}
	return size + s.encoderSize
}

// Close writes the rest of the file.
func (s *Sink) Close() error {
	if s.rowsInGroup > 0 {
		if err := s.endGroup(); err != nil {
			return err
		}
	}
	if err := s.writeIndexes(); err != nil {
		return err
	}
	footer, err := marshal(&s.footer)
	if err != nil {
		return err
	}
	end := append(binary.LittleEndian.AppendUint32(nil, uint32(len(footer))), magic...)
	return s.out.Append(footer, end)
}

// Next implements sink.Splitter.
func (s *Sink) Next(w io.Writer) error {
	s.out = sink.Appender{Writer: w}
	s.footer.NumRows, s.footer.RowGroups, s.indexes = 0, nil, nil
	return s.out.Append([]byte(magic))
}
