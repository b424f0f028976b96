package inflate

const (
	// windowLimit is where decoding into the window stops until its data has been read. Moving a
	// quarter of it to the start then costs little, and all of it stays in the second-level cache
	// of a core.
	windowLimit = 4 * maxDistance

	windowSize = windowLimit + outputSlack
)

// A Reader reads the data of one DEFLATE stream. Its memory, about 150 KiB, does not depend on the
// stream.
type Reader struct {
	decoder
	window [windowSize]byte // the decoder's out: at least the last 32 KiB of the data, if there is so much
	read   int              // number of bytes of window that Read has returned
	err    error

	lookahead *Lookahead // the input, if it is a Lookahead
	piece     *piece     // follows the data in window; nil if there is none
	taken     int        // bytes of the units of piece that Read has returned
}

// NewReader returns a Reader of the stream that begins at in's next byte. After io.EOF, in's next
// byte is the first one after the stream. Until then, in must not be used otherwise.
func NewReader(in Input) *Reader {
	z := new(Reader)
	z.Reset(in)
	return z
}

// Reset makes z read the stream that begins at in's next byte, like a new Reader. It keeps z's
// memory.
func (z *Reader) Reset(in Input) {
	z.start(in)
	z.out, z.written, z.limit = z.window[:], 0, windowLimit
	z.read, z.err = 0, nil
	z.lookahead, _ = in.(*Lookahead)
	z.piece = nil
}

// InputOffset returns the number of bytes of the stream that have been decoded, perhaps ahead of
// the data that Read has returned. After io.EOF it is the length of the stream.
func (z *Reader) InputOffset() int64 { return z.used() }

// Read reads up to len(p) bytes of data. It returns decoded data before it waits for more input, at
// least wherever a writer has flushed, and before any error:
//   - io.EOF after the last block,
//   - io.ErrUnexpectedEOF if the input ends before that,
//   - a malformed [fault.Error], at an offset in the stream, for data that is not a DEFLATE
//     stream,
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

// decode continues until the window is full, the stream ends, or there is data and the next step
// might wait for input. All earlier data has been read.
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

// slide makes room, but keeps as many bytes as a distance can reach.
func (z *Reader) slide() {
	copy(z.window[:maxDistance], z.window[z.written-maxDistance:z.written])
	z.written, z.read = maxDistance, maxDistance
}

// jump reports whether a decoded piece begins here. If so, it skips the piece in the input, and
// Read returns it next.
func (z *Reader) jump() bool {
	if z.lookahead == nil || z.written < maxDistance {
		return false
	}
	z.piece = z.lookahead.piece(z.bit())
	if z.piece == nil {
		return false
	}
	z.seek(z.lookahead.endOf(z.piece))
	z.taken = 0
	return true
}

// readPiece is Read for a piece. The window, all of which has been read, ends with the data before
// the piece. It is reused for the meanings of the piece's units and, after them, for the end of
// the piece's data.
func (z *Reader) readPiece(p []byte) int {
	meanings, end := (*meanings)(z.window[:]), z.window[len(meanings{}):][:maxDistance]
	if z.taken == 0 {
		copy(meanings.markers(), z.window[z.written-maxDistance:z.written])
		meanings.setBytes()
	}
	units := z.piece.units
	n := meanings.resolve(p, units[z.taken:])
	z.taken += 2 * n
	if z.taken == len(units) {
		meanings.resolve(end, units[len(units)-2*maxDistance:])
		z.written = len(meanings) + maxDistance
		z.read = z.written
		z.lookahead.release(z.piece)
		z.piece = nil
	}
	return n
}
