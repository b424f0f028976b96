package idx

import (
	"bytes"
	"slices"
	"testing"
)

// swapped is the reference for SwapBytes: it reverses each element by itself.
func swapped(src []byte, size int) []byte {
	out := slices.Clone(src)
	for element := range slices.Chunk(out, size) {
		slices.Reverse(element)
	}
	return out
}

// checkSwap compares SwapBytes with the reference: into another buffer, in place, and back again.
// It also checks that nothing is written outside the buffer.
func checkSwap(t *testing.T, src []byte, size int) {
	t.Helper()
	want, before := swapped(src, size), slices.Clone(src)
	around := bytes.Repeat([]byte{0xA5}, len(src)+16)
	dst := around[8 : 8+len(src)]
	SwapBytes(dst, src, size)
	if !bytes.Equal(dst, want) || !bytes.Equal(src, before) {
		t.Fatalf("%d elements of %d bytes: found % x from % x", len(src)/size, size, dst, src)
	}
	if edge := bytes.Repeat([]byte{0xA5}, 8); !bytes.Equal(around[:8], edge) ||
		!bytes.Equal(around[8+len(src):], edge) {
		t.Fatalf("%d elements of %d bytes: wrote outside of dst", len(src)/size, size)
	}
	SwapBytes(dst, dst, size)
	if !bytes.Equal(dst, before) {
		t.Fatalf("%d elements of %d bytes, back in place: found % x, expected % x", len(src)/size, size, dst, before)
	}
}
