package picture

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/test/must"
)

// near reports whether no sample differs by more than tolerance.
func near(a, b []byte, tolerance int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if abs(int(a[i])-int(b[i])) > tolerance {
			return false
		}
	}
	return true
}

// TestOtherKinds compares files that Pillow wrote with the samples that Pillow reads. Decoders of
// JPEG and of lossy WebP differ a little.
func TestOtherKinds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ channels, tolerance int }{
		"grey.jpg": {1, 1}, "rgb.jpg": {3, 2}, "progressive.jpg": {3, 2}, "grey.bmp": {3, 0}, "rgb.bmp": {3, 0}, "grey.tif": {1, 0},
		"rgb.tif": {3, 0}, "lossless.webp": {3, 0}, "lossy.webp": {3, 6}, "opaque.webp": {3, 0}, "still.gif": {3, 0}, "animated.gif": {3, 0},
	} {
		file, want := fixture(t, name), fixture(t, name+".raw")
		f := must.Get(Options{}.Describe(file))(t)
		if expected := (Format{Width: 5, Height: 4, Channels: c.channels, Depth: 8}); f != expected {
			t.Errorf("%s: found %v, expected %v", name, f, expected)
			continue
		}
		if HasGreyPalette(file) { // BMP has no other grey
			f.Channels = 1
		}
		got, err := f.Append([]byte("x"), file)
		if err != nil || got[0] != 'x' || !near(got[1:], want, c.tolerance) {
			t.Errorf("%s: found %v, error %v, expected %v", name, got, err, want)
		}
		if d := (Options{}).Decoders(KindOf(file)); (d == nil) != (c.tolerance == 0 && !strings.HasSuffix(name, "webp")) {
			t.Errorf("%s: found the decoders %q", name, d)
		}
	}
	if module := must.Get(os.ReadFile("../../go.mod"))(t); !strings.Contains(string(module), "golang.org/x/image "+imageVersion+"\n") {
		t.Errorf("go.mod has another version of golang.org/x/image than %s", imageVersion)
	}
}

func TestKindsRefused(t *testing.T) {
	t.Parallel()
	part := image.NewPaletted(image.Rect(1, 1, 3, 3), color.Palette{color.Black, color.White})
	var frame bytes.Buffer
	must.Do(t, gif.EncodeAll(&frame, &gif.GIF{Image: []*image.Paletted{part}, Delay: []int{0}, Config: image.Config{ColorModel: part.Palette, Width: 5, Height: 4}}))
	photo := fixture(t, "progressive.jpg")
	scan := bytes.Index(photo, []byte("\xff\xda"))
	huge := bytes.Clone(photo)
	size := bytes.Index(huge, []byte("\xff\xc2")) + 5
	copy(huge[size:], "\x40\x00\x40\x00")
	sparse := append(bytes.Clone(huge), make([]byte, 100_000)...)
	copy(sparse[size:], "\x10\x00\x10\x00")
	for name, c := range map[string]struct {
		file []byte
		kind fault.Kind
		want string
	}{
		"turned JPEG":           {fixture(t, "turned.jpg"), fault.Unsupported, "turned or mirrored (orientation 6)"},
		"turned PNG":            {fixture(t, "turned.png"), fault.Unsupported, "turned or mirrored (orientation 6)"},
		"turned WebP":           {fixture(t, "turned.webp"), fault.Unsupported, "turned or mirrored (orientation 6)"},
		"turned TIFF":           {fixture(t, "turned.tif"), fault.Unsupported, "turned or mirrored (orientation 6)"},
		"printing":              {fixture(t, "cmyk.jpg"), fault.Unsupported, "CMYK"},
		"pages":                 {fixture(t, "pages.tif"), fault.Unsupported, "several pages"},
		"transparent WebP":      {fixture(t, "clear.webp"), fault.Unsupported, "some pixels are transparent"},
		"transparent TIFF":      {fixture(t, "clear.tif"), fault.Unsupported, "some pixels are transparent"},
		"a part of the screen":  {frame.Bytes(), fault.Unsupported, "the pixels are 2×2 at x = 1, y = 1, expected 5×4"},
		"a cut JPEG":            {photo[:len(photo)-20], fault.Truncated, "ends inside its JPEG image"},
		"scans without end":     {append(bytes.Clone(photo[:scan]), bytes.Repeat([]byte("\xff\xda\x00\x02"), 101)...), fault.Unsupported, "more than 100 scans"},
		"a size beyond its end": {huge, fault.Truncated, "16384×16384 pixels, but the file has only"},
		"a sparse JPEG":         {sparse, fault.Unsupported, "found a progressive JPEG image of 4096×4096 pixels in only"},
		"an animated WebP":      {[]byte("RIFF\x1a\x00\x00\x00WEBPANIM\x06\x00\x00\x00\x00\x00\x00\x00\x00\x00"), fault.Malformed, "the WebP image is damaged, or of a kind that is not read"},
	} {
		f := Format{Width: 5, Height: 4, Channels: 3, Depth: 8}
		dst, err := f.Append([]byte("x"), c.file)
		if fault.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.want) || fault.HintOf(err) == "" || string(dst) != "x" {
			t.Errorf("%s: found %v, %q, expected a %v, %q", name, err, dst, c.kind, c.want)
		}
	}
}

