package csv

import (
	"bytes"
	"math"
	"strconv"
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

// fits32 tells whether a float32 holds n, which text says: exactly, or as a text with a point or exponent that has no more digits than tell such
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

// fits64 tells whether a float64 holds n, which text says: integers exactly; what has a point or an exponent is rounded, as texts of fractions are.
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

// isShortest32 tells whether the shortest text of value, as a float32, has the same digits as that of value itself.
func isShortest32(value float64) bool {
	var single, double [32]byte
	return bytes.Equal(strconv.AppendFloat(single[:0], float64(float32(value)), 'e', -1, 32), strconv.AppendFloat(double[:0], value, 'e', -1, 64))
}
