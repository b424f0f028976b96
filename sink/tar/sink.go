package tar

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/sink/images"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// format names this sink in errors and notes.
const format = "tar"

// leastDigits of a key: shards of one data set mostly agree in their keys' length, and most tools write six.
const leastDigits = 6

// Options say what the images are. The zero value is for channels last.
type Options struct {
	// Channels says which dimension of records of three are the channels: "last", which empty means too, or "first".
	Channels string
}

// A Sink writes a tar file. It is a sink.Sink and a sink.Sizer.
type Sink struct {
	out                          io.Writer
	columns                      images.Columns
	image                        images.Image
	label                        idx.DType // of the label column, if there is one
	scalars                      []scalar
	rows                         int64 // of the source
	digits                       int   // of a key
	imageHead, clsHead, jsonHead *header
	rowSize                      int64     // the most bytes that a row takes
	encoders                     sync.Pool // of *images.Encoder
	buffers                      sync.Pool // of *[]byte: the blocks of a batch
	notes                        []string
}

var (
	_ sink.Sink  = (*Sink)(nil)
	_ sink.Sizer = (*Sink)(nil)
)

// New returns a sink for the images of a table of the schema s. Nothing is written to w before the first step. It fails with fault.Usage
// if the source cannot tell its number of rows, and for columns that make no images.
func New(w io.Writer, s *schema.Schema, o Options) (*Sink, error) {
	digits, err := images.RowDigits(format, s)
	if err != nil {
		return nil, err
	}
	found, err := images.Find(format, s)
	if err != nil {
		return nil, err
	}
	t := &Sink{out: w, columns: found, rows: s.Source, digits: max(digits, leastDigits)}
	if t.image, err = images.New(images.PNG(format, o.Channels), s.Columns[found.Image]); err != nil {
		return nil, err
	}
	t.encoders.New = func() any { return t.image.NewEncoder() }
	t.buffers.New = func() any { return new([]byte) }
	t.rowSize = int64(block + padded(t.image.NewEncoder().MaxSize()))
	t.imageHead = newHeader(t.digits, ".png")
	if found.Label >= 0 {
		t.label = s.Columns[found.Label].DType
		t.clsHead = newHeader(t.digits, ".cls")
		t.rowSize += 2 * block
	}
	var left []int
	if t.scalars, left = newScalars(s, found.Rest); t.scalars != nil {
		t.jsonHead = newHeader(t.digits, ".json")
		size := 1
		for _, c := range t.scalars {
			size += len(c.key) + images.MaxNumber
		}
		t.rowSize += int64(block + padded(size))
	}
	if left != nil {
		t.notes = append(t.notes, fmt.Sprintf("%s: left out %s: a sample holds one image and scalars; Parquet, Arrow and CSV hold all columns",
			format, images.Names(s, left)))
	}
	return t, nil
}

// Notes tell what of the table is not in the file. There may be none.
func (s *Sink) Notes() []string { return s.notes }

// BatchSize is the most that Encode makes of rows rows, and what it takes for one image.
func (s *Sink) BatchSize(rows int) int64 { return int64(rows)*s.rowSize + s.image.Memory() }

// Encode makes the files of b and their headers. The step writes them. A value that PNG cannot hold is fault.Unsupported.
func (s *Sink) Encode(ctx context.Context, b schema.Batch) (func() error, error) {
	if last := b.First + int64(b.Rows) - 1; last >= s.rows {
		return nil, fmt.Errorf("%s: found row %d, expected %d rows", format, last, s.rows)
	}
	e := s.encoders.Get().(*images.Encoder)
	defer s.encoders.Put(e)
	buffer := s.buffers.Get().(*[]byte)
	out := (*buffer)[:0]
	for i := range b.Rows {
		err := ctx.Err()
		if err == nil {
			out, err = s.appendRow(out, e, b, i)
		}
		if err != nil {
			s.buffers.Put(buffer)
			return nil, err
		}
	}
	*buffer = out
	return func() error {
		defer s.buffers.Put(buffer)
		_, err := s.out.Write(out)
		return err
	}, nil
}

// appendRow appends the files of row i of b.
func (s *Sink) appendRow(dst []byte, e *images.Encoder, b schema.Batch, i int) ([]byte, error) {
	row := b.First + int64(i)
	var space [19]byte // the most digits that a row has
	key := images.AppendPadded(space[:0], row, s.digits)

	begin := len(dst)
	dst, err := e.Append(begun(dst), b.Columns[s.columns.Image], i, row)
	if err != nil {
		return dst, err
	}
	dst = ended(dst, begin, s.imageHead, key)
	if s.clsHead != nil {
		begin = len(dst)
		dst = strconv.AppendInt(begun(dst), source.Int(s.label, b.Columns[s.columns.Label], i), 10)
		dst = ended(dst, begin, s.clsHead, key)
	}
	if s.jsonHead != nil {
		begin = len(dst)
		dst = appendJSON(begun(dst), s.scalars, b, i)
		dst = ended(dst, begin, s.jsonHead, key)
	}
	return dst, nil
}

// begun appends the room for a file's header.
func begun(dst []byte) []byte { return append(dst, make([]byte, block)...) }

// ended fills in the header of the file of key that was begun at begin, and pads it.
func ended(dst []byte, begin int, h *header, key []byte) []byte {
	size := len(dst) - begin - block
	h.fill(dst[begin:begin+block], key, size)
	return append(dst, make([]byte, padded(size)-size)...)
}

// Close ends the archive, with two blocks of zeros.
func (s *Sink) Close() error {
	_, err := s.out.Write(make([]byte, 2*block))
	return err
}

// Next ends the archive and begins another in w: see sink.Splitter. Keys go on counting.
func (s *Sink) Next(w io.Writer) error {
	if err := s.Close(); err != nil {
		return err
	}
	s.out = w
	return nil
}

// Held is 0: nothing is held back.
func (s *Sink) Held() int64 { return 0 }
