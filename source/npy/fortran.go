package npy

import (
	"context"
	"io"
)

// In Fortran order a file has the first element of all records, then the second element of all
// records, and so on. The elements of a record are counted with its first dimension fastest.

// maxWindow is how many bytes of an array in Fortran order are in memory: the whole array, such as
// the 60,000 images of MNIST, which have 45 MiB, or half as many of a larger file.
const maxWindow = 48 << 20

// spans is how many times larger a window is than what is read of a large file at once, if that has
// several elements of all records: elements of one byte each are not read one by one.
const spans = 48

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
	for done := int64(0); done < rows; {
		next := t.next + done
		if next < w.first || next >= w.first+w.rows {
			if err := t.load(ctx, next); err != nil {
				return err
			}
		}
		n := min(rows-done, w.first+w.rows-next)
		for i := range elements {
			copy(p[(i*rows+done)*size:][:n*size], w.data[(i*w.rows+next-w.first)*size:])
		}
		done += n
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
	several := max(1, w.limit/spans/(total*size))
	span := make([]byte, (several-1)*total*size+run)
	for i := int64(0); i < elements; i += several {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(several, elements-i)
		p := span[:(n-1)*total*size+run]
		at := (i*total + first) * size
		if found, err := t.random.ReadAt(p, h.size+at); found < len(p) {
			if err == io.EOF {
				err = t.truncated(at + int64(found))
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

// leave moves to the end of the elements and frees the window.
func (t *Table) leave() (err error) {
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
	indices, to := make([]int, len(shape)), 0
	for ; len(src) > 0; src = src[n*size:] {
		if size == 1 {
			for row, v := range src[:n] {
				dst[row*record+to] = v
			}
		} else {
			for row := range n {
				copy(dst[row*record+to:][:size], src[row*size:])
			}
		}
		for axis := range shape {
			indices[axis], to = indices[axis]+1, to+steps[axis]
			if indices[axis] < shape[axis] {
				break
			}
			indices[axis], to = 0, to-shape[axis]*steps[axis]
		}
	}
}

// offset returns the offset in the file of an element, counted in C order, of a record.
func (h *header) offset(row int64, element int) int64 {
	place := row*(h.recordSize()/int64(h.number.Size())) + int64(element)
	if h.fortran {
		place = 0
		for axis := len(h.shape) - 1; axis > 0; axis-- {
			place = place*h.shape[axis] + int64(element)%h.shape[axis]
			element /= int(h.shape[axis])
		}
		place = place*h.rows() + row
	}
	return h.size + place*int64(h.number.Size())
}
