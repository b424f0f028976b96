package parquet

import (
	"sort"

	"github.com/parquet-go/parquet-go/format"
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
