package idx

import (
	"bytes"
	"encoding/binary"
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
// It compares how far the elements are from 1 in each byte order. The guess is good enough for a
// warning, but not for refusing a file. One-byte elements have no byte order.
func LooksSwapped(d DType, data []byte) bool {
	size := d.Size()
	if size < 2 {
		return false
	}
	var read, swapped, n int
	for data = data[:min(len(data)/size, maxGuess)*size]; len(data) > 0; data = data[size:] {
		if bytes.Count(data[:size], []byte{0}) < size {
			read += distance(d, binary.LittleEndian, data)
			swapped += distance(d, binary.BigEndian, data)
			n++
		}
	}
	return n >= minGuess && read > 2*swapped
}

// distance returns how many bits the magnitude of the integer at the start of data needs, at least
// one, or the magnitude of a float's exponent.
func distance(d DType, order binary.ByteOrder, data []byte) int {
	exponent := 0
	switch d {
	case Int16:
		v := int16(order.Uint16(data))
		return max(1, bits.Len16(uint16(v^v>>15)))
	case Int32:
		v := int32(order.Uint32(data))
		return max(1, bits.Len32(uint32(v^v>>31)))
	case Float32:
		exponent = int(order.Uint32(data)>>23&0xff) - 127
	default:
		exponent = int(order.Uint64(data)>>52&0x7ff) - 1023
	}
	return max(exponent, -exponent)
}
