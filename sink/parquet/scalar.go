package parquet

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"sort"
	"strings"

	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/sink/layout"
)

// scalarPageRows is the number of rows in the pages of scalar columns but the last: few enough for readers to skip pages by their bounds, many
// enough for the page's header not to count.
const scalarPageRows = 20_000

// numberChunk numbers the values of c, rows elements of l, and tells whether the dictionary of them pays.
func (s *Sink) numberChunk(l *leaf, c *chunk, rows int) bool {
	s.distinct.reset(max(l.mostEntries(rows), 1))
	s.distinct.add(c.values, l.Element.Size())
	return !s.distinct.full && l.dictionaryPays(len(s.distinct.keys), rows)
}

// dictionaryPays tells whether a chunk of rows values is smaller with a dictionary of n than in PLAIN pages. It does not with a larger one if it
// does not with n.
func (l *leaf) dictionaryPays(n, rows int) bool {
	return n <= maxDistinct && n*l.valueSize+rows*indexWidth(n)/8 < rows*l.valueSize
}

// mostEntries is the most values with which a dictionary of a chunk of rows values can pay.
func (l *leaf) mostEntries(rows int) int {
	values := maxDistinct
	if l.Element.Size() == 1 {
		values = 1 << 8
	}
	return sort.Search(values, func(n int) bool { return !l.dictionaryPays(n+1, rows) })
}

// scalarPages makes the pages of the chunk c of l and hands them to put one after another, a data page with its bounds.
// The dictionary is of the whole chunk: it never falls back to PLAIN in the middle.
func (s *Sink) scalarPages(l *leaf, c *chunk, put func(page) error) ([]bounds, error) {
	if l.Names != nil {
		return l.namePages(c, put)
	}
	size := l.Element.Size()
	rows := len(c.values) / size
	entries := 0
	if s.numberChunk(l, c, rows) {
		entries = len(s.distinct.keys)
		p, err := s.press.dictionary(widen(s.distinct.elements(size), l.Element, l.Type), entries)
		if err != nil {
			return nil, err
		}
		if err := put(p); err != nil {
			return nil, err
		}
	}
	var all []bounds
	for from := 0; from < rows; from += scalarPageRows {
		to := min(from+scalarPageRows, rows)
		elements := c.values[from*size : to*size]
		p := page{entries: to - from, rows: to - from, encoding: format.Plain}
		var body []byte
		if entries > 0 {
			p.encoding = format.RLEDictionary
			body = packedIndices(s.distinct.indices[from:to], indexWidth(entries))
		} else {
			body = widen(elements, l.Element, l.Type)
		}
		p, err := s.press.data(p, withLevels(l.levels(to-from), body))
		if err != nil {
			return nil, err
		}
		if err := put(p); err != nil {
			return nil, err
		}
		all = append(all, boundsOf(elements, l.Element))
	}
	return all, nil
}

// packedIndices is the body of a page of indices of width bits.
func packedIndices(indices []uint16, width int) []byte {
	groups := (len(indices) + 7) / 8
	body := make([]byte, 0, 8+groups*width+packSlack)
	return appendPacked(appendPackedHeader(body, width, groups), indices, width)
}

// maxDistinct is the most entries of a scalar column's dictionary. Indices fit a uint16.
const maxDistinct = 1 << 16

// A distinct numbers the different values of a chunk in the order in which they first occur. Values are compared as bits: zeros of
// both signs, and NaNs of different payloads, are different values.
//
// It is an open hash table, some five times as fast as a map.
type distinct struct {
	limit   int      // the most values that get a number
	shift   int      // of a hash, to a slot
	slots   []uint32 // 1 + index of a value, 0 if free; at least twice as many as values
	keys    []uint64 // the values' bits, in the order of their indices
	indices []uint16 // of all values
	full    bool     // there were more than limit
}

// reset forgets all values.
func (d *distinct) reset(limit int) {
	width := bits.Len(uint(2*limit - 1))
	d.limit, d.shift = limit, 64-width
	d.slots = slices.Grow(d.slots[:0], 1<<width)[:1<<width]
	clear(d.slots)
	d.keys, d.indices, d.full = d.keys[:0], d.indices[:0], false
}

// add numbers values, packed elements of size bytes. It gives up when d is full.
func (d *distinct) add(values []byte, size int) {
	d.indices = slices.Grow(d.indices, len(values)/size)
	if size == 1 {
		d.addBytes(values)
		return
	}
	var block [blockLength]uint64
	for len(values) > 0 && !d.full {
		n := min(len(values), blockLength*size)
		for _, key := range keysOf(block[:n/size], values, size) {
			d.indices = append(d.indices, uint16(d.index(key)))
		}
		values = values[n:]
	}
}

