package idx_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
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

func ExampleReadHeader() {
	h, err := idx.ReadHeader(bytes.NewReader(unhex(images)))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(h)
	fmt.Println(h.Records(), "records of", h.RecordSize(), "bytes")
	fmt.Println("published as", h.Name())
	// Output:
	// uint8 3×2×2
	// 3 records of 4 bytes
	// published as idx3-ubyte
}

func ExampleReader() {
	file := unhex(images)
	r, err := idx.NewReader(bytes.NewReader(file), idx.Options{Size: int64(len(file))})
	if err != nil {
		fmt.Println(err)
		return
	}
	batch := make([]byte, 2*r.Header().RecordSize()) // two records at a time
	for {
		n, err := r.ReadRecords(batch, 2)
		if err == io.EOF {
			break // all is read, and nothing follows
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		for record := range n {
			fmt.Printf("% x\n", batch[4*record:4*record+4])
		}
	}
	// Output:
	// 00 ff ff 00
	// 10 20 30 40
	// 01 02 03 04
}
