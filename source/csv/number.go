package csv

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/idxport/idxport/source"
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

// hintType is the hint for a number that the type of its column cannot hold.
const hintType = "choose a type that holds all values: --dtype int32, or --dtype float64"

// put stores the number in text as the element at the start of dst. If d cannot hold the number, or
// if text is not a number, put returns what was expected, and a hint.
func put(d idx.DType, dst, text []byte) (expected, hint string) {
	smallest, largest := d.Limits()
	if !d.Float() {
		if v, err := strconv.ParseInt(string(text), 10, 64); err == nil && v >= smallest && v <= largest {
			source.PutInt(dst, d, v)
			return "", ""
		}
	}
	n, ok := parseNumber(text)
	switch {
	case !ok && decimalComma(text):
		return "a number", hintComma
	case !ok:
		return "a number", "correct the value; if it stands for a missing one, fill it, or remove the row"
	case d == idx.Float64 && !n.fits64(text):
		return "an integer that float64 holds exactly",
			"remove the column; or write the number with a decimal point, and it is rounded"
	case d == idx.Float64:
		binary.LittleEndian.PutUint64(dst, math.Float64bits(n.value))
	case d == idx.Float32 && !n.fits32(text):
		return fmt.Sprintf("a number that float32 holds, of up to %d digits", maxDigits32), hintType
	case d == idx.Float32:
		single, _ := strconv.ParseFloat(string(text), 32) // rounds only once; cannot fail, as fits32 is true
		binary.LittleEndian.PutUint32(dst, math.Float32bits(float32(single)))
	case math.Trunc(n.value) != n.value || math.IsInf(n.value, 0):
		return fmt.Sprintf("an integer of type %s", d), hintType
	case n.value >= float64(smallest) && n.value <= float64(largest):
		source.PutInt(dst, d, int64(n.value))
	default:
		return fmt.Sprintf("%d to %d for %s", smallest, largest, d), hintType
	}
	return "", ""
}

// decimalComma reports whether text is a number with a comma in place of the point.
func decimalComma(text []byte) bool {
	i := bytes.IndexAny(text, ","+string(inner))
	if i < 0 {
		return false
	}
	text = bytes.Clone(text)
	text[i] = '.'
	_, ok := parseNumber(text)
	return ok
}

// isShortest32 reports whether the shortest texts of value as a float32 and as a float64 have the
// same digits.
func isShortest32(value float64) bool {
	var a, b [32]byte
	single := strconv.AppendFloat(a[:0], float64(float32(value)), 'e', -1, 32)
	return bytes.Equal(single, strconv.AppendFloat(b[:0], value, 'e', -1, 64))
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

// observe adds the value text, which is in the given row, or in an unknown one if that is negative:
// then Decode reports it, if it is not a number.
func (s *columnStats) observe(text []byte, row int64) {
	n, ok := parseNumber(text)
	if !ok {
		if row >= 0 && (s.text == nil || len(s.text) == 0 && len(text) > 0) {
			s.text, s.row = append([]byte{}, text...), row
		}
		return
	}
	if s.values == 0 {
		s.min, s.max = nanIsZero(n.value), nanIsZero(n.value)
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

// looksLikeLabel reports whether the values are integers from 0 to 999, and not all the same.
func (s *columnStats) looksLikeLabel() bool {
	return s.text == nil && !s.fractions && s.min >= 0 && s.max < 1000 && s.min < s.max
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

// observe examines rows, the first of which is row first. It leaves it to Decode to report rows
// with a wrong number of fields.
func (t *Table) observe(rows []byte, first int64) {
	row := first
	for line := range bytes.Lines(rows) {
		k, left := -1, 0
		for _, text := range t.dialect.fields(line) {
			for left == 0 && k+1 < len(t.parts) {
				k++
				left = t.parts[k].count
			}
			if left == 0 {
				break
			}
			left--
			f := &t.fileColumns[t.parts[k].fileColumn]
			if !f.list {
				f.stats.observe(text, row)
				continue
			}
			for number := range bytes.FieldsSeq(text) {
				f.stats.observe(number, row)
			}
		}
		row++
	}
}

// observeTail examines all lines of text, the end of the file, but the first, which is incomplete.
func (t *Table) observeTail(text []byte) {
	if bytes.IndexByte(text, '"') >= 0 {
		return
	}
	var row []byte
	for i, line := range bytes.Split(text, []byte{'\n'}) {
		if line = trimEnd(line); i > 0 && len(line) > 0 {
			row, _ = t.dialect.split(row[:0], line) // fails only for quotes
			t.observe(row, -1)
		}
	}
}
