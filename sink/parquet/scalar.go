package parquet

import (
	"sort"

	"github.com/parquet-go/parquet-go/format"
)

// scalarPageRows is the number of rows in the pages of scalar columns but the last: few enough for readers to skip pages by their bounds, many
// enough for the page's header not to count.
const scalarPageRows = 20_000

// batchShare is how many times more rows than different values a batch must have to be numbered: a batch without a value twice is given up soon,
// and merging takes no time beside the rows.
const batchShare = 16

// maxNumbered is the most scalar leaves whose batches are numbered in Encode. That takes tens of kilobytes for each leaf and batch until the row group
// ends; the layout columns has thousands of leaves, which are numbered one after another by the step.
const maxNumbered = 32

// numberBatch numbers the values of a batch, packed elements of size bytes, as far as that pays: else it makes a sketch. It runs in Encode.
func (s *Sink) numberBatch(values []byte, size int) *distinct {
	d, ok := s.numbered.Get().(*distinct)
	if !ok {
		d = new(distinct)
	}
	d.reset(max(len(values)/size/batchShare, 1))
	d.add(values, size)
	if d.full {
		d.sketch.reset()
		d.sketch.add(values, size)
	}
	return d
}

// numberedSize is about the most bytes of what numberBatch makes of rows rows: indices, keys, slots, and a sketch.
func numberedSize(rows int) int { return 2*rows + (8+16)*rows/batchShare + sketchSize }

// gather keeps of a batch what numberChunk needs. Once a batch has many values, the numbers of the others are of no use, and sketches become one:
// in batches of few rows they are larger than the values.
func (s *Sink) gather(c *chunk, batch *distinct) {
	if batch.full && !c.many {
		c.many = true
		c.sketch.reset()
		s.recycle(c)
	}
	if !c.many {
		batch.sketch = nil // left by another column
		c.numbered = append(c.numbered, batch)
		return
	}
	if batch.full {
		c.sketch.union(batch.sketch)
	}
	s.numbered.Put(batch)
}

// recycle gives back what batches of c were numbered with.
func (s *Sink) recycle(c *chunk) {
	for _, batch := range c.numbered {
		s.numbered.Put(batch)
	}
	clear(c.numbered) // for the collector: the slice is kept
	c.numbered = c.numbered[:0]
}

// numberChunk numbers the values of c, rows elements of l, and tells whether the dictionary of them pays.
func (s *Sink) numberChunk(l *leaf, c *chunk, rows int) bool {
	if !s.numbers {
		s.distinct.reset(max(l.mostEntries(rows), 1))
		s.distinct.add(c.values, l.Element.Size())
		return !s.distinct.full && l.dictionaryPays(len(s.distinct.keys), rows)
	}
	if c.many && !l.dictionaryPays(max(c.sketch.count(), 1), rows) {
		return false
	}
	s.distinct.reset(maxDistinct)
	if c.many {
		s.distinct.add(c.values, l.Element.Size())
	} else {
		for _, batch := range c.numbered {
			s.distinct.merge(batch)
		}
	}
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
