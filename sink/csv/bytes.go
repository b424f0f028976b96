package csv

import (
	"encoding/binary"
	"strconv"
)

// A pairTable has the text of two bytes at a time, each with its separator: at most "255,255,", which is stored as one word. Entry b<<8|a is
// for a followed by b, as they lie in a little-endian word.
type pairTable struct {
	text [1 << 16]uint64 // first character lowest
	size [1 << 16]uint8  // bytes
}

// newPairTable makes the table; that takes 0.1 to 0.3 ms.
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

// appendUint8 is the renderer for unsigned bytes. Images are mostly background, so eight zeros at once have a path of their own.
//
// Eight elements and the slack behind them need 40 bytes, so there is one bounds check for all their stores: each starts at most 24 bytes in, and
// the mask tells the compiler so.
//
// Measured against strconv.AppendUint for each element: 0.7 against 11 ns for random bytes, 0.2 against 5 ns for zeros. MNIST's training images
// take 0.33 ns, 16 ms in all on one core; a check for each store made that 0.40. Other ways took longer: a table that has the length in the word
// (0.45), finding the length by counting zero bits (0.58), joining two entries of a table of 256 (0.64), looking for sixteen zeros (0.37).
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
	for _, v := range src { // with a 0 that is overwritten
		binary.LittleEndian.PutUint64(dst[at:], t.text[v])
		at += int(t.size[v]) - len("0,")
	}
	return dst[:at]
}
