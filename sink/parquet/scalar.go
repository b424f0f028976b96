package parquet

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"sort"

	"github.com/parquet-go/parquet-go/format"
)

// scalarPageRows is the number of rows in each page of a scalar column but the last: few enough for
// readers to skip pages by their bounds, many enough for headers not to matter.
const scalarPageRows = 20_000

// putScalars makes the pages of leaf i, a scalar, from the values of its chunk. The dictionary
// covers the whole chunk, without a fallback to PLAIN in the middle.
func (s *Sink) putScalars(i int) error {
	l, c := s.leaves[i], &s.chunks[i]
	size, rows := l.Size, len(c.values)/l.Size
	entries, err := s.putDictionary(i, rows)
	if err != nil {
		return err
	}
	for from := 0; from < rows; from += scalarPageRows {
		to := min(from+scalarPageRows, rows)
		elements := c.values[from*size : to*size]
		p := page{entries: to - from}
		var body []byte
		if entries > 0 {
			p.encoding = format.RLEDictionary
			width, groups := indexWidth(entries), (to-from+7)/8
			body = appendPackedHeader(make([]byte, 0, 8+groups*width+packSlack), width, groups)
			body = appendPacked(body, s.distinct.indices[from:to], width)
		} else {
			body = widen(elements, l.Element, l.Type)
		}
		p, err := l.pages.page(p, l.levels(to-from), body)
		if err != nil {
			return err
		}
		if err := s.put(i, p); err != nil {
			return err
		}
		if l.Names != nil {
			c.bounds = append(c.bounds, l.boundsOfNames(s.distinct.indices[from:to]))
		} else {
			c.bounds = append(c.bounds, boundsOf(elements, l.Element))
		}
	}
	// Neither the chunk nor its column index has bounds if one page has none.
	if slices.ContainsFunc(c.bounds, func(b bounds) bool { return b.none }) {
		c.bounds = nil
	}
	return nil
}

// putDictionary makes the dictionary page of leaf i, a scalar of the given number of rows, and
// returns the number of its entries. s.distinct then has the indices into the dictionary. If a
// dictionary would not make the chunk smaller, putDictionary returns 0.
func (s *Sink) putDictionary(i, rows int) (entries int, err error) {
	l, values := s.leaves[i], s.chunks[i].values
	if l.Names != nil { // the values are the indices
		s.distinct.reset(1)
		for ; len(values) > 0; values = values[l.Size:] {
			s.distinct.indices = append(s.distinct.indices, binary.LittleEndian.Uint16(values))
		}
		return len(l.Names), s.put(i, *l.dictionary)
	}
	s.distinct.reset(max(l.maxEntries(rows), 1))
	s.distinct.add(values, l.Size)
	entries = len(s.distinct.keys)
	if s.distinct.full || !l.dictionaryPays(entries, rows) {
		return 0, nil
	}
	dictionary := widen(s.distinct.elements(l.Size), l.Element, l.Type)
	p, err := l.pages.page(page{kind: format.DictionaryPage, entries: entries}, dictionary)
	if err != nil {
		return 0, err
	}
	return entries, s.put(i, p)
}

// indexWidth returns the number of bits of an index into n entries: some readers need at least 1.
func indexWidth(n int) int { return max(bits.Len(uint(n-1)), 1) }

// dictionaryPays reports whether a chunk with so many rows is smaller with a dictionary of n
// entries than in PLAIN pages. If a dictionary does not pay with n entries, none with more does.
func (l *leaf) dictionaryPays(n, rows int) bool {
	return n <= maxDistinct && n*l.valueSize+rows*indexWidth(n)/8 < rows*l.valueSize
}

// maxEntries returns the greatest number of distinct values for which dictionaryPays.
func (l *leaf) maxEntries(rows int) int {
	values := maxDistinct
	if l.Size == 1 {
		values = 1 << 8
	}
	return sort.Search(values, func(n int) bool { return !l.dictionaryPays(n+1, rows) })
}

// maxDistinct is how many entries the dictionary of a scalar may have, as their indices are uint16.
const maxDistinct = 1 << 16

// A distinct numbers the different values of a chunk in the order in which they first occur. It
// compares bits: zeros of both signs and NaNs with different payloads are different values.
//
// It is an open hash table, about five times as fast as a map.
type distinct struct {
	limit   int      // maximum number of different values
	shift   int      // a hash shifted right by this is the index of a slot
	slots   []uint32 // 1 + index of a value, 0 if free; at least twice the limit
	keys    []uint64 // bits of the different values, in the order of their indices
	indices []uint16 // of all values
	full    bool     // there were more different values than limit
}

