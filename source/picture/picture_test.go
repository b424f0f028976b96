package picture

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
)

// fixture returns a file of testdata, all pictures of which are 5×4.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(filepath.Join("testdata", name)))(t)
}

// near reports whether no sample differs by more than tolerance.
func near(a, b []byte, tolerance int) bool {
	return slices.EqualFunc(a, b, func(v, w byte) bool { return int(max(v, w)-min(v, w)) <= tolerance })
}

// TestPillowReadsTheSame compares files with the samples that Pillow reads. Decoders of JPEG and of
// lossy WebP differ a little.
func TestPillowReadsTheSame(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ channels, depth, tolerance int }{
		"grey1.png": {1, 8, 0}, "grey2.png": {1, 8, 0}, "grey4.png": {1, 8, 0}, "grey8.png": {1, 8, 0},
		"grey16.png": {1, 16, 0}, "greypalette2.png": {1, 8, 0}, "greypalette8.png": {1, 8, 0},
		"palette.png": {3, 8, 0}, "greyopaque8.png": {1, 8, 0}, "rgbopaque8.png": {3, 8, 0},
		"rgb8.png": {3, 8, 0}, "greyalpha8.png": {4, 8, 0}, "rgba8.png": {4, 8, 0}, "grey.jpg": {1, 8, 1},
		"rgb.jpg": {3, 8, 2}, "progressive.jpg": {3, 8, 2}, "grey.bmp": {1, 8, 0}, "rgb.bmp": {3, 8, 0},
		"grey.tif": {1, 8, 0}, "rgb.tif": {3, 8, 0}, "still.gif": {3, 8, 0}, "animated.gif": {3, 8, 0},
		"lossless.webp": {3, 8, 0}, "opaque.webp": {3, 8, 0}, "lossy.webp": {3, 8, 6},
		"lossy-red.webp": {3, 8, 2},
	} {
		file, want := fixture(t, name), fixture(t, name+".raw")
		f := must.Get(Options{}.Describe(file))(t)
		if expected := (Format{Width: 5, Height: 4, Channels: c.channels, Depth: c.depth}); f != expected {
			t.Errorf("%s: found %v, expected %v", name, f, expected)
		}
		got, err := f.Append([]byte("x"), file)
		if err != nil || got[0] != 'x' || !near(got[1:], want, c.tolerance) || f.Size() != int64(len(want)) {
			t.Errorf("%s: found %v, error %v, expected %v", name, got, err, want)
		}
		shape := []int{4, 5, c.channels}
		if c.channels == 1 {
			shape = shape[:2]
		}
		d := map[int]idx.DType{8: idx.Uint8, 16: idx.Int16}[c.depth]
		if !slices.Equal(f.Shape(), shape) || f.DType() != d {
			t.Errorf("%s: found the shape %v and the type %v", name, f.Shape(), f.DType())
		}
		if d := (Options{}).Decoders(KindOf(file)); (d == nil) != (c.tolerance == 0 && filepath.Ext(name) != ".webp") {
			t.Errorf("%s: found the decoders %q", name, d)
		}
	}
	version := strings.TrimPrefix(Options{}.Decoders("WEBP")[0], "golang.org/x/image/webp ")
	if module := must.Get(os.ReadFile("../../go.mod"))(t); !strings.Contains(string(module), "x/image "+version+"\n") {
		t.Errorf("go.mod has another version of golang.org/x/image than %s", version)
	}
}

// withHeader returns file, a PNG, with b in place of the bytes of IHDR from offset at on, and the
// right checksum.
func withHeader(file []byte, at int, b ...byte) []byte {
	file = bytes.Clone(file)
	copy(file[16+at:], b)
	binary.BigEndian.PutUint32(file[29:], crc32.ChecksumIEEE(file[12:29]))
	return file
}

