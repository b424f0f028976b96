package jpeg

import (
	"bytes"
	"encoding/binary"
)

// shortBits is the length of codes that one look at a table decodes.
const shortBits = 9

// A table has Huffman codes (C.2).
type table struct {
	spec  []byte                 // the numbers of codes of 1 to 16 bits, and their values
	short [1 << shortBits]uint16 // for the next bits: value<<8 | length of a code, or 0: a longer one
	end   [17]uint32             // by length: what is greater than its codes, as 16 bits
	shift [17]int                // by length: the place in spec of the code 0
}

// set makes t the table of spec and returns it, or nil if there are more codes than bits allow.
func (t *table) set(spec []byte) *table {
	if bytes.Equal(t.spec, spec) {
		return t
	}
	*t = table{}
	code, at := 0, 16
	for length := 1; length <= 16; length++ {
		code <<= 1
		t.shift[length] = at - code
		for range spec[length-1] {
			for i := range 1 << shortBits >> length {
				t.short[code<<shortBits>>length|i] = uint16(spec[at])<<8 | uint16(length)
			}
			code, at = code+1, at+1
		}
		t.end[length] = uint32(code) << (16 - length)
		if code > 1<<length {
			return nil
		}
	}
	t.spec = bytes.Clone(spec)
	return t
}

// entry returns that of the code which next begins with, or 0 if there is no such code.
func (t *table) entry(next uint64) uint16 {
	if entry := t.short[next>>(64-shortBits)]; entry != 0 {
		return entry
	}
	return t.long(next)
}

// long returns the entry of a code of more than shortBits.
func (t *table) long(next uint64) uint16 {
	for length := shortBits + 1; length <= 16; length++ {
		if code := uint32(next >> 48); code < t.end[length] {
			return uint16(t.spec[t.shift[length]+int(code>>(16-length))])<<8 | uint16(length)
		}
	}
	return 0
}

// bits reads the bits of a scan up to a marker (F.2.2.5), and zeros after them.
type bits struct {
	data    []byte // not yet read
	next    uint64 // bits, the next one is the highest
	n       int    // number of bits in next
	missing int    // number of them that are after the end
}

// fill makes n at least 57.
func (b *bits) fill() {
	if len(b.data) >= 8 {
		const ones = 0x0101_0101_0101_0101
		v := binary.BigEndian.Uint64(b.data)
		if (^v-ones)&v&(ones<<7) == 0 { // no byte is 0xff
			b.next |= v >> (b.n & 63) // and bits that are read again, to the same places
			taken := (64 - b.n) / 8
			b.n += 8 * taken
			b.data = b.data[taken:]
			return
		}
	}
	for ; b.n <= 56; b.n += 8 {
		switch {
		case len(b.data) > 0 && b.data[0] != 0xff:
			b.next |= uint64(b.data[0]) << (56 - b.n)
			b.data = b.data[1:]
		case len(b.data) > 1 && b.data[1] == 0:
			b.next |= 0xff << (56 - b.n)
			b.data = b.data[2:]
		default:
			b.missing += 8
		}
	}
}

// extend returns the number that the highest size bits of next are (F.2.2.1).
func extend(next uint64, size uint16) int32 {
	size &= 15
	v := int32(next >> 1 >> (63 - size))
	negative := (v - 1<<size>>1) >> 31 // all bits, or none
	return v + negative&(1-1<<size)
}

// unzig has the places of coefficients in a block, by their order in the scan (figure A.6).
var unzig = [64]byte{0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13,
	6, 7, 14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46,
	53, 60, 61, 54, 47, 55, 62, 63}

// decodeBlock decodes the next block, to 8 lines of plane i from at on. A code and its number have
// at most 31 bits.
func (d *decoder) decodeBlock(i, at int) bool {
	p, in, set := &d.planes[i], &d.bits, min(i, 1)
	quant, t, x, rows := d.quant[set], d.tables[set], block{}, 0
	in.fill()
	next, n := in.next, in.n
	entry := t.entry(next)
	size := entry >> 8
	if entry == 0 || size > 15 {
		return false
	}
	next <<= entry & 63
	p.dc += extend(next, size)
	next <<= size
	n -= int(entry&63 + size)
	x[0] = p.dc * int32(quant[0])
	t = d.tables[0x10|set]
	for k := 1; k < 64; k++ {
		if n < 32 {
			in.next, in.n = next, n
			in.fill()
			next, n = in.next, in.n
		}
		entry = t.entry(next)
		next <<= entry & 63
		n -= int(entry & 63)
		if entry < 1<<8 { // the end of the block, or no code
			break
		}
		size = entry >> 8 & 0xf
		if k += int(entry >> 12); size == 0 && entry>>12 != 15 || k > 63 {
			return false
		}
		to := unzig[k]
		x[to&63] = extend(next, size) * int32(quant[k])
		rows |= 1 << (to >> 3)
		next <<= size
		n -= int(size)
	}
	in.next, in.n = next, n
	x.transform(p.samples[at:], p.stride, rows)
	return entry != 0
}
