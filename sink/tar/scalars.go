package tar

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// maxNumber is the most bytes of a number: -2.2250738585072014e-308.
const maxNumber = 24

// A scalar is a column that goes into the .json of its row.
type scalar struct {
	column int
	dtype  idx.DType
	key    string // with the quotes, the colon, and what separates it from the one before
}

// newScalars are those of columns of s that are scalars; left are the others.
func newScalars(s *schema.Schema, columns []int) (scalars []scalar, left []int) {
	separator := "{"
	for _, i := range columns {
		c := s.Columns[i]
		if !c.Scalar() {
			left = append(left, i)
			continue
		}
		var name strings.Builder
		e := json.NewEncoder(&name)
		e.SetEscapeHTML(false)
		_ = e.Encode(c.Name) // a string into memory: cannot fail
		scalars = append(scalars, scalar{column: i, dtype: c.DType, key: separator + strings.TrimSpace(name.String()) + ":"})
		separator = ","
	}
	return scalars, left
}

// appendJSON appends the object of row i of b.
func appendJSON(dst []byte, scalars []scalar, b schema.Batch, i int) []byte {
	for _, s := range scalars {
		dst = append(dst, s.key...)
		data := b.Columns[s.column]
		switch s.dtype {
		case idx.Float32:
			dst = appendFloat(dst, float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))), 32)
		case idx.Float64:
			dst = appendFloat(dst, math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:])), 64)
		default:
			dst = strconv.AppendInt(dst, source.Int(s.dtype, data, i), 10)
		}
	}
	return append(dst, '}')
}

// appendFloat appends v as the shortest number that reads back as it at that many bits. It has a point or an exponent, so that readers make a float of it:
// an integer would lose the sign of −0.
func appendFloat(dst []byte, v float64, bits int) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, "NaN"...)
	case math.IsInf(v, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(v, -1):
		return append(dst, "-Infinity"...)
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