// addBytes is add for values of one byte: a table does without hashing all but the first of each. With byteBounds, it took writing the layout columns of
// pixels, uncompressed, from 1 to 0.42 of the time.
func (d *distinct) addBytes(values []byte) {
	var numbers [1 << 8]uint16 // 1 + index of a value, 0 if it was not met here
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

// index is the number of the value with the bits key, a new one if it was not met before. If there is none left, d is full.
func (d *distinct) index(key uint64) uint32 {
	last := uint64(len(d.slots) - 1)
	for slot := hash(key) >> d.shift; ; slot = (slot + 1) & last {
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

// hash is Fibonacci hashing: its upper bits are the good ones.
func hash(key uint64) uint64 {
	const golden = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
	return key * golden
}

// elements is the values themselves, packed as they were.
func (d *distinct) elements(size int) []byte {
	packed := make([]byte, 0, len(d.keys)*size)
	for _, key := range d.keys {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], key)
		packed = append(packed, b[:size]...)
	}
	return packed
}

// indexWidth is the number of bits of an index into a dictionary of n entries: at least 1, as not all readers take 0.
func indexWidth(n int) int { return max(bits.Len(uint(n-1)), 1) }

// keysOf fills dst with the bits of values, as many packed elements of size bytes.
func keysOf(dst []uint64, values []byte, size int) []uint64 {
	switch size {
	case 1:
		for i := range dst {
			dst[i] = uint64(values[i])
		}
	case 2:
		for i := range dst {
			dst[i] = uint64(binary.LittleEndian.Uint16(values[2*i:]))
		}
	case 4:
		for i := range dst {
			dst[i] = uint64(binary.LittleEndian.Uint32(values[4*i:]))
		}
	default:
		for i := range dst {
			dst[i] = binary.LittleEndian.Uint64(values[8*i:])
		}
	}
	return dst
}

// maxBound is the most bytes of a name for the leaf to have bounds: every page's are in the column index.
const maxBound = 1024

// name makes the dictionary page of the leaf's names, and their order.
func (l *leaf) name() error {
	var values []byte
	for _, name := range l.Names {
		values = binary.LittleEndian.AppendUint32(values, uint32(len(name)))
		values = append(values, name...)
	}
	p, err := l.press.dictionary(values, len(l.Names))
	if err != nil {
		return err
	}
	p.memory = nil // never given back: it is for all chunks
	l.dictionary = &p
	if slices.ContainsFunc(l.Names, func(name string) bool { return len(name) > maxBound }) {
		return nil
	}
	order := make([]int, len(l.Names))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(l.Names[a], l.Names[b]) }) // bytes without a sign
	l.sorted, l.ranks = make([]string, len(order)), make([]uint16, len(order))
	for rank, i := range order {
		l.sorted[rank], l.ranks[i] = l.Names[i], uint16(rank)
	}
	return nil
}

// namePages makes the pages of the chunk c, whose values are indices of the leaf's names, as scalarPages does of numbers.
func (l *leaf) namePages(c *chunk, put func(page) error) ([]bounds, error) {
	if err := put(*l.dictionary); err != nil {
		return nil, err
	}
	var all []bounds
	indices := make([]uint16, 0, scalarPageRows)
	width := indexWidth(len(l.Names))
	for values := c.values; len(values) > 0; {
		n := min(len(values), scalarPageRows*layout.NameIndexSize)
		indices = indices[:0]
		for at := 0; at < n; at += layout.NameIndexSize {
			indices = append(indices, binary.LittleEndian.Uint16(values[at:]))
		}
		values = values[n:]
		rows := len(indices)
		p := page{entries: rows, rows: rows, encoding: format.RLEDictionary}
		p, err := l.press.data(p, withLevels(l.levels(rows), packedIndices(indices, width)))
		if err != nil {
			return nil, err
		}
		if err := put(p); err != nil {
			return nil, err
		}
		all = append(all, l.boundsOfNames(indices))
	}
	return all, nil
}

// boundsOfNames is the range of the names of indices, of which there is at least one, by their places in sorted.
func (l *leaf) boundsOfNames(indices []uint16) bounds {
	if l.sorted == nil {
		return bounds{nan: true} // none
	}
	least, greatest := l.ranks[indices[0]], l.ranks[indices[0]]
	for _, i := range indices {
		least, greatest = min(least, l.ranks[i]), max(greatest, l.ranks[i])
	}
	return bounds{min: float64(least), max: float64(greatest)}
}

// encodeBounds is b as PLAIN values of the leaf; text has no length before it in statistics.
func (l *leaf) encodeBounds(b bounds) (least, greatest []byte) {
	if l.sorted != nil {
		return []byte(l.sorted[int(b.min)]), []byte(l.sorted[int(b.max)])
	}
	return b.encode(l.Type)
}
