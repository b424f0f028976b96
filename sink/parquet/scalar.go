package parquet

import (
	"github.com/parquet-go/parquet-go/format"
)

// scalarPageRows is the number of rows in the pages of scalar columns but the last: few enough for readers to skip pages by their bounds, many
// enough for the page's header not to count.
const scalarPageRows = 20_000

// scalarPages makes the pages of a chunk out of values, its elements, and hands them to put one after another, a data page with its bounds.
// The dictionary is of the whole chunk: it never falls back to PLAIN in the middle.
func (s *Sink) scalarPages(l *leaf, values []byte, put func(page) error) ([]bounds, error) {
	size := l.Element.Size()
	rows := len(values) / size
	entries := 0
	if s.distinct.number(values, size) && s.dictionaryPays(l, rows) {
		entries = len(s.distinct.keys)
		p, err := s.press.dictionary(widen(s.distinct.elements(size), l.Element), entries)
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
		elements := values[from*size : to*size]
		p := page{entries: to - from, rows: to - from, encoding: format.Plain}
		body := widen(elements, l.Element)
		if entries > 0 {
			p.encoding = format.RLEDictionary
			body = s.scalarIndices(from, to)
		}
		p, err := s.press.data(p, [][]byte{body})
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

// scalarIndices is the body of a page of the dictionary's indices of rows from to to.
func (s *Sink) scalarIndices(from, to int) []byte {
	indices, width := s.distinct.indices[from:to], s.distinct.width()
	return appendPacked(appendPackedHeader(nil, width, (len(indices)+7)/8), indices, width)
}

// dictionaryPays tells whether a chunk of rows values is smaller with the dictionary that was just numbered than in PLAIN pages.
func (s *Sink) dictionaryPays(l *leaf, rows int) bool {
	return len(s.distinct.keys)*l.valueSize+rows*s.distinct.width()/8 < rows*l.valueSize
}
