package inflate

// symbol decodes a literal, a match or the end of a block, taking nothing from the input that is not needed. What fast leaves, it
// does, and it is the one to say what is wrong.
func (z *Reader) symbol() error {
	e, err := z.lookUp(z.codes.literals[:], literalBits)
	switch {
	case err != nil:
		return err
	case e&literal != 0:
		z.window[z.written] = byte(e >> 16)
		z.written++
		return nil
	case e&end != 0:
		return z.endBlock()
	case e&special != 0:
		return z.corrupt("a literal or length without a meaning")
	}
	length, err := z.extra(e)
	if err != nil {
		return err
	}
	distance, err := z.distance()
	if err != nil {
		return err
	}
	// Byte by byte, as the match may reach into itself.
	for range length {
		z.window[z.written] = z.window[z.written-distance]
		z.written++
	}
	return nil
}

func (z *Reader) distance() (int, error) {
	e, err := z.lookUp(z.codes.distances[:], distanceBits)
	if err != nil {
		return 0, err
	}
	if e&special != 0 {
		return 0, z.corrupt("a distance without a meaning")
	}
	distance, err := z.extra(e)
	if err != nil {
		return 0, err
	}
	if distance > z.written {
		return 0, z.corrupt("a distance to before the start of the data")
	}
	return distance, nil
}
