package inflate

import "sync"

// codes has the two Huffman codes of a block.
type codes struct {
	literals  [literalTableSize]entry // including lengths
	distances [distanceTableSize]entry
}

// fixedCodes returns the codes of blocks that have none of their own.
var fixedCodes = sync.OnceValue(func() *codes {
	c := new(codes)
	literals, distances := fixedLengths()
	build(c.literals[:], literalBits, literals[:], literalEntries[:])
	build(c.distances[:], distanceBits, distances[:], distanceEntries[:])
	return c
})

func (d *decoder) header() error {
	h, err := d.number(3)
	if err != nil {
		return err
	}
	d.final = h&1 != 0
	switch h >> 1 {
	case 0:
		return d.storedHeader()
	case 1:
		d.codes, d.state = fixedCodes(), inSymbols
		return nil
	case 2:
		return d.dynamicHeader()
	}
	return d.corrupt("a block of the reserved kind 3")
}

func (d *decoder) storedHeader() error {
	d.alignToByte()
	length, err := d.number(16)
	if err != nil {
		return err
	}
	complement, err := d.number(16)
	if err != nil {
		return err
	}
	if length^complement != 0xffff {
		return d.corrupt("the length of a stored block differs from its complement")
	}
	d.state, d.left = inStored, length
	return nil
}

// dynamicHeader reads the codes as section 3.2.7 describes.
func (d *decoder) dynamicHeader() error {
	counts, err := d.number(14)
	if err != nil {
		return err
	}
	literals, distances, codeLengths := counts&31+257, counts>>5&31+1, counts>>10+4
	if literals > literalSymbols {
		return d.corrupt("more than 286 literal and length codes")
	}
	if distances > distanceSymbols {
		return d.corrupt("more than 30 distance codes")
	}
	if err := d.lengthCode(codeLengths); err != nil {
		return err
	}
	lengths := d.lengths[:literals+distances]
	clear(lengths)
	if err := d.codeLengths(lengths); err != nil {
		return err
	}
	if !build(d.dynamic.literals[:], literalBits, lengths[:literals], literalEntries[:]) {
		return d.corrupt("the literal and length code is incomplete or has too many codes")
	}
	if !build(d.dynamic.distances[:], distanceBits, lengths[literals:], distanceEntries[:]) {
		return d.corrupt("the distance code is incomplete or has too many codes")
	}
	d.codes, d.state = &d.dynamic, inSymbols
	return nil
}

// lengthCode reads the code of the code lengths: n lengths of 3 bits.
func (d *decoder) lengthCode(n int) error {
	var lengths [lengthSymbols]uint8
	for _, s := range lengthOrder[:n] {
		v, err := d.number(3)
		if err != nil {
			return err
		}
		lengths[s] = uint8(v)
	}
	if !build(d.lengthTable[:], lengthBits, lengths[:], lengthEntries[:]) {
		return d.corrupt("the code for code lengths is incomplete or has too many codes")
	}
	return nil
}

// codeLengths reads the lengths of both codes as one sequence: a repetition may begin in one code
// and end in the other.
func (d *decoder) codeLengths(lengths []uint8) error {
	for i := 0; i < len(lengths); {
		e, err := d.lookUp(d.lengthTable[:], lengthBits)
		if err != nil {
			return err
		}
		if e&special != 0 {
			return d.corrupt("an invalid code for a code length")
		}
		s := e.value()
		if s <= maxCode {
			lengths[i] = uint8(s)
			i++
			continue
		}
		if s == 16 && i == 0 {
			return d.corrupt("a repeated code length before the first")
		}
		n, err := d.repetitions(s)
		if err != nil {
			return err
		}
		if n > len(lengths)-i {
			return d.corrupt("more code lengths than codes")
		}
		if s == 16 { // repeats the last length; 17 and 18 repeat zeros, which lengths already has
			for j := range n {
				lengths[i+j] = lengths[i-1]
			}
		}
		i += n
	}
	return nil
}

// repetitions reads the number of times that symbol 16, 17 or 18 of the code for code lengths
// repeats a length.
func (d *decoder) repetitions(symbol int) (int, error) {
	base, bits := 3, uint(2)
	switch symbol {
	case 17:
		bits = 3
	case 18:
		base, bits = 11, 7
	}
	n, err := d.number(bits)
	return base + n, err
}
