package png_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	stdpng "image/png"
	"math"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/png"
)

// kind is one way samples make a pixel.
type kind struct {
	name       string
	color      png.Color
	bitDepth   int
	pixelBytes int
}

var kinds = []kind{
	{"gray 8", png.Gray, 8, 1},
	{"gray 16", png.Gray, 16, 2},
	{"RGB", png.RGB, 8, 3},
	{"RGBA", png.RGBA, 8, 4},
}

// sizes cover one pixel, single rows and columns, a row longer than a match, widths beside powers of two, and images on
// both sides of every limit in how they are compressed.
var sizes = [][2]int{
	{1, 1}, {1, 2}, {2, 1}, {3, 1}, {1, 300}, {300, 1}, {7, 9}, {28, 28}, {31, 29}, {32, 32}, {45, 45}, {64, 64},
	{90, 91}, {200, 150}, {9_000, 2},
}

func TestAppendRoundTrip(t *testing.T) {
	t.Parallel()
	for _, k := range kinds {
		for _, size := range sizes {
			for _, p := range patterns {
				t.Run(fmt.Sprintf("%s %dx%d %s", k.name, size[0], size[1], p.name), func(t *testing.T) {
					t.Parallel()
					w, h := size[0], size[1]
					pixels := p.make(w*k.pixelBytes, h)
					checkFile(t, k, w, h, pixels, newEncoder(t, k, w, h).Append(nil, pixels))
				})
			}
		}
	}
}

// The bytes were put together with Python's zlib.crc32; its zlib also makes this stream of two zeros.
func TestAppendOneBlackPixel(t *testing.T) {
	t.Parallel()
	const want = "89504e470d0a1a0a" +
		"0000000d49484452000000010000000108000000003a7e9b55" +
		"0000000a4944415478016360000000020001" + "73750118" +
		"0000000049454e44ae426082"
	got := newEncoder(t, kinds[0], 1, 1).Append([]byte("kept"), []byte{0})
	if hex.EncodeToString(got[4:]) != want || string(got[:4]) != "kept" {
		t.Errorf("found %x, expected \"kept\" and %s", got, want)
	}
}

// A file must not depend on what the encoder wrote before, or the bytes would depend on how work was shared.
func TestAppendAfterOtherImages(t *testing.T) {
	t.Parallel()
	for _, k := range kinds {
		for _, size := range [][2]int{{28, 28}, {120, 100}} {
			w, h := size[0], size[1]
			used := newEncoder(t, k, w, h)
			for round := range 2 {
				for _, p := range patterns {
					pixels := p.make(w*k.pixelBytes, h)
					fresh := newEncoder(t, k, w, h).Append(nil, pixels)
					if got := used.Append(nil, pixels); !bytes.Equal(got, fresh) {
						t.Errorf("%s %dx%d %s, round %d: a used encoder wrote other bytes than a fresh one", k.name, w, h, p.name, round)
					}
				}
			}
		}
	}
}

// Noise is stored: 5 bytes per block of 65,535, 6 for zlib, 57 for the chunks, a filter byte per row.
func TestNoiseIsStored(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{28, 28}, {64, 64}, {400, 400}} {
		w, h := size[0], size[1]
		lines := h * (w + 1)
		want := lines + 5*((lines+65_534)/65_535) + 6 + 57
		e := newEncoder(t, kinds[0], w, h)
		if got := len(e.Append(nil, noise(w, h))); got != want || e.MaxSize() != want {
			t.Errorf("%d×%d: found %d bytes, at most %d; expected %d for both", w, h, got, e.MaxSize(), want)
		}
	}
}

// Drawn glyphs, soft at the edges, stand in for the data sets this package is for.
func TestSizeBesideImagePNG(t *testing.T) {
	t.Parallel()
	e := newEncoder(t, kinds[0], 28, 28)
	var ours, theirs int
	for i := range 50 {
		pixels := ring(28, 28, 4+float64(i)/10)
		ours += len(e.Append(nil, pixels))
		var b bytes.Buffer
		img := &image.Gray{Pix: pixels, Stride: 28, Rect: image.Rect(0, 0, 28, 28)}
		if err := stdpng.Encode(&b, img); err != nil {
			t.Fatal(err)
		}
		theirs += b.Len()
	}
	if ours*100 > theirs*110 {
		t.Errorf("found %d bytes, expected at most a tenth more than image/png's %d", ours, theirs)
	}
}

// Not parallel: AllocsPerRun counts the allocations of all goroutines.
func TestAppendDoesNotAllocate(t *testing.T) {
	for _, p := range patterns {
		e := newEncoder(t, kinds[0], 28, 28)
		pixels := p.make(28, 28)
		dst := make([]byte, 0, e.MaxSize())
		if n := testing.AllocsPerRun(100, func() { e.Append(dst, pixels) }); n != 0 {
			t.Errorf("%s: found %v allocations per image, expected none", p.name, n)
		}
	}
}

func TestNewEncoderRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name                    string
		width, height, bitDepth int
		color                   png.Color
		want                    string
	}{
		{"no columns", 0, 1, 8, png.Gray, "size out of range"},
		{"no rows", 1, 0, 8, png.Gray, "size out of range"},
		{"negative", -1, -1, 8, png.Gray, "size out of range"},
		{"too many pixels", math.MaxInt32, 1, 8, png.Gray, "size out of range"},
		{"product overflows 64 bits with its chunks", math.MaxInt32, math.MaxInt32, 8, png.RGBA, "size out of range"},
		{"product wraps to 0 in 32 bits", 1<<16 - 1, 1 << 16, 8, png.Gray, "size out of range"},
		{"one bit", 1, 1, 1, png.Gray, "unsupported image format"},
		{"RGB of 16 bits", 1, 1, 16, png.RGB, "unsupported image format"},
		{"unknown colour", 1, 1, 8, png.RGBA + 1, "unsupported image format"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := png.NewEncoder(tt.width, tt.height, tt.color, tt.bitDepth); !errors.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("found error %v, expected %v", err, tt.want)
			}
		})
	}
}

// The limit is 2³¹ − 2²⁰ − 1 bytes; this image has 2³¹ − 17 · 2¹⁶, the most with this many rows. Nothing is allocated.
func TestLargestImage(t *testing.T) {
	t.Parallel()
	e, err := png.NewEncoder(1<<15-18, 1<<16, png.Gray, 8)
	if err != nil {
		t.Fatal(err)
	}
	if n := e.MaxSize(); n <= 0 || n > math.MaxInt32 {
		t.Errorf("found a bound of %d bytes, expected it to fit a chunk", n)
	}
}

func TestAppendPanicsOnWrongLength(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 5, 7} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d bytes for 6 pixels: expected a panic", n)
				}
			}()
			newEncoder(t, kinds[0], 2, 3).Append(nil, make([]byte, n))
		}()
	}
}

func newEncoder(t testing.TB, k kind, width, height int) *png.Encoder {
	t.Helper()
	e, err := png.NewEncoder(width, height, k.color, k.bitDepth)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
