package compare

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// A value is one element of a column.
type value struct {
	dtype idx.DType
	bits  uint64
}

// at is element i of data, which is little-endian.
func at(d idx.DType, data []byte, i int) value {
	switch d {
	case idx.Float32:
		return value{d, uint64(binary.LittleEndian.Uint32(data[4*i:]))}
	case idx.Float64:
		return value{d, binary.LittleEndian.Uint64(data[8*i:])}
	}
	return value{d, uint64(source.Int(d, data, i))}
}

// float is v as a number; integers of the format are exact.
func (v value) float() float64 {
	switch v.dtype {
	case idx.Float32:
		return float64(math.Float32frombits(uint32(v.bits)))
	case idx.Float64:
		return math.Float64frombits(v.bits)
	}
	return float64(int64(v.bits))
}

// isNaN tells whether v is no number.
func (v value) isNaN() bool { return v.dtype.Float() && math.IsNaN(v.float()) }

// equals tells whether found is v. Where types differ the number counts, rounded to v's type; nan makes all NaNs equal.
func (v value) equals(found value, nan bool) bool {
	if v.isNaN() && found.isNaN() && (nan || v.dtype != found.dtype) {
		return true
	}
	if v.dtype == found.dtype {
		return v.bits == found.bits
	}
	if v.dtype == idx.Float32 && found.dtype == idx.Float64 {
		return uint64(math.Float32bits(float32(found.float()))) == v.bits
	}
	return v.float() == found.float()
}

// String is v as people read it; of NaNs the bits too where they are not the usual ones.
func (v value) String() string {
	switch {
	case !v.dtype.Float():
		return strconv.FormatInt(int64(v.bits), 10)
	case v.isNaN():
		return fmt.Sprintf("NaN (%#x)", v.bits)
	case v.dtype == idx.Float32:
		return strconv.FormatFloat(v.float(), 'g', -1, 32)
	}
	return strconv.FormatFloat(v.float(), 'g', -1, 64)
}
