package picture

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
)

// fixture returns a file of testdata, all pictures of which are 5×4.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(filepath.Join("testdata", name)))(t)
}

func TestPillowReadsTheSame(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		channels int
		depth    int
	}{
		{"grey8", 1, 8}, {"grey1", 1, 8}, {"grey2", 1, 8}, {"grey4", 1, 8}, {"rgb8", 3, 8}, {"rgba8", 4, 8}, {"greyalpha8", 4, 8},
		{"palette", 3, 8}, {"palettealpha", 4, 8}, {"greypalettealpha", 4, 8}, {"greytransparent", 4, 8}, {"grey16", 1, 16},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			file := fixture(t, c.name+".png")
			f := must.Get(Options{}.Describe(file))(t)
			if want := (Format{Width: 5, Height: 4, Channels: c.channels, Depth: c.depth}); f != want {
				t.Fatalf("found %v, expected %v", f, want)
			}
			got := must.Get(f.Append([]byte("before"), file))(t)
			if want := append([]byte("before"), fixture(t, c.name+".raw")...); !bytes.Equal(got, want) {
				t.Errorf("found % x\nexpected % x", got, want)
			}
		})
	}
}

// TestGreysInPalettes checks that a picture with a palette of opaque greys fits both RGB and grey
// records, and one with another palette only records with colours.
func TestGreysInPalettes(t *testing.T) {
	t.Parallel()
	grey := Format{Width: 5, Height: 4, Channels: 1, Depth: 8}
	for name, want := range map[string]bool{"greypalette8": true, "greypalette2": true, "palette": false, "greypalettealpha": false, "palettealpha": false, "rgb8": false, "grey2": false} {
		file := fixture(t, name+".png")
		if got := HasGreyPalette(file); got != want {
			t.Errorf("%s: found %v, expected %v", name, got, want)
		}
		if !want {
			continue
		}
		samples := fixture(t, name+".raw")
		if got, err := grey.Append(nil, file); err != nil || !bytes.Equal(got, samples) {
			t.Errorf("%s: found % x, error %v, expected % x", name, got, err, samples)
		}
		colors := must.Get(Options{}.Describe(file))(t)
		got, err := colors.Append(nil, file)
		if colors.Channels != 3 || err != nil || len(got) != 3*len(samples) {
			t.Fatalf("%s: found %v, %d bytes, error %v", name, colors, len(got), err)
		}
		for i, v := range got {
			if v != samples[i/3] {
				t.Fatalf("%s: byte %d is %d, expected %d", name, i, v, samples[i/3])
			}
		}
		if _, err := (Format{Width: 5, Height: 4, Channels: 1, Depth: 16}).Append(nil, file); !errors.Is(err, fault.Malformed) {
			t.Errorf("%s: found %v, expected another format", name, err)
		}
	}
	if HasGreyPalette(fixture(t, "greypalette8.png")[:100]) {
		t.Error("found greys before the end of the palette")
	}
}

func TestShapeAndType(t *testing.T) {
	t.Parallel()
	grey := Format{Width: 5, Height: 4, Channels: 1, Depth: 16}
	if s := grey.Shape(); len(s) != 2 || s[0] != 4 || s[1] != 5 || grey.DType() != idx.Int16 || grey.Size() != 40 {
		t.Errorf("found %v, %v, %d bytes", s, grey.DType(), grey.Size())
	}
	color := Format{Width: 5, Height: 4, Channels: 3, Depth: 8}
	if s := color.Shape(); len(s) != 3 || s[2] != 3 || color.DType() != idx.Uint8 || color.Size() != 60 {
		t.Errorf("found %v, %v, %d bytes", s, color.DType(), color.Size())
	}
}

// withHeader returns file with b in place of the bytes of IHDR from offset at on, and the right
// checksum.
func withHeader(file []byte, at int, b ...byte) []byte {
	file = bytes.Clone(file)
	copy(file[16+at:], b)
	binary.BigEndian.PutUint32(file[29:], crc32.ChecksumIEEE(file[12:29]))
	return file
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	good := fixture(t, "grey8.png")
	damaged := bytes.Clone(good)
	damaged[len(damaged)-20] ^= 1
	header := bytes.Clone(good)
	header[20] ^= 1
	for _, c := range []struct {
		about string
		file  []byte
		kind  fault.Kind
		want  string
	}{
		{"nothing", nil, fault.Truncated, "the file is empty"},
		{"the beginning of a JPEG", []byte("\xff\xd8\xff\xe0rest"), fault.Truncated, "the file ends inside its JPEG image"},
		{"text", []byte("<html>"), fault.Unsupported, "begins with 3c 68 74 6d 6c 3e"},
		{"cut in the header", good[:20], fault.Truncated, "ends inside its PNG image"},
		{"cut in the pixels", good[:60], fault.Malformed, "not enough pixel data"},
		{"a damaged pixel", damaged, fault.Malformed, "the PNG image is damaged"},
		{"a damaged header", header, fault.Malformed, "invalid checksum"},
		{"no pixels", withHeader(good, 0, 0, 0, 0, 0), fault.Malformed, "non-positive dimension"},
		{"a size beyond counting", withHeader(good, 0, 0x7f, 0xff, 0xff, 0xff), fault.Malformed, "2147483647×4 pixels"},
		{"a colour type that there is not", withHeader(good, 8, 8, 5), fault.Malformed, "bit depth 8, color type 5"},
		{"a compression that there is not", withHeader(good, 10, 1), fault.Malformed, "the PNG image is damaged"},
		{"a filter method that there is not", withHeader(good, 11, 1), fault.Malformed, "the PNG image is damaged"},
		{"an interlacing that there is not", withHeader(good, 12, 2), fault.Malformed, "the PNG image is damaged"},
		{"a depth that there is not", withHeader(good, 8, 3, 0), fault.Malformed, "bit depth 3, color type 0"},
		{"colours", fixture(t, "rgb8.png"), fault.Malformed, "found 5×4, 8-bit RGB, expected 5×4, 8-bit grey"},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			dst, err := Format{Width: 5, Height: 4, Channels: 1, Depth: 8}.Append([]byte("x"), c.file)
			if fault.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.want) {
				t.Errorf("found %v, expected a %v, %q", err, c.kind, c.want)
			}
			if string(dst) != "x" {
				t.Errorf("the destination is %q, expected x", dst)
			}
		})
	}
}