// changed returns file with one bit changed.
func changed(file []byte, at int) []byte {
	file = bytes.Clone(file)
	file[at] ^= 1
	return file
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	good, photo := fixture(t, "grey8.png"), fixture(t, "progressive.jpg")
	part := image.NewPaletted(image.Rect(1, 1, 3, 3), color.Palette{color.Black, color.RGBA{R: 255, A: 255}})
	var frame, colors16 bytes.Buffer
	must.Do(t, gif.EncodeAll(&frame, &gif.GIF{Image: []*image.Paletted{part}, Delay: []int{0},
		Config: image.Config{ColorModel: color.Palette{color.Black, color.White}, Width: 5, Height: 4}}))
	must.Do(t, png.Encode(&colors16, image.NewRGBA64(image.Rect(0, 0, 5, 4))))
	scan := bytes.Index(photo, []byte("\xff\xda"))
	sparse := append(bytes.Clone(photo), make([]byte, 100_000)...)
	copy(sparse[bytes.Index(photo, []byte("\xff\xc2"))+5:], "\x10\x00\x10\x00")
	scans := append(bytes.Clone(photo[:scan]), bytes.Repeat([]byte("\xff\xda\x00\x02"), 101)...)
	animated := []byte("RIFF\x28\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x02\x00\x00\x00\x04\x00\x00\x03\x00\x00" +
		"ANIM\x06\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	const malformed, truncated, unsupported = fault.Malformed, fault.Truncated, fault.Unsupported
	sides, pixels, tooMany := "2147483647×4 pixels", "4294967296 bytes, expected at most 16777216", unsupported
	if strconv.IntSize == 32 { // image/png refuses them itself
		sides, pixels, tooMany = "dimension overflow", "dimension overflow", malformed
	}
	for name, c := range map[string]struct {
		file []byte
		kind fault.Kind
		want string
	}{
		"nothing":              {nil, truncated, "the file is empty"},
		"two bytes of a JPEG":  {[]byte("\xff\xd8\xff\xe0rest"), truncated, "ends inside its JPEG image"},
		"a cut JPEG":           {photo[:len(photo)-20], truncated, "ends inside its JPEG image"},
		"text":                 {[]byte("<html>"), unsupported, "begins with \"<html>\""},
		"cut in the header":    {good[:20], truncated, "ends inside its PNG image"},
		"cut in the pixels":    {good[:60], malformed, "not enough pixel data"},
		"a line too few":       {withLines(0, 5, 4, make([]byte, 18)), malformed, "not enough pixel data"},
		"a damaged pixel":      {changed(good, len(good)-20), malformed, "the PNG image is damaged"},
		"a damaged header":     {changed(good, 20), malformed, "invalid checksum"},
		"a damaged size":       {changed(good, 36), malformed, "the PNG image is damaged"},
		"no pixels":            {withHeader(good, 0, 0, 0, 0, 0), malformed, "non-positive dimension"},
		"no columns":           {[]byte("GIF89a\x00\x00\x04\x00\x00\x00\x00"), malformed, "has 0×4 pixels"},
		"no rows":              {[]byte("GIF89a\x05\x00\x00\x00\x00\x00\x00"), malformed, "has 5×0 pixels"},
		"a size past counting": {withHeader(good, 0, 0x7f, 0xff, 0xff, 0xff), malformed, sides},
		"a depth of 3":         {withHeader(good, 8, 3, 0), malformed, "bit depth 3, color type 0"},
		"no such interlacing":  {withHeader(good, 12, 2), malformed, "the PNG image is damaged"},
		"a turned JPEG":        {fixture(t, "turned.jpg"), unsupported, "turned or mirrored (orientation 6)"},
		"a turned PNG":         {fixture(t, "turned.png"), unsupported, "turned or mirrored (orientation 6)"},
		"a turned WebP":        {fixture(t, "turned.webp"), unsupported, "turned or mirrored (orientation 6)"},
		"a turned TIFF":        {fixture(t, "turned.tif"), unsupported, "turned or mirrored (orientation 6)"},
		"a turned long, LE":    {fixture(t, "turned-le.jpg"), unsupported, "turned or mirrored (orientation 6)"},
		"a turned long, BE":    {fixture(t, "turned-be.jpg"), unsupported, "turned or mirrored (orientation 6)"},
		"a turned text":        {fixture(t, "turned-APP1.png"), unsupported, "turned or mirrored (orientation 6)"},
		"a turned packed text": {fixture(t, "turned-exif.png"), unsupported, "turned or mirrored (orientation 6)"},
		"a turned XMP":         {fixture(t, "turned-xmp.jpg"), unsupported, "turned or mirrored (orientation 6)"},
		"a turned XMP element": {fixture(t, "turned-xmp.webp"), unsupported, "turned or mirrored (orientation 6)"},
		"a lone predictor":     {fixture(t, "predictor.tif"), unsupported, "the tag 317 with the value 2"},
		"one size of samples":  {fixture(t, "samples.tif"), unsupported, "the tag 277 with the value 2"},
		"a preview":            {fixture(t, "preview.tif"), unsupported, "the tag 254 with the value 1"},
		"CMYK":                 {fixture(t, "cmyk.jpg"), unsupported, "CMYK"},
		"colours of 16 bits":   {colors16.Bytes(), unsupported, "colours of 16 bits"},
		"pages":                {fixture(t, "pages.tif"), unsupported, "several pages"},
		"transparent WebP":     {fixture(t, "clear.webp"), unsupported, "some pixels are transparent"},
		"transparent TIFF":     {fixture(t, "clear.tif"), unsupported, "some pixels are transparent"},
		"transparent palette":  {fixture(t, "palettealpha.png"), unsupported, "some pixels are transparent"},
		"transparent grey":     {fixture(t, "greytransparent.png"), unsupported, "some pixels are transparent"},
		"part of the screen": {frame.Bytes(), unsupported,
			"the pixels are 2×2, 8-bit RGB, at x = 1, y = 1, expected 5×4, 8-bit grey as the header says"},
		"16 bits beyond int16": {fixture(t, "toolarge16.png"), malformed,
			"x = 0, y = 0 has a sample of 40000, expected at most 32767"},
		"scans without end": {scans, unsupported, "of 101 scans"},
		"a sparse JPEG":     {sparse, unsupported, "a progressive JPEG image, 4096×4096, 8-bit RGB, of 10 scans in"},
		"an animated WebP":  {animated, malformed, "the WEBP image is damaged, or of a kind that is not read"},
		"too many pixels":   {withHeader(good, 0, 0, 1, 0, 0, 0, 1, 0, 0), tooMany, pixels},
	} {
		f, err := Options{Limit: 1 << 24}.Describe(c.file)
		if err == nil {
			_, err = f.Append(nil, c.file)
		}
		if fault.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.want) || fault.HintOf(err) == "" {
			t.Errorf("%s: found %v, expected a %v, %q", name, err, c.kind, c.want)
		}
	}
}

