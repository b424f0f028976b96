package arrow

import (
	"bufio"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/columnar"
)

// Polars and pandas write a whole table as one record batch. If all columns have values of a fixed
// size, windows of some rows are read straight from the file. A compressed buffer is decompressed
// from its start for each window. There are few windows, because integers of 64 bits that are
// small, as those of pixels are, are kept in fewer.

// Bytes of all columns in a window. Only tests change them.
var (
	plainWindow      int64 = 4 << 20
	compressedWindow int64 = 24 << 20
)

// Numbers of the compressions in Message.fbs, plus 1; 0 is none.
const (
	codecLZ4  = 1
	codecZstd = 2
)

// maxPadding is the most bytes that follow the values in a buffer; writers need up to 63.
const maxPadding = 256

// A direct is a column whose values are in one buffer of a record batch, one row after another.
type direct struct {
	buffer          int   // index
	elements, width int64 // of a row; width: bytes
	number, kept    source.NumberKind
	window          []byte // the values of some rows, of the kind kept
}

// windows are what is needed to read windows of rows.
type windows struct {
	columns []direct      // of the schema, if all are of this kind
	perRow  []int64       // values of each array
	size    int64         // bytes of a row
	input   *bufio.Reader // these are for compressed buffers
	zstd    *zstd.Decoder
	scratch []byte
}

// newWindows finds out where the values of all columns are, if they have a fixed size: the fields
// describe the schema.
func newWindows(schema *arrow.Schema, fields []columnar.Field) (w windows) {
	buffers := 0
	for i, f := range fields {
		c := direct{elements: 1, number: f.Number, kept: f.Number}
		for _, n := range f.Lengths {
			w.perRow = append(w.perRow, c.elements)
			c.elements *= int64(n)
		}
		bits := schema.Field(i).Type.ID() == arrow.DICTIONARY || f.Number == source.NumberBool
		c.width = c.elements * int64(f.Number.Size()+f.Size) // one of them is 0
		if bits || slices.Contains(f.Lengths, -1) || c.width <= 0 || c.width > maxBody {
			return windows{}
		}
		if f.Number.Integer() && f.Number.Size() == 8 {
			c.kept = source.NumberUint8
		}
		c.buffer = buffers + len(f.Lengths) + 1 // behind the nulls of each array
		w.columns, w.size = append(w.columns, c), w.size+c.width
		w.perRow, buffers = append(w.perRow, c.elements), c.buffer+1
	}
	return w
}

// hasWindows reports whether a record batch is read in windows.
func (f *file) hasWindows(msg *message) bool {
	w := &f.windows
	if f.file == nil || w.columns == nil || msg.codec > codecZstd ||
		msg.rows <= plainWindow/w.size || msg.rows > maxRows/w.size ||
		len(msg.nodes) != len(w.perRow) || len(msg.buffers) <= w.columns[len(w.columns)-1].buffer {
		return false
	}
	for i, n := range w.perRow {
		if msg.nodes[i] != (span{msg.rows * n, 0}) {
			return false
		}
	}
	return true
}

// window returns the values of a column in the next rows of b, from one on, until the next call.
func (f *file) window(b *batch, column int, from int64) (*columnar.Chunk, error) {
	c := &f.windows.columns[column]
	begin, size, want := b.offset+b.size+b.buffers[c.buffer].first, b.buffers[c.buffer].second, b.rows*c.width
	var prefix [8]byte
	if b.codec != 0 && size >= 8 {
		if _, err := f.ReadAt(prefix[:], begin); err != nil {
			return nil, err
		}
	}
	n := b.plainSize(prefix[:min(8, size)])
	if b.codec != 0 {
		begin, size = begin+8, size-8
	}
	switch {
	case b.codec != 0 && b.rows > b.maxPlain()/f.windows.size:
		return nil, b.errPlain().At(b.offset)
	case n < 0 && size < want || n >= 0 && (n < want || n-want > maxPadding):
		return nil, damaged("found a buffer of %d bytes, expected %d", max(n, size), want).At(begin)
	case n < 0:
		rows := min(b.rows-from, max(1, plainWindow/f.windows.size))
		c.window = source.Grow(c.window, int(rows*c.width))
		_, err := f.ReadAt(c.window, begin+from*c.width)
		return &columnar.Chunk{Entries: rows * c.elements, Data: c.window, Number: c.number}, err
	}
	for {
		row := c.width
		if c.kept != c.number {
			row = c.elements * int64(c.kept.Size())
		}
		rows := min(b.rows-from, max(1, compressedWindow*c.width/f.windows.size/row))
		c.window = source.Grow(c.window, int(rows*row))
		in := io.NewSectionReader(f, begin, size)
		fits, err := f.windows.expand(c, b.codec, in, from*c.width, (from+rows)*c.width, n)
		switch {
		case f.failed != nil:
			return nil, f.failed
		case err != nil:
			return nil, damaged("a buffer cannot be decompressed: %v", err).At(begin)
		case fits:
			return &columnar.Chunk{Entries: rows * c.elements, Data: c.window, Number: c.kept}, nil
		case c.kept == source.NumberUint8:
			c.kept = source.NumberInt32
		default:
			c.kept = c.number
		}
	}
}

// expand decompresses the bytes between two places of a buffer of n, and reports whether c.kept can
// hold the values. After the last values, the buffer must end.
func (w *windows) expand(c *direct, codec int, r io.Reader, from, to, n int64) (fits bool, err error) {
	if w.input == nil {
		w.input, w.scratch = bufio.NewReaderSize(nil, 64<<10), make([]byte, 32<<10)
		w.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	}
	w.input.Reset(r)
	d := io.Reader(lz4.NewReader(w.input)) // one that was used has a history
	if codec == codecZstd && err == nil {
		d, err = w.zstd, w.zstd.Reset(w.input)
	}
	if err == nil {
		_, err = io.CopyN(io.Discard, d, from)
	}
	if c.kept == c.number && err == nil {
		_, err = io.ReadFull(d, c.window)
	}
	for dst := c.window; c.kept != c.number && err == nil && len(dst) > 0; {
		count := min(len(dst)/c.kept.Size(), len(w.scratch)/c.number.Size())
		if _, err = io.ReadFull(d, w.scratch[:count*c.number.Size()]); err == nil {
			if bad, _ := c.number.Convert(dst, c.kept.DType(), w.scratch, count); bad >= 0 {
				return false, nil
			}
		}
		dst = dst[count*c.kept.Size():]
	}
	if rest := n - to; err == nil && rest <= maxPadding {
		var found int64
		if found, err = io.Copy(io.Discard, io.LimitReader(d, rest+1)); err == nil && found != rest {
			err = io.ErrUnexpectedEOF
		}
	}
	return true, err
}
