package inflate

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// randomCode returns the lengths of a complete code of up to symbols codes, made by splitting
// codes, starting with one of no bits. A high bias splits the same codes again, which makes them
// long.
func randomCode(random *rand.Rand, symbols int, bias float64) []uint8 {
	leaves := []uint8{0}
	for len(leaves) < symbols {
		i := len(leaves) - 1
		if random.Float64() >= bias {
			i = random.IntN(len(leaves))
		}
		if leaves[i] < maxCode {
			leaves[i]++
			leaves = append(leaves, leaves[i])
		}
	}
	random.Shuffle(symbols, func(i, j int) { leaves[i], leaves[j] = leaves[j], leaves[i] })
	return leaves
}

// assign returns the codes of RFC 1951, 3.2.2, by length and value.
func assign(lengths []uint8) map[[2]int]int {
	codes, code := map[[2]int]int{}, 0
	for n := 1; n <= maxCode; n++ {
		code <<= 1
		for s, l := range lengths {
			if int(l) == n {
				codes[[2]int{n, code}] = s
				code++
			}
		}
	}
	return codes
}

// TestTables looks up every pattern of 15 bits in tables of random codes.
func TestTables(t *testing.T) {
	t.Parallel()
	for _, kind := range []struct{ symbols, size, firstBits int }{
		{fixedLiteralSymbols, literalTableSize, literalBits}, {fixedDistanceSymbols, distanceTableSize, distanceBits},
	} {
		for seed := range uint64(60) {
			t.Run(fmt.Sprintf("%d symbols %d", kind.symbols, seed), func(t *testing.T) {
				t.Parallel()
				random := rand.New(rand.NewPCG(seed, 0))
				lengths := randomCode(random, 2+random.IntN(kind.symbols-1), random.Float64())
				entries := make([]entry, len(lengths))
				for s := range lengths {
					entries[s] = newEntry(s, 0)
				}
				table := make([]entry, kind.size)
				if !build(table, kind.firstBits, lengths, entries) {
					t.Fatal("a complete code was refused")
				}
				checkTable(t, table, uint(kind.firstBits), assign(lengths))
			})
		}
	}
}

func checkTable(t *testing.T, table []entry, firstBits uint, codes map[[2]int]int) {
	t.Helper()
	for pattern := range uint64(1 << maxCode) {
		b := bitInput{bits: pattern, count: maxCode}
		e := b.lookUp(table, firstBits)
		n, code := 0, 0
		for n < int(maxCode-b.count) {
			code = code<<1 | int(pattern>>n&1)
			n++
		}
		if s, ok := codes[[2]int{n, code}]; !ok || e.value() != s {
			t.Fatalf("pattern %015b: found symbol %d of %d bits, expected %d, %v", pattern, e.value(), n, s, ok)
		}
	}
}
