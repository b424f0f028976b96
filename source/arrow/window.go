package arrow

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/columnar"
	"github.com/idxport/idxport/source/idx"
)

// Polars and pandas write a whole table as one record batch. If all columns have values of a fixed
// size, windows of some rows are read straight from the file. A compressed buffer is decompressed
// from its start for each: they are few, as small integers of 64 bits, of pixels, take one byte.

// windowSize is the number of bytes of all columns in a window. Only tests change it.
var windowSize int64 = 16 << 20

// Numbers of the compressions in Message.fbs, plus 1; 0 is none.
const codecLZ4, codecZstd = 1, 2

// A direct is a column whose values are in one buffer of a record batch, one row after another.
type direct struct {
	buffer          int   // index
	elements, width int64 // of a row; width: bytes
	number          source.NumberKind
	narrow          bool // keep the values as uint8, until one does not fit
}

type windows struct {
	columns []direct // of the schema, if all are of this kind
	perRow  []int64  // values of each array
	size    int64    // bytes of a row
	input   *bufio.Reader
	zstd    *zstd.Decoder
	lz4     *lz4.Reader // of the last buffer
	scratch []byte
}

// newWindows finds the values of all columns, if they have fixed sizes; fields are those of schema.
func newWindows(schema *arrow.Schema, fields []columnar.Field) (w windows) {
	buffers := 0
	for i, f := range fields {
		c := direct{elements: 1, number: f.Number, narrow: f.Number.Integer() && f.Number.Size() == 8}
		for _, n := range f.Lengths {
			w.perRow = append(w.perRow, c.elements)
			c.elements *= int64(n)
		}
		bits := schema.Field(i).Type.ID() == arrow.DICTIONARY || f.Number == source.NumberBool
		c.width = c.elements * int64(f.Number.Size()+f.Size) // one of them is 0
		if bits || slices.Contains(f.Lengths, -1) || c.width <= 0 || c.width > maxBody {
			return windows{}
		}
		c.buffer = buffers + len(f.Lengths) + 1 // behind the nulls of each array
		w.columns, w.size = append(w.columns, c), w.size+c.width
		w.perRow, buffers = append(w.perRow, c.elements), c.buffer+1
	}
	w.input, w.scratch, w.lz4 = bufio.NewReaderSize(nil, 64<<10), make([]byte, 32<<10), lz4.NewReader(nil)
	w.zstd, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	return w
}

// hasWindows reports whether a record batch is read in windows. Small ones are read as a whole.
func (f *file) hasWindows(msg *message) bool {
	w := &f.windows
	if f.file == nil || w.columns == nil || msg.codec > codecZstd || msg.rows <= windowSize/4/w.size ||
		msg.rows > maxRows/w.size || len(msg.buffers) <= w.columns[len(w.columns)-1].buffer {
		return false
	}
	isWhole := func(a span, perRow int64) bool { return a == span{msg.rows * perRow, 0} } // without nulls
	return slices.EqualFunc(msg.nodes, w.perRow, isWhole)
}

// window returns the values of a column in the next rows of b, beginning with row from.
func (f *file) window(b *batch, column int, from int64) (*columnar.Chunk, error) {
	const maxPadding = 256 // bytes after the values in a buffer; writers need up to 63
	w, c := &f.windows, &f.windows.columns[column]
	begin, size, want := b.offset+b.size+b.buffers[c.buffer].first, b.buffers[c.buffer].second, b.rows*c.width
	codec, plain, skip := b.codec, size, from*c.width // plain: bytes after decompression
	if codec != 0 {
		var prefix [8]byte // of a buffer that may be shorter, and so too short for the column
		if _, err := f.ReadAt(prefix[:], begin); err != nil {
			return nil, err
		}
		begin, size = begin+8, size-8
		if plain = int64(binary.LittleEndian.Uint64(prefix[:])); plain == -1 {
			codec, plain = 0, size
		}
	}
	switch {
	case b.codec != 0 && b.rows > b.maxPlain()/w.size:
		return nil, b.errPlain().At(b.offset)
	case plain < want || codec != 0 && plain-want > maxPadding:
		return nil, columnar.Damaged("found a buffer of %d bytes, expected %d", plain, want).At(begin)
	case codec == 0:
		begin, size, plain, skip = begin+skip, size-skip, plain-skip, 0
	}
	row, number, narrow := c.width, c.number, c.narrow
	if narrow {
		row, number = c.elements, source.NumberUint8
	}
	rows := min(b.rows-from, max(1, windowSize*c.width/w.size/row))
	data := make([]byte, rows*row)
	in, err := w.open(codec, io.NewSectionReader(f, begin, size))
	if err == nil {
		_, err = io.CopyN(io.Discard, in, skip)
	}
	if err == nil {
		err = w.fill(data, c, in)
	}
	if rest := plain - skip - rows*c.width; err == nil && rest <= maxPadding {
		if n, end := io.CopyN(io.Discard, in, rest+1); n != rest || end != io.EOF {
			err = cmp.Or(end, io.ErrUnexpectedEOF)
		}
	}
	switch {
	case narrow != c.narrow: // a value does not fit
		return f.window(b, column, from)
	case f.failed != nil:
		return nil, f.failed
	case err != nil:
		return nil, columnar.Damaged("a buffer cannot be decompressed: %v", err).At(begin)
	}
	entry := int(row / c.elements)
	use := func(_ []byte, from, n int, f func(columnar.Values) error) error {
		return f(columnar.Values{Data: data[from*entry:][:n*entry], Number: number})
	}
	return &columnar.Chunk{Entries: rows * c.elements, Use: use}, nil
}

// open returns a reader of a buffer, until the next call.
func (w *windows) open(codec int, r io.Reader) (io.Reader, error) {
	w.input.Reset(r)
	switch codec {
	case codecZstd:
		return w.zstd, w.zstd.Reset(w.input)
	case codecLZ4:
		w.lz4.Reset(nil)               // others use its memory
		w.lz4 = lz4.NewReader(w.input) // one that was used has a history
		return w.lz4, nil
	}
	return w.input, nil
}

// fill fills dst with the next values of c. It clears c.narrow if one does not fit into a byte.
func (w *windows) fill(dst []byte, c *direct, in io.Reader) error {
	if !c.narrow {
		_, err := io.ReadFull(in, dst)
		return err
	}
	for size := c.number.Size(); len(dst) > 0; {
		n := min(len(dst), len(w.scratch)/size)
		if _, err := io.ReadFull(in, w.scratch[:n*size]); err != nil {
			return err
		} else if bad := c.number.Convert(dst, idx.Uint8, w.scratch, n); bad >= 0 {
			c.narrow = false
			return nil
		}
		dst = dst[n:]
	}
	return nil
}
