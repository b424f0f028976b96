package csv

import (
	"bytes"
	"math"

	"github.com/idxport/idxport/source/idx"
)

// Seen is what the first rows have in a field.
type seen struct {
	values    int64
	floats    bool    // there are others than integers
	fractions bool    // there are others than whole numbers, which 5.0 is
	min, max  float64 // of the numbers, but NaN
	digits    int     // the most significant ones of a number
	doubles   bool    // there are numbers that are not the shortest texts of a float32
	text      []byte  // the first that is no number; nil: there is none
	row       int64   // of text
}

// observe adds the content of a field in a row.
func (s *seen) observe(text []byte, row int64) {
	n, ok := parseNumber(text)
	if !ok {
		if s.text == nil || len(s.text) == 0 && len(text) > 0 {
			s.text, s.row = append([]byte{}, text...), row
		}
		return
	}
	s.values++
	s.min, s.max = min(s.min, nanIsZero(n.value)), max(s.max, nanIsZero(n.value))
	if n.integer {
		return
	}
	s.floats = true
	s.fractions = s.fractions || n.value != math.Trunc(n.value) || math.IsInf(n.value, 0) // NaN differs from itself
	s.digits = max(s.digits, significant(text))
	s.doubles = s.doubles || !isShortest32(n.value)
}

func nanIsZero(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

// digitsOfSingles is how many significant digits the shortest texts of most float32 have; measured values seldom have so many.
const digitsOfSingles = 8

// dtype is the type that holds what was seen, and most likely the rest.
func (s *seen) dtype() idx.DType {
	switch {
	case s.floats && !s.doubles && s.digits >= digitsOfSingles && s.digits <= digits32:
		return idx.Float32
	case s.floats:
		return idx.Float64
	case s.min >= 0 && s.max <= math.MaxUint8:
		return idx.Uint8
	case s.min >= math.MinInt32 && s.max <= math.MaxInt32:
		return idx.Int32
	}
	return idx.Float64
}

// look observes the whole lines of text, which begins with the row first, and returns their number. Lines that do not have the right number of
// fields are left to Decode.
func (t *Table) look(text []byte, first int64, whole bool) int64 {
	return int64(eachLine(text, whole, func(row int, line []byte) { t.lookLine(line, first+int64(row)) }))
}

func (t *Table) lookLine(line []byte, row int64) {
	k, left := 0, 0
	if len(t.parts) > 0 {
		left = t.parts[0].count
	}
	eachField(line, t.comma, func(_ int, text []byte) bool {
		for left == 0 {
			if k++; k >= len(t.parts) {
				return false
			}
			left = t.parts[k].count
		}
		left--
		t.fields[t.parts[k].field].seen.observe(text, row)
		return true
	})
}

// lookAtEnd observes the lines of text, the end of the file, but for the first, which is cut.
func (t *Table) lookAtEnd(text []byte) {
	n := bytes.IndexByte(text, '\n')
	if n < 0 || bytes.IndexByte(text, '"') >= 0 {
		return
	}
	before := make([][]byte, len(t.fields)) // damage there is found in its row, by Decode
	for i := range t.fields {
		before[i] = t.fields[i].seen.text
	}
	t.look(text[n+1:], 0, true)
	for i := range t.fields {
		t.fields[i].seen.text = before[i]
	}
}
