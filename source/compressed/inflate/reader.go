package inflate

import (
	"bufio"
	"io"
)

const (
	maxMatch    = 258
	maxDistance = 32 << 10

	// windowLimit ends the decoding into the window until its data has been read. Moving a quarter of it then to the start
	// costs little, and all of it stays in a core's second-level cache.
	windowLimit = 4 * maxDistance

	// windowSize leaves room for a round of the fast loop that begins at the limit and a symbol after that.
	windowSize = windowLimit + fastOutput + maxMatch
)

// A Reader reads the data of one DEFLATE stream. Its memory, about 150 KiB, does not depend on the stream.
type Reader struct {
	bitInput
	state state
	final bool   // the block is the last
	left  int    // bytes of a stored block
	codes *codes // of the other blocks: fixedCodes or dynamic
	err   error

	dynamic     codes
	lengthTable [lengthTableSize]entry // of the code for code lengths

	window  [windowSize]byte
	written int // data in window: at least the last 32 KiB, if there were so many
	read    int // of them, those that Read has delivered
}

// state is what comes next in the stream.
type state int

const (
	atHeader state = iota
	inStored
	inSymbols
)

// NewReader returns a Reader of the stream that begins at r's next byte. After io.EOF, r's next byte is the first after the
// stream. Until then r must not be used otherwise.
func NewReader(r *bufio.Reader) *Reader {
	z := new(Reader)
	z.Reset(r)
	return z
}

// Reset makes z read the stream that begins at r's next byte, as if it were new. It keeps z's memory.
func (z *Reader) Reset(r *bufio.Reader) {
	z.bitInput = bitInput{r: r}
	z.state, z.final, z.left, z.codes = atHeader, false, 0, nil
	z.written, z.read = 0, 0
	z.err = nil
}

// InputOffset returns how many bytes of the stream have been decoded, which may be ahead of the data that Read has
// delivered. After io.EOF it is the stream's length.
func (z *Reader) InputOffset() int64 { return z.used() }

// Read reads up to len(p) bytes of data. What has been decoded is delivered before more input is waited for, at least
// wherever a writer has flushed, and before any error:
//   - io.EOF after the last block,
//   - io.ErrUnexpectedEOF if the input ends before that,
//   - a [*CorruptError] for data that is no DEFLATE stream,
//   - the input's own errors, unchanged.
func (z *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for z.read == z.written {
		if z.err != nil {
			return 0, z.err
		}
		z.decode()
	}
	n := copy(p, z.window[z.read:z.written])
	z.read += n
	return n, nil
}

// decode goes on until the window is full, the stream ends, or there is data and the input would have to be waited for.
// All data before has been read.
func (z *Reader) decode() {
	if z.written > windowLimit {
		z.slide()
	}
	z.borrow()
	for z.err == nil && z.written <= windowLimit && (z.written == z.read || !z.empty()) {
		switch z.state {
		case atHeader:
			z.err = z.header()
		case inStored:
			z.err = z.stored()
		case inSymbols:
			z.fast()
			z.err = z.symbol()
		}
	}
	z.giveBack()
}

// slide makes room, keeping as many bytes as a distance can reach.
func (z *Reader) slide() {
	copy(z.window[:maxDistance], z.window[z.written-maxDistance:z.written])
	z.written, z.read = maxDistance, maxDistance
}

// stored copies a part of a stored block.
func (z *Reader) stored() error {
	if z.left == 0 {
		return z.endBlock()
	}
	if err := z.fill(); err != nil {
		return err
	}
	n := min(z.left, len(z.in)-z.next, windowSize-z.written)
	copy(z.window[z.written:], z.in[z.next:z.next+n])
	z.written += n
	z.next += n
	z.left -= n
	return nil
}

// endBlock returns io.EOF after the last one.
func (z *Reader) endBlock() error {
	z.state = atHeader
	if z.final {
		return io.EOF
	}
	return nil
}

// corrupt returns an error for what was found where the bits used so far end.
func (z *Reader) corrupt(problem string) error {
	return &CorruptError{Offset: z.used(), Problem: problem}
}
