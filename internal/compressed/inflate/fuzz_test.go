package inflate

import "testing"

// FuzzInflate looks for streams that compress/flate, and the package with long and short reads,
// decode differently. More seeds are in testdata/fuzz.
func FuzzInflate(f *testing.F) {
	for _, data := range contents() {
		data = data[:min(len(data), 3000)]
		for _, level := range []int{-2, 1, 6, 9} {
			f.Add(deflate(data, level, 0))
		}
		f.Add(deflate(data, 6, 100))
	}
	for _, s := range handmade() {
		f.Add(s.stream.out)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) <= 32<<10 {
			compare(t, raw)
		}
	})
}
