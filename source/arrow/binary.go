package arrow

import (
	"encoding/binary"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source/columnar"
)

// A bytesReader reads records that are the bytes of one value each, little-endian.
type bytesReader struct {
	column *column
	field  *field
}

func (r *bytesReader) fetch(b *batch, from, n int64, w *work, dst []byte) error {
	return r.column.equalValues(b, r.field, from, n, w, dst)
}

func (r *bytesReader) finish(*batch, int64, int64, *work, []byte) error { return nil }

// equalValues reads to dst the values of f, a column of bytes, which must be of the same size each.
func (c *column) equalValues(b *batch, f *field, from, n int64, w *work, dst []byte) error {
	if n == 0 {
		return nil
	}
	size := int64(len(dst)) / n
	if f.kind == typeFixedSizeBinary {
		return b.read(dst, f, 1, from*size)
	}
	if err := c.ends(b, f, from, n, w); err != nil {
		return err
	}
	for i := range w.ends {
		if found := valueSize(w.ends, i); found != size {
			return wrong(b, c.Name, from+int64(i), "found %d bytes, expected %d", found, size).
				WithHint("records of IDX are all of one size")
		}
	}
	return c.contents(b, f, from, w, dst)
}

func valueSize(ends []int64, i int) int64 {
	if i == 0 {
		return ends[0]
	}
	return ends[i] - ends[i-1]
}

// maxValue is the most bytes of a value: Arrow's own limit for all but the large types.
const maxValue = 1<<31 - 1

// viewSize is the number of bytes of a view: a length, and up to 12 bytes of the value; or its first 4, the number of a buffer, and the place in it.
const (
	viewSize   = 16
	viewInline = 12
)

// ends puts the ends of the values of the rows to w, were they one behind another.
func (c *column) ends(b *batch, f *field, from, n int64, w *work) (err error) {
	w.ends = w.ends[:0]
	damage := func(i int, size int64) error {
		return damaged(b.offset, "found a value of %d bytes", size).InColumn(c.Name).InRow(b.first + from + int64(i))
	}
	if f.kind == typeBinaryView {
		if w.offsets, err = b.bytes(w.offsets, f, 1, from*viewSize, n*viewSize); err != nil {
			return err
		}
		end := int64(0)
		for i := range int(n) {
			size := offset(w.offsets, 4, 4*i)
			if size < 0 {
				return damage(i, size)
			}
			end += size
			w.ends = append(w.ends, end)
		}
		return nil
	}
	width := f.offsetSize()
	if w.offsets, err = b.bytes(w.offsets, f, 1, from*width, (n+1)*width); err != nil {
		return err
	}
	first := offset(w.offsets, width, 0)
	last := first
	for i := range int(n) {
		end := offset(w.offsets, width, i+1)
		if first < 0 || end < last || end-last > maxValue {
			return damage(i, end-last)
		}
		w.ends = append(w.ends, end-first)
		last = end
	}
	return nil
}

// contents reads the values, after ends, to dst, which is as long as they are.
func (c *column) contents(b *batch, f *field, from int64, w *work, dst []byte) error {
	if f.kind != typeBinaryView {
		return b.read(dst, f, 2, offset(w.offsets, f.offsetSize(), 0))
	}
	for i := 0; i < len(w.ends); {
		size := valueSize(w.ends, i)
		start := w.ends[i] - size
		view := w.offsets[i*viewSize : (i+1)*viewSize]
		if size <= viewInline {
			copy(dst[start:w.ends[i]], view[4:])
			i++
			continue
		}
		number, place := viewed(view)
		if most := b.viewed(f); number < 0 || number >= most {
			return damaged(b.offset, "found a value in buffer %d, expected one of %d", number, most).InColumn(c.Name).InRow(b.first + from + int64(i))
		}
		// Values that stand one behind another are read at once.
		next := i + 1
		for ; next < len(w.ends) && valueSize(w.ends, next) > viewInline; next++ {
			n, p := viewed(w.offsets[next*viewSize:])
			if n != number || p != place+w.ends[next-1]-start {
				break
			}
		}
		if err := b.read(dst[start:w.ends[next-1]], f, 2+number, place); err != nil {
			return err
		}
		i = next
	}
	return nil
}

// viewed is the number of the buffer that a view's value is in, and its place there.
func viewed(view []byte) (number int, place int64) {
	return int(int32(binary.LittleEndian.Uint32(view[8:]))), int64(int32(binary.LittleEndian.Uint32(view[12:])))
}

// images reads PNG files.
type images struct {
	column *column
	files  *field // bytes
}

func (p *images) fetch(b *batch, from, n int64, w *work, _ []byte) error {
	if n == 0 {
		return nil
	}
	if err := p.column.ends(b, p.files, from, n, w); err != nil {
		return err
	}
	size := w.ends[n-1]
	if size < 0 || size > n*int64(p.column.MaxFile())+filesExtra {
		return wrong(b, p.column.Name, from, "the images of %d rows from here on have %d bytes, far more than their pixels", n, size).
			WithHint("write the images without what is not the image")
	}
	w.raw = grow(w.raw, int(size))
	return p.column.contents(b, p.files, from, w, w.raw)
}

func (p *images) finish(b *batch, from, n int64, w *work, dst []byte) (err error) {
	size := p.column.RecordSize()
	for i := range int(n) {
		end := w.ends[i]
		if w.extra, err = p.column.Image(dst[i*size:(i+1)*size], w.raw[end-valueSize(w.ends, i):end], w.extra); err != nil {
			return fault.Wrap(fault.Malformed, err).InColumn(p.column.Name).InRow(b.first + from + int64(i))
		}
	}
	return nil
}

// spark reads Spark's image structs.
type spark struct {
	column *column
	sizes  [len(columnar.SparkSizes)]*field
	data   *field
}

func (s *spark) fetch(b *batch, from, n int64, w *work, dst []byte) (err error) {
	for k, f := range s.sizes {
		if w.raw, err = b.bytes(w.raw, f, 1, 4*from, 4*n); err != nil {
			return err
		}
		if bad, err := s.column.CheckSize(k, w.raw); err != nil {
			return err.InRow(b.first + from + int64(bad))
		}
	}
	w.raw = grow(w.raw, len(dst))
	return s.column.equalValues(b, s.data, from, n, w, w.raw)
}

func (s *spark) finish(_ *batch, _, _ int64, w *work, dst []byte) error {
	size := s.column.RecordSize()
	for i := 0; i < len(dst); i += size {
		s.column.SparkImage(dst[i:i+size], w.raw[i:i+size])
	}
	return nil
}
