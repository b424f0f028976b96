package inflate

// codes are the two Huffman codes of a block.
type codes struct {
	literals  [literalTableSize]entry // and lengths
	distances [distanceTableSize]entry
}

// fixedCodes never change.
var fixedCodes = makeFixedCodes()

func makeFixedCodes() *codes {
	c := new(codes)
	literals, distances := fixedLengths()
	build(c.literals[:], literalBits, literals[:], literalEntries[:])
	build(c.distances[:], distanceBits, distances[:], distanceEntries[:])
	return c
}

// header reads what comes before a block's data.
func (z *Reader) header() error {
	h, err := z.number(3)
	if err != nil {
		return err
	}
	z.final = h&1 != 0
	switch h >> 1 {
	case 0:
		return z.storedHeader()
	case 1:
		z.codes, z.state = fixedCodes, inSymbols
		return nil
	case 2:
		return z.dynamicHeader()
	}
	return z.corrupt("a block of the reserved kind 3")
}

func (z *Reader) storedHeader() error {
	z.alignToByte()
	length, err := z.number(16)
	if err != nil {
		return err
	}
	complement, err := z.number(16)
	if err != nil {
		return err
	}
	if length^complement != 0xffff {
		return z.corrupt("the length of a stored block differs from its complement")
	}
	z.state, z.left = inStored, length
	return nil
}

// dynamicHeader reads the codes that section 3.2.7 describes.
func (z *Reader) dynamicHeader() error {
	counts, err := z.number(14)
	if err != nil {
		return err
	}
	literals, distances, codeLengths := counts&31+257, counts>>5&31+1, counts>>10+4
	if literals > literalSymbols {
		return z.corrupt("more than 286 literal and length codes")
	}
	if distances > distanceSymbols {
		return z.corrupt("more than 30 distance codes")
	}
	if err := z.lengthCode(codeLengths); err != nil {
		return err
	}
	var buf [literalSymbols + distanceSymbols]uint8
	lengths := buf[:literals+distances]
	if err := z.codeLengths(lengths); err != nil {
		return err
	}
	if !build(z.dynamic.literals[:], literalBits, lengths[:literals], literalEntries[:]) {
		return z.corrupt("the literal and length code is incomplete or has too many codes")
	}
	if !build(z.dynamic.distances[:], distanceBits, lengths[literals:], distanceEntries[:]) {
		return z.corrupt("the distance code is incomplete or has too many codes")
	}
	z.codes, z.state = &z.dynamic, inSymbols
	return nil
}

// lengthCode reads the code in which code lengths are sent: n lengths of 3 bits.
func (z *Reader) lengthCode(n int) error {
	var lengths [lengthSymbols]uint8
	for _, s := range lengthOrder[:n] {
		v, err := z.number(3)
		if err != nil {
			return err
		}
		lengths[s] = uint8(v)
	}
	if !build(z.lengthTable[:], lengthBits, lengths[:], lengthEntries[:]) {
		return z.corrupt("the code for code lengths is incomplete or has too many codes")
	}
	return nil
}

// codeLengths reads the lengths of both codes, which are one row: a repetition may begin in one and end in the other.
func (z *Reader) codeLengths(lengths []uint8) error {
	for i := 0; i < len(lengths); {
		e, err := z.lookUp(z.lengthTable[:], lengthBits)
		if err != nil {
			return err
		}
		if e&special != 0 {
			return z.corrupt("a code length without a code")
		}
		s := e.value()
		if s <= maxCode {
			lengths[i] = uint8(s)
			i++
			continue
		}
		if s == 16 && i == 0 {
			return z.corrupt("a repeated code length before the first")
		}
		n, err := z.repetitions(s)
		if err != nil {
			return err
		}
		if n > len(lengths)-i {
			return z.corrupt("more code lengths than codes")
		}
		if s == 16 { // the last length; else zeros, as lengths is
			for j := range n {
				lengths[i+j] = lengths[i-1]
			}
		}
		i += n
	}
	return nil
}

// repetitions reads how often symbol 16, 17 or 18 of the code for code lengths repeats one.
func (z *Reader) repetitions(symbol int) (int, error) {
	base, bits := 3, uint(2)
	switch symbol {
	case 17:
		bits = 3
	case 18:
		base, bits = 11, 7
	}
	n, err := z.number(bits)
	return base + n, err
}
