package arrow

import (
	"github.com/apache/arrow-go/v18/arrow"
)

// A recordBatch gathers what a record batch message says and what its body is.
type recordBatch struct {
	rows    int
	codec   *codec // nil if buffers are not compressed
	nodes   []node // of the arrays, depth first
	buffers []buffer
	body    [][]byte // the buffers one after another, with what fills them up
	size    int64    // bytes of body
	frames  []*frame // what the compressed buffers live in
}

// A buffer is where a buffer is in the body, what fills it up left out.
type buffer struct{ offset, length int64 }

// A node is the length of an array, and how many of its values are null.
type node struct{ length, nulls int }

// add adds data and its children, depth first. It must start at its buffers' start.
func (r *recordBatch) add(data arrow.ArrayData) error {
	r.nodes = append(r.nodes, node{data.Len(), data.NullN()})
	for _, b := range data.Buffers() {
		var bytes []byte
		if b != nil { // validity bitmaps are there only where values are null
			bytes = b.Bytes()
		}
		if err := r.addBuffer(bytes); err != nil {
			return err
		}
	}
	for _, child := range data.Children() {
		if err := r.add(child); err != nil {
			return err
		}
	}
	return nil
}

// addBuffer adds data as the next buffer, compressed if it is not empty.
func (r *recordBatch) addBuffer(data []byte) error {
	if r.codec != nil && len(data) > 0 {
		f, err := r.codec.compress(data)
		if err != nil {
			return err
		}
		r.frames = append(r.frames, f)
		data = f.bytes
	}
	r.buffers = append(r.buffers, buffer{r.size, int64(len(data))})
	r.body = append(r.body, data)
	if fill := align(len(data)) - len(data); fill > 0 {
		r.body = append(r.body, make([]byte, fill))
	}
	r.size += int64(align(len(data)))
	return nil
}

// release gives back the memory of the compressed buffers. The body must not be used after that.
func (r *recordBatch) release() {
	for _, f := range r.frames {
		r.codec.frames.Put(f)
	}
}

// align rounds n up to a multiple of 8.
func align(n int) int { return (n + 7) &^ 7 }