// TestOrientationOfEXIF has XMP from before the pixels were turned: Pillow, too, prefers EXIF.
func TestOrientationOfEXIF(t *testing.T) {
	t.Parallel()
	const xmp, exif = `<x tiff:Orientation="6"/>`, "\x12\x01\x03\x00\x01\x00\x00\x00"
	for text, want := range map[string]byte{xmp: 6, xmp + exif + "\x01": 1, exif + "\x08": 8, exif + "\x09": 0} {
		if found := orientation([]byte(text)); found != want {
			t.Errorf("%q: found %d, expected %d", text, found, want)
		}
	}
}

// TestOtherFormats has pictures of another size or type than the first one. Greys and colours that
// are opaque also fit records with more channels, as in Pillow's convert.
func TestOtherFormats(t *testing.T) {
	t.Parallel()
	format := func(channels int) Format { return Format{Width: 5, Height: 4, Channels: channels, Depth: 8} }
	grey := format(1)
	for name, c := range map[string]struct {
		f          Format
		want, hint string
	}{
		"rgb8.png":    {grey, "found 5×4, 8-bit RGB, expected 5×4, 8-bit grey as in the first", "--shape 4x5x3;"},
		"grey4.png":   {Format{Width: 6, Height: 4, Channels: 1, Depth: 8}, "expected 6×4", "size: --resize 6x4"},
		"grey8.png":   {Format{Width: 5, Height: 4, Channels: 1, Depth: 16}, "expected 5×4, 16-bit", "-depth 8"},
		"grey.jpg":    {Format{Width: 5, Height: 4, Channels: 1, Depth: 16}, "expected 5×4, 16-bit", "-depth 8"},
		"grey16.png":  {grey, "found 5×4, 16-bit grey", "mogrify -depth 8"},
		"palette.png": {grey, "found 5×4, 8-bit RGB", "--grey"},
	} {
		_, err := c.f.Append(nil, fixture(t, name))
		hint := fault.HintOf(err)
		if fault.KindOf(err) != fault.Malformed || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(hint, c.hint) {
			t.Errorf("%s: found %v, hint %q, expected %q, %q", name, err, hint, c.want, c.hint)
		}
	}
	for _, name := range []string{"greypalette8.png", "grey4.png", "grey.bmp", "grey.jpg", "rgb.tif", "rgb.jpg"} {
		for channels := 3; channels <= 4; channels++ {
			samples, want := fixture(t, name+".raw"), []byte(nil)
			for p := range slices.Chunk(samples, len(samples)/20) {
				want = append(want, []byte{p[0], p[len(p)/2], p[len(p)-1], 255}[:channels]...)
			}
			if got, err := format(channels).Append(nil, fixture(t, name)); err != nil || !near(got, want, 2) {
				t.Errorf("%s: found % x, error %v, expected % x", name, got, err, want)
			}
		}
	}
	one := Format{Width: 1, Height: 1, Channels: 3, Depth: 8}
	if got, err := one.Append(nil, withLines(6, 1, 1, []byte{0, 9, 8, 7, 255})); !bytes.Equal(got, []byte{9, 8, 7}) {
		t.Errorf("opaque RGBA: found % x, error %v", got, err)
	}
	for name, channels := range map[string]int{"clear.webp": 4, "palettealpha.png": 4, "rgba8.png": 3, "clear.tif": 4} {
		if _, err := format(channels).Append(nil, fixture(t, name)); !strings.Contains(fmt.Sprint(err), "transparent") {
			t.Errorf("%s: found %v, expected that transparent pixels are refused", name, err)
		}
	}
	if _, err := format(3).Append(nil, fixture(t, "turned.jpg")); !strings.Contains(fmt.Sprint(err), "to be turned") {
		t.Errorf("found %v, expected that an image with an orientation is refused", err)
	}
}

