package idx

import (
	"bytes"
	"math/rand/v2"
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

func TestSwapBytes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{1, 2, 4, 8} {
		for n := range 70 {
			src := make([]byte, n*size)
			for i := range src {
				src[i] = byte(rng.Uint32())
			}
			checkSwap(t, src, size)
		}
	}
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
	if edge := bytes.Repeat([]byte{0xA5}, 8); !bytes.Equal(around[:8], edge) || !bytes.Equal(around[8+len(src):], edge) {
		t.Fatalf("%d elements of %d bytes: wrote outside of dst", len(src)/size, size)
	}
	SwapBytes(dst, dst, size)
	if !bytes.Equal(dst, before) {
		t.Fatalf("%d elements of %d bytes, back in place: found % x, expected % x", len(src)/size, size, dst, before)
	}
}

func TestSwapBytesOfKnownNumbers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		size     int
		big, out string
	}{
		"bytes":       {1, "\x01\x02\x03", "\x01\x02\x03"},
		"shorts":      {2, "\x01\x02\xff\xfe\x00\x80", "\x02\x01\xfe\xff\x80\x00"},
		"ints":        {4, "\x00\x00\xea\x60\x01\x02\x03\x04\xff\xff\xff\xfe", "\x60\xea\x00\x00\x04\x03\x02\x01\xfe\xff\xff\xff"},
		"a double":    {8, "\x3f\xf0\x00\x00\x00\x00\x00\x01", "\x01\x00\x00\x00\x00\x00\xf0\x3f"},
		"two doubles": {8, "\x01\x02\x03\x04\x05\x06\x07\x08ABCDEFGH", "\x08\x07\x06\x05\x04\x03\x02\x01HGFEDCBA"},
	}
	for name, test := range tests {
		dst := make([]byte, len(test.big))
		SwapBytes(dst, []byte(test.big), test.size)
		if string(dst) != test.out {
			t.Errorf("%s: found % x, expected % x", name, dst, test.out)
		}
	}
}
