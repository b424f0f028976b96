package png_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	stdpng "image/png"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/png"
	"github.com/idxport/idxport/test/layouttest"
	"github.com/idxport/idxport/test/must"
)

// A kind is one format of pixels.
type kind struct {
	name       string
	channels   int
	bitDepth   int
	pixelBytes int
}

var kinds = []kind{
	{"gray 8", 1, 8, 1},
	{"gray 16", 1, 16, 2},
	{"RGB", 3, 8, 3},
	{"RGBA", 4, 8, 4},
}

// sizes include one pixel, single rows and columns, a row longer than a match, widths next to
// powers of two, and images on both sides of every limit for the ways to compress.
var sizes = [][2]int{
	{1, 1}, {1, 2}, {2, 1}, {3, 1}, {1, 300}, {300, 1}, {7, 9}, {28, 28}, {31, 29}, {32, 32}, {45, 45}, {64, 64},
	{90, 91}, {200, 150}, {9_000, 2},
}

func TestAppendRoundTrip(t *testing.T) {
	t.Parallel()
	for _, k := range kinds {
		for _, size := range sizes {
			for _, p := range patterns {
				w, h := size[0], size[1]
				t.Run(fmt.Sprintf("%s %dx%d %s", k.name, w, h, p.name), func(t *testing.T) {
					t.Parallel()
					pixels := p.make(w*k.pixelBytes, h)
					file, _ := bytes.CutPrefix(newEncoder(t, k, w, h).Append([]byte("kept"), pixels), []byte("kept"))
					checkFile(t, k, w, h, pixels, file)
				})
			}
		}
	}
}

// TestAppendAfterOtherImages checks that a file does not depend on earlier images of its encoder.
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
						t.Errorf("%s %dx%d %s, round %d: a used encoder wrote other bytes than a fresh one",
							k.name, w, h, p.name, round)
					}
				}
			}
		}
	}
}

// TestNoiseIsStored expects 5 bytes per stored block of 65,535, 6 for zlib, 57 for the chunks, and
// a filter byte per row.
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

// TestSizeAgainstImagePNG uses glyphs with soft edges, like those in the data sets that this
// package is for.
func TestSizeAgainstImagePNG(t *testing.T) {
	t.Parallel()
	e := newEncoder(t, kinds[0], 28, 28)
	var ours, theirs int
	for i := range 50 {
		pixels := ring(28, 28, 4+float64(i)/10)
		ours += len(e.Append(nil, pixels))
		var b bytes.Buffer
		img := &image.Gray{Pix: pixels, Stride: 28, Rect: image.Rect(0, 0, 28, 28)}
		must.Do(t, stdpng.Encode(&b, img))
		theirs += b.Len()
	}
	if ours*100 > theirs*110 {
		t.Errorf("found %d bytes, expected at most a tenth more than image/png's %d", ours, theirs)
	}
}

// TestAppendDoesNotAllocate is not parallel, as AllocsPerRun counts the allocations of all
// goroutines.
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
		name                              string
		width, height, bitDepth, channels int
		want                              string
	}{
		{"too many pixels", math.MaxInt32, 1, 8, 1, "size out of range"},
		{"product overflows 64 bits with its chunks", math.MaxInt32, math.MaxInt32, 8, 4, "size out of range"},
		{"product wraps to 0 in 32 bits", 1<<16 - 1, 1 << 16, 8, 1, "size out of range"},
	} {
		_, err := png.NewEncoder(tt.width, tt.height, tt.channels, tt.bitDepth)
		if !errors.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: found the error %v, expected %v", tt.name, err, tt.want)
		}
	}
}

func newEncoder(t testing.TB, k kind, width, height int) *png.Encoder {
	t.Helper()
	return must.Get(png.NewEncoder(width, height, k.channels, k.bitDepth))(t)
}

