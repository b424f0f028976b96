package inflate

import (
	"bytes"
	"compress/flate"
	"fmt"
	"math/rand/v2"
)

// contents returns kinds of data that test different parts: literals, near and far matches, runs,
// long codes.
func contents() map[string][]byte {
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 100_000)
	skewed := make([]byte, 150_000) // few common bytes, many rare: codes longer than the first level
	rand.NewChaCha8([32]byte{1}).Read(noise)
	for i := range skewed {
		skewed[i] = byte(min(255, random.ExpFloat64()*18))
	}
	image := make([]byte, 200_000) // rows of zeros and ramps
	for i := range image {
		if x := i % 28; x > 4 && x < 20 && random.IntN(8) > 0 {
			image[i] = byte(x*i/28) & 0xf0
		}
	}
	var words bytes.Buffer
	for words.Len() < 200_000 {
		fmt.Fprintf(&words, "record %d of %d, ", random.IntN(50), random.IntN(9))
	}
	return map[string][]byte{
		"empty": {}, "byte": []byte("a"), "run": bytes.Repeat([]byte("a"),
			200_000), "period 5": bytes.Repeat([]byte("abcde"), 30_000),
		"noise": noise, "skewed": skewed, "image": image, "words": words.Bytes(),
		"small words": words.Bytes()[:300],
	}
}

// deflate compresses data, with a sync flush every flush bytes if that is positive.
func deflate(data []byte, level, flush int) []byte {
	var buf bytes.Buffer
	w, _ := flate.NewWriter(&buf, level) // nil, which panics, for a wrong level
	for flush > 0 && len(data) > flush {
		w.Write(data[:flush])
		w.Flush()
		data = data[flush:]
	}
	w.Write(data)
	w.Close() // a bytes.Buffer has no errors
	return buf.Bytes()
}

// A bitWriter writes streams that no compressor would.
type bitWriter struct {
	out  []byte
	used int // bits
}

// number writes the n bits of v, the lowest first.
func (w *bitWriter) number(v, n int) *bitWriter {
	for i := range n {
		if w.used%8 == 0 {
			w.out = append(w.out, 0)
		}
		w.out[w.used/8] |= byte(v>>i&1) << (w.used % 8)
		w.used++
	}
	return w
}

// code writes a Huffman code given as it is printed, its first bit first.
func (w *bitWriter) code(bits string) *bitWriter {
	for _, b := range bits {
		w.number(int(b-'0'), 1)
	}
	return w
}

// dynamic begins a last block with the given code lengths by symbol, each sent in 4 bits.
func dynamic(literals, distances []int) *bitWriter {
	w := new(bitWriter).number(1, 1).number(2, 2)
	w.number(len(literals)-257, 5).number(len(distances)-1, 5).number(19-4, 4)
	for _, s := range lengthOrder {
		w.number(map[bool]int{true: 4}[s <= 15], 3) // else 0
	}
	for _, n := range append(append([]int{}, literals...), distances...) {
		w.code(fmt.Sprintf("%04b", n))
	}
	return w
}

// lengths returns n code lengths, zero but for those given as pairs of symbol and length.
func lengths(n int, pairs ...int) []int {
	l := make([]int, n)
	for i := 0; i < len(pairs); i += 2 {
		l[pairs[i]] = pairs[i+1]
	}
	return l
}
