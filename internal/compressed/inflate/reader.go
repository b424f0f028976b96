package inflate

import "bufio"

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
}

// NewReader returns a Reader of the stream that begins at in's next byte. After io.EOF, in's next
// byte is the first one after the stream. Until then, in must not be used otherwise.
func NewReader(in *bufio.Reader) *Reader {
	z := new(Reader)
	z.Reset(in)
	return z
}

// Reset makes z read the stream that begins at in's next byte, like a new Reader. It keeps z's
// memory.
func (z *Reader) Reset(in *bufio.Reader) {
	z.start(in)
	z.out, z.written = z.window[:], 0
	z.read, z.err = 0, nil
}

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
		z.err = z.step()
	}
	z.giveBack()
}

// slide makes room, but keeps as many bytes as a distance can reach.
func (z *Reader) slide() {
	copy(z.window[:maxDistance], z.window[z.written-maxDistance:z.written])
	z.written, z.read = maxDistance, maxDistance
}
