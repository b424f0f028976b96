package arrow

import "encoding/binary"

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

// view tells whether lists have an offset and a size each, rather than the next one's offset for their end.
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
