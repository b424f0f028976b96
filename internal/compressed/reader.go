package compressed

import (
	"bufio"
	"io"
	"io/fs"
	"sync"
	"time"
)

// A Reader reads the decompressed bytes of its input. It is for one goroutine, except that Close
// may be called at any time from others.
//
// Compressed data is decoded in a goroutine of its own, into buffers. A buffer is in free, then in
// full, then current, and in free again. Both channels have room for all buffers: no send blocks.
type Reader struct {
	format string
	in     *input
	buf    *bufio.Reader // of in
	full   chan chunk    // nil for plain data
	free   chan []byte
	stop   chan struct{} // closed by Close
	done   chan struct{} // closed by the goroutine
	once   sync.Once     // for closing stop

	// Used only by Read.
	current []byte // the buffer being read
	rest    []byte // the unread part of current
	err     error  // returned after rest
}

// A chunk is decompressed data and the error that followed it.
type chunk struct {
	data []byte
	err  error
}

const (
	// inputBuffer is the size of the buffer for the input.
	inputBuffer = 64 << 10

	// bufferSize is so large that passing on a buffer (about 1 µs) costs little compared with
	// decoding it (more than 250 µs), and so small that it stays in a core's second-level cache.
	bufferSize = 256 << 10

	// buffers is the number of buffers: one being read, and two in advance.
	buffers = 3

	// closeGrace is how long Close waits for a Read of the input in progress. A disk is much
	// faster, so the goroutine has ended when Close returns, unless that Read really blocks.
	closeGrace = 100 * time.Millisecond
)

// NewReader detects the format from the first 6 bytes of r and returns a Reader of the decompressed
// data. An empty input is plain. Errors are those of reading r; Read reports bad data.
//
// If the data is compressed, the Reader takes over r: a goroutine reads it in advance.
func NewReader(r io.Reader) (*Reader, error) {
	in := &input{r: r}
	buf := bufio.NewReaderSize(in, inputBuffer)
	prefix, err := buf.Peek(magicLen)
	if err != nil && err != io.EOF {
		return nil, err
	}
	f := formatOf(prefix)
	z := &Reader{format: f.name, in: in, buf: buf}
	if f.open == nil {
		return z, nil
	}
	z.full, z.free = make(chan chunk, buffers), make(chan []byte, buffers)
	z.stop, z.done = make(chan struct{}), make(chan struct{})
	for range buffers {
		z.free <- nil
	}
	go z.decode(&decoding{format: f, in: in, buf: buf})
	return z, nil
}

// Format returns the name of the detected format.
func (r *Reader) Format() string { return r.format }

// decode fills buffers until the data ends or Close is called. It allocates a buffer when it first
// needs it. The first ones are small: a caller that reads only a header does not wait for more.
func (r *Reader) decode(d *decoding) {
	defer close(r.done)
	defer d.close()
	for size := 1 << 10; ; size = min(4*size, bufferSize) {
		var buf []byte
		select {
		case buf = <-r.free:
		case <-r.stop:
			return
		}
		if cap(buf) < size {
			buf = make([]byte, size)
		}
		n, err := d.fill(buf[:size])
		r.full <- chunk{buf[:n], err}
		if err != nil {
			return
		}
	}
}

// Read reads decompressed data. All data decoded before an error comes first, then the error:
// io.EOF after valid trailers, a [fault.Error] for bad data, the input's own error, unchanged, if
// reading it failed, and fs.ErrClosed after Close. It never returns 0 bytes without an error.
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if r.in.closed.Load() {
		return 0, fs.ErrClosed
	}
	if r.full == nil {
		return r.buf.Read(p)
	}
	for len(r.rest) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		if r.current != nil {
			r.free <- r.current
			r.current = nil
		}
		select {
		case c := <-r.full:
			r.current, r.rest, r.err = c.data[:cap(c.data)], c.data, c.err
		case <-r.stop:
			return 0, fs.ErrClosed
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// Close stops the decompression and waits for its goroutine. It does not close the input, and
// always returns nil. It cannot interrupt a Read of the input that blocks (a pipe without a
// writer). Then Close returns after a grace period of 100 ms, and the goroutine ends, without using
// the input again, as soon as that Read returns, which closing the input usually causes.
func (r *Reader) Close() error {
	reading := r.in.close()
	if r.full == nil {
		return nil
	}
	r.once.Do(func() { close(r.stop) })
	if !reading {
		// The goroutine cannot enter a Read of the input any more: it ends after a buffer at most.
		<-r.done
		return nil
	}
	select {
	case <-r.done:
	case <-time.After(closeGrace):
	}
	return nil
}
