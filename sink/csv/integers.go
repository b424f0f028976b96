package csv

import "encoding/binary"

// A shortTable has the text of every int16 with its separator, at most "-32768,", in the low seven bytes, and its length in the highest. Entry
// uint16(v) is for v. Signed bytes use 256 of the entries; small ints are looked up too.
type shortTable [1 << 16]uint64

// lengthShift gets the length out of an entry.
const lengthShift = 56

// newShortTable makes the table; that takes 0.1 to 0.3 ms.
func newShortTable(comma byte) *shortTable {
	t := new(shortTable)
	for v := range 1<<15 + 1 {
		text, n := uint64(0), 0 // of v/10, without a separator
		if v >= 10 {
			n = int(t[v/10]>>lengthShift) - 1
			text = t[v/10] & (1<<(8*n) - 1)
		}
		text |= (uint64('0'+v%10) | uint64(comma)<<8) << (8 * n)
		n += 2
		if v < 1<<15 {
			t[v] = text | uint64(n)<<lengthShift
		}
		if v > 0 { // −v
			t[1<<16-v] = '-' | text<<8 | uint64(n+1)<<lengthShift
		}
	}
	return t
}

// zeros is the text of four zeros.
func (t *shortTable) zeros() uint64 {
	zero := t[0] & 0xffff
	return zero | zero<<16 | zero<<32 | zero<<48
}

// appendInt8 is the renderer for signed bytes. Measured against strconv.AppendInt, on random ones: 1.7 against 13 ns.
func (t *shortTable) appendInt8(dst, src []byte) []byte {
	at := len(dst)
	dst = dst[:cap(dst)]
	zeros := t.zeros()
	for len(src) > 0 {
		if len(src) >= 8 && binary.LittleEndian.Uint64(src) == 0 {
			binary.LittleEndian.PutUint64(dst[at:], zeros)
			binary.LittleEndian.PutUint64(dst[at+8:], zeros)
			at, src = at+16, src[8:]
			continue
		}
		e := t[uint16(int8(src[0]))]
		binary.LittleEndian.PutUint64(dst[at:], e)
		at, src = at+int(e>>lengthShift), src[1:]
	}
	return dst[:at]
}

// appendInt16 is the renderer for shorts. Measured against strconv.AppendInt, on random ones: 1.7 against 20 ns.
func (t *shortTable) appendInt16(dst, src []byte) []byte {
	for ; len(src) >= 2; src = src[2:] {
		dst = appendEntry(dst, t[binary.LittleEndian.Uint16(src)])
	}
	return dst
}

// appendInt32 is the renderer for ints. Labels and pixels, which are small, come from the table as they are.
//
// Measured against strconv.AppendInt: 1.4 against 12 ns for small ints, 10 against 23 ns for others.
func (t *shortTable) appendInt32(dst, src []byte) []byte {
	for ; len(src) >= 4; src = src[4:] {
		v := int32(binary.LittleEndian.Uint32(src))
		if int32(int16(v)) == v {
			dst = appendEntry(dst, t[uint16(v)])
		} else {
			dst = t.appendLong(dst, v)
		}
	}
	return dst
}

// appendLong appends v, which has at least five digits, as a head and groups of four digits.
func (t *shortTable) appendLong(dst []byte, v int32) []byte {
	u := uint32(v)
	if v < 0 {
		dst = append(dst, '-')
		u = -u
	}
	head, last := u/1e4, u%1e4
	if head >= 1e4 {
		dst = t.appendHead(dst, head/1e4)
		dst = t.appendGroup(dst, head%1e4)
		dst = dst[:len(dst)-1] // its separator
	} else {
		dst = t.appendHead(dst, head)
	}
	return t.appendGroup(dst, last)
}

// appendHead appends u < 10,000 without a separator.
func (t *shortTable) appendHead(dst []byte, u uint32) []byte {
	dst = appendEntry(dst, t[u])
	return dst[:len(dst)-1]
}

// appendGroup appends u < 10,000 as four digits and a separator: the text of 10,000 + u without its first digit.
func (t *shortTable) appendGroup(dst []byte, u uint32) []byte {
	const length = 5
	digits := t[1e4+u] << 8 >> 16 // without the length and the first digit
	return appendEntry(dst, digits|length<<lengthShift)
}

// appendEntry appends the text of e. It may overwrite slack bytes behind it.
func appendEntry(dst []byte, e uint64) []byte {
	n := len(dst)
	binary.LittleEndian.PutUint64(dst[n:n+8], e)
	return dst[:n+int(e>>lengthShift)]
}