// TestChroma compares the colours of every sampling with those that image.YCbCr has.
func TestChroma(t *testing.T) {
	t.Parallel()
	for ratio := image.YCbCrSubsampleRatio444; ratio <= image.YCbCrSubsampleRatio410; ratio++ {
		m := image.NewYCbCr(image.Rect(0, 0, 9, 5), ratio)
		for i, plane := range [][]byte{m.Y, m.Cb, m.Cr} {
			for k := range plane {
				plane[k] = byte(k*(37+i) + i)
			}
		}
		for y := range 5 {
			got := stored{}.appendYCbCr(nil, m, y)
			for x := range 9 {
				if c := color.RGBAModel.Convert(m.At(x, y)).(color.RGBA); !bytes.Equal(got[3*x:3*x+3], []byte{c.R, c.G, c.B}) {
					t.Fatalf("%v, x = %d, y = %d: found %v, expected %v", ratio, x, y, got[3*x:3*x+3], c)
				}
			}
		}
	}
}

// TestConversions scales as Pillow's BICUBIC, and makes grey by the weights of ITU-R 601.
func TestConversions(t *testing.T) {
	t.Parallel()
	file := fixture(t, "rgb.tif")
	for _, size := range [][2]int{{3, 2}, {9, 7}} {
		f := must.Get(Options{Width: size[0], Height: size[1]}.Describe(file))(t)
		want := fixture(t, fmt.Sprintf("rgb-%dx%d.raw", size[0], size[1]))
		if got, err := f.Append(nil, file); err != nil || !near(got, want, 1) || int64(len(got)) != f.Size() {
			t.Errorf("%v: found %v, error %v, expected %v", f, got, err, want)
		}
	}
	m := image.NewRGBA(image.Rect(0, 0, 4, 1))
	for x, c := range []color.RGBA{{255, 0, 0, 255}, {0, 255, 0, 255}, {0, 0, 255, 255}, {77, 77, 77, 255}} {
		m.SetRGBA(x, 0, c)
	}
	colors := must.Get(Options{Grey: true}.Describe(pngOf(t, m)))(t)
	if got := must.Get(colors.Append(nil, pngOf(t, m)))(t); !bytes.Equal(got, []byte{76, 150, 29, 77}) {
		t.Errorf("found the greys %v", got)
	}
	every := make([]byte, 0, 3*16*16*16)
	for i := range byte(16) {
		for k := range 256 {
			every = append(every, 17*i, byte(k/16*17), byte(k%16*17))
		}
	}
	for i, got := range toGrey(bytes.Clone(every)) {
		c := color.RGBA{every[3*i], every[3*i+1], every[3*i+2], 255}
		if want := color.GrayModel.Convert(c).(color.Gray).Y; got != want {
			t.Fatalf("%v: found %d, expected %d", c, got, want)
		}
	}
	both := Options{Width: 2, Height: 2, Grey: true}
	first := must.Get(both.Describe(file))(t)
	if first.Channels != 1 || first.Size() != 4 {
		t.Errorf("found %v", first)
	}
	for name, want := range map[string]string{
		"grey8.png": "", "rgba8.png": "some pixels are transparent", "grey.bmp": "", "rgb.jpg": "", "grey16.png": "expected 2×2, 8-bit grey", "opaque.webp": "",
	} {
		got, err := first.Append(nil, fixture(t, name))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) || err == nil && len(got) != 4 {
			t.Errorf("%s: found %v, error %v, expected %q", name, got, err, want)
		}
	}
	for name, c := range map[string]struct {
		file    []byte
		options Options
		want    string
	}{
		"a large image":      {file, Options{Grey: true, Limit: 59}, "60 bytes, expected at most 59"},
		"16 bits to scale":   {fixture(t, "grey16.png"), Options{Width: 2, Height: 2}, "expected 8 bits"},
		"higher than memory": {jpegOf(t, 1, 65000), Options{Width: 224, Height: 224}, "too high to be scaled to 224×224"},
	} {
		if _, err := c.options.Describe(c.file); err == nil || !strings.Contains(err.Error(), c.want) || fault.HintOf(err) == "" {
			t.Errorf("%s: found %v, expected %q", name, err, c.want)
		}
	}
}

// TestHints says which flag makes pictures alike.
func TestHints(t *testing.T) {
	t.Parallel()
	f := Format{Width: 5, Height: 4, Channels: 1, Depth: 8}
	for name, want := range map[string]string{"rgb8.png": "--grey makes all images grey", "grey16.png": "convert it with another program"} {
		if _, err := f.Append(nil, fixture(t, name)); !strings.Contains(fault.HintOf(err), want) {
			t.Errorf("%s: found the hint %q, expected %q", name, fault.HintOf(err), want)
		}
	}
	for channels, want := range map[int]string{1: "--resize 6x4 scales all images", 3: "--grey --resize 6x4 makes all images grey and scales them"} {
		f := Format{Width: 6, Height: 4, Channels: channels, Depth: 8}
		if _, err := f.Append(nil, fixture(t, "grey8.png")); !strings.Contains(fault.HintOf(err), want) {
			t.Errorf("%v: found the hint %q, expected %q", f, fault.HintOf(err), want)
		}
	}
}

func pngOf(t *testing.T, m image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	must.Do(t, png.Encode(&out, m))
	return out.Bytes()
}

func jpegOf(t *testing.T, width, height int) []byte {
	t.Helper()
	var out bytes.Buffer
	must.Do(t, jpeg.Encode(&out, image.NewGray(image.Rect(0, 0, width, height)), nil))
	return out.Bytes()
}