// TestTags has TIFF files with another value of a tag, and the tag that is refused then, or 0.
func TestTags(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                      string
		tag, value, with, refused uint16
	}{
		{"rgb.tif", 259, 5, 8, 0}, {"rgb.tif", 259, 5, 32946, 0}, {"rgb.tif", 259, 5, 32773, 317},
		{"rgb.tif", 259, 5, 4, 259}, {"grey.tif", 259, 5, 2, 259}, {"rgb.tif", 266, 1, 2, 266},
		{"rgb.tif", 284, 1, 2, 284}, {"grey.tif", 284, 1, 2, 0}, {"rgb.tif", 317, 2, 3, 317},
		{"preview.tif", 254, 1, 2, 0},
	} {
		entry := func(v uint16) []byte { // of a SHORT, or of a LONG
			kind := map[bool]byte{true: 4, false: 3}[c.tag == 254]
			return []byte{byte(c.tag), byte(c.tag >> 8), kind, 0, 1, 0, 0, 0, byte(v), byte(v >> 8)}
		}
		file := bytes.Replace(fixture(t, c.name), entry(c.value), entry(c.with), 1)
		_, err := Options{}.Describe(file)
		want := fmt.Sprintf("has the tag %d with", c.refused)
		if found := fmt.Sprint(err); (err != nil) != (c.refused > 0) || err != nil && !strings.Contains(found, want) {
			t.Errorf("%s, tag %d: found %v, expected %s", c.name, c.tag, err, want)
		}
	}
}

