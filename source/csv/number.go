package csv

import (
	"bytes"
	"math"
	"strconv"

	"github.com/idxport/idxport/source/idx"
)

// A number is what the text of a field says.
type number struct {
	value   float64
	integer bool // the text is digits alone, behind a sign or not
}

// parseNumber reads the content of a field. ok is false if it is no number that a float64 can hold: Go's hexadecimal floats and underscores
// are none here.
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

// parseInteger reads up to nine digits behind a sign or not. ok is false for everything else, which may be a number all the same.
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

// significant is the number of significant digits of text, a number: without zeros at both ends.
func significant(text []byte) int {
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

// digits32 is how many significant digits tell any two numbers of binary32 apart, the most that their shortest texts have.
const digits32 = 9

// fits32 reports whether a float32 holds n, which text says: exactly, or as a text with a point or exponent that has no more digits than tell such
// numbers apart.
func (n number) fits32(text []byte) bool {
	single := float64(float32(n.value))
	if single == n.value || math.IsNaN(n.value) {
		return true
	}
	return !n.integer && !math.IsInf(single, 0) && single != 0 && significant(text) <= digits32
}

// maxExact is the integer below which float64 holds all.
const maxExact = 1 << 53

// fits64 reports whether a float64 holds n, which text says: integers exactly; what has a point or an exponent is rounded, as texts of fractions are.
func (n number) fits64(text []byte) bool {
	if !n.integer || math.Abs(n.value) < maxExact {
		return true
	}
	return string(bytes.TrimLeft(text, "+-0")) == strconv.FormatFloat(math.Abs(n.value), 'f', 0, 64)
}

// parseShort32 reads a fraction of so few bytes that it has no more than digits32 digits: it need not be read with 64 bits to see whether it fits. ok
// is false for everything else, and for zeros, which may be too small a number.
func parseShort32(text []byte) (v float32, ok bool) {
	digits := text
	if len(text) > 0 && text[0] == '-' {
		digits = text[1:]
	}
	if len(digits) > digits32+len(".") || bytes.IndexByte(digits, '.') < 0 {
		return 0, false
	}
	for _, c := range digits {
		if (c < '0' || c > '9') && c != '.' {
			return 0, false
		}
	}
	value, err := strconv.ParseFloat(string(text), 32)
	return float32(value), err == nil && value != 0
}

// isShortest32 reports whether the shortest text of value, as a float32, has the same digits as that of value itself.
func isShortest32(value float64) bool {
	var single, double [32]byte
	return bytes.Equal(strconv.AppendFloat(single[:0], float64(float32(value)), 'e', -1, 32), strconv.AppendFloat(double[:0], value, 'e', -1, 64))
}

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
