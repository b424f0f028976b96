package tar

import (
	"context"
	"io"
	"slices"
	"strconv"

	"github.com/idxport/idxport/internal/images"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
)

// format names this sink in errors.
const format = "tar"

// A Sink writes a tar file. It implements sink.Splitter.
type Sink struct {
	out     io.Writer
	images  images.Table
	files   []file // of each sample
	rowSize int64  // maximum bytes of a row
}

// A file is one of the files of each sample. contents appends what it has for row i of b.
type file struct {
	header   *header
	contents func(dst []byte, b schema.Batch, i int) ([]byte, error)
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
	t := &Sink{out: w, images: found}
	t.add(".png", found.Pixels.MaxFile, func(dst []byte, b schema.Batch, i int) ([]byte, error) {
		return found.Pixels.Append(dst, b.Columns[found.Image], i, b.First+int64(i))
	})
	if found.Label >= 0 {
		label := s.Columns[found.Label].DType
		t.add(".cls", schema.MaxNumber, func(dst []byte, b schema.Batch, i int) ([]byte, error) {
			return strconv.AppendInt(dst, source.Int(label, b.Columns[found.Label], i), 10), nil
		})
	}
	if found.Rest != nil {
		t.addScalars(s.Columns)
	}
	return t, nil
}

// add adds a file of each sample, of at most maxSize bytes.
func (s *Sink) add(extension string, maxSize int, contents func([]byte, schema.Batch, int) ([]byte, error)) {
	s.files = append(s.files, file{newHeader(s.images.Digits, extension), contents})
	s.rowSize += int64(block + padded(maxSize))
}

// addScalars adds the .json file.
func (s *Sink) addScalars(columns []source.Column) {
	var keys []string // with quotes, the colon and what is before them
	size, before := len("}"), "{"
	for _, i := range s.images.Rest {
		key := before + text.JSON(columns[i].Name) + ":"
		keys, size, before = append(keys, key), size+len(key)+schema.MaxNumber, ","
	}
	s.add(".json", size, func(dst []byte, b schema.Batch, row int) ([]byte, error) {
		for k, i := range s.images.Rest { // Python's json reads Infinity
			dst = schema.AppendNumber(append(dst, keys[k]...), columns[i].DType, b.Columns[i], row, "Infinity")
		}
		return append(dst, '}'), nil
	})
}

// BatchSize implements sink.Sizer.
func (s *Sink) BatchSize(rows int) int64 { return int64(rows)*s.rowSize + s.images.Pixels.Memory() }

// Encode implements sink.Sink. It makes the files of b and their headers, which the step writes.
// The error for a value that PNG cannot hold is fault.Unsupported.
func (s *Sink) Encode(ctx context.Context, b schema.Batch) (func() error, error) {
	add := func(dst []byte, i int) ([]byte, error) { return s.appendRow(dst, b, i) }
	return s.images.Encode(ctx, b, add, func(rows []byte) (int, error) { return s.out.Write(rows) })
}

// appendRow appends the files of row i of b.
func (s *Sink) appendRow(dst []byte, b schema.Batch, i int) (_ []byte, err error) {
	var space [19]byte // maximum digits of a row
	key := images.AppendPadded(space[:0], b.First+int64(i), s.images.Digits)
	for _, f := range s.files {
		begin := len(dst)
		if dst, err = f.contents(append(dst, make([]byte, block)...), b, i); err != nil {
			return dst, err
		}
		size := len(dst) - begin - block
		f.header.fill(dst[begin:begin+block], key, size)
		dst = append(dst, make([]byte, padded(size)-size)...)
	}
	return dst, nil
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
