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
	"github.com/idxport/idxport/test/frames/pages"
)

func main() {
	log.SetFlags(0)
	out := flag.String("out", ".", "`folder` for the files")
	seed := flag.Uint64("seed", 1, "seed of the pages")
	flag.Parse()
	random := rand.New(rand.NewPCG(*seed, 0))
	var frames, contents, index bytes.Buffer
	var e pagezstd.Encoder
	for _, page := range pages.All(random) {
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
