package parquet

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/idxport/idxport/source/idx"
)

// An element is how the values of a leaf become what its column holds.
type element struct {
	width int // bytes of a value as PLAIN pages hold it, little-endian; 0 for bits
	size  int // bytes of what it becomes
	same  bool
	// convert turns the values in src, width bytes each, into dst, size bytes each. It returns the index of the first that does not fit,
	// or −1. It is nil if same: the values' bytes are the column's.
	convert func(dst, src []byte) int
	// show is a value for an error.
	show func(src []byte) string
}

// bytesElement is for values of n bytes that are taken as they are.
func bytesElement(n int) element {
	return element{width: n, size: n, same: true, show: func(src []byte) string { return fmt.Sprintf("%x", src) }}
}

// floatElement is for FLOAT and DOUBLE that stay what they are.
func floatElement(d idx.DType) element { return element{width: d.Size(), size: d.Size(), same: true} }

// halfElement is for half-precision numbers, which become float32: all are exact.
func halfElement() element {
	return element{width: 2, size: 4, convert: func(dst, src []byte) int {
		for i := 0; 2*i < len(src); i++ {
			binary.LittleEndian.PutUint32(dst[4*i:], single(binary.LittleEndian.Uint16(src[2*i:])))
		}
		return -1
	}}
}

// single is the bits of a half-precision number in single precision.
func single(h uint16) uint32 {
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10)&0x1f, uint32(h)&0x3ff
	switch {
	case exponent == 0x1f: // infinite, or not a number
		return sign | 0xff<<23 | fraction<<13
	case exponent > 0:
		return sign | (exponent+127-15)<<23 | fraction<<13
	default: // fraction · 2⁻²⁴: exact in single precision
		return sign | math.Float32bits(float32(fraction)/(1<<24))
	}
}

// boolElement is for BOOLEAN, whose bits are spread to bytes before they get here.
func boolElement(d idx.DType) element {
	return element{size: d.Size(), width: 1, convert: func(dst, src []byte) int {
		for i, v := range src {
			putInteger(dst[i*d.Size():], int64(v), d.Size())
		}
		return -1
	}}
}

// integerElement is for INT32 and INT64, of which signed tells whether their highest bit is a sign, that become d.
func integerElement(width int, signed bool, d idx.DType) element {
	e := element{width: width, size: d.Size(), same: width == d.Size() && signed}
	e.show = func(src []byte) string {
		if v, ok := integer(src, width, signed); ok {
			return fmt.Sprint(v)
		}
		return fmt.Sprint(binary.LittleEndian.Uint64(src))
	}
	least, greatest := d.Limits()
	e.convert = func(dst, src []byte) int {
		for i := 0; (i+1)*width <= len(src); i++ {
			v, ok := integer(src[i*width:], width, signed)
			if !ok || v < least || v > greatest {
				return i
			}
			putInteger(dst[i*e.size:], v, e.size)
		}
		return -1
	}
	if d == idx.Uint8 && width == 4 {
		e.convert = narrow
	}
	return e
}

// narrow is the conversion of INT32 to unsigned bytes: what PLAIN pages of pixels need.
func narrow(dst, src []byte) int {
	for i := 0; 4*i+4 <= len(src); i++ {
		v := binary.LittleEndian.Uint32(src[4*i:])
		if v > math.MaxUint8 {
			return i
		}
		dst[i] = byte(v)
	}
	return -1
}

// integer is the value that src starts with, if it fits 64 bits with a sign.
func integer(src []byte, width int, signed bool) (int64, bool) {
	switch {
	case width == 4 && signed:
		return int64(int32(binary.LittleEndian.Uint32(src))), true
	case width == 4:
		return int64(binary.LittleEndian.Uint32(src)), true
	default:
		v := int64(binary.LittleEndian.Uint64(src))
		return v, signed || v >= 0
	}
}

func putInteger(dst []byte, v int64, size int) {
	switch size {
	case 1:
		dst[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(dst, uint16(v))
	default:
		binary.LittleEndian.PutUint32(dst, uint32(v))
	}
}
