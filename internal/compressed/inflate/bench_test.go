package inflate

import (
	"bufio"
	"bytes"
	"compress/flate"
	"io"
	"testing"

	klauspost "github.com/klauspost/compress/flate"
)

// BenchmarkInflate compares decoders on synthetic data; the figures in fast.go are from real
// images.
func BenchmarkInflate(b *testing.B) {
	decoders := []struct {
		name string
		open func(*bufio.Reader) io.Reader
	}{
		{"idxport", func(in *bufio.Reader) io.Reader { return NewReader(in) }},
		{"klauspost", func(in *bufio.Reader) io.Reader { return klauspost.NewReader(in) }},
		{"compress", func(in *bufio.Reader) io.Reader { return flate.NewReader(in) }},
	}
	for _, name := range []string{"image", "skewed", "words"} {
		data := bytes.Repeat(contents()[name], 10)
		raw := deflate(data, 9, 0)
		for _, d := range decoders {
			b.Run(name+"/"+d.name, func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				p := make([]byte, 64<<10)
				for b.Loop() {
					r := d.open(bufio.NewReaderSize(bytes.NewReader(raw), 64<<10))
					if n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, r, p); err != nil ||
						n != int64(len(data)) {
						b.Fatal(n, err)
					}
				}
			})
		}
	}
}
