package idx_test

import (
	"bytes"
	"encoding/binary"
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
func ExampleWriter() {
	var file bytes.Buffer // or an *os.File
	w, err := idx.NewWriter(&file, idx.Header{DType: idx.Uint8, Dims: []int64{2, 2, 3}})
	if err != nil {
		log.Fatal(err)
	}
	for _, image := range [][]byte{{0, 255, 0, 255, 0, 255}, {1, 2, 3, 4, 5, 6}} {
		if _, err := w.Write(image); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Close(); err != nil { // it is an error if the second image is missing
		log.Fatal(err)
	}
	fmt.Print(hex.Dump(file.Bytes()))
	// Output:
	// 00000000  00 00 08 03 00 00 00 02  00 00 00 02 00 00 00 03  |................|
	// 00000010  00 ff 00 ff 00 ff 01 02  03 04 05 06              |............|
}

// Write numbers that have more than one byte.
func ExampleWriter_Write() {
	var file bytes.Buffer
	w, err := idx.NewWriter(&file, idx.Header{DType: idx.Float32, Dims: []int64{2}})
	if err == nil {
		err = binary.Write(w, binary.BigEndian, []float32{0.5, -2})
	}
	if err == nil {
		err = w.Close()
	}
	fmt.Printf("%v\n%s", err, hex.Dump(file.Bytes()))
	// Output:
	// <nil>
	// 00000000  00 00 0d 01 00 00 00 02  3f 00 00 00 c0 00 00 00  |........?.......|
}