func TestSixteenBitsBeyondInt16(t *testing.T) {
	t.Parallel()
	file := fixture(t, "toolarge16.png")
	f := must.Get(Options{}.Describe(file))(t)
	_, err := f.Append(nil, file)
	if !errors.Is(err, fault.Malformed) || !strings.Contains(err.Error(), "x = 0, y = 0 has a sample of 40000, expected at most 32767") {
		t.Errorf("found %v", err)
	}
}

// TestHugePictureAllocatesNothing has a header of 4 billion pixels in a file of 89 bytes.
func TestHugePictureAllocatesNothing(t *testing.T) {
	t.Parallel()
	file := withHeader(fixture(t, "grey8.png"), 0, 0, 1, 0, 0, 0, 1, 0, 0)
	if _, err := (Options{}).Describe(file); err == nil || !strings.Contains(err.Error(), "the file has only 89 bytes") {
		t.Errorf("found %v", err)
	}
}

// TestEveryFilter uses every filter on any line, including the first, in images of one to four
// bytes a pixel, and compares with image/png.
func TestEveryFilter(t *testing.T) {
	t.Parallel()
	for color, channels := range map[byte]int{grey: 1, trueColor: 3, withAlpha: 4} {
		for first := range byte(6) {
			const width, height = 5, 11
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
			file := withLines(color, width, height, lines)
			f := must.Get(Options{}.Describe(file))(t)
			plain, ok := f.appendPlain([]byte("x"), file)
			any, err := f.appendSlow([]byte("x"), file)
			if ok != (first < 5) || (err == nil) != ok || !bytes.Equal(plain, any) {
				t.Errorf("colour type %d, first filter %d: found %v, % x\nexpected % x, error %v", color, first, ok, plain, any, err)
			}
		}
	}
}

// TestBlack reads large black pictures: zlib compresses their lines about a thousand times.
func TestBlack(t *testing.T) {
	t.Parallel()
	for color, samples := range map[byte]int{grey: 1, greyAlpha: 2, trueColor: 3, withAlpha: 4} {
		const width, height = 1000, 900
		file := withLines(color, width, height, make([]byte, height*(1+width*samples)))
		f := must.Get(Options{}.Describe(file))(t)
		if pixels, err := f.Append(nil, file); err != nil || int64(len(pixels)) != f.Size() || len(bytes.Trim(pixels, "\x00")) > 0 {
			t.Errorf("colour type %d: found %d bytes, %v, expected %d that are 0", color, len(pixels), err, f.Size())
		}
	}
}

// appendSlow is Append without appendPlain.
func (f Format) appendSlow(dst, file []byte) ([]byte, error) {
	s, err := inspect(file)
	if err != nil {
		return dst, err
	}
	record, err := f.appendAny(dst, file, s)
	if err != nil {
		return dst, err
	}
	return record, nil
}

// withLines returns a file with these filtered lines.
func withLines(color byte, width, height uint32, lines []byte) []byte {
	file := []byte(signature)
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
		if kind, _ := KindByName(name); kind != "" {
			f.Add(fixture(f, filepath.Base(name)), 0, false)
			f.Add(fixture(f, filepath.Base(name)), 3, true)
		}
	}
	f.Fuzz(func(t *testing.T, file []byte, side int, toGrey bool) {
		options := Options{Width: side & 15, Height: side & 15, Grey: toGrey, Limit: 1 << 22}
		format, err := options.Describe(file)
		if err != nil {
			if !errors.As(err, new(*fault.Error)) {
				t.Fatal(err)
			}
			return
		}
		if format.Size() > 1<<22 {
			return
		}
		record, err := format.Append(nil, file)
		if err != nil && !errors.As(err, new(*fault.Error)) {
			t.Fatal(err)
		}
		if plain, ok := format.appendPlain(nil, file); ok {
			if any, err := format.appendSlow(nil, file); err != nil || !bytes.Equal(plain, any) {
				t.Fatalf("image/png finds other samples, error %v", err)
			}
		}
		if err == nil && int64(len(record)) != format.Size() {
			t.Fatalf("found %d bytes, expected %d", len(record), format.Size())
		}
	})
}
