package tar

import (
	"context"
	"io"
	"slices"
	"strconv"
	"sync"

	"github.com/idxport/idxport/internal/images"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// format names this sink in errors.
const format = "tar"

// A Sink writes a tar file. It implements sink.Splitter.
type Sink struct {
	out                          io.Writer
	images                       images.Table
	label                        idx.DType // of the label column, if there is one
	scalars                      []scalar
	imageHead, clsHead, jsonHead *header
	rowSize                      int64     // maximum bytes of a row
	encoders                     sync.Pool // of *images.Encoder
}

// A scalar is a column that is written to .json files.
type scalar struct {
	column int
	dtype  idx.DType
	key    string // with quotes, colon and the separator before it
}

// New returns a sink for the images of a table of the schema s. It writes nothing to w before the
// first step. It fails with fault.Usage for an unknown number of rows, and columns it cannot hold.
func New(w io.Writer, s *schema.Schema, o sink.Options) (*Sink, error) {
	found, err := images.NewTable(format, s)
	if err != nil {
		return nil, err
	}
	isScalar := func(i int) bool { return s.Columns[i].Scalar() }
	if rest := slices.DeleteFunc(slices.Clone(found.Rest), isScalar); len(rest) > 0 {
		advice := "leave them out with --columns"
		if slices.ContainsFunc(rest, func(i int) bool { return s.Columns[i].Name == "label" }) {
			advice = schema.HintLabel
		}
		return nil, images.Unsupported(format, advice, "cannot hold %s", images.Names(s, rest))
	}
	found.Digits = max(found.Digits, 6) // as most tools; the keys of all shards of a data set have one length
	t := &Sink{out: w, images: found, imageHead: newHeader(found.Digits, ".png")}
	t.encoders.New = func() any { return found.Pixels.NewEncoder() }
	t.rowSize = int64(block + padded(found.Pixels.NewEncoder().MaxSize()))
	if found.Label >= 0 {
		t.label = s.Columns[found.Label].DType
		t.clsHead = newHeader(found.Digits, ".cls")
		t.rowSize += 2 * block
	}
	size, separator := 1, "{" // of a .json file, with the brace at its end
	for _, i := range found.Rest {
		c := s.Columns[i]
		key := separator + text.JSON(c.Name) + ":"
		t.scalars = append(t.scalars, scalar{column: i, dtype: c.DType, key: key})
		size += len(key) + schema.MaxNumber
		separator = ","
	}
	if t.scalars != nil {
		t.jsonHead = newHeader(found.Digits, ".json")
		t.rowSize += int64(block + padded(size))
	}
	return t, nil
}

// BatchSize implements sink.Sizer.
func (s *Sink) BatchSize(rows int) int64 { return int64(rows)*s.rowSize + s.images.Pixels.Memory() }

// Encode implements sink.Sink. It makes the files of b and their headers, which the step writes.
// The error for a value that PNG cannot hold is fault.Unsupported.
func (s *Sink) Encode(ctx context.Context, b schema.Batch) (func() error, error) {
	e := s.encoders.Get().(*images.Encoder)
	defer s.encoders.Put(e)
	add := func(dst []byte, i int) ([]byte, error) { return s.appendRow(dst, e, b, i) }
	return s.images.Encode(ctx, b, add, func(rows []byte) (int, error) { return s.out.Write(rows) })
}

// appendRow appends the files of row i of b.
func (s *Sink) appendRow(dst []byte, e *images.Encoder, b schema.Batch, i int) ([]byte, error) {
	row := b.First + int64(i)
	var space [19]byte // maximum digits of a row
	key := images.AppendPadded(space[:0], row, s.images.Digits)

	begin := len(dst)
	dst, err := e.Append(beginFile(dst), b.Columns[s.images.Image], i, row)
	if err != nil {
		return dst, err
	}
	dst = endFile(dst, begin, s.imageHead, key)
	if s.clsHead != nil {
		begin = len(dst)
		dst = strconv.AppendInt(beginFile(dst), source.Int(s.label, b.Columns[s.images.Label], i), 10)
		dst = endFile(dst, begin, s.clsHead, key)
	}
	if s.jsonHead != nil {
		begin = len(dst)
		dst = beginFile(dst)
		for _, c := range s.scalars {
			dst = append(dst, c.key...)
			// Python's json reads Infinity.
			dst = schema.AppendNumber(dst, c.dtype, b.Columns[c.column], i, "Infinity")
		}
		dst = endFile(append(dst, '}'), begin, s.jsonHead, key)
	}
	return dst, nil
}

// beginFile appends space for a header.
func beginFile(dst []byte) []byte { return append(dst, make([]byte, block)...) }

// endFile fills in the header of the file whose header begins at begin, and pads the file.
func endFile(dst []byte, begin int, h *header, key []byte) []byte {
	size := len(dst) - begin - block
	h.fill(dst[begin:begin+block], key, size)
	return append(dst, make([]byte, padded(size)-size)...)
}

// Close ends the archive with two blocks of zeros.
func (s *Sink) Close() error {
	_, err := s.out.Write(make([]byte, 2*block))
	return err
}

// Next implements sink.Splitter. Keys continue in the next archive.
func (s *Sink) Next(w io.Writer) error {
	s.out = w
	return nil
}
