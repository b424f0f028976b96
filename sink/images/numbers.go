package images

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// MaxNumber is the most bytes of a number: -2.2250738585072014e-308.
const MaxNumber = 24

// AppendNumber appends element i of data, little-endian elements of type d, as a decimal number. A float is the shortest that reads back at its
// precision, and has a point or an exponent, so that readers make a float of it: an integer would lose the sign of −0. What is not finite is NaN,
// infinity, or infinity after a minus.
func AppendNumber(dst []byte, d idx.DType, data []byte, i int, infinity string) []byte {
	switch d {
	case idx.Float32:
		return appendFloat(dst, float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))), 32, infinity)
	case idx.Float64:
		return appendFloat(dst, math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:])), 64, infinity)
	}
	return strconv.AppendInt(dst, source.Int(d, data, i), 10)
}

func appendFloat(dst []byte, v float64, bits int, infinity string) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, "NaN"...)
	case math.IsInf(v, 1):
		return append(dst, infinity...)
	case math.IsInf(v, -1):
		return append(append(dst, '-'), infinity...)
	}
	begin := len(dst)
	dst = strconv.AppendFloat(dst, v, 'g', -1, bits)
	for _, c := range dst[begin:] {
		if c == '.' || c == 'e' {
			return dst
		}
	}
	return append(dst, ".0"...)
}
