package csv

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/idxport/idxport/schema"
)

// A pairTable has the text of two bytes, each with its separator: at most "255,255,", stored as one
// word. Entry b<<8|a is for a followed by b, as in a little-endian word.
type pairTable struct {
	text [1 << 16]uint64 // the first character is the lowest byte
	size [1 << 16]uint8  // in bytes
}

// newPairTable makes the table, which takes 0.1 to 0.3 ms.
func newPairTable(comma byte) *pairTable {
	t := new(pairTable)
	var one [256]uint64
	var size [256]uint8
	for v := range one {
		var text [8]byte
		size[v] = uint8(len(append(strconv.AppendInt(text[:0], int64(v), 10), comma)))
		one[v] = binary.LittleEndian.Uint64(text[:])
	}
	for i := range t.text {
		a, b := i&0xff, i>>8
		t.text[i] = one[a] | one[b]<<(8*size[a])
		t.size[i] = size[a] + size[b]
	}
	return t
}

// appendUint8 renders unsigned bytes. A shortcut is for eight zeros: images are mostly background.
//
// Eight elements and the slack need 40 bytes, so one bounds check covers all their stores: each
// starts at most 24 bytes in, and the mask shows that to the compiler.
//
// Measured against strconv.AppendUint for each element: 0.7 against 11 ns for random bytes, 0.2
// against 5 ns for zeros. MNIST's training images take 0.33 ns per element, 16 ms in all on one
// core; a check for each store made that 0.40. Other ways took longer: a table with the length in
// the word (0.45), finding the length by counting zero bits (0.58), joining two entries of a table
// of 256 (0.64), a shortcut for sixteen zeros (0.37).
func (t *pairTable) appendUint8(dst, src []byte) []byte {
	at := len(dst)
	dst = dst[:cap(dst)]
	zeros := t.text[0] | t.text[0]<<32
	for len(src) >= 8 {
		w := binary.LittleEndian.Uint64(src)
		src = src[8:]
		out := (*[8*len("255,") + slack]byte)(dst[at:])
		if w == 0 {
			binary.LittleEndian.PutUint64(out[0:], zeros)
			binary.LittleEndian.PutUint64(out[8:], zeros)
			at += 16
			continue
		}
		a, b, c, d := uint16(w), uint16(w>>16), uint16(w>>32), uint16(w>>48)
		n := int(t.size[a])
		binary.LittleEndian.PutUint64(out[0:], t.text[a])
		binary.LittleEndian.PutUint64(out[n&31:], t.text[b])
		n += int(t.size[b])
		binary.LittleEndian.PutUint64(out[n&31:], t.text[c])
		n += int(t.size[c])
		binary.LittleEndian.PutUint64(out[n&31:], t.text[d])
		at += n + int(t.size[d])
	}
	for _, v := range src { // as a pair of v and 0, of which the 0 is overwritten
		binary.LittleEndian.PutUint64(dst[at:], t.text[v])
		at += int(t.size[v]) - len("0,")
	}
	return dst[:at]
}

// A shortTable has the text of every int16 with its separator, at most "-32768,", in the low seven
// bytes, and its length in the highest. Entry uint16(v) is for v. Signed bytes use 256 of the
// entries; small int32 values use the table too.
type shortTable [1 << 16]uint64

// lengthShift is the position of the length in an entry.
const lengthShift = 56

// newShortTable makes the table, which takes 0.1 to 0.3 ms.
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

// appendInt8 renders signed bytes, which take 1 ns each; by strconv.AppendInt, 13 ns.
func (t *shortTable) appendInt8(dst, src []byte) []byte {
	for _, v := range src {
		dst = appendEntry(dst, t[uint16(int8(v))])
	}
	return dst
}

// appendInt16 renders int16. Random values take 1.7 ns each; by strconv.AppendInt, 20 ns.
func (t *shortTable) appendInt16(dst, src []byte) []byte {
	for ; len(src) >= 2; src = src[2:] {
		dst = appendEntry(dst, t[binary.LittleEndian.Uint16(src)])
	}
	return dst
}

// appendInt32 renders int32. Labels and pixels, which are small, come directly from the table.
//
// Small values take 1.4 ns each, others 10 ns; by strconv.AppendInt, 12 and 23 ns.
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
		dst = appendEntry(dst, t[head/1e4])
		dst = t.appendGroup(dst[:len(dst)-1], head%1e4) // without the separator
	} else {
		dst = appendEntry(dst, t[head])
	}
	return t.appendGroup(dst[:len(dst)-1], last)
}

// appendGroup appends u < 10,000 as four digits and a separator: those after the 1 of 10,000+u.
func (t *shortTable) appendGroup(dst []byte, u uint32) []byte {
	const length = 5
	digits := t[1e4+u] << 8 >> 16 // without the length and the first digit
	return appendEntry(dst, digits|length<<lengthShift)
}

// appendEntry appends the text of e. It may overwrite slack bytes after it.
func appendEntry(dst []byte, e uint64) []byte {
	n := len(dst)
	binary.LittleEndian.PutUint64(dst[n:n+8], e)
	return dst[:n+int(e>>lengthShift)]
}

// A floatText renders floats; its value is the separator.
type floatText byte

// append is the renderer for floats of the given number of bits. An element that equals the one
// before, as in a background, copies its text, which takes 5 ns; others take about 60 ns.
func (t floatText) append(dst, src []byte, bits int) []byte {
	first := len(dst)
	previousStart, previous := first, uint64(0) // start of the text and bits of the previous element
	for size := bits / 8; len(src) >= size; src = src[size:] {
		start, value := len(dst), uint64(0)
		if bits == 32 {
			value = uint64(binary.LittleEndian.Uint32(src))
		} else {
			value = binary.LittleEndian.Uint64(src)
		}
		switch {
		case start > first && value == previous:
			dst = append(dst, dst[previousStart:]...)
		case bits == 32:
			dst = t.appendFloat(dst, float64(math.Float32frombits(uint32(value))), bits)
		default:
			dst = t.appendFloat(dst, math.Float64frombits(value), bits)
		}
		previousStart, previous = start, value
	}
	return dst
}

// appendFloat appends the text of v and the separator.
func (t floatText) appendFloat(dst []byte, v float64, bits int) []byte {
	dst = schema.AppendFloat(dst, v, bits, "inf")
	if bits == 32 && math.Abs(v) == 1.0/4096 {
		// 0.000244140625 is halfway between two shortest texts. Like every strconv except that of
		// Go 1.26, write the one whose last digit is even.
		dst[len(dst)-1] = '2'
	}
	return append(dst, byte(t))
}
