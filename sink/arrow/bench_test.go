package arrow

import (
	"context"
	"io"
	"testing"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// BenchmarkImages writes batches of 28×28 images, mostly black, with labels.
func BenchmarkImages(b *testing.B) {
	for _, codec := range Codecs() {
		b.Run(codec, func(b *testing.B) {
			t := random(1328, source.Column{Name: "image", DType: idx.Uint8, Shape: []int{28, 28}}, source.Column{Name: "label", DType: idx.Uint8})
			for i := range t.Data[0] {
				if i%28 < 8 || i%28 > 16 {
					t.Data[0][i] = 0
				}
			}
			k, err := New(io.Discard, t.Schema(), Options{Compression: codec})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(t.Rows * t.Schema().RowSize()))
			b.ReportAllocs()
			for b.Loop() {
				step, err := k.Encode(context.Background(), schema.Batch{Rows: t.Rows, Columns: t.Data})
				if err == nil {
					err = step()
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
