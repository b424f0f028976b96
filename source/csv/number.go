package csv

import (
	"bytes"
	"math"
	"strconv"

	"github.com/idxport/idxport/source/idx"
)

// A number is the value of a field.
type number struct {
	value   float64
	integer bool // the text has only digits, and perhaps a sign
}

// parseNumber reads the content of a field. ok is false if it is not a number that float64 can
// hold. Go's hexadecimal floats and underscores are not numbers here.
func parseNumber(text []byte) (n number, ok bool) {
	if len(text) == 0 {
		return number{}, false
	}
	n.integer = true
	for i, c := range text {
		switch {
		case c >= '0' && c <= '9':
		case i == 0 && (c == '-' || c == '+'):
		case c == 'x' || c == 'X' || c == '_':
			return number{}, false
		default:
			n.integer = false
		}
	}
	var err error
	n.value, err = strconv.ParseFloat(string(text), 64)
	return n, err == nil
}

// parseInteger reads up to nine digits, perhaps after a minus sign. ok is false for everything
// else, including other numbers.
func parseInteger(text []byte) (v int64, ok bool) {
	digits := text
	if len(text) > 0 && text[0] == '-' {
		digits = text[1:]
	}
	if len(digits) == 0 || len(digits) > 9 {
		return 0, false
	}
	for _, c := range digits {
		c -= '0'
		if c > 9 {
			return 0, false
		}
		v = 10*v + int64(c)
	}
	if len(digits) < len(text) {
		v = -v
	}
	return v, true
}

// significantDigits returns the number of significant digits of text, a number: without zeros at
// both ends.
func significantDigits(text []byte) int {
	if i := bytes.IndexAny(text, "eE"); i >= 0 {
		text = text[:i]
	}
	count, zeros := 0, 0
	for _, c := range text {
		switch {
		case c == '0' && count > 0:
			zeros++
		case c >= '1' && c <= '9':
			count += zeros + 1
			zeros = 0
		}
	}
	return count
}

// maxDigits32 is how many significant digits distinguish any two float32, and the largest number of
// digits in their shortest texts.
const maxDigits32 = 9

// fits32 reports whether float32 holds n, the value of text: exactly, or rounded if text has a
// point or an exponent and at most maxDigits32 digits.
func (n number) fits32(text []byte) bool {
	single := float64(float32(n.value))
	if single == n.value || math.IsNaN(n.value) {
		return true
	}
	return !n.integer && !math.IsInf(single, 0) && single != 0 && significantDigits(text) <= maxDigits32
}

// maxExact is the integer up to which float64 holds all integers.
const maxExact = 1 << 53

// fits64 reports whether float64 holds n, the value of text: integers must be exact; numbers with a
// point or exponent are rounded.
func (n number) fits64(text []byte) bool {
	if !n.integer || math.Abs(n.value) < maxExact {
		return true
	}
	return string(bytes.TrimLeft(text, "+-0")) == strconv.FormatFloat(math.Abs(n.value), 'f', 0, 64)
}

// parseShort32 reads a number with a point and at most maxDigits32 digits, for which fits32 is
// true. ok is false for all other text.
func parseShort32(text []byte) (v float32, ok bool) {
	digits := text
	if len(text) > 0 && text[0] == '-' {
		digits = text[1:]
	}
	if len(digits) > maxDigits32+len(".") || bytes.IndexByte(digits, '.') < 0 {
		return 0, false
	}
	for _, c := range digits {
		if (c < '0' || c > '9') && c != '.' {
			return 0, false
		}
	}
	value, err := strconv.ParseFloat(string(text), 32)
	return float32(value), err == nil
}

// isShortest32 reports whether the shortest texts of value as a float32 and as a float64 have the
// same digits.
func isShortest32(value float64) bool {
	var single, double [32]byte
	return bytes.Equal(strconv.AppendFloat(single[:0], float64(float32(value)), 'e', -1, 32), strconv.AppendFloat(double[:0], value, 'e', -1, 64))
}

// columnStats describes the values of a file column in the examined rows.
type columnStats struct {
	values    int64
	floats    bool    // some are not written as integers
	fractions bool    // some are not whole numbers (5.0 is whole)
	min, max  float64 // NaN counts as 0
	digits    int     // largest number of significant digits
	doubles   bool    // some are not the shortest text of a float32
	text      []byte  // the first value that is not a number, preferably not an empty one; or nil
	row       int64   // of text
}

// observe adds the value text, which is in the given row.
func (s *columnStats) observe(text []byte, row int64) {
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
	s.digits = max(s.digits, significantDigits(text))
	s.doubles = s.doubles || !isShortest32(n.value)
}

func nanIsZero(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

// usualDigits32 is how many significant digits the shortest texts of most float32 have; measured
// values seldom have so many.
const usualDigits32 = 8

// dtype returns the type that holds the examined values, and most likely the others.
func (s *columnStats) dtype() idx.DType {
	switch {
	case s.floats && !s.doubles && s.digits >= usualDigits32 && s.digits <= maxDigits32:
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

// observeLines examines the whole lines of text, the first of which is row first, and returns their
// number. It leaves it to Decode to report lines with a wrong number of fields.
func (t *Table) observeLines(text []byte, first int64, whole bool) int64 {
	return int64(eachLine(text, whole, func(row int, line []byte) { t.observeLine(line, first+int64(row)) }))
}

func (t *Table) observeLine(line []byte, row int64) {
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
		t.fileColumns[t.parts[k].fileColumn].stats.observe(text, row)
		return true
	})
}

// observeTail examines all lines of text, the end of the file, but the first, which is incomplete.
func (t *Table) observeTail(text []byte) {
	n := bytes.IndexByte(text, '\n')
	if n < 0 || bytes.ContainsRune(text, '"') {
		return
	}
	before := make([][]byte, len(t.fileColumns)) // Decode reports text in the tail, as its row is not known here
	for i := range t.fileColumns {
		before[i] = t.fileColumns[i].stats.text
	}
	t.observeLines(text[n+1:], 0, true)
	for i := range t.fileColumns {
		t.fileColumns[i].stats.text = before[i]
	}
}
