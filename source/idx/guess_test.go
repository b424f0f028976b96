package idx

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

type rng = rand.Rand

// guessData resembles measurements and labels; detected means that the wrong order can be
// recognised.
var guessData = map[string]struct {
	dtype    DType
	values   func(r *rng, n int) any
	detected bool
}{
	"labels as shorts":         {Int16, random(func(r *rng) int16 { return int16(r.IntN(10)) }), true},
	"labels as ints":           {Int32, random(func(r *rng) int32 { return int32(r.IntN(10)) }), true},
	"labels with −1":           {Int16, random(func(r *rng) int16 { return int16(r.IntN(11) - 1) }), true},
	"pixels as ints":           {Int32, random(func(r *rng) int32 { return int32(r.IntN(256)) }), true},
	"dark pixels as shorts":    {Int16, random(func(r *rng) int16 { return int16(r.IntN(64)) }), true},
	"pixels as shorts":         {Int16, random(func(r *rng) int16 { return int16(r.IntN(256)) }), false},
	"12-bit images":            {Int16, random(func(r *rng) int16 { return int16(r.IntN(4096)) }), false},
	"audio":                    {Int16, random(func(r *rng) int16 { return int16(r.NormFloat64() * 3000) }), false},
	"random shorts":            {Int16, random(func(r *rng) int16 { return int16(r.Uint32()) }), false},
	"random ints":              {Int32, random(func(r *rng) int32 { return int32(r.Uint32()) }), false},
	"shorts of all ones":       {Int16, random(func(*rng) int16 { return -1 }), false},
	"zero shorts":              {Int16, random(func(*rng) int16 { return 0 }), false},
	"zero doubles":             {Float64, random(func(*rng) float64 { return 0 }), false},
	"floats 0 and 1":           {Float32, random(func(r *rng) float32 { return float32(r.IntN(2)) }), true},
	"whole numbers as floats":  {Float32, random(func(r *rng) float32 { return float32(r.IntN(256)) }), true},
	"whole numbers as doubles": {Float64, random(func(r *rng) float64 { return float64(r.IntN(256)) }), true},
	"doubles 0…1":              {Float64, random(func(r *rng) float64 { return r.Float64() }), true},
	"NaNs":                     {Float32, random(func(*rng) float32 { return float32(math.NaN()) }), false},
	"random bits": {Float32, random(func(r *rng) float32 { return math.Float32frombits(r.Uint32()) }),
		false},
	"pixels / 255":   {Float32, random(func(r *rng) float32 { return float32(r.IntN(256)) / 255 }), true},
	"normalised":     {Float32, random(func(r *rng) float32 { return float32(r.NormFloat64()) }), true},
	"large floats":   {Float32, random(func(r *rng) float32 { return float32(r.Float64() * 1e30) }), false},
	"small floats":   {Float32, random(func(r *rng) float32 { return float32(r.Float64() * 1e-30) }), false},
	"unsigned bytes": {Uint8, random(func(r *rng) uint8 { return uint8(r.Uint32()) }), false},
}

// random returns a function that fills a slice with the results of value.
func random[T any](value func(r *rng) T) func(r *rng, n int) any {
	return func(r *rng, n int) any { return fill(n, func(int) T { return value(r) }) }
}

func TestLooksSwapped(t *testing.T) {
	t.Parallel()
	for name, test := range guessData {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(3, 4))
			for _, n := range []int{100, 784, 100_000} {
				all := test.values(r, n)
				if LooksSwapped(test.dtype, payload(t, binary.LittleEndian, all)) {
					t.Errorf("%d elements in the right order: false alarm", n)
				}
				if found := LooksSwapped(test.dtype, payload(t, binary.BigEndian, all)); found != test.detected {
					t.Errorf("%d elements in the wrong order: found %v, expected %v", n, found, test.detected)
				}
			}
		})
	}
}

// TestLooksSwappedThreshold: the elements as they are must be more than twice as far from 1.
func TestLooksSwappedThreshold(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		dtype         DType
		small, even   int    // numbers of elements
		swapped, same string // an element that is small in the other order, and one that is as large
		want          bool
	}{
		"10·9 + 4·15 bits to 10·1 + 4·15":          {Int16, 10, 4, "\x00\x01", "\x7f\x7f", true},
		"15·9 + 7·15 bits to 15·1 + 7·15, or half": {Int16, 15, 7, "\x00\x01", "\x7f\x7f", false},
		"exponents 10·127 + 9·127 to 10·0 + 9·127": {Float32, 10, 9, "\x3f\x80\x00\x00", "\x7f\x00\x00\x7f", true},
		"10·127 + 10·127 to 10·0 + 10·127":         {Float32, 10, 10, "\x3f\x80\x00\x00", "\x7f\x00\x00\x7f", false},
	} {
		data := []byte(strings.Repeat(test.swapped, test.small) + strings.Repeat(test.same, test.even))
		if found := LooksSwapped(test.dtype, data); found != test.want {
			t.Errorf("%s: found %v, expected %v", name, found, test.want)
		}
	}
}

func TestLooksSwappedNeedsEnough(t *testing.T) {
	t.Parallel()
	for name, data := range map[string][]int16{
		"nothing":                {},
		"seven labels":           {1, 2, 3, 4, 5, 6, 7},
		"seven labels and zeros": {0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0},
	} {
		if LooksSwapped(Int16, payload(t, binary.BigEndian, data)) {
			t.Errorf("%s: guessed from too little", name)
		}
	}
	if !LooksSwapped(Int16, append(payload(t, binary.BigEndian, []int16{1, 2, 3, 4, 5, 6, 7, 8}), 0xff)) {
		t.Error("eight labels and half an element: found nothing, expected the wrong order")
	}
}
