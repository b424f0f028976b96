package inflate

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// FuzzInflate looks for streams that compress/flate, the reference, and the package with long and
// short reads decode differently. More seeds are in testdata/fuzz.
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

// FuzzLookahead looks for streams and sizes for which helpers make a difference. The data consists
// of the kinds in contents, in pieces whose order and size depend on seed; it is compressed, and
// damaged in one place.
func FuzzLookahead(f *testing.F) {
	all := contents()
	kinds := [][]byte{all["noise"], all["words"], all["image"], all["skewed"], all["run"], all["period 5"]}
	for seed := range uint64(8) {
		f.Add(seed, int(seed)+1, uint16(seed*997), uint32(0), uint16(seed*13), 1+int(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, level int, flush uint16, damage uint32, segment uint16, helpers int) {
		random := rand.New(rand.NewPCG(seed, 0))
		var data []byte
		for size := 50_000 + random.IntN(500_000); len(data) < size; {
			kind := kinds[random.IntN(len(kinds))]
			at := random.IntN(len(kind))
			data = append(data, kind[at:min(len(kind), at+random.IntN(60_000))]...)
		}
		raw := deflate(data, int(uint(level)%12)-2, 16*int(flush))
		switch at := int(damage>>4) % len(raw); damage & 15 {
		case 0, 1, 2, 3, 4: // none
		case 5:
			raw = raw[:at]
		default:
			raw[at] ^= byte(damage >> 1)
		}
		l := NewLookahead(bytes.NewReader(raw), int(uint(helpers)%5), nil)
		l.sizes = sizes{first: 500, segment: 10_000 + int(segment), shared: 2000}
		compareLookahead(t, raw, l, 1+random.IntN(300_000))
	})
}
