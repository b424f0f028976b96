package jpeg

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/idxport/idxport/internal/jpeg/samples"
)

// shortBits is the length of codes that one look at a table decodes.
const shortBits = 10

// A table has Huffman codes (C.2).
type table struct {
	spec  []byte                // the numbers of codes of 1 to 16 bits, and their values
	short [1 << shortBits]entry // for the next bits; 0: a longer code
	end   [17]uint32            // by length: what is greater than its codes, as 16 bits
	shift [17]int               // by length: the place in spec of the code 0
}

// An entry is a code, or 0. It has the length of the code and of the number that follows; from bit
// 8 on the value of the code, which is the size of the number in bits and the run of zeros before
// it; and from bit 16 on the number, or 0 if shortBits do not have all of it.
type entry int32

func newEntry(value byte, length int) entry { return entry(value)<<8 | entry(length) + entry(value&15) }

func (e entry) all() int    { return int(e & 63) }
func (e entry) size() int   { return int(e >> 8 & 15) }
func (e entry) run() int    { return int(e >> 12 & 15) }
func (e entry) length() int { return (e.all() - e.size()) & 63 }

// set makes t the table of spec and returns it, or nil if there are more codes than bits allow, or
// numbers of more than 11 bits, which are not of samples of 8 bits (F.1.2).
func (t *table) set(spec []byte) *table {
	if bytes.Equal(t.spec, spec) {
		return t
	}
	*t = table{}
	code, at, most := 0, 16, byte(0)
	for length := 1; length <= 16; length++ {
		code <<= 1
		t.shift[length] = at - code
		for range spec[length-1] {
			for i := range 1 << shortBits >> length {
				e, next := newEntry(spec[at], length), code<<shortBits>>length|i
				if e.all() <= shortBits {
					e |= entry(extend(uint64(next)<<(64-shortBits+length), e.size())) << 16
				}
				t.short[next] = e
			}
			code, at, most = code+1, at+1, max(most, spec[at]&15)
		}
		t.end[length] = uint32(code) << (16 - length)
		if code > 1<<length || most > 11 {
			return nil
		}
	}
	t.spec = bytes.Clone(spec)
	return t
}

// long returns the entry of a code of more than shortBits that next begins with.
func (t *table) long(next uint64) entry {
	for length := shortBits + 1; length <= 16; length++ {
		if code := uint32(next >> 48); code < t.end[length] {
			return newEntry(t.spec[t.shift[length]+int(code>>(16-length))], length)
		}
	}
	return 0
}

// bits reads the bits of a scan (F.2.2.5).
type bits struct {
	data []byte // without stuffed bytes, and with padding
	at   int    // number of bytes that are in next, or were
	next uint64 // bits, the next one is the highest; those after n are 0, or right too
	n    int    // number of bits in next that at has passed
}

// padding is the number of bytes after the end, which may be read but not used.
const padding = 16

// load makes b the bits of the scan that file begins with, and returns the rest from a marker on.
func (b *bits) load(file []byte) (rest []byte) {
	*b = bits{data: slices.Grow(b.data[:0], len(file)+padding)}
	for {
		n := bytes.IndexByte(file, 0xff)
		b.data = append(b.data, file[:n]...)
		if file[n+1] != 0 {
			b.data = append(b.data, make([]byte, padding)...)
			return file[n:]
		}
		b.data = append(b.data, 0xff)
		file = file[n+2:]
	}
}

// extend returns the number that the highest size bits of next are (F.2.2.1).
func extend(next uint64, size int) int32 {
	negative := ^(int64(next) >> 63) // all bits, or none
	v := (next ^ uint64(negative)) >> 1 >> (63 - size&15)
	return int32(int64(v)^negative) - int32(negative)
}

// decodeBlock decodes the next block, of component i, to out: lines that are 16 bytes apart.
func (d *decoder) decodeBlock(i int, out []byte) bool {
	b, set, x := &d.bits, min(i, 1), samples.Block{}
	quant, t := d.quant[set], d.tables[set]
	b.next, b.n = b.fill(b.next, b.n)
	e := t.short[b.next>>(64-shortBits)]
	if e == 0 {
		e = t.long(b.next)
	}
	if e == 0 || e.run() > 0 {
		return false
	}
	d.dcs[i] += extend(b.next<<e.length(), e.size())
	b.next, b.n = b.next<<e.all(), b.n-e.all()
	x[0] = d.dcs[i] * int32(quant[0])
	last, ok := b.decodeAC(d.tables[0x10|set], quant, &x)
	if ok {
		x.Transform((*[120]byte)(out), last)
	}
	return ok
}

// fill returns next and n with at least 56 bits.
func (b *bits) fill(next uint64, n int) (uint64, int) {
	next |= binary.BigEndian.Uint64(b.data[b.at:]) >> (n & 63)
	b.at += (63 - n) >> 3
	return next, n | 56
}

// decodeAC sets the AC coefficients of x (F.2.2.2), of which last is the last one. It is a function
// of its own for the sake of registers.
func (b *bits) decodeAC(t *table, quant *[64]byte, x *samples.Block) (last int, ok bool) {
	_, _, _ = t.short[0], quant[0], x[0] // not nil
	next, n := b.next, b.n
	for i, k := 0, uint(1); k < 64; i, k = i+1, k+1 {
		if i%2 == 0 { // two codes and their numbers have at most 54 bits; n is harder to predict than i
			next, n = b.fill(next, n)
		}
		e := t.short[next>>(64-shortBits)]
		number := int32(e >> 16)
		if number == 0 {
			if e == 0 {
				e = t.long(next)
			}
			if e.size() == 0 {
				next, n = next<<e.all(), n-e.all()
				if e.run() == 15 {
					k += 15
					continue
				}
				if e == 0 || e.run() > 0 {
					return 0, false
				}
				break // the end of the block
			}
			number = extend(next<<e.length(), e.size())
		}
		if k += uint(e.run()); k > 63 {
			return 0, false
		}
		to := int(samples.Order[k] & 63)
		x[to] = number * int32(quant[k])
		last = max(last, to)
		next, n = next<<e.all(), n-e.all()
	}
	b.next, b.n = next, n
	return last, true
}