// checkFile decodes a file with image/png, which checks the sums of chunks and scanlines. Nothing
// may follow the image.
func checkFile(t *testing.T, k kind, width, height int, pixels, file []byte) {
	t.Helper()
	if limit := newEncoder(t, k, width, height).MaxSize(); len(file) > limit {
		t.Errorf("found %d bytes, expected at most %d", len(file), limit)
	}
	if size, found := layouttest.Decode(t, file); size != image.Pt(width, height) || !bytes.Equal(found, pixels) {
		t.Fatalf("found an image of %v and %d bytes, expected %d×%d and %d, or other pixels", size, len(found),
			width, height, len(pixels))
	}
	if !bytes.HasSuffix(file, []byte("IEND\xae\x42\x60\x82")) {
		t.Error("the file goes on after the image")
	}
}

// patterns make the bytes of an image from the bytes per row and the number of rows.
var patterns = []struct {
	name string
	make func(rowBytes, height int) []byte
}{
	{"black", func(w, h int) []byte { return make([]byte, w*h) }},
	{"white", func(w, h int) []byte { return bytes.Repeat([]byte{255}, w*h) }},
	{"gradient", func(w, h int) []byte { return fill(w, h, func(x, y int) int { return 3*x + 2*y }) }},
	{"equal rows", func(w, h int) []byte { return fill(w, h, func(x, _ int) int { return 37 * x }) }},
	{"equal columns", func(w, h int) []byte { return fill(w, h, func(_, y int) int { return 37 * y }) }},
	{"ring", func(w, h int) []byte { return ring(w, h, 6) }},
	{"sparse", sparse},
	{"noise", noise},
	{"noise of two values", func(w, h int) []byte {
		random := rand.New(rand.NewPCG(3, 4))
		return fill(w, h, func(_, _ int) int { return 200 * random.IntN(2) })
	}},
}

func fill(rowBytes, height int, value func(x, y int) int) []byte {
	var out []byte
	for y := range height {
		for x := range rowBytes {
			out = append(out, byte(value(x, y)))
		}
	}
	return out
}

func noise(rowBytes, height int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	return fill(rowBytes, height, func(_, _ int) int { return random.IntN(256) })
}

// sparse returns black with random values in about every twentieth place.
func sparse(rowBytes, height int) []byte {
	random := rand.New(rand.NewPCG(5, 6))
	return fill(rowBytes, height, func(_, _ int) int {
		if random.IntN(20) > 0 {
			return 0
		}
		return random.IntN(256)
	})
}

// ring returns a soft white ring of the given radius on black, similar to a handwritten zero.
func ring(rowBytes, height int, radius float64) []byte {
	return fill(rowBytes, height, func(x, y int) int {
		r := math.Hypot(float64(x)-float64(rowBytes)/2, float64(y)-float64(height)/2)
		return int(255 * max(0, 1-math.Abs(r-radius)/2))
	})
}

// FuzzAppend repeats the given bytes over an image of any kind and up to 128×128 pixels.
func FuzzAppend(f *testing.F) {
	// The sides are one larger than the arguments.
	f.Add(uint8(0), uint8(0), uint8(0), []byte{0})
	f.Add(uint8(27), uint8(27), uint8(0), []byte("\x00\x00\x00\x00\x00\x00\x00\x00\x20\xff\xff\x80"))
	f.Add(uint8(30), uint8(28), uint8(1), []byte{1, 2, 3})
	f.Add(uint8(119), uint8(99), uint8(2), noise(100, 100))
	f.Add(uint8(8), uint8(69), uint8(3), sparse(36, 70))
	f.Fuzz(func(t *testing.T, width, height uint8, which uint8, data []byte) {
		k := kinds[int(which)%len(kinds)]
		w, h := int(width)%128+1, int(height)%128+1
		pixels := make([]byte, w*h*k.pixelBytes)
		for n := 0; len(data) > 0 && n < len(pixels); {
			n += copy(pixels[n:], data)
		}
		e := newEncoder(t, k, w, h)
		checkFile(t, k, w, h, pixels, e.Append(nil, pixels))
	})
}
