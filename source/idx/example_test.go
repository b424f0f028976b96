package idx_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"log"
	"strings"

	"github.com/idxport/idxport/source/idx"
)

// The file of the package comment: three images of 2×2.
const images = `
00 00 08 03 00 00 00 03  00 00 00 02 00 00 00 02
00 ff ff 00 10 20 30 40  01 02 03 04`

// unhex decodes a hex dump.
func unhex(dump string) []byte {
	b, err := hex.DecodeString(strings.Join(strings.Fields(dump), ""))
	if err != nil {
		panic(err)
	}
	return b
}

// Read all records of a file. The loop ends with an error unless all is read and nothing follows.
func ExampleReader_All() {
	r, err := idx.NewReader(bytes.NewReader(unhex(images)), idx.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Header())
	for record, err := range r.All() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("% x\n", record)
	}
	// Output:
	// uint8 3×2×2
	// 00 ff ff 00
	// 10 20 30 40
	// 01 02 03 04
}

// Write two grey images of 2×3 pixels.
func ExampleHeader_AppendBinary() {
	file, err := idx.Header{DType: idx.Uint8, Dims: []int64{2, 2, 3}}.AppendBinary(nil)
	if err != nil {
		log.Fatal(err)
	}
	file = append(file, 0, 255, 0, 255, 0, 255)
	file = append(file, 1, 2, 3, 4, 5, 6)
	fmt.Print(hex.Dump(file))
	// Output:
	// 00000000  00 00 08 03 00 00 00 02  00 00 00 02 00 00 00 03  |................|
	// 00000010  00 ff 00 ff 00 ff 01 02  03 04 05 06              |............|
}