// TestHeaderOfJPEG has a file whose first frame header is that of a preview, and one with a byte
// between two segments that only image/jpeg skips (ITU-T T.81, B.1.1.2).
func TestHeaderOfJPEG(t *testing.T) {
	t.Parallel()
	file, want := fixture(t, "rgb.jpg"), fixture(t, "rgb.jpg.raw")
	preview := fixture(t, "grey.jpg")
	size := 2 + len(preview)
	for name, segment := range map[string][]byte{
		"preview": append([]byte{0xff, 0xe1, byte(size >> 8), byte(size)}, preview...),
		"filling": {0xff}, "upright": []byte("\xff\xe1\x00\x0c\x12\x01\x03\x00\x01\x00\x00\x00\x01\x00"),
	} {
		file := slices.Concat(file[:2], segment, file[2:])
		f, err := Options{}.Describe(file)
		got, failed := f.Append(nil, file)
		if err != nil || failed != nil || !near(got, want, 2) {
			t.Errorf("%s: found %v, %v, errors %v, %v, expected %v", name, f, got, err, failed, want)
		}
	}
}

// TestConversions scales as Pillow's BICUBIC, and makes grey by the weights of ITU-R 601.
func TestConversions(t *testing.T) {
	t.Parallel()
	file := fixture(t, "rgb.tif")
	for _, size := range [][2]int{{3, 2}, {9, 7}, {5, 2}, {3, 4}} {
		f := must.Get(Options{Width: size[0], Height: size[1]}.Describe(file))(t)
		want := fixture(t, fmt.Sprintf("rgb-%dx%d.raw", size[0], size[1]))
		if got, err := f.Append(nil, file); err != nil || !near(got, want, 1) || int64(len(got)) != f.Size() {
			t.Errorf("%v: found %v, error %v, expected %v", f, got, err, want)
		}
	}
	every := image.NewRGBA(image.Rect(0, 0, 64, 64))
	var want []float64
	for i := range 4096 {
		c := color.RGBA{byte(i >> 8 * 17), byte(i >> 4 & 15 * 17), byte(i & 15 * 17), 255}
		every.SetRGBA(i%64, i/64, c)
		want = append(want, 0.299*float64(c.R)+0.587*float64(c.G)+0.114*float64(c.B))
	}
	var colors bytes.Buffer
	must.Do(t, png.Encode(&colors, every))
	f := must.Get(Options{Grey: true}.Describe(colors.Bytes()))(t)
	greys := must.Get(f.Append(nil, colors.Bytes()))(t)
	for i := range want {
		if math.Abs(float64(greys[i])-want[i]) > 0.503 {
			t.Errorf("found the grey %d, expected %.3f", greys[i], want[i])
		}
	}
	both := must.Get(Options{Width: 2, Height: 2, Grey: true}.Describe(file))(t)
	for name, want := range map[string]string{
		"grey8.png": "", "rgba8.png": "some pixels are transparent", "grey.bmp": "", "rgb.jpg": "",
		"grey16.png": "expected 8 bits", "opaque.webp": "",
	} {
		got, err := both.Append(nil, fixture(t, name))
		if (err == nil) != (want == "") || err == nil && len(got) != 4 || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: found %v, error %v, expected %q", name, got, err, want)
		}
	}
	const limited = "60 bytes, expected at most 59"
	_, err := Options{Grey: true, Limit: 59}.Describe(file)
	if err == nil || !strings.Contains(err.Error(), limited) || fault.HintOf(err) == "" {
		t.Errorf("found %v, expected %q", err, limited)
	}
	for size, fits := range map[[4]int]bool{ // lines of 8 bytes a pixel, and weights: 64 MiB
		{65535, 65535, 28, 28}: true, {1 << 20, 6, 28, 28}: false, {28, 1 << 21, 1, 1}: false,
		{65535, 1, 28, 16384}: false,
	} {
		_, err := Options{Width: size[2], Height: size[3]}.Convert(
			Format{Width: size[0], Height: size[1], Channels: 1, Depth: 8})
		if (err == nil) != fits {
			t.Errorf("%v: found %v", size, err)
		}
	}
}

