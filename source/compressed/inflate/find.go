package inflate

import (
	"encoding/binary"
	"sync"
)

const (
	// findMargin is the number of bytes that find may read from a position.
	findMargin = 24

	// bitsPerTry is the average number of bits for each whole header that find may read, which
	// takes microseconds. In noise and compressed data it reads one every 2,000 bits or less often;
	// in data that looks like headers everywhere, find would take a thousand times as long as
	// decoding.
	bitsPerTry = 1024

	// firstTries is the number of headers that a search may read in addition.
	firstTries = 64
)

// find returns the first bit of in, in the range [from, to), where the header of a dynamic block
// that is not the last seems to begin, or -1. It recognises a header by its codes, because few bit
// patterns describe complete codes. If something else looks like a header, no decoder that started
// at the beginning of the stream ever reaches that bit. find gives up if too much looks like a
// header at first.
//
// Looking up the bits to skip takes a third of the time of examining every bit.
func (d *decoder) find(in []byte, from, to int) int {
	to = min(to, 8*(len(in)-findMargin))
	tries := firstTries + (to-from)/bitsPerTry
	tables := findTables()
	for bit := from; bit < to && tries > 0; {
		v := binary.LittleEndian.Uint64(in[bit>>3:]) >> (bit & 7)
		if n := tables.skips[v&(1<<skipBits-1)]; n != 0 {
			bit += int(n)
			continue
		}
		if tables.completeLengthCode(in, bit, v) {
			if d.headerAt(in, bit) {
				return bit
			}
			tries--
		}
		bit++
	}
	return -1
}

// headerAt reports whether a header such as compressors write begins at bit: without errors, with a
// code for the end of the block, and with a literal code that uses up all patterns. A code of one
// literal or none is valid, but common in noise.
func (d *decoder) headerAt(in []byte, bit int) bool {
	d.startAt(in, bit)
	if d.header() != nil || d.literalLengths[endOfBlock] == 0 {
		return false
	}
	codes := 0
	for _, n := range d.literalLengths {
		codes += min(int(n), 1)
	}
	return codes > 1
}

// completeLengthCode reports whether the code for code lengths uses up all patterns. Its lengths
// have 3 bits each, after the 17 bits that v begins with.
func (t *findTable) completeLengthCode(in []byte, bit int, v uint64) bool {
	n := v>>13&15 + 4
	bit += 17
	lengths := binary.LittleEndian.Uint64(in[bit>>3:]) >> (bit & 7) & (1<<(3*n) - 1)
	const four = 1<<12 - 1
	p := &t.patterns
	used := p[lengths&four] + p[lengths>>12&four] + p[lengths>>24&four] + p[lengths>>36&four] + p[lengths>>48]
	return used == 1<<lengthBits
}

// skipBits is the number of bits that find examines at once: the 13 of a header before the number
// of code lengths, and one more.
const skipBits = 14

// A findTable has the lookup tables of find. It never changes.
type findTable struct {
	// skips has, for each value of the next bits, the number of bits before the first one where a
	// header may begin.
	skips [1 << skipBits]uint8
	// patterns has, for the lengths of four codes, which have 3 bits each, the number of patterns
	// of 7 bits that begin with one of these codes; length 0 is no code.
	patterns [1 << 12]uint16
}

// findTables returns the tables. The first call makes them: it takes half a millisecond, which a
// program that inflates nothing should not spend.
var findTables = sync.OnceValue(func() *findTable {
	t := new(findTable)
	for v := range t.skips {
		n := 0
		for n < skipBits && !mayBeginHeader(v>>n, skipBits-n) {
			n++
		}
		t.skips[v] = uint8(n)
	}
	for v := range t.patterns {
		for i := range 4 {
			if n := v >> (3 * i) & 7; n != 0 {
				t.patterns[v] += 1 << (lengthBits - n)
			}
		}
	}
	return t
})

// mayBeginHeader reports whether a header may begin with the n lowest bits of v; the others are
// unknown.
func mayBeginHeader(v, n int) bool {
	const notLast, dynamic = 0, 2
	known := func(bits int) bool { return n >= bits }
	switch {
	case known(1) && v&1 != notLast, known(2) && v>>1&1 != dynamic&1, known(3) && v>>1&3 != dynamic:
		return false
	case known(8) && v>>3&31+257 > literalSymbols, known(13) && v>>8&31+1 > distanceSymbols:
		return false
	}
	return true
}
