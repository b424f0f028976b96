package parquet

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/sink/layout"
)

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
