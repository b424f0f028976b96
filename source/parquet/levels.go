package parquet

import (
	"fmt"
	"slices"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/source/columnar"
	"github.com/idxport/idxport/source/idx"
)

const adviceLists = "all records must have one shape, as in an IDX file: pad or cut the lists"

// A leaf is a Parquet column, and what is expected of it. It does not change while rows are read.
type leaf struct {
	*node
	file    *file
	dtype   idx.DType // of the elements, if they are numbers
	element int       // bytes of an element or of a value of fixed size; 0 for byte arrays
	limit   int       // bytes of a byte array

	// All rows have the same levels, which are not turned into offsets but compared: perRow is the
	// number of entries of a row, definition is the definition level of each, and pattern[:perRow]
	// has their repetition levels. If rows are short, pattern repeats them, so that long runs are
	// compared at once.
	perRow     int
	definition int
	pattern    []byte
	shape      string // of a row, for messages
}

// expect sets the levels of every row.
func (l *leaf) expect(repetition []byte, definition int) {
	l.perRow, l.definition, l.pattern = len(repetition), definition, repetition
	const enough = 4096
	if l.maxRepetition > 0 && len(repetition) < enough {
		l.pattern = slices.Repeat(repetition, 1+enough/len(repetition))
	}
}

// empty reports whether the lists of every row are empty, so that there are no values.
func (l *leaf) empty() bool { return l.definition < l.maxDefinition }

// listAt returns the number of the list, 1 for the outermost, that is empty in entries with a
// definition level below the maximum. It is 0 if they are missing values.
func (n *node) listAt(definition int) int {
	for m := n; m.parent != nil; m = m.parent {
		if m.repeated() && m.maxDefinition == definition+1 {
			return m.maxRepetition
		}
	}
	return 0
}

// repetitions returns the repetition levels of a row with a shape.
func repetitions(shape []int) []byte {
	if i := slices.Index(shape, 0); i >= 0 { // an empty list has no further entries
		shape = shape[:i]
	}
	levels := []byte{0}
	for k, n := range slices.Backward(shape) {
		list := levels
		for range n - 1 {
			levels = append(append(levels, byte(k+1)), list[1:]...)
		}
	}
	return levels
}

// firstLengths returns the lengths of the lists in the first row, the outermost first, and expects
// them of all rows. The file must have rows, and a row may have up to limit elements.
func (l *leaf) firstLengths(limit int64) (shape []int, err error) {
	s := newStream(l)
	defer s.hold(size{})
	defer columnar.Recovered(&err)
	var levels []byte
	for done := false; !done; done = done || s.unread == 0 {
		p, err := s.nextPage(0)
		if err == nil {
			levels, done, err = p.firstLevels(levels, limit)
			err = located(err, l.path(), -1, p.offset)
		}
		if err != nil {
			return nil, err
		}
	}
	upTo := make([]int, l.maxRepetition+1) // by repetition level: the entries of this level and lower ones
	for _, level := range levels {
		for k := int(level); k <= l.maxRepetition; k++ {
			upTo[k]++
		}
	}
	for k := 1; k <= l.maxRepetition; k++ {
		shape = append(shape, upTo[k]/upTo[k-1])
	}
	if l.empty() { // the lists of this level are empty, and so would be lists in them
		clear(shape[l.listAt(l.definition)-1:])
	}
	if !slices.Equal(repetitions(shape), levels) {
		return nil, unsupported(l.path(), adviceLists, "found lists of different lengths in one row, expected equal ones").
			InRow(0)
	}
	l.expect(levels, l.definition)
	l.shape = "the shape " + display.Shape(shape)
	return shape, nil
}

// firstLevels adds the repetition levels of the entries of p to levels until the first row ends,
// and reports whether it does. It expects the definition level of the first entry of all others.
func (p *page) firstLevels(levels []byte, limit int64) (_ []byte, done bool, err error) {
	c, err := p.split()
	for i := 0; i < p.entries && err == nil; i++ {
		repetition, failed := c.repetition.one()
		first := len(levels) == 0
		if first && failed == nil {
			var definition uint32
			definition, failed = c.definition.one()
			p.definition = int(definition)
		}
		switch r, d := int(repetition), p.definition; {
		case failed != nil:
			err = failed
		case r == 0 && !first:
			return levels, true, nil
		case r > p.maxRepetition || d > p.maxDefinition || r > 0 && first:
			err = damaged("found the levels %d and %d, expected at most %d and %d, and the first to be 0",
				r, d, p.maxRepetition, p.maxDefinition)
		case p.empty() && p.listAt(d) == 0:
			err = p.levelError(d, 0)
		case int64(len(levels)) >= limit:
			err = unsupported("", fmt.Sprintf("allow larger records with --max-record-bytes %d", 2*limit),
				"found a list of more than %d values, which is too large for a record", limit).InRow(0)
		}
		levels = append(levels, byte(repetition))
	}
	return levels, false, err
}

// check compares the levels of the page with the expected ones.
func (p *page) check(c *content) error {
	matched, n := p.entries, p.entries
	if p.maxRepetition > 0 {
		var err error
		if matched, err = c.repetition.matchRows(p.pattern, p.perRow, p.entry, n); err != nil {
			return err
		}
	}
	if p.maxDefinition > 0 {
		most := min(n, matched+1)
		present, other, err := c.definition.match([]byte{byte(p.definition)}, 0, most)
		if err != nil {
			return err
		}
		if present < most {
			return p.levelError(int(other), p.rowOf(present))
		}
	}
	if matched == n {
		return nil
	}
	row, length := p.rowOf(matched), (p.entry+matched)%p.perRow
	if length == 0 && row > 0 {
		row-- // the row before has too many entries
	}
	return p.lengthError(length, row)
}

// lengthError returns the error for a row whose lists differ in length from those of the first row.
// length is the number of values in its list, or 0 if the list is longer than in the first row. The
// lengths of nested lists are not known.
func (l *leaf) lengthError(length int, row int64) error {
	found, expected := display.Count(length, "value"), display.Thousands(int64(l.perRow))
	switch {
	case l.maxRepetition > 1:
		found, expected = "another length", l.shape
	case length == 0:
		found = "more than " + display.Count(l.perRow, "value")
	}
	return unsupported(l.path(), adviceLists, "found a list of %s, expected %s as in the first row", found, expected).
		InRow(row)
}

// levelError returns the error for an unexpected definition level in a row.
func (l *leaf) levelError(found int, row int64) error {
	switch {
	case found >= l.maxDefinition:
		return unsupported(l.path(), adviceLists, "found a list with elements, expected an empty one as in the first row").
			InRow(row)
	case l.listAt(found) > 0:
		return unsupported(l.path(), adviceLists, "found an empty list, expected %s", l.shape).InRow(row)
	}
	return unsupported(l.path(), "fill the missing values or remove the rows: IDX has no missing values",
		"found a missing value (null), expected none").InRow(row).Because(columnar.ErrNull)
}
