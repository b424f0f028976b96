package inflate

import "encoding/binary"

// symbol decodes a literal, a match or the end of a block, and takes no more of the input than it
// needs. It decodes what fast leaves, and reports all errors.
func (d *decoder) symbol() error {
	e, err := d.lookUp(d.codes.literals[:], literalBits)
	switch {
	case err != nil:
		return err
	case e&literal != 0:
		binary.LittleEndian.PutUint16(d.out[d.written:], uint16(e.literal()))
		d.written += 1 << d.shift
		return nil
	case e&end != 0:
		return d.endBlock()
	case e&special != 0:
		return d.corrupt("a literal or length without a meaning")
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
	for range length << d.shift {
		d.out[d.written] = d.out[d.written-distance<<d.shift]
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
		return 0, d.corrupt("a distance without a meaning")
	}
	distance, err := d.extra(e)
	if err != nil {
		return 0, err
	}
	if distance<<d.shift > d.written {
		return 0, d.corrupt("a distance to before the start of the data")
	}
	return distance, nil
}
