package inflate

import (
	"io"

	"github.com/idxport/idxport/fault"
)

// A reference decodes a stream according to section 3 of RFC 1951, a bit at a time, and shares
// nothing with the package.
type reference struct {
	in   []byte
	used int // bits
	data []byte
	err  error // of bit: the input has ended
}

// decodeReference returns the data up to the first error, the number of used bytes, and nil,
// io.ErrUnexpectedEOF or fault.Malformed.
func decodeReference(in []byte) (data []byte, used int, err error) {
	r := &reference{in: in}
	for final := 0; final == 0 && err == nil; {
		final = r.number(1)
		err = r.block(r.number(2))
	}
	if r.err != nil {
		err = r.err
	}
	return r.data, (r.used + 7) / 8, err
}

func (r *reference) bit() int {
	if r.used >= 8*len(r.in) {
		r.err = io.ErrUnexpectedEOF
		return 0
	}
	v := int(r.in[r.used/8]>>(r.used%8)) & 1
	r.used++
	return v
}

func (r *reference) number(n int) (v int) {
	for i := range n {
		v |= r.bit() << i
	}
	return v
}

func (r *reference) block(kind int) error {
	switch {
	case r.err != nil:
		return r.err
	case kind == 0:
		return r.stored()
	case kind == 1:
		literals, distances := map[[2]int]int{}, map[[2]int]int{}
		for s := range 288 { // the table of 3.2.6
			switch {
			case s <= 143:
				literals[[2]int{8, 0b00110000 + s}] = s
			case s <= 255:
				literals[[2]int{9, 0b110010000 + s - 144}] = s
			case s <= 279:
				literals[[2]int{7, s - 256}] = s
			default:
				literals[[2]int{8, 0b11000000 + s - 280}] = s
			}
		}
		for s := range 32 {
			distances[[2]int{5, s}] = s
		}
		return r.symbols(literals, distances)
	case kind == 2:
		return r.dynamic()
	}
	return fault.Malformed
}

func (r *reference) stored() error {
	r.used = (r.used + 7) &^ 7
	n, complement := r.number(16), r.number(16)
	if r.err == nil && n != 0xffff-complement {
		return fault.Malformed
	}
	for range n {
		if b := r.number(8); r.err == nil {
			r.data = append(r.data, byte(b))
		}
	}
	return r.err
}

// assign returns the codes by length and value (3.2.2); false if they are neither complete nor a
// permitted exception.
func assign(lengths []int) (map[[2]int]int, bool) {
	codes, code := map[[2]int]int{}, 0
	longest := 0
	for n := 1; n <= 15; n++ {
		code <<= 1
		for s, l := range lengths {
			if l == n {
				codes[[2]int{n, code}] = s
				code++
				longest = n
			}
		}
		if code > 1<<n {
			return nil, false
		}
	}
	single := len(codes) == 1 && longest == 1
	return codes, code == 1<<15 || len(codes) == 0 || single
}

// symbol returns −1 for a pattern that is no code. Only the exceptions have such, and those have no
// code beyond one bit.
func (r *reference) symbol(codes map[[2]int]int) int {
	code := 0
	for n := 1; r.err == nil; n++ {
		if len(codes) < min(n, 2) {
			return -1
		}
		code = code<<1 | r.bit()
		if s, ok := codes[[2]int{n, code}]; ok && r.err == nil {
			return s
		}
	}
	return -1
}

func (r *reference) dynamic() error {
	nl, nd, nc := 257+r.number(5), 1+r.number(5), 4+r.number(4)
	if r.err != nil {
		return r.err
	}
	if nl > 286 || nd > 30 {
		return fault.Malformed
	}
	lengths := make([]int, 19)
	for i := range nc {
		lengths[[]int{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}[i]] = r.number(3)
	}
	codes, ok := assign(lengths)
	if r.err != nil || !ok {
		return fault.Malformed
	}
	var row []int
	for len(row) < nl+nd {
		s, value, n := r.symbol(codes), 0, 1
		switch {
		case s < 0 || s == 16 && len(row) == 0:
			return fault.Malformed
		case s < 16:
			value = s
		case s == 16:
			value, n = row[len(row)-1], 3+r.number(2)
		case s == 17:
			n = 3 + r.number(3)
		default:
			n = 11 + r.number(7)
		}
		for range n {
			row = append(row, value)
		}
	}
	literals, ok1 := assign(row[:nl])
	distances, ok2 := assign(row[nl:min(nl+nd, len(row))])
	if len(row) > nl+nd || !ok1 || !ok2 {
		return fault.Malformed
	}
	return r.symbols(literals, distances)
}

// symbols spells the tables of 3.2.5 out.
func (r *reference) symbols(literals, distances map[[2]int]int) error {
	lengthBase := []int{3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99,
		115, 131, 163, 195, 227, 258}
	lengthExtra := []int{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0}
	distanceBase := []int{1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025,
		1537, 2049, 3073, 4097,
		6145, 8193, 12289, 16385, 24577}
	distanceExtra := []int{0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12,
		12, 13, 13}
	for {
		s := r.symbol(literals)
		switch {
		case s == 256:
			return nil
		case s < 0 || s > 285:
			return fault.Malformed
		case s < 256:
			r.data = append(r.data, byte(s))
			continue
		}
		length := lengthBase[s-257] + r.number(lengthExtra[s-257])
		d := r.symbol(distances)
		if d < 0 || d > 29 {
			return fault.Malformed
		}
		distance := distanceBase[d] + r.number(distanceExtra[d])
		if r.err != nil || distance > len(r.data) {
			return fault.Malformed
		}
		for range length {
			r.data = append(r.data, r.data[len(r.data)-distance])
		}
	}
}
