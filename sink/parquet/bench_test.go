package parquet

import (
	"testing"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
)

// BenchmarkImages writes batches of images, mostly black, with labels.
func BenchmarkImages(b *testing.B) {
	for _, codec := range Codecs() {
		b.Run(codec, func(b *testing.B) { layouttest.Images().Benchmark(b, with(Options{Compression: codec})) })
	}
}

// BenchmarkScalars writes a column of floats, few of them different, and one of floats that all are.
func BenchmarkScalars(b *testing.B) {
	for _, mask := range []byte{0, 0xff} {
		b.Run(map[byte]string{0: "same", 0xff: "different"}[mask], func(b *testing.B) {
			t := layouttest.Random(65_536, source.Column{Name: "x", DType: idx.Float32})
			for i := range t.Data[0] {
				t.Data[0][i] &= mask
			}
			t.Benchmark(b, with(Options{Compression: "none"}))
		})
	}
}

// BenchmarkColumns writes the same with a column for each pixel.
func BenchmarkColumns(b *testing.B) {
	for _, codec := range []string{"none", "zstd"} {
		b.Run(codec, func(b *testing.B) {
			layouttest.Images().Benchmark(b, with(Options{Compression: codec, Layout: "columns"}))
		})
	}
}
