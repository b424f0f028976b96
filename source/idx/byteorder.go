package idx

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// SwapBytes copies src to dst and reverses the bytes of every element of size bytes (1, 2, 4 or 8),
// which converts between big-endian and little-endian. dst may be src itself. Both have the same
// length, a multiple of size. Elements are moved as bit patterns, so floats keep their NaN
// payloads.
//
// It swaps 64 bits at a time, which is four to eight times as fast as element by element.
func SwapBytes(dst, src []byte, size int) {
	whole := len(src) &^ 7
	switch size {
	case 2:
		for i := 0; i < whole; i += 8 {
			w := binary.LittleEndian.Uint64(src[i:])
			w = w&0x00ff00ff00ff00ff<<8 | w>>8&0x00ff00ff00ff00ff
			binary.LittleEndian.PutUint64(dst[i:], w)
		}
	case 4:
		for i := 0; i < whole; i += 8 {
			w := bits.RotateLeft64(binary.BigEndian.Uint64(src[i:]), 32)
			binary.LittleEndian.PutUint64(dst[i:], w)
		}
	case 8:
		for i := 0; i < whole; i += 8 {
			binary.LittleEndian.PutUint64(dst[i:], binary.BigEndian.Uint64(src[i:]))
		}
	default:
		copy(dst, src)
		return
	}
	for i := whole; i+size <= len(src); i += size {
		for j := range size / 2 {
			dst[i+j], dst[i+size-1-j] = src[i+size-1-j], src[i+j]
		}
	}
}

// LooksSwapped reads at most maxGuess elements, and needs at least minGuess that are not 0.
const (
	maxGuess = 1 << 16
	minGuess = 8
)

// LooksSwapped guesses whether data was little-endian in its file, a common mistake of writers on
// PCs. data holds little-endian elements of d, which were converted as if the file was big-endian.
// The guess is good enough for a warning, but not for refusing a file. One-byte elements have no
// byte order.
func LooksSwapped(d DType, data []byte) bool {
	size := d.Size()
	if size < 2 {
		return false
	}
	data = data[:min(len(data)/size, maxGuess)*size]
	if d.Float() {
		return floatsLookSwapped(size, data)
	}
	return integersLookSwapped(size, data)
}

// integersLookSwapped assumes that small numbers are more likely than large ones: it compares how
// many bits the elements need in each byte order.
func integersLookSwapped(size int, data []byte) bool {
	var read, swapped, n int
	for i := 0; i < len(data); i += size {
		a, b := int32(int16(binary.LittleEndian.Uint16(data[i:]))), int32(int16(binary.BigEndian.Uint16(data[i:])))
		if size == 4 {
			a, b = int32(binary.LittleEndian.Uint32(data[i:])), int32(binary.BigEndian.Uint32(data[i:]))
		}
		if a == 0 {
			continue
		}
		n++
		read += magnitudeBits(a)
		swapped += magnitudeBits(b)
	}
	return n >= minGuess && read > 2*swapped
}

// magnitudeBits returns how many bits the magnitude of v needs; −1 needs one.
func magnitudeBits(v int32) int { return max(1, bits.Len32(uint32(v^v>>31))) }

// floatsLookSwapped counts the elements with ordinary exponents in each byte order. In the wrong
// order, the last bits of the mantissa are in the place of the exponent: half of all float32 of
// full precision look ordinary then, and one float64 in fifteen.
func floatsLookSwapped(size int, data []byte) bool {
	var read, swapped, n int
	for i := 0; i < len(data); i += size {
		var a, b float64
		if size == 4 {
			a = float64(math.Float32frombits(binary.LittleEndian.Uint32(data[i:])))
			b = float64(math.Float32frombits(binary.BigEndian.Uint32(data[i:])))
		} else {
			a = math.Float64frombits(binary.LittleEndian.Uint64(data[i:]))
			b = math.Float64frombits(binary.BigEndian.Uint64(data[i:]))
		}
		if a == 0 || b == 0 || math.IsNaN(a) && math.IsNaN(b) {
			continue
		}
		n++
		if ordinary(a) {
			read++
		}
		if ordinary(b) {
			swapped++
		}
	}
	return n >= minGuess && swapped >= n*99/100 && read < n*3/4
}

// ordinary reports whether v has a magnitude that is common in measured data.
func ordinary(v float64) bool {
	a := math.Abs(v)
	return a > 1e-20 && a < 1e20
}
