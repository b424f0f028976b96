package idx

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// guessElements is how many elements LooksSwapped reads at most; guessLeast is how many that are not 0 it needs.
const (
	guessElements = 1 << 16
	guessLeast    = 8
)

// LooksSwapped guesses whether data, little-endian elements of d that were made from big-endian ones, were little-endian in the file: a common
// mistake of writers on PCs. It is a guess for a warning, never a reason to refuse a file. One-byte elements have no order.
func LooksSwapped(d DType, data []byte) bool {
	size := d.Size()
	if size < 2 {
		return false
	}
	data = data[:min(len(data)/size, guessElements)*size]
	if d.Float() {
		return floatsLookSwapped(size, data)
	}
	return integersLookSwapped(size, data)
}

// integersLookSwapped holds small numbers for likelier than large ones: it compares how many bits the elements need in each order.
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
	return n >= guessLeast && read > 2*swapped
}

// magnitudeBits is how many bits the magnitude of v takes; −1 takes one.
func magnitudeBits(v int32) int { return max(1, bits.Len32(uint32(v^v>>31))) }

// floatsLookSwapped counts the elements with ordinary exponents in each order. In the wrong order, the last bits of the mantissa take the
// exponent's place: half of all singles of full precision look ordinary so, and one double in fifteen.
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
	return n >= guessLeast && swapped >= n*99/100 && read < n*3/4
}

// ordinary reports whether v is of a size that measured data has.
func ordinary(v float64) bool {
	a := math.Abs(v)
	return a > 1e-20 && a < 1e20
}
