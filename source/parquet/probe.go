package parquet

// A row is what the levels of the first row of a leaf tell.
type row struct {
	repetition []byte // of its entries
	defined    int    // their definition level
	shape      []int  // a length for each list
}

// firstRow finds what the first row of l looks like, in a file that has rows. A row has most entries at most.
func firstRow(l *leaf, most int64) (r row, err error) {
	s := newStream(l)
	defer s.forget()
	defer recovered(&err)
	for {
		if err := s.more(); err != nil {
			return row{}, err
		}
		done, err := s.probe(&r, most)
		s.page.entries = 0
		if err != nil {
			return row{}, s.fail(err, s.page.offset)
		}
		if done || s.unread == 0 {
			break
		}
	}
	return r, s.measure(&r)
}

// probe adds the entries of the current page to r, up to the end of the row, and reports whether it was met.
func (s *stream) probe(r *row, most int64) (done bool, err error) {
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
			s.shape = "as many as in the others"
			return false, s.absent(byte(min(int(definition), r.defined)), 0)
		}
		if int64(len(r.repetition)) >= most {
			return false, unsupported(s.path, adviceLarge, "found a list that is longer than a record may be").InRow(0)
		}
		r.repetition = append(r.repetition, byte(repetition))
	}
	return false, nil
}

// measure finds the shape of the row.
func (s *stream) measure(r *row) error {
	upTo := make([]int, s.maxRepetition+1) // entries of a repetition level up to the index
	for _, level := range r.repetition {
		for k := int(level); k <= s.maxRepetition; k++ {
			upTo[k]++
		}
	}
	for k := 1; k <= s.maxRepetition; k++ {
		r.shape = append(r.shape, upTo[k]/upTo[k-1])
	}
	if r.defined < s.maxDefinition {
		r.emptied(s.leaf)
	}
	for i, level := range repetitions(r.shape) {
		if i >= len(r.repetition) || r.repetition[i] != level {
			return unsupported(s.path, adviceLists, "found lists of different lengths in one row, expected equal ones").InRow(0)
		}
	}
	return nil
}

// emptied sets the length of the lists that are empty, and of those that would be in them, to 0.
func (r *row) emptied(l *leaf) {
	list := 0
	for level := range r.defined + 1 {
		if l.empty[level] {
			list++
		}
	}
	for k := max(0, list-1); k < len(r.shape); k++ {
		r.shape[k] = 0
	}
}

// repetitions are the repetition levels of a row of shape: how many lists go on.
func repetitions(shape []int) []byte {
	n := 1
	for _, d := range shape {
		if d == 0 {
			break
		}
		n *= d
	}
	levels := make([]byte, n)
	for i := 1; i < n; i++ {
		rest, level := i, len(shape)
		for k := len(shape) - 1; k >= 0; k-- {
			if shape[k] == 0 { // nothing goes on in it
				level = k
				continue
			}
			if rest%shape[k] != 0 {
				level = k + 1
				break
			}
			rest /= shape[k]
		}
		levels[i] = byte(level)
	}
	return levels
}

// firstValue is the first value of a leaf that has one in each row, as it is in part's dst or files. The file has rows.
func firstValue(l *leaf) ([]byte, error) {
	var p part
	if !l.raw() {
		p.dst = make([]byte, l.element.size)
	}
	s := newStream(l)
	defer s.forget()
	if err := s.more(); err != nil {
		return nil, err
	}
	_, err := s.decode(&p, 0, 1)
	return append(p.dst, p.files...), err
}
