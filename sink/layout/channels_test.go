package layout

import (
	"bytes"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// TestChannelsFirst: records with a plane for each channel are the same images as those with the samples of each pixel together.
func TestChannelsFirst(t *testing.T) {
	t.Parallel()
	const height, width, rows = 2, 3, 2
	for _, name := range []string{"spark-image", "huggingface"} {
		for _, channels := range []int{1, 3, 4} {
			var planes, pixels []byte
			for row := range rows {
				sample := func(y, x, c int) byte { return byte(row*100 + y*30 + x*10 + c) }
				for c := range channels {
					for y := range height {
						for x := range width {
							planes = append(planes, sample(y, x, c))
						}
					}
				}
				for y := range height {
					for x := range width {
						for c := range channels {
							pixels = append(pixels, sample(y, x, c))
						}
					}
				}
			}
			before := bytes.Clone(planes)
			l, _ := Get(name)
			l.Channels = "first"
			made, err := l.Columns(&schema.Schema{Columns: []source.Column{{Name: "x", DType: idx.Uint8, Shape: []int{channels, height, width}}}})
			if err != nil {
				t.Fatalf("%s, %d channels: %v", name, channels, err)
			}
			last := one(t, name, source.Column{Name: "x", DType: idx.Uint8, Shape: []int{height, width, channels}})
			found, expected := array.MakeFromData(made[0].Data(planes, rows)), array.MakeFromData(last.Data(pixels, rows))
			if !array.Equal(found, expected) {
				t.Errorf("%s, %d channels: found %v, expected %v", name, channels, found, expected)
			}
			for i, leaf := range made[0].Leaves {
				if values, want := leaf.Values(planes, rows), last.Leaves[i].Values(pixels, rows); !bytes.Equal(values, want) {
					t.Errorf("%s, %d channels, %v: found the values %x, expected %x", name, channels, leaf.Path, values, want)
				}
			}
			if !bytes.Equal(planes, before) {
				t.Errorf("%s, %d channels: the batch was changed, which is other sinks' too", name, channels)
			}
		}
	}
}
