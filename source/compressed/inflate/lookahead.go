package inflate

import (
	"bufio"
	"io"
)

// A Lookahead is an [Input] whose stream is decoded by several goroutines. It reads segments, one
// in advance, and helpers decode pieces of them. A [Reader] decodes what precedes a piece. It uses
// the piece if it reaches the very bit where the piece begins, and otherwise decodes those bytes
// itself. So the data is the same in any case, and only the Reader finds errors.
//
// The input may have several streams; what is between them can be read from the Lookahead. It is
// for one goroutine.
type Lookahead struct {
	r       io.Reader
	err     error         // of r, returned after next
	helpers chan struct{} // has one element for each working helper
	wanted  func() bool
	large   bool // segments are large
	sizes   sizes

	current segment  // the segment being read
	next    segment  // read in advance
	spare   []*piece // for reuse
	used    int      // number of used pieces, for tests
}

// A segment is a part of the input.
type segment struct {
	buf        []byte
	start, end int      // unread part of buf
	pieces     []*piece // pieces that may still be used, in order
}

// sizes are the sizes of segments in bytes.
type sizes struct {
	// first is the number of bytes read at once until a Read returns as many: then the input is a
	// large file. A Read of a pipe returns at most 64 KiB; reading a pipe in advance might block
	// forever, although the Reader has not yet used the data before.
	first   int
	segment int // read at once from then on
	shared  int // smallest segment that is shared with helpers
}

// defaultSizes has segments of 1 MiB, because blocks of images have up to 35 KiB, and a helper
// needs half a block to find where the next one begins. With half as much, two cores need a tenth
// more time for Fashion-MNIST.
var defaultSizes = sizes{first: 128 << 10, segment: 1 << 20, shared: 256 << 10}

// headroom is the space in a segment's buffer before the data, for bytes of the previous segment
// that are peeked at together with it.
const headroom = 64

// NewLookahead returns a Lookahead of r's bytes with the given number of helpers. They are used
// while wanted returns true, which should mean that a caller waits for data; nil means always. The
// caller must call Close.
//
// It needs 2 MiB, and up to 16 bytes for each byte of two segments that helpers decode: at most 32
// MiB.
func NewLookahead(r io.Reader, helpers int, wanted func() bool) *Lookahead {
	if wanted == nil {
		wanted = func() bool { return true }
	}
	return &Lookahead{r: r, helpers: make(chan struct{}, helpers), wanted: wanted, sizes: defaultSizes}
}

// Buffered returns the number of bytes that Peek can return without reading.
func (l *Lookahead) Buffered() int { return l.current.end - l.current.start }

// Unread returns the number of bytes that were read from r, but not from the Lookahead.
func (l *Lookahead) Unread() int { return l.Buffered() + l.next.end - l.next.start }

// Peek returns the next n bytes without consuming them, or fewer and an error. n must be at most 64
// or the result of Buffered.
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

// Discard skips the next n bytes. If fewer are buffered, it skips these and returns an error.
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

// Close stops the helpers and waits for them, which takes milliseconds. It may be called again.
func (l *Lookahead) Close() {
	l.drop(&l.current)
	l.drop(&l.next)
}

// fill makes the next segment the current one, with the rest of the current one before it.
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
		l.load(&l.next) // its error is in l.err
	}
	return nil
}

// load reads s, and shares it with helpers if it is large enough.
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
	if n >= l.sizes.shared && l.wanted() {
		l.share(s)
	}
	return nil
}

func readSome(r io.Reader, p []byte) (int, error) {
	const maxEmptyReads = 100
	for range maxEmptyReads {
		if n, err := r.Read(p); n > 0 || err != nil {
			return n, err
		}
	}
	return 0, io.ErrNoProgress
}

// share divides s into one part for the Reader and one for each helper. The Reader decodes the
// first one; each helper decodes a piece of another one.
//
// The first part is a tenth smaller than an equal share, because the Reader also translates the
// pieces: measured with one helper, neither then waits for the other.
func (l *Lookahead) share(s *segment) {
	size, helpers := s.end-s.start, cap(l.helpers)
	if helpers == 0 {
		return
	}
	first := size * 9 / 10 / (helpers + 1)
	cut := func(i int) int { return 8 * (s.start + first + (size-first)*i/helpers) }
	for i := range helpers {
		p := l.newPiece()
		p.prepare(cut(i), cut(i+1))
		s.pieces = append(s.pieces, p)
		go p.run(s.buf[:s.end], l.helpers)
	}
}

func (l *Lookahead) newPiece() *piece {
	if n := len(l.spare); n > 0 {
		p := l.spare[n-1]
		l.spare = l.spare[:n-1]
		return p
	}
	return newPiece(8 * l.sizes.segment / (1 + cap(l.helpers)))
}

// piece waits until the piece that begins at the given bit of the buffered bytes is decoded, and
// returns it, or nil if there is none. The caller must release it.
func (l *Lookahead) piece(bit int) *piece {
	bit += 8 * l.current.start
	for len(l.current.pieces) > 0 {
		p := l.current.pieces[0]
		if bit < p.from {
			return nil
		}
		<-p.found
		if bit < p.start {
			return nil
		}
		l.current.pieces = l.current.pieces[1:]
		if bit == p.start {
			<-p.done
			if p.usable() {
				l.used++
				return p
			}
		}
		l.abandon(p)
	}
	return nil
}

// endOf returns the bit of the buffered bytes where p ends.
func (l *Lookahead) endOf(p *piece) int { return p.end - 8*l.current.start }

func (l *Lookahead) drop(s *segment) {
	for _, p := range s.pieces {
		p.unwanted.Store(true)
	}
	for _, p := range s.pieces {
		l.abandon(p)
	}
	s.pieces = nil
}

// abandon waits for p, because its buffer and that of its segment are reused.
func (l *Lookahead) abandon(p *piece) {
	p.unwanted.Store(true)
	<-p.done
	l.release(p)
}

func (l *Lookahead) release(p *piece) { l.spare = append(l.spare, p) }
