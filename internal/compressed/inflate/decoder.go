package inflate

import (
	"bufio"
	"io"

	"github.com/idxport/idxport/fault"
)

const (
	maxMatch    = 258
	maxDistance = 32 << 10
)

// A decoder decodes blocks into out.
type decoder struct {
	bitInput
	state state
	final bool   // the current block is the last one
	left  int    // bytes left of a stored block
	codes *codes // of other blocks: fixedCodes or dynamic

	dynamic     codes
	lengthTable [lengthTableSize]entry                  // for the code of the code lengths
	lengths     [literalSymbols + distanceSymbols]uint8 // of both dynamic codes, by symbol

	out     []byte // the window of the Reader
	written int    // bytes written to out; distances can reach all of them
}

// outputSlack is the number of bytes that a round of the fast loop and a symbol after it may write.
const outputSlack = fastOutput + maxMatch

// A state is the part of a block that is decoded next.
type state int

const (
	atHeader state = iota
	inStored
	inSymbols
)

// start makes d begin with the header of a block at the next byte of in.
func (d *decoder) start(in *bufio.Reader) {
	d.bitInput = bitInput{r: in}
	d.state, d.final, d.left, d.codes = atHeader, false, 0, nil
}

// step decodes a header, some bytes of a stored block, or at least one symbol. It returns io.EOF
// after the last block.
func (d *decoder) step() error {
	switch d.state {
	case inStored:
		return d.stored()
	case inSymbols:
		d.fast()
		return d.symbol()
	}
	return d.header()
}

// stored copies some bytes of a stored block.
func (d *decoder) stored() error {
	if d.left == 0 {
		return d.endBlock()
	}
	if err := d.fill(); err != nil {
		return err
	}
	n := copy(d.out[d.written:], d.in[d.next:][:min(d.left, len(d.in)-d.next)])
	d.written += n
	d.next += n
	d.left -= n
	return nil
}

// endBlock returns io.EOF after the last block.
func (d *decoder) endBlock() error {
	d.state = atHeader
	if d.final {
		return io.EOF
	}
	return nil
}

// corrupt returns an error at the offset after the last used byte.
func (d *decoder) corrupt(problem string) error {
	return &fault.Error{Kind: fault.Malformed, Row: -1, Offset: d.used(), Msg: problem}
}

// symbol decodes a literal, a match or the end of a block, and takes no more of the input than it
// needs. It decodes what fast leaves, and reports all errors.
func (d *decoder) symbol() error {
	e, err := d.lookUp(d.codes.literals[:], literalBits)
	switch {
	case err != nil:
		return err
	case e&literal != 0:
		d.out[d.written] = e.literal()
		d.written++
		return nil
	case e&end != 0:
		return d.endBlock()
	case e&special != 0:
		return d.corrupt("an invalid literal or length code")
	}
	length, err := d.extra(e)
	if err != nil {
		return err
	}
	distance, err := d.distance()
	if err != nil {
		return err
	}
	// Byte by byte, as the match may overlap itself.
	for range length {
		d.out[d.written] = d.out[d.written-distance]
		d.written++
	}
	return nil
}

func (d *decoder) distance() (int, error) {
	e, err := d.lookUp(d.codes.distances[:], distanceBits)
	if err != nil {
		return 0, err
	}
	if e&special != 0 {
		return 0, d.corrupt("an invalid distance code")
	}
	distance, err := d.extra(e)
	if err != nil {
		return 0, err
	}
	if distance > d.written {
		return 0, d.corrupt("a distance that leads before the start of the data")
	}
	return distance, nil
}
