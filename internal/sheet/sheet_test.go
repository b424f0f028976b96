package sheet_test

import (
	"image"
	"image/color"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/sheet"
)

// picture returns an image whose samples count up from first.
func picture(width, height, channels, first int, caption ...string) sheet.Picture {
	samples := make([]byte, width*height*channels)
	for i := range samples {
		samples[i] = byte(first + 7*i)
	}
	return sheet.Picture{Image: imageOf(width, channels, samples...), Caption: caption}
}

// imageOf returns an image of one channel, or of four.
func imageOf(width, channels int, samples ...byte) image.RGBA64Image {
	area := image.Rect(0, 0, width, len(samples)/width/channels)
	if channels == 1 {
		return &image.Gray{Pix: samples, Stride: width, Rect: area}
	}
	return &image.NRGBA{Pix: samples, Stride: 4 * width, Rect: area}
}

// page draws pictures, of which there are not too many.
func page(t *testing.T, pictures []sheet.Picture) image.Image {
	t.Helper()
	m, size := sheet.Draw(pictures, math.MaxInt64)
	if m == nil || m.Bounds().Size() != size {
		t.Fatalf("found a page of %v, said to be of %v", m, size)
	}
	return m
}

// TestDraw checks every enlarged pixel of every image and the light frames. The corners are those
// of a layout made by hand: a margin of 10 pixels, frames of one pixel that neighbours share, and
// glyphs of 7 pixels.
func TestDraw(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pictures []sheet.Picture
		scale    int
		corners  []image.Point
		size     image.Point
		bytes    int64
	}{
		"grey, with captions, 64/5 times as large": {
			[]sheet.Picture{picture(5, 3, 1, 0, "9 Ankle boot", "below"), picture(5, 3, 1, 50), picture(5, 3, 1, 90),
				picture(5, 3, 1, 128, "0 T-shirt")},
			12, []image.Point{{105, 11}, {166, 11}, {227, 11}, {105, 48}}, image.Pt(105+3*61+10, 48+37+10), 298 * 95},
		"RGBA": {[]sheet.Picture{picture(40, 20, 4, 0), picture(40, 20, 4, 9)},
			1, []image.Point{{11, 11}, {52, 11}}, image.Pt(103, 42), 4 * 103 * 42},
		"ten in a line that has over 2,000 pixels": {
			append(slices.Repeat([]sheet.Picture{picture(198, 27, 1, 1)}, 12), picture(198, 27, 1, 2, "x")),
			1, []image.Point{{28, 11}, {227, 11}, {426, 11}, {625, 11}, {824, 11}, {1023, 11}, {1222, 11}, {1421, 11},
				{1620, 11}, {1819, 11}, {28, 39}, {227, 39}, {28, 67}}, image.Pt(28+10*199+10, 67+28+10), 2028 * 105},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := page(t, c.pictures)
			if found := m.Bounds().Size(); found != c.size {
				t.Fatalf("found a page of %v, expected %v", found, c.size)
			}
			if m, _ := sheet.Draw(c.pictures, c.bytes); m == nil {
				t.Errorf("no page within %d bytes", c.bytes)
			}
			if m, size := sheet.Draw(c.pictures, c.bytes-1); m != nil || size != c.size {
				t.Errorf("with a lower limit found a page, or a size of %v", size)
			}
			expect := func(at image.Point, want color.Color) {
				t.Helper()
				if found := color.NRGBAModel.Convert(m.At(at.X, at.Y)); found != color.NRGBAModel.Convert(want) {
					t.Fatalf("found %v at %v, expected %v", found, at, want)
				}
			}
			for i, p := range c.pictures {
				corner, size := c.corners[i], p.Image.Bounds().Size().Mul(c.scale)
				for y := range size.Y {
					for x := range size.X {
						expect(corner.Add(image.Pt(x, y)), p.Image.At(x/c.scale, y/c.scale))
					}
				}
				for _, at := range []image.Point{{-1, -1}, size, {-1, size.Y}, {size.X, 0}} {
					expect(corner.Add(at), color.Gray{0xd0})
				}
			}
			expect(image.Point{}, color.White)
		})
	}
}

// TestHeadings has a letter of nine pixels in the middle of the height of its image.
func TestHeadings(t *testing.T) {
	t.Parallel()
	heading := func(text string) string {
		m := page(t, []sheet.Picture{picture(64, 13, 1, 0, text)})
		var lines strings.Builder
		for y := 11; y < 11+13; y++ {
			for x := 10; x < m.Bounds().Dx()-10-(64+2)-10; x++ {
				lines.WriteByte(map[color.Color]byte{color.Gray{0xff}: '.', color.Gray{}: '#'}[m.At(x, y)])
			}
			lines.WriteByte('\n')
		}
		return lines.String()
	}
	const want = `.......
.......
.#####.
...#...
...#...
...#...
...#...
...#...
...#...
...#...
...#...
.......
.......
`
	if found := heading("T"); found != want {
		t.Errorf("found\n%s\nexpected\n%s", found, want)
	}
	if heading(strings.Repeat("x", 30)) != heading(strings.Repeat("x", 21)+"...") {
		t.Error("a long heading is not cut")
	}
	if heading(strings.Repeat("x", 24)) == heading(strings.Repeat("x", 21)+"...") {
		t.Error("a heading that fits is cut")
	}
}

func TestPagesThatAreTooHigh(t *testing.T) {
	t.Parallel()
	many := slices.Repeat([]sheet.Picture{picture(28, 28, 1, 0, "one in a line")}, 1200) // of 57 pixels
	if m, size := sheet.Draw(many, math.MaxInt64); m != nil || size.Y != 10+1200*57+1+10 {
		t.Errorf("found a page of %v, expected none", size)
	}
}
