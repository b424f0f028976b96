// Package pages makes pages that test every way of package pagezstd to compress.
package pages

import (
	"bytes"
	"math/rand/v2"
)

const block = 128 << 10 // bytes of a block of a frame

// All returns pages with literals and runs of lengths around each power of two, where the codes of
// lengths change, of sizes around those of blocks, of kinds of blocks in all orders, whose tables
// must not be taken for those of others, with levels of Parquet, and random mixtures.
func All(random *rand.Rand) [][]byte {
	var all [][]byte
	for n := range 300 {
		all = append(all, ofLength(random, n)...)
	}
	for n := 512; n <= block; n *= 2 {
		for more := -1; more <= 4; more++ { // a match is at least 3 bytes, and a run one byte more
			all = append(all, ofLength(random, n+more)...)
		}
	}
	for _, size := range []int{2 * block, 1 << 21} {
		all = append(all, Mixture(random, size), make([]byte, size))
	}
	kinds := [][]byte{make([]byte, block), literals(random, block), Noise(random, block),
		fill(block, func(i int) int { return i }), fill(block, func(i int) int { return i / 20 }),
		fill(block, func(int) int { return random.IntN(2) * random.IntN(16) }),
		fill(block, func(int) int { return random.IntN(2) * random.IntN(16) }),
		Mixture(random, block), Mixture(random, block)}
	for range 100 {
		var page []byte
		for range 1 + random.IntN(5) {
			page = append(page, kinds[random.IntN(len(kinds))]...)
		}
		all = append(all, page)
	}
	for period := range 12 {
		unit := Mixture(random, period)
		for _, rest := range []int{0, 1, 31, 32, 33, 34, block - 1, block, block + 1} {
			for _, times := range []int{400, 20_000} {
				all = append(all, append(append(bytes.Repeat(unit, times), 1, 2), make([]byte, rest)...))
			}
		}
	}
	for range 1000 {
		var page []byte
		if random.IntN(2) == 0 {
			page = Levels(literals(random, 1+random.IntN(10)), random.IntN(1<<(1+random.IntN(15))))
		}
		page = append(page, Mixture(random, random.IntN(1<<(1+random.IntN(18))))...)
		all = append(all, append(page, make([]byte, random.IntN(1<<(1+random.IntN(18))))...))
	}
	return all
}

// ofLength returns pages with n literals, or runs of n bytes, alone and in company.
func ofLength(random *rand.Rand, n int) [][]byte {
	some, run := literals(random, n), make([]byte, n)
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	return [][]byte{some, run, Mixture(random, n), join(some, make([]byte, 10), literals(random, 3)),
		join(literals(random, 3), run, literals(random, 1), run, some)}
}

// Levels returns size bytes as levels of Parquet: a length, and then a few bytes over and over.
func Levels(unit []byte, size int) []byte {
	return append([]byte{24, 26, 0, 0}, bytes.Repeat(unit, 1+size/len(unit))[:size]...)
}

// Noise returns size random bytes.
func Noise(random *rand.Rand, size int) []byte {
	return fill(size, func(int) int { return int(random.Uint32()) })
}

// literals returns size bytes of which none equals the one before it.
func literals(random *rand.Rand, size int) []byte {
	return fill(size, func(i int) int { return 1 + i%2 + 2*random.IntN(100) })
}

func fill(size int, value func(i int) int) []byte {
	page := make([]byte, size)
	for i := range page {
		page[i] = byte(value(i))
	}
	return page
}

// Mixture returns size bytes with runs of random lengths among random literals.
func Mixture(random *rand.Rand, size int) []byte {
	symbols, longest := 1+random.IntN(256), 1+random.IntN(1<<random.IntN(18))
	page := make([]byte, 0, size)
	for len(page) < size {
		page = append(page, bytes.Repeat([]byte{byte(random.IntN(symbols))}, 1+random.IntN(longest))...)
		for range random.IntN(longest) {
			page = append(page, byte(random.IntN(symbols)))
		}
	}
	return page[:size]
}
