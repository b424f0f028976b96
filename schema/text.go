package schema

import (
	"math"
	"strconv"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// AppendElementName appends the name of element i, in C order, of the tensor column c, for formats
// that have a column per element: pixel0, pixel1, … as in Kaggle's files if c is alone, the only
// tensor; else its name and the number, and an underscore between digits: x1_0 is element 0 of x1.
func AppendElementName(dst []byte, c source.Column, i int, alone bool) []byte {
	prefix := c.Name
	if alone {
		prefix = "pixel"
	} else if last := prefix[len(prefix)-1]; last >= '0' && last <= '9' {
		prefix += "_"
	}
	return strconv.AppendInt(append(dst, prefix...), int64(i), 10)
}

// MaxNumber is the maximum number of bytes that AppendNumber appends: -2.2250738585072014e-308.
const MaxNumber = 24

// AppendNumber appends element i of data, little-endian elements of type d, as a decimal number.
// infinity is as in [AppendFloat].
func AppendNumber(dst []byte, d idx.DType, data []byte, i int, infinity string) []byte {
	if d.Float() {
		return AppendFloat(dst, source.Float(d, data, i), 8*d.Size(), infinity)
	}
	return strconv.AppendInt(dst, source.Int(d, data, i), 10)
}

// AppendFloat appends the shortest decimal text from which v can be read back in 32 or 64 bits. The
// text has a point or an exponent, so that readers take it for a float: an integer would lose the
// sign of −0. NaN is written as NaN; infinity is the text of +∞ and, after a minus sign, of −∞.
func AppendFloat(dst []byte, v float64, bits int, infinity string) []byte {
	switch {
	case math.IsInf(v, 1):
		return append(dst, infinity...)
	case math.IsInf(v, -1):
		return append(append(dst, '-'), infinity...)
	}
	dst = strconv.AppendFloat(dst, v, 'g', -1, bits)
	if v == math.Trunc(v) && math.Abs(v) < 1e6 { // from there on, strconv writes an exponent
		dst = append(dst, ".0"...)
	}
	return dst
}
