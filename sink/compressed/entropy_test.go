package compressed

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestDigitsShrink: ten values without any order carry log2(10) = 3.33 bits each, 42 % of a byte.
func TestDigitsShrink(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	digits := make([]byte, 60_000)
	for i := range digits {
		digits[i] = byte(random.IntN(10))
	}
	for _, c := range []Codec{{Name: "gzip"}, {Name: "zstd"}, {Name: "zstd", Level: 3}} {
		var out bytes.Buffer
		w, err := New(&out, c)
		if err != nil {
			t.Fatal(err)
		}
		b, err := w.Encode(nil, digits)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Append(b); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if out.Len() > len(digits)/2 {
			t.Errorf("%s, level %d: found %d bytes of %d, expected less than half", c.Name, c.Level, out.Len(), len(digits))
		}
	}
}
