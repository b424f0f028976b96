package inflate

import (
	"bufio"
	"io"
)

// A Lookahead is an [Input] whose stream is decoded by several goroutines. It reads segments, one in advance, and has helpers
// decode pieces of them. A [Reader] decodes what comes before a piece, and skips the piece if it comes to the very bit where
// that begins; else it decodes those bytes too. So the data is the same in any case, and only a Reader finds errors.
//
// The stream may be one of several, and what is between them can be read from the Lookahead. It is for one goroutine.
type Lookahead struct {
	r       io.Reader
	err     error         // of r, comes after next
	helpers chan struct{} // has one element for each that is at work
	wanted  func() bool
	large   bool // segments are
	sizes   sizes

	current segment  // the one that is read
	next    segment  // read in advance
	spare   []*piece // can be used again
	used    int      // pieces, for the tests
}

// A segment is a part of the input.
type segment struct {
	buf        []byte
	start, end int      // what has not been read of it
	pieces     []*piece // that may still be used, in order
}

// sizes are in bytes.
type sizes struct {
	// first is how much is read at once until a read brings as much: then it is a file that is read, and not a small one. A
	// pipe brings at most 64 KiB; a read in advance might wait for ever, while there is data that was not asked for.
	first   int
	segment int // from then on
	least   int // for which helpers are asked
}

// defaultSizes take 1 MiB for a segment, as the blocks of images have up to 35 KiB, and a helper needs half of one to find where
// the next begins: with half as much, two cores need a tenth more time for Fashion-MNIST.
var defaultSizes = sizes{first: 128 << 10, segment: 1 << 20, least: 256 << 10}

// headroom is what a segment's buffer has before the data, for bytes of the segment before that are peeked at along with it.
const headroom = 64

// NewLookahead returns a Lookahead of r's bytes with so many helpers. They are asked for help where wanted returns true, which
// should be while the data is waited for; nil stands for always. Close must be called in the end.
//
// Its memory is 2 MiB, and up to 16 bytes for each that helpers decode of two segments: at most 32 MiB.
func NewLookahead(r io.Reader, helpers int, wanted func() bool) *Lookahead {
	if wanted == nil {
		wanted = func() bool { return true }
	}
	return &Lookahead{r: r, helpers: make(chan struct{}, helpers), wanted: wanted, sizes: defaultSizes}
}

// Buffered returns how many bytes can be peeked at without reading.
func (l *Lookahead) Buffered() int { return l.current.end - l.current.start }

// Unread returns how many bytes were read from r, but not from the Lookahead.
func (l *Lookahead) Unread() int { return l.Buffered() + l.next.end - l.next.start }

// Peek returns the next n bytes, which stay; fewer only together with the error that says why. n must be at most 64 or what
// Buffered returns.
func (l *Lookahead) Peek(n int) ([]byte, error) {
	for l.Buffered() < n {
		if l.Buffered() > headroom {
			return l.buffered(), bufio.ErrBufferFull
		}
		if err := l.fill(); err != nil {
			return l.buffered(), err
		}
	}
	return l.buffered()[:n], nil
}

func (l *Lookahead) buffered() []byte { return l.current.buf[l.current.start:l.current.end] }

// Discard skips the next n bytes, or as many as are buffered together with an error.
func (l *Lookahead) Discard(n int) (int, error) {
	if n > l.Buffered() {
		n = l.Buffered()
		l.current.start += n
		return n, bufio.ErrBufferFull
	}
	l.current.start += n
	return n, nil
}

// Read reads up to len(p) bytes.
func (l *Lookahead) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if _, err := l.Peek(1); err != nil {
		return 0, err
	}
	return l.Discard(copy(p, l.buffered()))
}

// Close ends the helpers' work and waits for that, which takes milliseconds. It may be called again.
func (l *Lookahead) Close() {
	l.drop(&l.current)
	l.drop(&l.next)
}

// fill makes the next segment the current one, and puts what is left of that before it.
func (l *Lookahead) fill() error {
	if l.next.start == l.next.end {
		if err := l.load(&l.next); err != nil {
			return err
		}
	}
	l.drop(&l.current)
	read := l.next.end - l.next.start
	l.next.start -= l.Buffered()
	copy(l.next.buf[l.next.start:], l.buffered())
	l.current, l.next = l.next, l.current
	l.next.start, l.next.end = 0, 0
	if read >= l.sizes.first {
		l.load(&l.next) // its error is kept
	}
	return nil
}

// load reads s, and has pieces of it decoded if it is large enough.
func (l *Lookahead) load(s *segment) error {
	if l.err != nil {
		return l.err
	}
	size := l.sizes.first
	if l.large {
		size = l.sizes.segment
	}
	if len(s.buf) < headroom+size {
		s.buf = make([]byte, headroom+size)
	}
	var n int
	n, l.err = readSome(l.r, s.buf[headroom:])
	if n == 0 {
		return l.err
	}
	s.start, s.end = headroom, headroom+n
	l.large = l.large || n >= l.sizes.first
	if n >= l.sizes.least && l.wanted() {
		l.share(s)
	}
	return nil
}

// readSome reads until there is a byte or an error.
func readSome(r io.Reader, p []byte) (int, error) {
	const maxEmptyReads = 100
	for range maxEmptyReads {
		if n, err := r.Read(p); n > 0 || err != nil {
			return n, err
		}
	}
	return 0, io.ErrNoProgress
}
