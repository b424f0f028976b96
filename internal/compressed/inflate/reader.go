package inflate

import (
	"bufio"
	"io"

	"github.com/idxport/idxport/internal/fault"
)

const (
	maxMatch    = 258
	maxDistance = 32 << 10

	// windowLimit is where decoding into the window stops until its data has been read. Moving a
	// quarter of it to the start then costs little, and all stays in a core's second-level cache.
	windowLimit = 4 * maxDistance

	// outputSlack is how many bytes a round of the fast loop and a symbol after it may write.
	outputSlack = fastOutput + maxMatch
)

// A Reader reads the data of one DEFLATE stream after another, each after a call of Reset. Its
// memory, about 150 KiB, does not depend on them.
type Reader struct {
	bitInput
	step   func(*Reader) error // decodes some of what is next: header, stored or symbols
	final  bool                // the current block is the last one
	left   int                 // bytes left of a stored block
	codes  *codes              // of other blocks: fixedCodes or dynamic
	failed error               // returned after the data in window

	dynamic     codes
	lengthTable [lengthTableSize]entry                  // for the code of the code lengths
	lengths     [literalSymbols + distanceSymbols]uint8 // of both dynamic codes, by symbol

	window  [windowLimit + outputSlack]byte // at least the last 32 KiB of the data, if there is so much
	written int                             // bytes of window; distances can reach all of them
	read    int                             // bytes of window that Read has returned
}

// Reset makes d, which may be new, read the stream that begins at in's next byte. After io.EOF, the
// next byte of in is the first one after the stream. Until then, in must not be used otherwise.
func (d *Reader) Reset(in *bufio.Reader) {
	d.bitInput = bitInput{r: in}
	d.step, d.failed, d.written, d.read = (*Reader).header, nil, 0, 0
}

// Read reads up to len(p) bytes of data. It returns decoded data before it waits for more input, at
// least wherever a writer has flushed, and before any error: io.EOF after the last block,
// io.ErrUnexpectedEOF if the input ends before that, a malformed [fault.Error], at an offset in the
// stream, for data that is not a DEFLATE stream, or the input's own, unchanged.
func (d *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for d.read == d.written {
		if d.failed != nil {
			return 0, d.failed
		}
		d.decode()
	}
	n := copy(p, d.window[d.read:d.written])
	d.read += n
	return n, nil
}

// decode continues until the window is full, the stream ends, or there is data and the next step
// might wait. All earlier data has been read. It makes room, but keeps what a distance can reach.
func (d *Reader) decode() {
	if d.written > windowLimit {
		copy(d.window[:maxDistance], d.window[d.written-maxDistance:d.written])
		d.written, d.read = maxDistance, maxDistance
	}
	d.borrow()
	for d.failed == nil && d.written <= windowLimit && (d.written == d.read || d.next < len(d.in)) {
		d.failed = d.step(d)
	}
	d.giveBack()
}

// stored copies some bytes of a stored block.
func (d *Reader) stored() error {
	if d.left == 0 {
		return d.endBlock()
	}
	if !d.fill() {
		return d.err
	}
	n := copy(d.window[d.written:], d.in[d.next:][:min(d.left, len(d.in)-d.next)])
	d.written += n
	d.next += n
	d.left -= n
	return nil
}

// endBlock returns io.EOF after the last block.
func (d *Reader) endBlock() error {
	d.step = (*Reader).header
	if d.final {
		return io.EOF
	}
	return nil
}

// corrupt returns an error at the offset after the last used byte, or that of the input if it has
// failed, because the values that were read after that mean nothing.
func (d *Reader) corrupt(problem string) error {
	if d.err != nil {
		return d.err
	}
	used := d.offset + int64(d.next) - int64(d.count/8) // bytes, of which at least some bits were used
	return &fault.Error{Kind: fault.Malformed, Row: -1, Offset: used, Msg: problem}
}

// symbols decodes what fast can, and the symbol after that: a literal, a match or the end of the
// block. For this one it takes no more of the input than it needs, and it reports all errors.
func (d *Reader) symbols() error {
	d.fast()
	e := d.lookUp(d.codes.literals[:], literalBits)
	switch {
	case d.err != nil:
		return d.err
	case e&literal != 0:
		d.window[d.written] = e.literal()
		d.written++
		return nil
	case e&end != 0:
		return d.endBlock()
	case e&special != 0:
		return d.corrupt("an invalid literal or length code")
	}
	length := d.extra(e)
	e = d.lookUp(d.codes.distances[:], distanceBits)
	if e&special != 0 {
		return d.corrupt("an invalid distance code")
	}
	distance := d.extra(e)
	if distance > d.written || d.err != nil {
		return d.corrupt("a distance that leads before the start of the data")
	}
	for range length { // byte by byte, as the match may overlap itself
		d.window[d.written] = d.window[d.written-distance]
		d.written++
	}
	return nil
}
