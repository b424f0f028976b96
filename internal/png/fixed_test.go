package png

import (
	"bytes"
	"encoding/binary"
	"hash/adler32"
	"math/rand/v2"
	"sort"
	"testing"
)

// The tables of RFC 1951 §3.2.5: the smallest length and distance of each symbol, and its extra
// bits.
var (
	lengthBase = []int{3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131,
		163, 195, 227, 258}
	lengthExtra = []int{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0}

	distanceBase = []int{1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537,
		2049, 3073, 4097, 6145}
	distanceExtra = []int{0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11}
)

// bitWriter writes a bit at a time, lowest bit of a byte first.
type bitWriter struct {
	out []byte
	n   int
}

// value writes count bits, lowest first; code writes a Huffman code, highest first.
func (w *bitWriter) value(v, count int) {
	for i := range count {
		if w.n%8 == 0 {
			w.out = append(w.out, 0)
		}
		w.out[len(w.out)-1] |= byte(v >> i & 1 << (w.n % 8))
		w.n++
	}
}

func (w *bitWriter) code(v, count int) {
	for i := count - 1; i >= 0; i-- {
		w.value(v>>i&1, 1)
	}
}

// symbol writes a literal or length symbol by the table of RFC 1951 §3.2.6.
func (w *bitWriter) symbol(s int) {
	switch {
	case s <= 143:
		w.code(0b00110000+s, 8)
	case s <= 255:
		w.code(0b110010000+s-144, 9)
	case s <= 279:
		w.code(s-256, 7)
	default:
		w.code(0b11000000+s-280, 8)
	}
}

func (w *bitWriter) match(length, distance int) {
	s := sort.SearchInts(lengthBase, length+1) - 1
	w.symbol(257 + s)
	w.value(length-lengthBase[s], lengthExtra[s])
	s = sort.SearchInts(distanceBase, distance+1) - 1
	w.code(s, 5)
	w.value(distance-distanceBase[s], distanceExtra[s])
}

// referenceFixed does the same as fixedCodes.deflate, byte by byte and bit by bit.
func referenceFixed(lines []byte, pixelBytes, stride int) []byte {
	w := &bitWriter{}
	w.value(1, 1) // BFINAL
	w.value(1, 2) // BTYPE
	for i := 0; i < len(lines); {
		step := 1
		for _, distance := range []int{pixelBytes, stride} {
			n := 0
			for i >= distance && n < 258 && i+n < len(lines) && lines[i+n] == lines[i+n-distance] {
				n++
			}
			if n >= 3 {
				w.match(n, distance)
				step = n
				break
			}
		}
		if step == 1 {
			w.symbol(int(lines[i]))
		}
		i += step
	}
	w.symbol(256)
	stream := append([]byte{0x78, 0x01}, w.out...)
	return binary.BigEndian.AppendUint32(stream, adler32.Checksum(lines))
}

func TestFixedAgreesWithReference(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	for range 500 {
		pixelBytes := 1 + random.IntN(4)
		stride := 1 + pixelBytes*(1+random.IntN(60))
		lines := make([]byte, stride*(1+random.IntN(40)))
		changes := 1 + random.IntN(40) // one byte in that many is random, the others repeat the byte before or above
		for i := range lines {
			switch {
			case i < stride || random.IntN(changes) == 0:
				lines[i] = byte(random.IntN(256))
			case random.IntN(8) == 0:
				lines[i] = lines[i-stride]
			default:
				lines[i] = lines[i-pixelBytes]
			}
		}
		checkFixed(t, pixelBytes, stride, lines)
	}
}

// TestFixedAtLimits ends images with a long match at a far distance, so that the writer holds as
// many bits as it ever can, and makes the longest stream, of literals of 9 bits alone.
func TestFixedAtLimits(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(9, 10))
	const stride = 3001
	for prefix := range 60 {
		lines := make([]byte, 2*stride)
		for i := range lines {
			if lines[i] = byte(random.IntN(256)); i >= stride+prefix {
				lines[i] = lines[i-stride]
			}
		}
		checkFixed(t, 1, stride, lines)
	}
	for size := range 16 {
		lines := make([]byte, 5000+size)
		for i := range lines {
			lines[i] = byte(144 + random.IntN(112))
		}
		checkFixed(t, 1, len(lines), lines)
	}
}

// checkFixed compares deflate with the reference. Its output memory is dirty, as after an earlier
// image.
func checkFixed(t *testing.T, pixelBytes, stride int, lines []byte) {
	t.Helper()
	c := newFixedCodes(pixelBytes, stride, len(lines))
	for i := range c.out {
		c.out[i] = 0xff
	}
	padded := append(bytes.Clone(lines), make([]byte, loadSlack)...)
	if got, want := c.deflate(padded, len(lines)), referenceFixed(lines, pixelBytes, stride); !bytes.Equal(got, want) {
		t.Fatalf("pixels of %d bytes, lines of %d, % x:\nfound    % x\nexpected % x",
			pixelBytes, stride, lines, got, want)
	}
}

// TestMatchToken tests every length at every distance in small images.
func TestMatchToken(t *testing.T) {
	t.Parallel()
	for distance := 1; distance <= maxFixed; distance++ {
		for length := minMatch; length <= maxMatch; length++ {
			if distance > 300 && length > 12 {
				break // length and distance are coded independently
			}
			w := &bitWriter{}
			w.match(length, distance)
			want := binary.LittleEndian.Uint64(append(w.out, make([]byte, 8)...))
			got := matchToken(uint(length), uint(distance))
			if got.bits() != want || int(got.count()) != w.n {
				t.Fatalf("length %d, distance %d: found %b (%d bits), expected %b (%d)",
					length, distance, got.bits(), got.count(), want, w.n)
			}
			if w.n > 31 || w.n > 9*length {
				t.Fatalf("length %d, distance %d: found %d bits, more than deflate expects", length, distance, w.n)
			}
		}
	}
}
