package inflate

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/fault"
)

// A handmadeStream tests the limits of the format. The expectation follows from the RFC, and where
// that says nothing, from zlib and compress/flate.
type handmadeStream struct {
	name   string
	stream *bitWriter
	data   string
	err    error // nil, io.ErrUnexpectedEOF or fault.Malformed
}

func fixed() *bitWriter { return new(bitWriter).number(1, 1).number(1, 2) }

func stored(length, complement int) *bitWriter {
	return new(bitWriter).number(1, 8).number(length, 16).number(complement, 16)
}

// codeOfLengths begins a dynamic block and sends n lengths, all v, of the code for code lengths.
func codeOfLengths(n, v int) *bitWriter {
	w := new(bitWriter).number(1, 1).number(2, 2).number(0, 5).number(0, 5).number(n-4, 4)
	for range n {
		w.number(v, 3)
	}
	return w
}

func handmade() []handmadeStream {
	const a, endCode = "10010001", "0000000" // of the fixed code
	return []handmadeStream{
		{"nothing", new(bitWriter), "", io.ErrUnexpectedEOF},
		{"empty fixed", fixed().code(endCode), "", nil},
		{"empty stored", stored(0, 0xffff), "", nil},
		{"stored", stored(2, 0xfffd).number('h', 8).number('i', 8), "hi", nil},
		{"stored, cut", stored(2, 0xfffd).number('h', 8), "h", io.ErrUnexpectedEOF},
		{"stored, complement differs", stored(2, 0xfffc).number('h', 8), "", fault.Malformed},
		{"reserved kind", new(bitWriter).number(1, 1).number(3, 2), "", fault.Malformed},
		{"distance 1 overlaps", fixed().code(a + "0000001" + "00000" + endCode), "aaaa", nil},
		{"distance before the start", fixed().code(a + "0000001" + "00001" + endCode), "a", fault.Malformed},
		{"match at the start", fixed().code("0000001" + "00000" + endCode), "", fault.Malformed},
		{"symbol 286", fixed().code(a + "11000110" + "00000" + endCode), "a", fault.Malformed},
		{"symbol 287", fixed().code(a + "11000111" + "00000" + endCode), "a", fault.Malformed},
		{"distance symbol 30", fixed().code(a + "0000001" + "11110" + endCode), "a", fault.Malformed},
		{"distance symbol 31", fixed().code(a + "0000001" + "11111" + endCode), "a", fault.Malformed},
		{"length 258 as 284 and 31", fixed().code(a + "11000100" + "11111" + "00000" + endCode),
			strings.Repeat("a", 259), nil},
		{"length 258 as 285", fixed().code(a + "11000101" + "00000" + endCode), strings.Repeat("a", 259), nil},

		{"287 literal codes", new(bitWriter).number(5, 3).number(30, 5).number(0, 5).number(15, 4), "",
			fault.Malformed},
		{"31 distance codes", new(bitWriter).number(5, 3).number(0, 5).number(30, 5).number(15, 4), "",
			fault.Malformed},
		{"no code for code lengths", codeOfLengths(19, 0).number(0, 16), "", fault.Malformed},
		{"incomplete code for code lengths", codeOfLengths(4, 3).number(0, 16), "", fault.Malformed},
		{"code for code lengths has too many", codeOfLengths(4, 1).number(0, 16), "", fault.Malformed},
		{"repetition before the first", codeOfLengths(4, 2).code("01").number(0, 16), "",
			fault.Malformed}, // 0, 16, 17, 18
		{"repetition beyond the last", codeOfLengths(4, 2).code("11").number(127, 7).code("11").number(127, 7),
			"", fault.Malformed},

		{"one literal code, no distances", dynamic(lengths(257, 256, 1), lengths(1)).code("0"), "", nil},
		{"one literal code, the other pattern", dynamic(lengths(257, 256, 1), lengths(1)).code("1"), "",
			fault.Malformed},
		{"one literal code of two bits", dynamic(lengths(257, 256, 2), lengths(1)).code("00"), "", fault.Malformed},
		{"no literal codes", dynamic(lengths(257), lengths(1)).code("0"), "", fault.Malformed},
		{"no end of block", dynamic(lengths(257, 'a', 1, 'b', 1), lengths(1)).code("01"), "abaaaa",
			io.ErrUnexpectedEOF}, // 4 bits are left,
		{"incomplete literals", dynamic(lengths(257, 'a', 2, 256, 1), lengths(1)).code("0"), "", fault.Malformed},
		{"too many literals", dynamic(lengths(257, 'a', 1, 'b', 1, 256, 1), lengths(1)).code("0"), "", fault.Malformed},
		{"distances empty but used", dynamic(lengths(258, 'a', 2, 256, 2, 257, 1),
			lengths(1)).code("10" + "0" + "0"), "a", fault.Malformed},
		{"one distance", dynamic(lengths(258, 'a', 2, 256, 2, 257, 1), lengths(1, 0, 1)).
			code("10" + "0" + "0" + "11"), "aaaa", nil},
		{"one distance, the other pattern", dynamic(lengths(258, 'a', 2, 256, 2, 257, 1), lengths(1, 0, 1)).
			code("10" + "0" + "1" + "11"), "a", fault.Malformed},
		{"incomplete distances", dynamic(lengths(257, 'a', 1, 256, 1), lengths(2, 0, 2, 1, 2)).code("01"), "",
			fault.Malformed},
		{"codes of 15 bits", longCodes(), "lmno", nil},
		{"the example in the package comment", &bitWriter{out: []byte("\x4b\x4c\x84\x01\x00")}, "aaaaaaaaaa", nil},
	}
}

// longCodes has literals of 1 to 15 bits: 'a' has 1 bit; 'o' and the end of the block have 15.
func longCodes() *bitWriter {
	l := lengths(257, 256, 15)
	for n := 1; n <= 15; n++ {
		l['a'+n-1] = n
	}
	w := dynamic(l, lengths(1))
	for n := 12; n <= 15; n++ {
		for range n - 1 {
			w.code("1")
		}
		w.code("0")
	}
	return w.code("111111111111111")
}

func TestHandmade(t *testing.T) {
	t.Parallel()
	for _, s := range handmade() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			// The same, with more input than the fast loop needs.
			for _, padding := range []int{0, 100} {
				got := compare(t, append(bytes.Clone(s.stream.out), make([]byte, padding)...))
				if padding > 0 && s.err == io.ErrUnexpectedEOF {
					continue
				}
				if string(got.data) != s.data || !errors.Is(got.err, s.err) {
					t.Errorf("found %q and %v, expected %q and %v", got.data, got.err, s.data, s.err)
				}
			}
		})
	}
}