// TestEveryFilter uses every filter on any line, including the first, in images of one to four
// bytes a pixel, and compares with image/png.
func TestEveryFilter(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]int{{0, 1, 99}, {2, 3, 11}, {6, 4, 11}} { // lines become longer, in the same memory
		color, channels, height := byte(c[0]), c[1], c[2]
		for first := range byte(6) {
			const width = 5
			var lines []byte
			for y := range byte(height) {
				lines = append(lines, (first+y)%5)
				for x := range byte(width * channels) {
					lines = append(lines, 37*y+151*x+x*x*y)
				}
			}
			if first == 5 {
				lines[0] = 5 // no such filter
			}
			file := withLines(color, width, uint32(height), lines)
			f := must.Get(Options{}.Describe(file))(t)
			plain, ok := f.appendPlain([]byte("x"), file)
			other, err := f.appendSlow([]byte("x"), file)
			if ok != (first < 5) || (err == nil) != ok || ok && !bytes.Equal(plain, other) {
				t.Errorf("colour type %d, first filter %d: found %v, % x\nexpected % x, error %v", color, first, ok,
					plain, other, err)
			}
		}
	}
}

// appendSlow is Append without appendPlain.
func (f Format) appendSlow(dst, file []byte) ([]byte, error) {
	stored, kind, err := inspect(file)
	if err != nil {
		return nil, err
	}
	return f.appendAny(dst, file, stored, kind)
}

// withLines returns a file with these filtered lines.
func withLines(color byte, width, height uint32, lines []byte) []byte {
	file := []byte("\x89PNG\r\n\x1a\n")
	add := func(kind string, data []byte) {
		file = binary.BigEndian.AppendUint32(file, uint32(len(data)))
		at := len(file)
		file = append(append(file, kind...), data...)
		file = binary.BigEndian.AppendUint32(file, crc32.ChecksumIEEE(file[at:]))
	}
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	add("IHDR", append(header, 8, color, 0, 0, 0))
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	_, _ = w.Write(lines) // a bytes.Buffer takes everything
	w.Close()
	add("IDAT", packed.Bytes())
	add("IEND", nil)
	return file
}

func FuzzAppend(f *testing.F) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil || len(files) == 0 {
		f.Fatal("no fixtures", err)
	}
	for _, name := range files {
		if KindByName(name) != "" {
			f.Add(fixture(f, filepath.Base(name)), 0, false)
			f.Add(fixture(f, filepath.Base(name)), 3, true)
		}
	}
	f.Fuzz(func(t *testing.T, file []byte, side int, grey bool) {
		format, err := Options{Width: side & 15, Height: side & 15, Grey: grey, Limit: 1 << 22}.Describe(file)
		if err != nil {
			if !errors.As(err, new(*fault.Error)) {
				t.Fatal(err)
			}
			return
		}
		record, err := format.Append(nil, file)
		if err != nil && !errors.As(err, new(*fault.Error)) {
			t.Fatal(err)
		}
		if plain, ok := format.appendPlain(nil, file); ok {
			if slow, err := format.appendSlow(nil, file); err != nil || !bytes.Equal(plain, slow) {
				t.Fatalf("image/png finds other samples, error %v", err)
			}
		}
		if err == nil && int64(len(record)) != format.Size() {
			t.Fatalf("found %d bytes, expected %d", len(record), format.Size())
		}
	})
}
