package arrow

import (
	"testing"

	"github.com/idxport/idxport/test/layouttest"
)

// BenchmarkImages writes batches of images, mostly black, with labels.
func BenchmarkImages(b *testing.B) {
	for _, codec := range Codecs() {
		b.Run(codec, func(b *testing.B) { layouttest.Images().Benchmark(b, with(Options{Compression: codec})) })
	}
}
