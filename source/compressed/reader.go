package compressed

import (
	"io"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"
)

// A Reader reads the decompressed bytes of its input. It is for one goroutine, except that Close
// may be called at any time from others.
type Reader struct {
	format Format
	in     *input
	ahead  *readAhead // nil for plain data
}

// SetBusy tells the Reader whether the other cores are busy. If they are, it does not use them; by
// default it uses them.
func (r *Reader) SetBusy(busy bool) {
	if r.ahead != nil {
		r.ahead.busy.Store(busy)
	}
}

// NewReader waits for the first 6 bytes of r, detects the format, and returns a Reader of the
// decompressed data. An empty input is plain. NewReader returns only errors of reading r; Read
// reports bad data.
//
// If the data is compressed, the Reader takes over r: a goroutine reads it in advance.
func NewReader(r io.Reader) (*Reader, error) {
	in := &input{r: r}
	if err := in.peek(magicLen); err != nil {
		return nil, err
	}
	d, ok := infoFor(in.prefix)
	if !ok {
		return &Reader{format: Plain, in: in}, nil
	}
	return &Reader{format: d.format, in: in, ahead: startReadAhead(newDecoding(d, in))}, nil
}

// Format returns the detected format.
func (r *Reader) Format() Format { return r.format }

// Read reads decompressed data. All data decoded before an error comes first, then the error:
// io.EOF after valid trailers, a [fault.Error] for bad data, the input's own error, unchanged, if
// reading it failed, and fs.ErrClosed after Close. The input reads plain data directly into p,
// except for the first 6 bytes.
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if r.ahead == nil {
		return r.in.Read(p)
	}
	return r.ahead.read(p)
}

// Close stops the decompression and waits for its goroutine. It does not close the input, and
// always returns nil. It cannot interrupt a Read of the input that blocks (a pipe without a
// writer). Then Close returns after a grace period of 100 ms, and the goroutine ends, without using
// the input again, as soon as that Read returns, which closing the input usually causes.
func (r *Reader) Close() error {
	reading := r.in.close()
	if r.ahead != nil {
		r.ahead.close(reading)
	}
	return nil
}

const (
	// bufferSize is so large that passing on a buffer (about 1 µs) costs little compared with
	// decoding it (more than 250 µs), and so small that it stays in the second-level cache of a
	// core.
	bufferSize = 256 << 10

	// buffers is the number of buffers: one being read, and two in advance.
	buffers = 3

	// closeGrace is how long Close waits for a Read of the input in progress. A disk is much
	// faster, so the goroutine has ended when Close returns, unless that Read really blocks.
	closeGrace = 100 * time.Millisecond
)

// A chunk is decompressed data and the error that followed it.
type chunk struct {
	data []byte
	err  error
}

// A readAhead decompresses in its own goroutine. A buffer is in free, then in full, then current,
// and then in free again. Both channels have room for all buffers, so sending never blocks.
type readAhead struct {
	full     chan chunk
	free     chan []byte
	stop     chan struct{} // closed by halt
	done     chan struct{} // closed by the goroutine; replaced by resume
	stopOnce sync.Once     // for closing stop
	busy     atomic.Bool   // see SetBusy

	// Used only by the consumer.
	current []byte // the buffer being read
	rest    []byte // the unread part of current
	err     error  // returned after rest
}

// startReadAhead decodes d in a goroutine. It ends at the end of the data, after an error or a
// pause, and when halt or close is called.
func startReadAhead(d *decoding) *readAhead {
	a := &readAhead{
		full: make(chan chunk, buffers),
		free: make(chan []byte, buffers),
		stop: make(chan struct{}),
		done: make(chan struct{}),
	}
	for range buffers {
		a.free <- nil
	}
	d.wanted = func() bool { return !a.busy.Load() && len(a.full) == 0 }
	go a.run(d, a.done)
	return a
}

// resume continues d after read has returned errPaused. It must not run concurrently with halt or
// close.
func (a *readAhead) resume(d *decoding) {
	a.err = nil
	a.done = make(chan struct{})
	go a.run(d, a.done)
}

// run fills buffers until the data ends or pauses. It allocates a buffer when it first needs it, so
// a small input needs only one.
func (a *readAhead) run(d *decoding, done chan<- struct{}) {
	defer close(done)
	paused := false
	defer func() {
		if !paused {
			d.close()
		}
	}()
	for {
		var buf []byte
		select {
		case buf = <-a.free:
		case <-a.stop:
			return
		}
		if buf == nil {
			buf = make([]byte, bufferSize)
		}
		n, err := d.fill(buf)
		paused = err == errPaused
		a.full <- chunk{buf[:n], err}
		if err != nil {
			return
		}
	}
}

func (a *readAhead) read(p []byte) (int, error) {
	select {
	case <-a.stop:
		return 0, fs.ErrClosed
	default:
	}
	for len(a.rest) == 0 {
		if a.err != nil {
			return 0, a.err
		}
		if a.current != nil {
			a.free <- a.current
			a.current = nil
		}
		select {
		case c := <-a.full:
			a.current, a.rest, a.err = c.data[:cap(c.data)], c.data, c.err
		case <-a.stop:
			return 0, fs.ErrClosed
		}
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

// halt ends the goroutine, after at most one more buffer, and unblocks a waiting read.
func (a *readAhead) halt() { a.stopOnce.Do(func() { close(a.stop) }) }

// close ends the goroutine and waits for it, at most for the grace period if reading is true. If it
// is false, the goroutine was not inside the input's Read when that was closed and cannot enter it
// any more, so it ends after at most one buffer.
func (a *readAhead) close(reading bool) {
	a.halt()
	if !reading {
		<-a.done
		return
	}
	grace := time.NewTimer(closeGrace)
	defer grace.Stop()
	select {
	case <-a.done:
	case <-grace.C:
	}
}
