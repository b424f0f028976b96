package inflate

const (
	// windowLimit ends the decoding into the window until its data has been read. Moving a quarter of it then to the start
	// costs little, and all of it stays in a core's second-level cache.
	windowLimit = 4 * maxDistance

	windowSize = windowLimit + outputSlack
)

// A Reader reads the data of one DEFLATE stream. Its memory, about 150 KiB, does not depend on the stream.
type Reader struct {
	decoder
	window [windowSize]byte // the decoder's out: at least the last 32 KiB, if there were so many
	read   int              // of the bytes written there, those that Read has delivered
	err    error

	ahead *Lookahead // the input, if it is one
	piece *piece     // comes after the window's data
	taken int        // bytes of its symbols that have been delivered
}

// NewReader returns a Reader of the stream that begins at in's next byte. After io.EOF, in's next byte is the first after the
// stream. Until then in must not be used otherwise.
func NewReader(in Input) *Reader {
	z := new(Reader)
	z.Reset(in)
	return z
}

// Reset makes z read the stream that begins at in's next byte, as if it were new. It keeps z's memory.
func (z *Reader) Reset(in Input) {
	z.start(in)
	z.out, z.written, z.limit = z.window[:], 0, windowLimit
	z.read, z.err = 0, nil
	z.ahead, _ = in.(*Lookahead)
	z.piece = nil
}

// InputOffset returns how many bytes of the stream have been decoded, which may be ahead of the data that Read has
// delivered. After io.EOF it is the stream's length.
func (z *Reader) InputOffset() int64 { return z.used() }

// Read reads up to len(p) bytes of data. What has been decoded is delivered before more input is waited for, at least
// wherever a writer has flushed, and before any error:
//   - io.EOF after the last block,
//   - io.ErrUnexpectedEOF if the input ends before that,
//   - a malformed [fault.Error], at an offset in the stream, for data that is no DEFLATE stream,
//   - the input's own errors, unchanged.
func (z *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for z.read == z.written {
		if z.err != nil {
			return 0, z.err
		}
		if z.piece != nil {
			return z.readPiece(p), nil
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
		if z.state == atHeader && z.jump() {
			break
		}
		z.err = z.step()
	}
	z.giveBack()
}

// slide makes room, keeping as many bytes as a distance can reach.
func (z *Reader) slide() {
	copy(z.window[:maxDistance], z.window[z.written-maxDistance:z.written])
	z.written, z.read = maxDistance, maxDistance
}

// jump skips a piece that begins here, which Read then delivers. It reports whether there was one.
func (z *Reader) jump() bool {
	if z.ahead == nil || z.written < maxDistance {
		return false
	}
	z.piece = z.ahead.piece(z.bit())
	if z.piece == nil {
		return false
	}
	z.seek(z.ahead.endOf(z.piece))
	z.taken = 0
	return true
}

// readPiece is Read where a piece comes next. Of the window, all of it read, the end is what was before the piece; it makes room for
// the meanings of the piece's symbols and, behind them, for the end of what they stand for.
func (z *Reader) readPiece(p []byte) int {
	meanings, end := (*meanings)(z.window[:]), z.window[len(meanings{}):][:maxDistance]
	if z.taken == 0 {
		copy(meanings.markers(), z.window[z.written-maxDistance:z.written])
		meanings.setBytes()
	}
	symbols := z.piece.symbols
	n := meanings.resolve(p, symbols[z.taken:])
	z.taken += 2 * n
	if z.taken == len(symbols) {
		meanings.resolve(end, symbols[len(symbols)-2*maxDistance:])
		z.written = len(meanings) + maxDistance
		z.read = z.written
		z.ahead.release(z.piece)
		z.piece = nil
	}
	return n
}
