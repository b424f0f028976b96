package csv

import (
	"encoding/binary"
	"math"
	"strconv"
)

// A floatText renders floats.
type floatText struct {
	comma byte
	*shortener
}

// append32 is the renderer for floats of 32 bits. An element that equals the one before it, as in a background, copies its text.
//
// Measured against strconv.AppendFloat for each element, in processor time: 35 against 58 ns for random floats, of 64 bits 43 against 79 ns.
// A background takes 5 ns.
func (t floatText) append32(dst, src []byte) []byte {
	const sign, infinity = 1 << 31, 0xff << 23
	from, last := len(dst), uint32(0) // where the text of the element before starts, and its bits
	for i := 0; i+4 <= len(src); i += 4 {
		value := binary.LittleEndian.Uint32(src[i:])
		start := len(dst)
		switch size := value &^ sign; {
		case i > 0 && value == last:
			dst = append(dst, dst[from:]...)
		case size == 0 || size >= infinity:
			dst = t.appendSpecial(dst, float64(math.Float32frombits(value)))
		default:
			dst = t.appendDecimal(dst, value&sign != 0, t.of32(size))
		}
		from, last = start, value
	}
	return dst
}

// append64 is the renderer for floats of 64 bits.
func (t floatText) append64(dst, src []byte) []byte {
	const sign, infinity = 1 << 63, 0x7ff << 52
	from, last := len(dst), uint64(0)
	for i := 0; i+8 <= len(src); i += 8 {
		value := binary.LittleEndian.Uint64(src[i:])
		start := len(dst)
		switch size := value &^ sign; {
		case i > 0 && value == last:
			dst = append(dst, dst[from:]...)
		case size == 0 || size >= infinity:
			dst = t.appendSpecial(dst, math.Float64frombits(value))
		default:
			dst = t.appendDecimal(dst, value&sign != 0, t.of64(size))
		}
		from, last = start, value
	}
	return dst
}

// appendSpecial appends v, which is 0, infinite or no number, and the separator.
func (t floatText) appendSpecial(dst []byte, v float64) []byte {
	text := "NaN"
	switch {
	case math.IsInf(v, 1):
		text = "inf"
	case math.IsInf(v, -1):
		text = "-inf"
	case v == 0 && math.Signbit(v):
		text = "-0.0"
	case v == 0:
		text = "0.0"
	}
	return append(append(dst, text...), t.comma)
}

// appendDecimal appends d and the separator, always with a point or an exponent: as strconv's format 'g' has it, which writes exponents below −4
// and from 6 on. It stores whole words, of which what follows the text is overwritten later: dst has room for them.
func (t floatText) appendDecimal(dst []byte, negative bool, d decimal) []byte {
	at := len(dst)
	dst = dst[:cap(dst)]
	dst[at] = '-'
	if negative {
		at++
	}
	size := digitCount(d.digits)
	digits, point := spread(d.digits, size), size+d.exponent // the latter: digits before the point
	n := digits.count()
	switch {
	case point < -3 || point > 6:
		digits.put(dst[at:], 1, n)
		if n > 1 {
			n++
		}
		return append(appendExponent(dst[:at+n], point-1), t.comma)
	case point <= 0:
		binary.LittleEndian.PutUint64(dst[at:], zeroPoint)
		at += 2 - point
		digits.put(dst[at:], 0, n)
		at += n
	default: // zeros up to the point and one behind it are among the digits
		n = max(n, point+1)
		digits.put(dst[at:], point, n)
		at += n + 1
	}
	dst[at] = t.comma
	return dst[:at+1]
}

// zeroPoint is the text "0.000".
const zeroPoint = 0x30_30_30_2e_30

// appendExponent appends e with its sign and at least two digits.
func appendExponent(dst []byte, e int) []byte {
	dst = append(dst, 'e', '+')
	if e < 0 {
		dst[len(dst)-1] = '-'
		e = -e
	}
	if e < 10 {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, int64(e), 10)
}
