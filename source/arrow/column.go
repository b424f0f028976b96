package arrow

import (
	"encoding/binary"
	"math/bits"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/columnar"
)

// A column is one of the table, and how it is read.
type column struct {
	columnar.Column
	filled []filled // what must have no nulls
	reader reader
}

// A filled field has no nulls: of these, each places are a row, or as many as there are if that is not known (0).
type filled struct {
	*field
	each int64
}

// A reader makes records of rows from to from+n of a record batch, in two steps. Both are given dst, the room for the records.
type reader interface {
	// fetch reads what the rows are made of to w. It may fill dst.
	fetch(b *batch, from, n int64, w *work, dst []byte) error
	// finish makes the records of w, without reading. Many goroutines may do so, each with its own w.
	finish(b *batch, from, n int64, w *work, dst []byte) error
}

// A work is what a reader keeps between its steps, and room for it.
type work struct {
	raw     []byte
	ends    []int64 // of values within raw
	bit     int     // of the first byte of raw
	offsets []byte  // room
	extra   []byte  // room
}

// check demands that b's arrays of c are whole: as long as b, and without nulls.
func (c *column) check(b *batch) error {
	for i, f := range c.filled {
		s, err := b.node(f.field)
		if err != nil {
			return err
		}
		if i == 0 && s.first != b.rows {
			return damaged(b.offset, "found %d values in a record batch of %d rows", s.first, b.rows).InColumn(c.Name)
		}
		if s.second == 0 {
			continue
		}
		if err := c.findNull(b, f, s.first); err != nil {
			return err
		}
	}
	return nil
}

// findNull looks for a null among the n values of f's validity bitmap.
func (c *column) findNull(b *batch, f filled, n int64) error {
	bitmap, err := b.bytes(nil, f.field, 0, 0, n/8+min(1, n%8))
	if err != nil {
		return err
	}
	for i, byte := range bitmap {
		bit := bits.TrailingZeros8(^byte)
		if at := int64(i)*8 + int64(bit); bit < 8 && at < n {
			row := int64(unknown)
			if f.each > 0 {
				row = at / f.each
			}
			return wrong(b, c.Name, row, "found a null, expected a value").
				WithHint("IDX has no nulls; fill them, or leave the rows out").Because(columnar.ErrNull)
		}
	}
	return nil
}

// A list is one dimension of lists in lists: f's lists are all of the length.
type list struct {
	*field
	length int64
}

// A values reader reads numbers, in lists or not.
type values struct {
	column *column
	lists  []list // the outermost first
	leaf   *field
	store  source.Number
}

func (v *values) fetch(b *batch, from, n int64, w *work, dst []byte) error {
	start, count, err := v.column.resolve(b, v.lists, from, n, w)
	if err != nil {
		return err
	}
	if v.store.Is(v.column.DType) {
		return b.read(dst, v.leaf, 1, start*int64(v.store.Size()))
	}
	if size := int64(v.store.Size()); size > 0 {
		w.raw, err = b.bytes(w.raw, v.leaf, 1, start*size, count*size)
		return err
	}
	w.bit = int(start % 8)
	w.raw, err = b.bytes(w.raw, v.leaf, 1, start/8, (int64(w.bit)+count+7)/8)
	return err
}

func (v *values) finish(b *batch, from, n int64, w *work, dst []byte) error {
	if v.store.Is(v.column.DType) {
		return nil
	}
	elements := v.column.Elements()
	if bad, value := v.store.Convert(dst, v.column.DType, w.raw, w.bit, int(n)*elements); bad >= 0 {
		return v.column.outside(b, from+int64(bad/elements), value)
	}
	return nil
}

// outside is the error for a value that the column's type cannot hold.
func (c *column) outside(b *batch, row int64, value int64) error {
	return wrong(b, c.Name, row, "found %d, expected a value of the type %v", value, c.DType).
		WithHint("IDX has no wider integers; give the type that fits with --dtype, or convert the column first")
}

// resolve is where the innermost places of the rows are: lists in lists stand one behind another.
func (c *column) resolve(b *batch, lists []list, from, n int64, w *work) (start, count int64, err error) {
	start, count = from, n
	each := int64(1) // places of a row
	for _, l := range lists {
		if count == 0 {
			return 0, 0, nil
		}
		first := start * l.length // of a fixed_size_list
		if hi, lo := bits.Mul64(uint64(start+count), uint64(l.length)); hi != 0 || lo > maxRows<<8 {
			return 0, 0, damaged(b.offset, "found %d lists of %d, expected fewer", start+count, l.length).InColumn(c.Name)
		}
		if l.kind != typeFixedSizeList {
			var at int64
			if first, at, err = l.first(b, start, count, w); err != nil {
				return 0, 0, err
			}
			if at >= 0 {
				return 0, 0, c.ragged(b, l, start, at, from+at/each, w)
			}
		}
		start, count = first, count*l.length
		each *= l.length
	}
	return start, count, nil
}

