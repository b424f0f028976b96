// Command frames writes zstd frames of package pagezstd for decoders that share no code with it.
//
//	go run ./test/frames -out DIR -seed 1
//
// DIR/frames has the frames, DIR/contents what they contain, and DIR/index a line for each frame:
// its size and that of its contents.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/idxport/idxport/internal/compressed/pagezstd"
)

const block = 128 << 10 // bytes of a block of a frame

func main() {
	log.SetFlags(0)
	out := flag.String("out", ".", "`folder` for the files")
	seed := flag.Uint64("seed", 1, "seed of the pages")
	flag.Parse()
	random := rand.New(rand.NewPCG(*seed, 0))
	var frames, contents, index bytes.Buffer
	var e pagezstd.Encoder
	for _, page := range pages(random) {
		e.Checksum = random.IntN(2) == 0
		frame := e.Append(nil, page)
		frames.Write(frame)
		contents.Write(page)
		fmt.Fprintln(&index, len(frame), len(page))
	}
	for name, data := range map[string]*bytes.Buffer{"frames": &frames, "contents": &contents, "index": &index} {
		if err := os.WriteFile(filepath.Join(*out, name), data.Bytes(), 0o600); err != nil {
			log.Fatal(err)
		}
	}
}

// pages returns pages with literals and runs of lengths around each power of two, where the codes
// of lengths change, pages of kinds of blocks in all orders, and random mixtures.
func pages(random *rand.Rand) (all [][]byte) {
	literals := func(n int) []byte {
		p := make([]byte, n)
		for i := range p {
			p[i] = byte(1 + i%2 + 2*random.IntN(100))
		}
		return p
	}
	var lengths []int
	for n := range 140 {
		lengths = append(lengths, n)
	}
	for n := 256; n <= block; n *= 2 {
		for more := -1; more <= 4; more++ { // a match is at least 3 bytes, and a run one byte more
			lengths = append(lengths, n+more)
		}
	}
	for _, n := range lengths {
		all = append(all, literals(n), make([]byte, n),
			bytes.Join([][]byte{literals(n), make([]byte, 10), literals(3)}, nil),
			bytes.Join([][]byte{literals(3), make([]byte, n), literals(1), make([]byte, n), literals(n)}, nil))
	}
	kinds := []func() []byte{
		func() []byte { return make([]byte, block) },
		func() []byte { return literals(block) },
		func() []byte { return mixture(random, block) },
		func() []byte {
			noise := make([]byte, block)
			for i := range noise {
				noise[i] = byte(random.Uint32())
			}
			return noise
		},
		func() []byte {
			equal := make([]byte, block)
			for i := range equal {
				equal[i] = byte(i)
			}
			return equal
		},
	}
	for range 60 {
		var page []byte
		for range 1 + random.IntN(5) {
			page = append(page, kinds[random.IntN(len(kinds))]()...)
		}
		all = append(all, page)
	}
	for range 1500 {
		var page []byte
		if random.IntN(2) == 0 { // as levels of Parquet: a size, and then a few bytes over and over
			unit := literals(1 + random.IntN(10))
			page = append([]byte{24, 26, 0, 0}, bytes.Repeat(unit, random.IntN(1<<(1+random.IntN(15))))...)
		}
		page = append(page, mixture(random, random.IntN(1<<(1+random.IntN(18))))...)
		all = append(all, append(page, make([]byte, random.IntN(300))...))
	}
	return all
}

// mixture returns size bytes with runs of random lengths among random literals.
func mixture(random *rand.Rand, size int) []byte {
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
