package idx

import (
	"fmt"
	"math"
)

// A DType is the data type of the elements, the third byte of the magic number.
type DType uint8

// The six data types of the format.
const (
	Uint8   DType = 0x08 // unsigned byte
	Int8    DType = 0x09 // signed byte
	Int16   DType = 0x0B // short
	Int32   DType = 0x0C // int
	Float32 DType = 0x0D // float, IEEE 754 binary32
	Float64 DType = 0x0E // double, IEEE 754 binary64
)

// dtypes describes the data types, by their codes.
var dtypes = [1 << 8]struct {
	size   int    // bytes
	name   string // in NumPy and Arrow
	suffix string // in the names of published files: train-images-idx3-ubyte

	smallest, largest int64 // of integers; floats are converted only from those that fit an Int32
}{
	Uint8:   {1, "uint8", "ubyte", 0, math.MaxUint8},
	Int8:    {1, "int8", "byte", math.MinInt8, math.MaxInt8},
	Int16:   {2, "int16", "short", math.MinInt16, math.MaxInt16},
	Int32:   {4, "int32", "int", math.MinInt32, math.MaxInt32},
	Float32: {4, "float32", "float", math.MinInt32, math.MaxInt32},
	Float64: {8, "float64", "double", math.MinInt32, math.MaxInt32},
}

// DTypes lists the data types in the order of their codes.
func DTypes() []DType { return []DType{Uint8, Int8, Int16, Int32, Float32, Float64} }

// Valid reports whether d is one of the six codes.
func (d DType) Valid() bool { return d.Size() > 0 }

// Size returns the number of bytes of an element, or 0 if d is not valid.
func (d DType) Size() int { return dtypes[d].size }

// Float reports whether the elements are floating-point numbers.
func (d DType) Float() bool { return d == Float32 || d == Float64 }

// Limits returns the smallest and the largest value of d, which must be an integer type.
func (d DType) Limits() (smallest, largest int64) { return dtypes[d].smallest, dtypes[d].largest }

// String returns the name of the type in NumPy and Arrow: "uint8", …, "float64".
func (d DType) String() string {
	if !d.Valid() {
		return fmt.Sprintf("dtype 0x%02X", uint8(d))
	}
	return dtypes[d].name
}

// Suffix returns the end of a published file name: "ubyte" in train-images-idx3-ubyte.
func (d DType) Suffix() string { return dtypes[d].suffix }
