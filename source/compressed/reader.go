package compressed

import (
	"io"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"
)

// A Reader reads the decompressed bytes of its input. It is for one goroutine, except that Close may be called from
// others at any time.
type Reader struct {
	format Format
	in     *input
	ahead  *ahead // nil for plain data
}

// SetBusy tells that the cores have other work, so that the Reader should not use them too; by default it may.
func (r *Reader) SetBusy(busy bool) {
	if r.ahead != nil {
		r.ahead.busy.Store(busy)
	}
}

// NewReader looks at the first bytes of r, at most 6, and returns a Reader of the decompressed data. It blocks until they
// have come. An empty input is plain. The error is that of reading r; bad data is reported by Read.
//
// For compressed data the Reader takes r over: a goroutine reads it, ahead of what was asked for.
func NewReader(r io.Reader) (*Reader, error) {
	in := &input{r: r}
	if err := in.peek(magicLen); err != nil {
		return nil, err
	}
	d, ok := decoderFor(in.prefix)
	if !ok {
		return &Reader{format: Plain, in: in}, nil
	}
	return &Reader{format: d.format, in: in, ahead: startAhead(newDecoding(d, in))}, nil
}

// Format returns the format that was recognised.
func (r *Reader) Format() Format { return r.format }

// Read reads decompressed data. All that was decoded before an error comes first, then the error:
// io.EOF after good trailers, a [fault.Error] for bad data, the input's own error, unchanged, if
// reading that failed, and fs.ErrClosed after Close. Plain data is read into p by the input itself,
// but for the first 6 bytes.
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if r.ahead == nil {
		return r.in.Read(p)
	}
	return r.ahead.read(p)
}

// Close stops the decompression and waits for its goroutine. It does not close the input, and it always returns nil. A
// Read of the input that blocks (a pipe without a writer) cannot be interrupted from here: Close then returns after a grace
// period of 100 ms, and the goroutine ends without another use of the input as soon as that Read returns, which closing the
// input usually brings about.
func (r *Reader) Close() error {
	reading := r.in.close()
	if r.ahead != nil {
		r.ahead.close(reading)
	}
	return nil
}

const (
	// bufferSize is large enough for the hand-over (about 1 µs) to vanish beside the decoding (above 250 µs), and small
	// enough to stay in a core's second-level cache.
	bufferSize = 256 << 10

	// buffers is one that is being read, and two ahead of it.
	buffers = 3

	// closeGrace is how long Close waits for a Read of the input that is under way: far longer than a disk takes, so that
	// the goroutine has ended when Close returns, unless that Read really blocks.
	closeGrace = 100 * time.Millisecond
)

// A chunk is decompressed data, and the error that followed it.
type chunk struct {
	data []byte
	err  error
}

// An ahead decompresses in a goroutine of its own. Buffers go round: free, filled, in hand, free. Both channels have room for
// all of them, so that sending never blocks.
type ahead struct {
	full chan chunk
	free chan []byte
	stop chan struct{} // closed by close
	done chan struct{} // closed by the goroutine; another one after a pause
	once sync.Once     // guards the closing of stop
	busy atomic.Bool   // other cores are

	// For the consumer alone.
	hand []byte // the buffer whose data is being read
	rest []byte // its unread part
	err  error  // comes after rest
}

// startAhead begins to decode d, on a goroutine that ends at the end of the data, at an error or a pause, and by halt or close.
func startAhead(d *decoding) *ahead {
	a := &ahead{
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

// resume goes on after the pause of d that read has met. It must not run beside halt or close.
func (a *ahead) resume(d *decoding) {
	a.err = nil
	a.done = make(chan struct{})
	go a.run(d, a.done)
}

// run fills buffers until the data ends or pauses. A buffer is made when its turn first comes, so a small input needs only one.
func (a *ahead) run(d *decoding, done chan<- struct{}) {
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

// read copies decompressed data to p.
func (a *ahead) read(p []byte) (int, error) {
	select {
	case <-a.stop:
		return 0, fs.ErrClosed
	default:
	}
	for len(a.rest) == 0 {
		if a.err != nil {
			return 0, a.err
		}
		if a.hand != nil {
			a.free <- a.hand
			a.hand = nil
		}
		select {
		case c := <-a.full:
			a.hand, a.rest, a.err = c.data[:cap(c.data)], c.data, c.err
		case <-a.stop:
			return 0, fs.ErrClosed
		}
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

// halt ends the goroutine after at most one buffer, and what waits for it in read.
func (a *ahead) halt() { a.once.Do(func() { close(a.stop) }) }

// close ends the goroutine; reading says that it was inside the input's Read when that was closed. Otherwise it
// cannot get there any more, and ends after at most one buffer.
func (a *ahead) close(reading bool) {
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
