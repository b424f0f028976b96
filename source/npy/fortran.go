package npy

import (
	"context"
	"io"
)

// In Fortran order a file has the first element of all records, then the second element of all
// records, and so on. The elements of a record are counted with its first dimension fastest.

// maxWindow is the maximum number of bytes of an array in Fortran order that are in memory: the
// whole array, such as MNIST's 60,000 images, which take 45 MiB together, or up to half of
// maxWindow of a larger one.
const maxWindow = 48 << 20

// spansPerWindow is the size of a window divided by that of a span. A file has the values of one
// element of all records side by side; if such a block is small, a span of several blocks is read
// at once.
const spansPerWindow = 48

// A window holds consecutive rows of an array in Fortran order: their first elements, then their
// second ones.
type window struct {
	limit       int64 // in bytes, unless a single record has more; maxWindow except in tests
	first, rows int64
	data        []byte
}

// large reports whether the array is in Fortran order and does not fit in a window.
func (t *Table) large() bool { return t.header.fortran && t.header.payload() > t.window.limit }

// gather fills p with the next rows: their first elements, then their second ones.
func (t *Table) gather(ctx context.Context, p []byte, rows int64) error {
	w, size := &t.window, int64(t.header.number.Size())
	elements := t.header.recordSize() / size
	for gathered := int64(0); gathered < rows; {
		next := t.next + gathered
		if next < w.first || next >= w.first+w.rows {
			if err := t.load(ctx, next); err != nil {
				return err
			}
		}
		n := min(rows-gathered, w.first+w.rows-next)
		for i := range elements {
			copy(p[(i*rows+gathered)*size:][:n*size], w.data[(i*w.rows+next-w.first)*size:])
		}
		gathered += n
	}
	return nil
}

// load fills the window: with the whole array, or with the rows from first on.
func (t *Table) load(ctx context.Context, first int64) error {
	h, w := t.header, &t.window
	if !t.large() {
		w.data = make([]byte, h.payload())
		if err := t.readFull(w.data, 0); err != nil {
			return err
		}
		w.rows = h.rows()
		return nil
	}
	size, total := int64(h.number.Size()), h.rows()
	elements := h.recordSize() / size
	if w.data == nil {
		w.data = make([]byte, max(1, w.limit/2/h.recordSize())*h.recordSize())
	}
	w.first, w.rows = first, min(int64(len(w.data))/h.recordSize(), total-first)
	run := w.rows * size
	perSpan := max(1, w.limit/spansPerWindow/(total*size))
	span := make([]byte, (perSpan-1)*total*size+run)
	for i := int64(0); i < elements; i += perSpan {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(perSpan, elements-i)
		p := span[:(n-1)*total*size+run]
		offset := (i*total + first) * size
		if found, err := t.random.ReadAt(p, h.size+offset); found < len(p) {
			if err == io.EOF {
				err = t.truncated(offset + int64(found))
			}
			w.rows = 0
			return err
		}
		for k := range n {
			copy(w.data[(i+k)*run:][:run], p[k*total*size:])
		}
	}
	return nil
}

// closeWindow moves to the end of the elements and frees the window.
func (t *Table) closeWindow() (err error) {
	switch {
	case t.large():
		_, err = t.random.Seek(t.header.size+t.header.payload(), io.SeekStart)
	case t.window.data == nil: // all rows were skipped
		err = t.load(context.Background(), 0)
	}
	t.window.data = []byte{}
	return err
}

// transpose fills dst with the records in src, which gather has read, in C order.
func (h *header) transpose(dst, src []byte) {
	size, record := h.number.Size(), int(h.recordSize())
	n := len(src) / record
	shape := h.recordShape()
	steps := make([]int, len(shape)) // between neighbours along each dimension, in bytes of dst
	step := size
	for axis := len(shape) - 1; axis >= 0; axis-- {
		steps[axis], step = step, step*shape[axis]
	}
	indices, pos := make([]int, len(shape)), 0
	for ; len(src) > 0; src = src[n*size:] {
		if size == 1 {
			for row, v := range src[:n] {
				dst[row*record+pos] = v
			}
		} else {
			for row := range n {
				copy(dst[row*record+pos:][:size], src[row*size:])
			}
		}
		for axis := range shape {
			indices[axis], pos = indices[axis]+1, pos+steps[axis]
			if indices[axis] < shape[axis] {
				break
			}
			indices[axis], pos = 0, pos-shape[axis]*steps[axis]
		}
	}
}

// offset returns the file offset of an element of a record; element counts in C order.
func (h *header) offset(row int64, element int) int64 {
	index := row*(h.recordSize()/int64(h.number.Size())) + int64(element)
	if h.fortran {
		index = 0
		for axis := len(h.shape) - 1; axis > 0; axis-- {
			index = index*h.shape[axis] + int64(element)%h.shape[axis]
			element /= int(h.shape[axis])
		}
		index = index*h.rows() + row
	}
	return h.size + index*int64(h.number.Size())
}
