package png_test

import (
	"bytes"
	"image"
	stdpng "image/png"
	"testing"
)

// BenchmarkAppend compares 28×28 images with image/png, whose buffers are kept from image to image as here.
func BenchmarkAppend(b *testing.B) {
	for _, p := range patterns {
		pixels := p.make(28, 28)
		b.Run(p.name, func(b *testing.B) {
			e := newEncoder(b, kinds[0], 28, 28)
			dst := e.Append(nil, pixels)
			b.ReportAllocs()
			for b.Loop() {
				dst = e.Append(dst[:0], pixels)
			}
			b.ReportMetric(float64(len(dst)), "bytes")
		})
		b.Run(p.name+" by image/png", func(b *testing.B) {
			e := stdpng.Encoder{BufferPool: &onePool{}}
			img := &image.Gray{Pix: pixels, Stride: 28, Rect: image.Rect(0, 0, 28, 28)}
			var out bytes.Buffer
			for b.Loop() {
				out.Reset()
				if err := e.Encode(&out, img); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(out.Len()), "bytes")
		})
	}
}

// BenchmarkAppendLarge measures the general way.
func BenchmarkAppendLarge(b *testing.B) {
	for _, k := range kinds {
		b.Run(k.name, func(b *testing.B) {
			pixels := ring(300*k.pixelBytes, 200, 60)
			e := newEncoder(b, k, 300, 200)
			dst := e.Append(nil, pixels)
			b.SetBytes(int64(len(pixels)))
			b.ReportAllocs()
			for b.Loop() {
				dst = e.Append(dst[:0], pixels)
			}
		})
	}
}

type onePool struct{ buffer *stdpng.EncoderBuffer }

func (p *onePool) Get() *stdpng.EncoderBuffer  { return p.buffer }
func (p *onePool) Put(b *stdpng.EncoderBuffer) { p.buffer = b }
