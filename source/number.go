package source

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/idxport/idxport/source/idx"
)

// A NumberKind is a kind of little-endian numbers in the files of other programs.
type NumberKind byte

// The kinds of numbers. The six after NoNumber are types of IDX and need no conversion.
const (
	NoNumber NumberKind = iota
	NumberUint8
	NumberInt8
	NumberInt16
	NumberInt32
	NumberFloat32
	NumberFloat64
	NumberBool // bytes that must be 0 or 1
	NumberUint16
	NumberUint32
	NumberUint64
	NumberInt64
	NumberFloat16
)

var numbers = [...]struct {
	size  int       // bytes
	dtype idx.DType // the type that the numbers are read as
	name  string
}{
	NumberUint8:   {1, idx.Uint8, "uint8"},
	NumberInt8:    {1, idx.Int8, "int8"},
	NumberInt16:   {2, idx.Int16, "int16"},
	NumberInt32:   {4, idx.Int32, "int32"},
	NumberFloat32: {4, idx.Float32, "float32"},
	NumberFloat64: {8, idx.Float64, "float64"},
	NumberBool:    {1, idx.Uint8, "bool"},
	NumberUint16:  {2, idx.Int32, "uint16"},
	NumberUint32:  {4, idx.Int32, "uint32"},
	NumberUint64:  {8, idx.Int32, "uint64"},
	NumberInt64:   {8, idx.Int32, "int64"},
	NumberFloat16: {2, idx.Float32, "float16"},
}

// Size returns the number of bytes of a number.
func (s NumberKind) Size() int { return numbers[s].size }

// DType returns the IDX type that the numbers are read as by default.
func (s NumberKind) DType() idx.DType { return numbers[s].dtype }

// Integer reports whether the numbers are integers or truth values.
func (s NumberKind) Integer() bool { return !numbers[s].dtype.Float() }

// Is reports whether the numbers are elements of d without conversion.
func (s NumberKind) Is(d idx.DType) bool { return s <= NumberFloat64 && numbers[s].dtype == d }

// String returns the name of the kind in Arrow and NumPy.
func (s NumberKind) String() string { return numbers[s].name }

// NumberNamed returns the kind with a name, or NoNumber.
func NumberNamed(name string) (s NumberKind) {
	for s = NumberFloat16; s != NoNumber && s.String() != name; {
		s--
	}
	return s
}

// Convert converts n numbers in src to elements of d in dst. It returns the index of the first one
// that d cannot hold or, for NumberBool, that is not 0 or 1; or −1. Those before it are converted.
// If s is NumberFloat16, d must be Float32. Other floats become integers, and must be whole. If d
// is a float type and s is not, d and an int32 must hold every value of s.
func (s NumberKind) Convert(dst []byte, d idx.DType, src []byte, n int) (bad int) {
	if s == NumberFloat16 {
		for i := range n {
			binary.LittleEndian.PutUint32(dst[4*i:], float32Bits(binary.LittleEndian.Uint16(src[2*i:])))
		}
		return -1
	}
	smallest, largest := d.Limits()
	if s == NumberBool {
		smallest, largest = 0, 1
	}
	if from := s.DType(); from.Float() {
		for i := range n {
			v := Float(from, src, i)
			if !(v == math.Trunc(v) && float64(smallest) <= v && v <= float64(largest)) { // NaN is in no range
				return i
			}
			Put(dst[i*d.Size():], d, v)
		}
		return -1
	}
	var values [tile]int64
	for from := 0; from < n; from += tile {
		block := values[:min(tile, n-from)]
		s.load(block, src[from*s.Size():])
		for i, v := range block {
			if v < smallest || v > largest {
				store(dst[from*d.Size():], d, block[:i])
				return from + i
			}
		}
		store(dst[from*d.Size():], d, block)
	}
	return -1
}

// tile is how many integers are converted at a time: separate loops for loading, checking and
// storing are two to four times faster than one loop that branches on the types for each integer.
const tile = 512

// Text returns the integer at the start of src as text.
func (s NumberKind) Text(src []byte) string {
	if s == NumberUint64 {
		return strconv.FormatUint(binary.LittleEndian.Uint64(src), 10)
	}
	var one [1]int64
	s.load(one[:], src)
	return strconv.FormatInt(one[0], 10)
}

// load fills values with the integers at the start of src; larger ones become math.MaxInt64.
func (s NumberKind) load(values []int64, src []byte) {
	switch size := s.Size(); s {
	case NumberInt32:
		for i := range values {
			values[i] = int64(int32(binary.LittleEndian.Uint32(src[4*i:])))
		}
	case NumberInt64:
		for i := range values {
			values[i] = int64(binary.LittleEndian.Uint64(src[8*i:]))
		}
	default:
		above := map[NumberKind]int{NumberInt8: 56, NumberInt16: 48}[s] // bits above the sign
		for i := range values {
			v := uint64(0)
			for k := size - 1; k >= 0; k-- {
				v = v<<8 | uint64(src[i*size+k])
			}
			values[i] = int64(min(v, math.MaxInt64)) << above >> above
		}
	}
}

// Put stores v, which d must be able to hold, at the start of dst. [Int] and [Float] read it.
func Put[T int64 | float64](dst []byte, d idx.DType, v T) { store(dst, d, []T{v}) }

// store stores values, which d must be able to hold, as the elements at the start of dst.
func store[T int64 | float64](dst []byte, d idx.DType, values []T) {
	switch d {
	case idx.Uint8, idx.Int8:
		for i, v := range values {
			dst[i] = byte(v)
		}
	case idx.Int16:
		for i, v := range values {
			binary.LittleEndian.PutUint16(dst[2*i:], uint16(v))
		}
	case idx.Int32:
		for i, v := range values {
			binary.LittleEndian.PutUint32(dst[4*i:], uint32(v))
		}
	case idx.Float32:
		for i, v := range values {
			binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(float32(v)))
		}
	case idx.Float64:
		for i, v := range values {
			binary.LittleEndian.PutUint64(dst[8*i:], math.Float64bits(float64(v)))
		}
	}
}

// float32Bits converts the binary16 number h to binary32. NaNs keep their payload.
func float32Bits(h uint16) uint32 {
	sign, rest := uint32(h>>15)<<31, uint32(h&0x7fff)<<13
	if rest >= 0x1f<<23 { // infinity or NaN
		return sign | 0xff<<23 | rest
	}
	return sign | math.Float32bits(math.Float32frombits(rest)*0x1p112) // the biases differ by 127 − 15
}

// Int returns element i of data, which has little-endian elements of the integer type d.
func Int(d idx.DType, data []byte, i int) int64 {
	switch d {
	case idx.Uint8:
		return int64(data[i])
	case idx.Int8:
		return int64(int8(data[i]))
	case idx.Int16:
		return int64(int16(binary.LittleEndian.Uint16(data[2*i:])))
	default:
		return int64(int32(binary.LittleEndian.Uint32(data[4*i:])))
	}
}

// Float returns element i of data, which has little-endian elements of any type of IDX.
func Float(d idx.DType, data []byte, i int) float64 {
	switch d {
	case idx.Float32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
	case idx.Float64:
		return math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
	}
	return float64(Int(d, data, i))
}
