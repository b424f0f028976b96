package parquet

import (
	"fmt"
	"slices"
)

// rowLevels describes the levels of the first row of a leaf.
type rowLevels struct {
	repetition []byte // of its entries
	defined    int    // their definition level
	shape      []int  // the lengths of the nested lists, outermost first
}

// firstRow reads the levels of the first row of l, in a file that has rows. A row may have up to
// limit entries.
func firstRow(l *leaf, limit int64) (r rowLevels, err error) {
	s := newStream(l)
	defer s.releaseDictionary()
	defer recovered(&err)
	for {
		if err := s.nextEntries(); err != nil {
			return rowLevels{}, err
		}
		done, err := s.probe(&r, limit)
		s.page.entries = 0
		if err != nil {
			return rowLevels{}, s.fail(err, s.page.offset)
		}
		if done || s.unread == 0 {
			break
		}
	}
	return r, s.setShape(&r)
}

// probe adds the entries of the current page to r until the row ends, and reports whether it did.
func (s *stream) probe(r *rowLevels, limit int64) (done bool, err error) {
	h := s.page
	body := make([]byte, h.size)
	if err := s.readBody(body); err != nil {
		return false, err
	}
	c, err := s.levels(&h, body, new([]byte))
	if err != nil {
		return false, err
	}
	for range h.entries {
		repetition, definition := uint32(0), uint32(s.maxDefinition)
		if s.maxRepetition > 0 {
			if repetition, err = c.repetition.one(); err != nil {
				return false, err
			}
		}
		if s.maxDefinition > 0 {
			if definition, err = c.definition.one(); err != nil {
				return false, err
			}
		}
		first := len(r.repetition) == 0
		if repetition == 0 && !first {
			return true, nil
		}
		if first {
			r.defined = int(definition)
		}
		if repetition > uint32(s.maxRepetition) || definition > uint32(s.maxDefinition) || repetition > 0 && first {
			return false, damaged("found the levels %d and %d, expected at most %d and %d, and the first to be 0", repetition, definition, s.maxRepetition, s.maxDefinition)
		}
		if int(definition) != r.defined || definition < uint32(s.maxDefinition) && !s.empty[definition] {
			s.shape = "lists of equal length"
			return false, s.levelError(byte(min(int(definition), r.defined)), 0)
		}
		if int64(len(r.repetition)) >= limit {
			advice := fmt.Sprintf("allow larger records with --max-record-bytes %d", 2*limit*int64(s.element.size))
			return false, unsupported(s.path, advice, "found a list of more than %d values, which is too large for a record", limit).InRow(0)
		}
		r.repetition = append(r.repetition, byte(repetition))
	}
	return false, nil
}

// setShape derives the shape of the row from its levels.
func (s *stream) setShape(r *rowLevels) error {
	upTo := make([]int, s.maxRepetition+1) // by repetition level: the entries of this level and lower ones
	for _, level := range r.repetition {
		for k := int(level); k <= s.maxRepetition; k++ {
			upTo[k]++
		}
	}
	for k := 1; k <= s.maxRepetition; k++ {
		r.shape = append(r.shape, upTo[k]/upTo[k-1])
	}
	if r.defined < s.maxDefinition { // the lists of this level are empty, and so would be lists in them
		lists := 0
		for _, empty := range s.empty[:r.defined+1] {
			if empty {
				lists++
			}
		}
		clear(r.shape[max(0, lists-1):])
	}
	for i, level := range repetitions(r.shape) {
		if i >= len(r.repetition) || r.repetition[i] != level {
			return unsupported(s.path, adviceLists, "found lists of different lengths in one row, expected equal ones").InRow(0)
		}
	}
	return nil
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

// firstValue returns the first value of l, which must have one value per row, converted like the
// values of a batch. The file must have rows.
func firstValue(l *leaf) ([]byte, error) {
	var data leafData
	if !l.isByteArray() {
		data.dst = make([]byte, l.element.size)
	}
	s := newStream(l)
	defer s.releaseDictionary()
	if err := s.nextEntries(); err != nil {
		return nil, err
	}
	_, err := s.decode(&data, 0, 1)
	return append(data.dst, data.values...), err
}