// ragged is the error for the list number at, of those from start on, that is not as long as the others.
func (c *column) ragged(b *batch, l list, start, at, row int64, w *work) error {
	from, to, err := l.limits(b, start+at, w)
	if err != nil {
		return err
	}
	if to-from == l.length { // a view
		return unsupported(c.Name, "write it as list or fixed_size_list", "the lists of a %v do not stand one behind another", l.field)
	}
	return wrong(b, c.Name, row, "found a list of %d values, expected %d as in the first row", to-from, l.length).
		WithHint("records of IDX are all of one shape; pad the lists, or write them by length")
}

// offsetSize is the number of bytes of an offset, or of the size of a view.
func (f *field) offsetSize() int64 {
	switch f.kind {
	case typeLargeList, typeLargeListView, typeLargeBinary, typeLargeText:
		return 8
	}
	return 4
}

// offset is number i of those in data.
func offset(data []byte, size int64, i int) int64 {
	if size == 8 {
		return int64(binary.LittleEndian.Uint64(data[8*i:]))
	}
	return int64(int32(binary.LittleEndian.Uint32(data[4*i:])))
}

// view reports whether lists have an offset and a size each, rather than the next one's offset for their end.
func (f *field) view() bool { return f.kind == typeListView || f.kind == typeLargeListView }

// limits are where list i begins and ends.
func (f *field) limits(b *batch, i int64, w *work) (from, to int64, err error) {
	size := f.offsetSize()
	n := int64(2)
	if f.view() {
		n = 1
	}
	if w.offsets, err = b.bytes(w.offsets, f, 1, i*size, n*size); err != nil {
		return 0, 0, err
	}
	from = offset(w.offsets, size, 0)
	if f.view() {
		if w.extra, err = b.bytes(w.extra, f, 2, i*size, size); err != nil {
			return 0, 0, err
		}
		to = from + offset(w.extra, size, 0)
	} else {
		to = offset(w.offsets, size, 1)
	}
	if from < 0 || to < from {
		return 0, 0, damaged(b.offset, "a list begins at %d and ends at %d", from, to).InColumn(f.name)
	}
	return from, to, nil
}

// first is where the values of the lists from start on begin, count of them, all of l's length and one behind another. If one is not, at is its index among them,
// else −1.
func (l list) first(b *batch, start, count int64, w *work) (first, at int64, err error) {
	size := l.offsetSize()
	n := count
	if l.view() {
		w.extra, err = b.bytes(w.extra, l.field, 2, start*size, count*size)
	} else {
		n++ // the end of the last
	}
	if err == nil {
		w.offsets, err = b.bytes(w.offsets, l.field, 1, start*size, n*size)
	}
	if err != nil {
		return 0, 0, err
	}
	first = offset(w.offsets, size, 0)
	if first < 0 {
		return 0, 0, damaged(b.offset, "a list begins at %d", first).InColumn(l.name)
	}
	expected := first
	for i := range int(count) {
		if l.view() && (l.length > 0 && offset(w.offsets, size, i) != expected || offset(w.extra, size, i) != l.length) {
			return first, int64(i), nil
		}
		expected += l.length
		if !l.view() && offset(w.offsets, size, i+1) != expected {
			return first, int64(i), nil
		}
	}
	return first, -1, nil
}

// A group reads a tensor of which each element is a column of its own, all of the same type or converted to it.
type group struct {
	column *column
	leaves []*field
	stores []source.Number
}

func (g *group) fetch(b *batch, from, n int64, w *work, _ []byte) error {
	size := 0
	for _, s := range g.stores {
		size += g.size(s, n)
	}
	w.raw = grow(w.raw, size)
	w.bit = int(from % 8)
	at := 0
	for i, leaf := range g.leaves {
		s := g.stores[i]
		start := from * int64(s.Size())
		if s == source.NumberBool {
			start = from / 8
		}
		part := w.raw[at : at+g.size(s, n)]
		if s == source.NumberBool { // no more bytes than there are
			part = part[:(int64(w.bit)+n+7)/8]
		}
		if err := b.read(part, leaf, 1, start); err != nil {
			return err
		}
		at += g.size(s, n)
	}
	return nil
}

// size is the room for n elements of s.
func (g *group) size(s source.Number, n int64) int {
	if s == source.NumberBool {
		return int(n/8) + 2
	}
	return int(n) * s.Size()
}

func (g *group) finish(b *batch, from, n int64, w *work, dst []byte) error {
	d := g.column.DType
	size := int(n) * d.Size()
	columns, at := make([][]byte, len(g.leaves)), 0
	for i, s := range g.stores {
		columns[i] = w.raw[at : at+g.size(s, n)]
		at += len(columns[i])
		if s.Is(d) {
			continue
		}
		w.extra = grow(w.extra, len(dst))
		to := w.extra[i*size : (i+1)*size]
		if bad, value := s.Convert(to, d, columns[i], w.bit, int(n)); bad >= 0 {
			return g.column.outside(b, from+int64(bad), value)
		}
		columns[i] = to
	}
	columnar.Interleave(dst, columns, int(n), d.Size())
	return nil
}
