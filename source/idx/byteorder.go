package idx

import (
	"encoding/binary"
	"math/bits"
)

// SwapBytes copies src to dst and reverses the bytes of every element of size bytes (1, 2, 4 or 8),
// which converts between big-endian and little-endian. dst may be src. Both have the same length, a
// multiple of size. Elements are moved as bit patterns, so floats keep their NaN payloads.
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
