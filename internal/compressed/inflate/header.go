package inflate

import (
	"slices"
	"sync"
)

// codes has the two Huffman codes of a block.
type codes struct {
	literals  [literalTableSize]entry // including lengths
	distances [distanceTableSize]entry
}

// fixedCodes returns the codes of blocks that have none of their own.
var fixedCodes = sync.OnceValue(func() *codes {
	c := new(codes)
	literals := slices.Concat(slices.Repeat([]uint8{8}, 144), slices.Repeat([]uint8{9}, 112), // 3.2.6
		slices.Repeat([]uint8{7}, 24), slices.Repeat([]uint8{8}, 8))
	distances := slices.Repeat([]uint8{5}, fixedDistanceSymbols)
	build(c.literals[:], literalBits, literals, literalEntries[:])
	build(c.distances[:], distanceBits, distances, distanceEntries[:])
	return c
})

// header reads the header of a block.
func (d *Reader) header() error {
	h := d.number(3)
	d.final = h&1 != 0
	switch {
	case d.err != nil:
		return d.err
	case h>>1 == 0:
		d.skip(d.count & 7) // to the next byte
		length, complement := d.number(16), d.number(16)
		if length^complement != 0xffff {
			return d.corrupt("the length of a stored block differs from its complement")
		}
		d.step, d.left = (*Reader).stored, length
		return nil
	case h>>1 == 1:
		d.codes, d.step = fixedCodes(), (*Reader).symbols
		return nil
	case h>>1 == 2:
		return d.dynamicHeader()
	}
	return d.corrupt("a block of the reserved kind 3")
}

// dynamicHeader reads the codes as section 3.2.7 describes.
func (d *Reader) dynamicHeader() error {
	counts := d.number(14)
	literals, distances, codeLengths := counts&31+257, counts>>5&31+1, counts>>10+4
	if literals > literalSymbols {
		return d.corrupt("more than 286 literal and length codes")
	}
	if distances > distanceSymbols {
		return d.corrupt("more than 30 distance codes")
	}
	var short [lengthSymbols]uint8 // of the code of code lengths; its symbols are their own values
	for _, s := range lengthOrder[:codeLengths] {
		short[s] = uint8(d.number(3))
	}
	if !build(d.lengthTable[:], lengthBits, short[:], literalEntries[:]) {
		return d.corrupt("the code for code lengths is incomplete or has too many codes")
	}
	lengths := d.lengths[:literals+distances]
	if err := d.codeLengths(lengths); err != nil {
		return err
	}
	if !build(d.dynamic.literals[:], literalBits, lengths[:literals], literalEntries[:]) {
		return d.corrupt("the literal and length code is incomplete or has too many codes")
	}
	if !build(d.dynamic.distances[:], distanceBits, lengths[literals:], distanceEntries[:]) {
		return d.corrupt("the distance code is incomplete or has too many codes")
	}
	d.codes, d.step = &d.dynamic, (*Reader).symbols
	return nil
}

// codeLengths reads the lengths of both codes as one sequence: a repetition may begin in one code
// and end in the other. Symbol 16 repeats the last length; 17 and 18 repeat zeros.
func (d *Reader) codeLengths(lengths []uint8) error {
	for i := 0; i < len(lengths); {
		e := d.lookUp(d.lengthTable[:], lengthBits)
		if e&special != 0 {
			return d.corrupt("an invalid code for a code length")
		}
		n, length := 1, uint8(0)
		switch s := e.value(); {
		case s <= maxCode:
			length = uint8(s)
		case s == 16 && i == 0:
			return d.corrupt("a repeated code length before the first")
		case s == 16:
			n, length = 3+d.number(2), lengths[i-1]
		case s == 17:
			n = 3 + d.number(3)
		default:
			n = 11 + d.number(7)
		}
		if n > len(lengths)-i {
			return d.corrupt("more code lengths than codes")
		}
		for range n {
			lengths[i] = length
			i++
		}
	}
	return d.err
}
