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

// checkSwap compares SwapBytes with the reference, into a part of a buffer, and back in place.
func checkSwap(t *testing.T, src []byte, size int) {
	t.Helper()
	want, before := swapped(src, size), slices.Clone(src)
	around := bytes.Repeat([]byte{0xA5}, len(src)+16)
	dst, edge := around[8:8+len(src)], bytes.Clone(around[:8])
	SwapBytes(dst, src, size)
	if !bytes.Equal(around, slices.Concat(edge, want, edge)) || !bytes.Equal(src, before) {
		t.Fatalf("%d elements of %d bytes: found % x from % x", len(src)/size, size, around, src)
	}
	SwapBytes(dst, dst, size)
	if !bytes.Equal(dst, before) {
		t.Fatalf("%d elements of %d bytes, back in place: found % x, expected % x", len(src)/size, size, dst, before)
	}
}