// reset removes all values.
func (d *distinct) reset(limit int) {
	width := bits.Len(uint(2*limit - 1))
	d.limit, d.shift = limit, 64-width
	d.slots = slices.Grow(d.slots[:0], 1<<width)[:1<<width]
	clear(d.slots)
	d.keys, d.indices, d.full = d.keys[:0], d.indices[:0], false
}

// add gives an index to each of values, packed elements of size bytes. It stops when d is full.
func (d *distinct) add(values []byte, size int) {
	d.indices = slices.Grow(d.indices, len(values)/size)
	if size == 1 {
		d.addBytes(values)
		return
	}
	for ; len(values) > 0 && !d.full; values = values[size:] {
		d.indices = append(d.indices, uint16(d.index(bitsOf(values, size))))
	}
}

// addBytes is add for bytes: a table replaces hashing for all but the first occurrence of each.
// With the bounds of bytes, it reduced the time to write pixels in layout "columns", uncompressed,
// to 42 %.
func (d *distinct) addBytes(values []byte) {
	var numbers [1 << 8]uint16 // 1 + index of a value, 0 if it has not occurred
	from := len(d.indices)
	d.indices = d.indices[:from+len(values)]
	for i, v := range values {
		if numbers[v] == 0 {
			numbers[v] = uint16(d.index(uint64(v))) + 1
			if d.full {
				d.indices = d.indices[:from+i]
				return
			}
		}
		d.indices[from+i] = numbers[v] - 1
	}
}

// index returns the index of the value with the bits key. It adds a new one, or else d is full.
func (d *distinct) index(key uint64) uint32 {
	last := uint64(len(d.slots) - 1)
	const golden = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio: Fibonacci hashing
	for slot := key * golden >> d.shift; ; slot = (slot + 1) & last {
		n := d.slots[slot]
		if n == 0 {
			if len(d.keys) == d.limit {
				d.full = true
				return 0
			}
			d.keys = append(d.keys, key)
			d.slots[slot] = uint32(len(d.keys))
			return uint32(len(d.keys)) - 1
		}
		if d.keys[n-1] == key {
			return n - 1
		}
	}
}

// elements returns the different values, packed as elements of size bytes.
func (d *distinct) elements(size int) []byte {
	packed := make([]byte, 0, len(d.keys)*size+8)
	for _, key := range d.keys {
		packed = appendBits(packed, key, size)
	}
	return packed
}

// appendBits appends the element of size bytes with the given bits.
func appendBits(dst []byte, bits uint64, size int) []byte {
	return binary.LittleEndian.AppendUint64(dst, bits)[:len(dst)+size]
}

// bitsOf returns the bits of the first of values, which have a size of 2, 4 or 8 bytes.
func bitsOf(values []byte, size int) uint64 {
	switch size {
	case 2:
		return uint64(binary.LittleEndian.Uint16(values))
	case 4:
		return uint64(binary.LittleEndian.Uint32(values))
	}
	return binary.LittleEndian.Uint64(values)
}

// setNames sets the dictionary page, sorted and ranks from the leaf's names.
func (l *leaf) setNames() error {
	const maxBound = 1024 // bytes: the column index would repeat longer names for every page
	var values []byte
	l.sorted = slices.Sorted(slices.Values(l.Names)) // by unsigned bytes
	for _, name := range l.Names {
		values = binary.LittleEndian.AppendUint32(values, uint32(len(name)))
		values = append(values, name...)
		rank, _ := slices.BinarySearch(l.sorted, name)
		l.ranks = append(l.ranks, uint16(rank))
	}
	if slices.ContainsFunc(l.Names, func(name string) bool { return len(name) > maxBound }) {
		l.sorted = nil
	}
	return l.setDictionary(values, len(l.Names))
}

// boundsOfNames returns the range of the names with the given indices, of which there is at least
// one. The bounds are indices in sorted.
func (l *leaf) boundsOfNames(indices []uint16) bounds {
	if l.sorted == nil {
		return bounds{none: true} // no bounds
	}
	least, greatest := l.ranks[indices[0]], l.ranks[indices[0]]
	for _, i := range indices {
		least, greatest = min(least, l.ranks[i]), max(greatest, l.ranks[i])
	}
	return bounds{min: float64(least), max: float64(greatest)}
}
