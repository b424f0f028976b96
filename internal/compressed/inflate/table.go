package inflate

import "math/bits"

// maxCode is the length of the longest code in bits; codes for code lengths have up to 7 bits.
const maxCode = 15

// Index bits of the first-level tables. With 11, hardly any literal of an image needs the second.
const (
	literalBits  = 11
	distanceBits = 8
	lengthBits   = 7 // no second level
)

// Numbers of entries of both levels together. The largest complete codes need 2,342 and 402 (zlib's
// enough.c for 288 and 32 symbols). Powers of two let a mask keep an index in range.
const (
	literalTableSize  = 4096
	distanceTableSize = 512
	lengthTableSize   = 1 << lengthBits
)

// An entry is what a table holds for a bit pattern:
//
//	bits 0–7    bits of code and extra bits together
//	bits 8–11   bits of code; in a link, the index bits of the second level
//	bit  13     end: the end of the block
//	bit  14     link: a second level begins at the value
//	bit  15     special: set with end or link; alone, a symbol or code that must not occur
//	bits 16–30  value: the literal, the base of a length or distance, the symbol of a code length
//	bit  31     literal
//
// In the second level, the bits of code are those beyond the index of the first level.
type entry uint32

const (
	end     entry = 1 << 13
	link    entry = 1 << 14
	special entry = 1 << 15
	literal entry = 1 << 31
)

// newEntry returns an entry with a code of no bits yet.
func newEntry(value, extraBits int) entry { return entry(value)<<16 | entry(extraBits) }

// withCode returns e, made by newEntry, for a code of n bits.
func (e entry) withCode(n int) entry { return e + entry(n)*0x101 }

func (e entry) value() int     { return int(e >> 16 & 0x7fff) }
func (e entry) literal() byte  { return byte(e >> 16) }
func (e entry) codeBits() uint { return uint(e >> 8 & 15) }
func (e entry) allBits() uint  { return uint(e & 63) }

// Sizes of the alphabets. Each fixed code has two more symbols, with codes that must not occur.
const (
	literalSymbols  = 286
	distanceSymbols = 30
	lengthSymbols   = 19 // of the code for code lengths

	fixedLiteralSymbols  = 288
	fixedDistanceSymbols = 32

	endOfBlock = 256
)

// lengthOrder is the order of the lengths of the code for code lengths (RFC 1951, 3.2.7).
var lengthOrder = [lengthSymbols]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// The meanings of the symbols, as table entries with a code of no bits. They never change.
var (
	literalEntries  = makeLiteralEntries()
	distanceEntries = makeDistanceEntries()
)

// makeLiteralEntries is the first table of 3.2.5: 8 lengths without extra bits, 4 each with 1 to 5.
func makeLiteralEntries() (entries [fixedLiteralSymbols]entry) {
	for s := range endOfBlock {
		entries[s] = literal | newEntry(s, 0)
	}
	entries[endOfBlock] = special | end
	base := 3
	for s := endOfBlock + 1; s < 285; s++ {
		extra := max(0, (s-261)/4)
		entries[s] = newEntry(base, extra)
		base += 1 << extra
	}
	entries[285] = newEntry(maxMatch, 0) // although 284 with its extra bits could express that, too
	entries[286], entries[287] = special, special
	return entries
}

// makeDistanceEntries is the second one: 4 distances without extra bits, then 2 each with 1 to 13.
func makeDistanceEntries() (entries [fixedDistanceSymbols]entry) {
	base := 1
	for s := range distanceSymbols {
		extra := max(0, s/2-1)
		entries[s] = newEntry(base, extra)
		base += 1 << extra
	}
	entries[30], entries[31] = special, special
	return entries
}

// build fills a table whose first level has firstBits index bits. lengths are the code lengths by
// symbol, 0 for a symbol without a code; entries are the meanings of the symbols. It reports
// whether the lengths form a valid code.
func build(table []entry, firstBits int, lengths []uint8, entries []entry) bool {
	var count [maxCode + 1]int
	for _, n := range lengths {
		count[n]++
	}
	count[0] = 0
	if !allowed(&count) {
		return false
	}
	b := builder{table: table, firstBits: firstBits, entries: entries, count: count}
	b.sort(lengths)
	b.firstLevel()
	b.secondLevel()
	return true
}

// allowed reports whether codes of these lengths are complete, or one of the two exceptions.
func allowed(count *[maxCode + 1]int) bool {
	free, codes := 1, 0 // patterns of n bits that begin with no code
	for n := 1; n <= maxCode; n++ {
		free = free<<1 - count[n]
		if free < 0 {
			return false
		}
		codes += count[n]
	}
	return free == 0 || codes == 0 || codes == 1 && count[1] == 1
}

// A builder assigns codes in their order.
type builder struct {
	table     []entry
	firstBits int
	entries   []entry // by symbol
	count     [maxCode + 1]int
	sorted    [fixedLiteralSymbols]uint16 // symbols by code
	next      int                         // index in sorted
	code      uint16                      // of that symbol
}

func (b *builder) sort(lengths []uint8) {
	var start [maxCode + 1]int
	for n := 1; n < maxCode; n++ {
		start[n+1] = start[n] + b.count[n]
	}
	for s, n := range lengths {
		if n != 0 {
			b.sorted[start[n]] = uint16(s)
			start[n]++
		}
	}
}

// take returns the next code, which has n bits, with its first bit lowest, and its entry.
func (b *builder) take(n int) (reversed int, e entry) {
	reversed = int(bits.Reverse16(b.code) >> (16 - n))
	e = b.entries[b.sorted[b.next]]
	b.code++
	b.next++
	return reversed, e
}

// firstLevel enters the codes of up to firstBits bits. The table grows with their length: doubling
// it repeats shorter codes for both values of the next bit. Patterns without a code stay special.
func (b *builder) firstLevel() {
	b.table[0] = special
	for n := 1; n <= b.firstBits; n++ {
		half := 1 << (n - 1)
		copy(b.table[half:2*half], b.table[:half])
		b.code <<= 1
		for range b.count[n] {
			i, e := b.take(n)
			b.table[i] = e.withCode(n)
		}
	}
}

// secondLevel enters the longer codes. Those with the same first bits are consecutive.
func (b *builder) secondLevel() {
	prefix, start, size := -1, 0, 0 // of the second-level table being filled
	free := 1 << b.firstBits
	for n := b.firstBits + 1; n <= maxCode; n++ {
		b.code <<= 1
		for left := b.count[n]; left > 0; left-- {
			i, e := b.take(n)
			if p := i & (1<<b.firstBits - 1); p != prefix {
				k := b.indexBits(n, left)
				prefix, start, size = p, free, 1<<k
				free += size
				b.table[prefix] = special | link | newEntry(start, b.firstBits) | entry(k)<<8
			}
			e = e.withCode(n - b.firstBits)
			for j := i >> b.firstBits; j < size; j += 1 << (n - b.firstBits) {
				b.table[start+j] = e
			}
		}
	}
}

// indexBits returns the number of index bits of the second-level table for the next code, which has
// n bits, like left−1 codes after it. It takes in longer codes until they fill the table.
func (b *builder) indexBits(n, left int) int {
	k := n - b.firstBits
	for used := left; used < 1<<k; {
		k++
		used = used<<1 + b.count[b.firstBits+k]
	}
	return k
}
