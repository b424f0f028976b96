package samples

import (
	"image/color"
	"math/rand/v2"
	"testing"
)

// TestTransform compares blocks by AVX2 with those without, which the tests of package jpeg compare
// with image/jpeg where there is no AVX2, as they do the others.
func TestTransform(t *testing.T) {
	Prepare()
	for n := range 100_000 {
		var rows, order Block
		last, bits := rand.IntN(64), 1+n%32
		for i := 0; i <= last; i++ {
			rows[i] = int32(rand.Uint32()) >> (32 - bits)
			order[i%8*8+i/8] = rows[i]
		}
		if !vectors {
			order = rows
		}
		block, got, want := rows, [120]byte{}, [120]byte{}
		order.Transform(&got, last)
		rows.transformRows(last)
		rows.transformColumns(&want)
		if got != want {
			t.Fatalf("%v, up to %d:\nfound    %v\nexpected %v", block, last, got, want)
		}
	}
}

// TestAppendLine has all colours, and then lines of all widths and colours that differ.
func TestAppendLine(t *testing.T) {
	Prepare()
	defer func(v bool) { vectors = v }(vectors)
	luma, chroma := make([]byte, 32*128), make([]byte, 32*128)
	check := func(width, h int) {
		dst := append(make([]byte, 0, 1+3*width+rand.IntN(48)), 'b')
		got := AppendLine(dst, luma, chroma, width, h)
		if len(got) != 1+3*width || got[0] != 'b' {
			t.Fatalf("width %d, h %d: found %d bytes, expected %d", width, h, len(got), 1+3*width)
		}
		for x := range width {
			unit, at := x/(8*h)*128, x%(8*h)
			y, cb, cr := luma[unit+at], chroma[unit+at/h], chroma[unit+8+at/h]
			r, g, b := color.YCbCrToRGB(y, cb, cr)
			if p := [3]byte(got[1+3*x:]); p != [3]byte{r, g, b} {
				t.Fatalf("width %d, h %d, pixel %d: found %d for %d, %d, %d, expected %d, %d, %d",
					width, h, x, p, y, cb, cr, r, g, b)
			}
		}
	}
	for _, vectors = range []bool{vectors, false} {
		for h := 1; h <= 2; h++ {
			for i := range luma {
				luma[i] = byte(i/128*8*h + i%128)
			}
			for cbcr := range 1 << 16 {
				for i := 0; i < len(chroma); i += 128 {
					for j := range 8 {
						chroma[i+j], chroma[i+8+j] = byte(cbcr), byte(cbcr>>8)
					}
				}
				check(256, h)
			}
			for width := range 256 {
				for i := range luma {
					luma[i], chroma[i] = byte(rand.Uint32()), byte(rand.Uint32())
				}
				check(width, h)
			}
		}
	}
}
