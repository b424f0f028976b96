package parquet

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/source/columnar"
	"github.com/idxport/idxport/source/idx"
)

// A leaf is a Parquet column, and what is expected of it. It does not change while rows are read.
type leaf struct {
	*node
	file  *file
	dtype idx.DType // of the elements, if they are numbers
	limit int       // bytes of a byte array

	perRow     int    // entries of a row; all rows have the same levels
	definition int    // level of each entry
	pattern    []byte // repetition levels of a row, repeated so that long runs are compared at once
	shape      string // of a row, for messages
}

// empty reports whether the lists of every row are empty, so that there are no values.
func (l *leaf) empty() bool { return l.definition < l.maxDefinition }

// listAt returns the number of the list, 1 for the outermost, that is empty in entries with a
// definition level below the maximum. It is 0 if they are nulls.
func (n *node) listAt(definition int) int {
	for m := n; m.parent != nil; m = m.parent {
		if m.repeated() && m.maxDefinition == definition+1 {
			return m.maxRepetition
		}
	}
	return 0
}

func repetitions(shape []int) []byte {
	if i := slices.Index(shape, 0); i >= 0 { // an empty list has no further entries
		shape = shape[:i]
	}
	levels := []byte{0}
	for k, n := range slices.Backward(shape) {
		levels = append(levels, bytes.Repeat(slices.Concat([]byte{byte(k + 1)}, levels[1:]), n-1)...)
	}
	return levels
}

// Lengths returns the lengths of a leaf's lists in the first row, which are expected of all rows.
func (f *file) Lengths(i int) (shape []int, err error) {
	l := f.leaves[i]
	s := &stream{leaf: l, group: -1}
	defer s.hold(0)
	defer func() { err = fault.Place(err, l.column(), 0, -1) }()
	levels, err := s.firstLevels(f.maxRecord)
	if err != nil {
		return nil, err
	}
	entries := 1 // of a repetition level below k
	for k := 1; k <= l.maxRepetition; k++ {
		lists := entries
		entries += bytes.Count(levels, []byte{byte(k)})
		shape = append(shape, entries/lists)
	}
	if l.empty() {
		if l.listAt(l.definition) == 0 {
			return nil, l.levelError(l.definition, 0)
		}
		clear(shape[l.listAt(l.definition)-1:]) // the lists of this level are empty, and so would be lists in them
	}
	if !slices.Equal(repetitions(shape), levels) || l.definition > l.maxDefinition {
		return nil, columnar.Unsupported(columnar.HintShape, "found lists of different lengths in one row")
	}
	l.perRow, l.pattern = len(levels), slices.Repeat(levels, 1+4096/len(levels))
	l.shape = "the shape " + text.Shape(shape)
	return shape, nil
}

// firstLevels returns the repetition levels of the first row, which may have several pages, and
// expects the definition level of its first entry of all entries.
func (s *stream) firstLevels(limit int64) (levels []byte, err error) {
	defer fault.Recovered(&err)
	for s.group < 0 || s.unread > 0 {
		p, err := s.nextPage(0)
		if err != nil {
			return nil, err
		}
		found, _, err := p.split()
		if err == nil && levels == nil {
			s.definition, err = found[1].one()
		}
		if err != nil {
			return nil, err
		}
		for range p.entries {
			r, err := found[0].one()
			switch {
			case err != nil || r == 0 && len(levels) > 0:
				return levels, err
			case int64(len(levels)) >= limit:
				hint := fmt.Sprintf("allow larger records with --max-record-bytes %d", 2*limit)
				return nil, columnar.Unsupported(hint, "found a list of over %d values, too many for a record", limit)
			}
			levels = append(levels, byte(r))
		}
	}
	return levels, nil
}

// check compares the levels of the page with the expected ones.
func (p *page) check(levels [2]runs) (err error) {
	n, other := p.entries, byte(0)
	matched, present := n, n
	if p.maxRepetition > 0 {
		matched, err = levels[0].matchRows(p.pattern, p.perRow, p.entry, n)
	}
	if err == nil && p.maxDefinition > 0 {
		present, other, err = levels[1].match(bytes.Repeat([]byte{byte(p.definition)}, min(n, 1<<12)), 0, n)
	}
	row := p.rowOf(min(matched, present))
	switch {
	case err != nil || min(matched, present) == n:
		return err
	case present <= matched:
		return p.levelError(int(other), row)
	case (p.entry+matched)%p.perRow == 0 && row > 0:
		row-- // it has too many entries
	}
	return p.lengthError(row)
}

// lengthError returns the error for a row whose lists differ in length from those of the first row.
func (l *leaf) lengthError(row int64) error {
	return columnar.Unsupported(columnar.HintShape,
		"found another number of values, expected %s as in the first row", l.shape).InRow(row)
}

// levelError returns the error for an unexpected definition level in a row.
func (l *leaf) levelError(definition int, row int64) error {
	if definition >= l.maxDefinition || l.listAt(definition) > 0 { // a list that is not empty, or one that is
		return l.lengthError(row)
	}
	return columnar.Null(row)
}
