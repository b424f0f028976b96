package png_test

import (
	"bytes"
	"fmt"
	stdpng "image/png"
	"log"

	"github.com/idxport/idxport/png"
)

// Many images of one size share an encoder and a buffer.
func ExampleEncoder() {
	e, err := png.NewEncoder(28, 28, png.Gray, 8)
	if err != nil {
		log.Fatal(err)
	}
	file := make([]byte, 0, e.MaxSize())
	for _, shade := range []byte{0, 128} {
		file = e.Append(file[:0], bytes.Repeat([]byte{shade}, 28*28))
		img, err := stdpng.Decode(bytes.NewReader(file))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(img.Bounds().Size(), img.At(27, 27))
	}
	// Output:
	// (28,28) {0}
	// (28,28) {128}
}
