package parquet

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
			t := random(1, source.Column{Name: "image", DType: idx.Uint8, Shape: []int{28, 28}}, source.Column{Name: "label", DType: idx.Uint8})
			s := t.Schema()
			s.Rows = -1
			t = random(s.BatchRows(), t.Columns...)
			for i := range t.Data[0] {
				if i%28 < 8 || i%28 > 16 {
					t.Data[0][i] = 0
				}
			}
			k, err := New(io.Discard, s, Options{Compression: codec})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(t.Rows * s.RowSize()))
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

// BenchmarkScalars writes a column of floats, few of them different, and one of floats that all are.
func BenchmarkScalars(b *testing.B) {
	for _, mask := range []byte{0, 0xff} {
		b.Run(map[byte]string{0: "same", 0xff: "different"}[mask], func(b *testing.B) {
			t := random(65_536, source.Column{Name: "x", DType: idx.Float32})
			for i := range t.Data[0] {
				t.Data[0][i] &= mask
			}
			s := t.Schema()
			s.Rows = -1
			k, err := New(io.Discard, s, Options{Compression: "none"})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(t.Data[0])))
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
