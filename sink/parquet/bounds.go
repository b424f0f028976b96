package parquet

import (
	"math"

	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// bounds is the range of the values of a page or a chunk. A float64 represents every element of
// every data type exactly, so comparisons of float64 give the order of each type.
type bounds struct {
	min, max float64
	none     bool // the values have no bounds: there is a NaN, or a name is too long
}

// boundsOf returns the range of elements, packed values of d, of which there is at least one.
func boundsOf(elements []byte, d idx.DType) bounds {
	if d == idx.Uint8 { // as most elements of images are
		least, greatest := byte(math.MaxUint8), byte(0)
		for _, e := range elements {
			least, greatest = min(least, e), max(greatest, e)
		}
		return bounds{min: float64(least), max: float64(greatest)}
	}
	b := bounds{min: math.Inf(1), max: math.Inf(-1)}
	for i := range len(elements) / d.Size() {
		switch v := source.Float(d, elements, i); {
		case v != v:
			return bounds{none: true}
		case v < b.min:
			b.min = v
			b.max = max(b.max, v) // the first value is minimum and maximum
		case v > b.max:
			b.max = v
		}
	}
	return b
}

// encodeBounds returns b as PLAIN values of the leaf, but text without the length before it. The
// Parquet specification (ColumnOrder in parquet.thrift) requires a float zero to be written as −0
// in the minimum and as +0 in the maximum, whatever the sign of the values.
func (l *leaf) encodeBounds(b bounds) (least, greatest []byte) {
	if l.sorted != nil {
		return []byte(l.sorted[int(b.min)]), []byte(l.sorted[int(b.max)])
	}
	if b.min == 0 {
		b.min = math.Copysign(0, -1)
	}
	if b.max == 0 {
		b.max = 0
	}
	return l.plain(b.min), l.plain(b.max)
}

// plain returns v, which is the value of an element, as a PLAIN value.
func (l *leaf) plain(v float64) []byte {
	element := make([]byte, l.Element.Size())
	if l.Element.Float() {
		source.Put(element, l.Element, v)
	} else {
		source.Put(element, l.Element, int64(v))
	}
	return widen(element, l.Element, l.Type)
}

// columnIndex returns the index of a chunk's pages.
func (l *leaf) columnIndex(pages []bounds) *format.ColumnIndex {
	index := &format.ColumnIndex{BoundaryOrder: boundaryOrder(pages),
		NullPages: make([]bool, len(pages)), NullCounts: make([]int64, len(pages))}
	for _, b := range pages {
		least, greatest := l.encodeBounds(b)
		index.MinValues = append(index.MinValues, least)
		index.MaxValues = append(index.MaxValues, greatest)
	}
	return index
}

// boundaryOrder returns the order of the pages' bounds. If they have one, readers may search them.
func boundaryOrder(pages []bounds) format.BoundaryOrder {
	ascending, descending := true, true
	for i := 1; i < len(pages); i++ {
		a, b := pages[i-1], pages[i]
		ascending = ascending && a.min <= b.min && a.max <= b.max
		descending = descending && a.min >= b.min && a.max >= b.max
	}
	switch {
	case ascending:
		return format.Ascending
	case descending:
		return format.Descending
	default:
		return format.Unordered
	}
}
