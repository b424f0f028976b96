package jpeg

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/test/must"
)

// reference returns the samples of a file by image/jpeg, and those of the pixels by image/color.
func reference(file []byte) (samples []byte, size image.Point, channels int, err error) {
	m, err := jpeg.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, size, 0, err
	}
	for y := range m.Bounds().Dy() {
		for x := range m.Bounds().Dx() {
			switch c := m.At(x, y).(type) {
			case color.Gray:
				samples, channels = append(samples, c.Y), 1
			default:
				r, g, b, _ := c.RGBA()
				samples, channels = append(samples, byte(r>>8), byte(g>>8), byte(b>>8)), 3
			}
		}
	}
	return samples, m.Bounds().Size(), channels, nil
}

// check compares the samples of a file with those of the reference, and reports whether the file is
// not left to it.
func check(t *testing.T, file []byte, size image.Point, channels int) bool {
	t.Helper()
	dst := append(make([]byte, 0, 6+size.X*size.Y*channels), "before"...)
	got, ok := Append(dst, file, size.X, size.Y, channels)
	if !ok {
		return false
	}
	if &got[0] != &dst[0] {
		t.Error("found samples in other memory, expected them after those that were there")
	}
	want, found, n, err := reference(file)
	if err != nil || found != size || n != channels || string(got) != "before"+string(want) {
		t.Errorf("found %d bytes, expected %d of %v pixels and %d channels, and %v; equal: %v", len(got)-6, len(want),
			found, n, err, bytes.HasSuffix(got, want))
	}
	return true
}

// files returns those of testdata, which libjpeg-turbo wrote, by name.
func files(t testing.TB) map[string][]byte {
	all := map[string][]byte{}
	for _, name := range must.Get(filepath.Glob("testdata/*.jpg"))(t) {
		all[filepath.Base(name)] = must.Get(os.ReadFile(name))(t)
	}
	return all
}

func TestFilesOfLibjpeg(t *testing.T) {
	for name, file := range files(t) {
		channels := map[bool]int{false: 3, true: 1}[name == "grey.jpg"]
		if !check(t, file, image.Pt(45, 37), channels) {
			t.Errorf("%s: left to image/jpeg", name)
		}
		for _, other := range []struct{ width, height, channels int }{
			{45, 38, channels}, {46, 37, channels}, {45, 37 + 1<<16, channels}, {45, 37, 4 - channels}, {45, 37, 4},
		} {
			if _, ok := Append(nil, file, other.width, other.height, other.channels); ok {
				t.Errorf("%s: read as %v", name, other)
			}
		}
	}
}

// TestSizes has pictures of noise and of one grey, whose sizes are not those of whole blocks.
func TestSizes(t *testing.T) {
	for _, size := range []image.Point{{1, 1}, {2, 1}, {1, 9}, {8, 8}, {15, 17}, {16, 16}, {33, 7}, {28, 28}} {
		grey, rgb := image.NewGray(image.Rectangle{Max: size}), image.NewRGBA(image.Rectangle{Max: size})
		for _, noise := range []int{1, 30, 256} {
			for _, pixels := range [][]byte{grey.Pix, rgb.Pix} {
				for i := range pixels {
					pixels[i] = byte(rand.IntN(noise))
				}
			}
			for _, quality := range []int{1, 50, 100} {
				for channels, m := range map[int]image.Image{1: grey, 3: rgb} {
					var file bytes.Buffer
					must.Do(t, jpeg.Encode(&file, m, &jpeg.Options{Quality: quality}))
					if !check(t, file.Bytes(), size, channels) {
						t.Errorf("%v, noise %d, quality %d: left to image/jpeg", size, noise, quality)
					}
				}
			}
		}
	}
}

// TestDamagedFiles cuts files, and flips a bit of every byte. What remains is left to image/jpeg,
// or has the same samples there.
func TestDamagedFiles(t *testing.T) {
	for name, file := range files(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			channels := map[bool]int{false: 3, true: 1}[name == "grey.jpg"]
			for n := range file {
				if check(t, file[:n], image.Pt(45, 37), channels) {
					t.Errorf("cut at byte %d: taken", n)
				}
			}
			taken := 0
			for i := range file {
				damaged := bytes.Clone(file)
				damaged[i] ^= 1 << (i % 8)
				if check(t, damaged, image.Pt(45, 37), channels) {
					taken++
				}
			}
			if taken == 0 {
				t.Error("no damaged file was taken: the values of quantizers have no check")
			}
		})
	}
}

// TestUnusedTables adds tables that no scan uses, and that image/jpeg refuses, to a file.
func TestUnusedTables(t *testing.T) {
	whole := files(t)["grey.jpg"]
	scan := bytes.Index(whole, []byte("\xff\xda"))
	lengths := func(class byte, ones, all int) []byte {
		table := append([]byte{class, byte(ones)}, make([]byte, 15+all)...)
		table[16] = byte(all - ones)
		return table
	}
	for name, table := range map[string][]byte{
		"number 2": lengths(2, 1, 1), "number 7": lengths(7, 1, 1), "no codes": lengths(0x11, 0, 0),
		"257 codes": lengths(0x11, 2, 257),
	} {
		segment := append([]byte{0xff, 0xc4, byte((len(table) + 2) >> 8), byte(len(table) + 2)}, table...)
		file := slices.Concat(whole[:scan], segment, whole[scan:])
		if _, _, _, err := reference(file); err == nil || check(t, file, image.Pt(45, 37), 1) {
			t.Errorf("%s: taken, or image/jpeg has no error", name)
		}
	}
}

// TestVariants has segments that image/jpeg refuses, or that change what the samples mean, and
// factors of the only component, which mean nothing.
func TestVariants(t *testing.T) {
	grey, rgb := files(t)["grey.jpg"], files(t)["2x2.jpg"][20:] // without JFIF's segment
	frame := bytes.Index(grey, []byte("\xff\xc0"))
	for name, file := range map[string][]byte{
		"factors": slices.Concat(grey[:frame+11], []byte{0x22}, grey[frame+12:]),
		"frames":  slices.Concat(grey[:frame+13], grey[frame:]),
		"marker":  slices.Concat(grey[:2], []byte("\xff\x02\x00\x02"), grey[2:]),
		"RGB":     slices.Concat(grey[:2], []byte("\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00\x00"), rgb),
	} {
		taken := check(t, file, image.Pt(45, 37), map[bool]int{false: 1, true: 3}[name == "RGB"])
		if taken != (name == "factors") {
			t.Errorf("%s: found taken %v", name, taken)
		}
	}
}

// TestLongNumbers has a block of the longest codes, 16 bits, with numbers of the size given. More
// than 11 bits, which samples of 8 bits never need, are left to image/jpeg.
func TestLongNumbers(t *testing.T) {
	for size, taken := range map[byte]bool{10: true, 11: true, 12: false} {
		file := []byte("\xff\xd8\xff\xdb\x00\x43\x00" + strings.Repeat("\x01", 64) +
			"\xff\xc0\x00\x0b\x08\x00\x08\x00\x08\x01\x01\x11\x00")
		for class := range byte(2) { // whose only code is 16 zeros
			file = append(file, 0xff, 0xc4, 0, 20, class<<4)
			file = append(append(file, make([]byte, 15)...), 1, size)
		}
		file = append(file, "\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00"...)
		for range 4 { // groups of 16 codes with their numbers, which fill whole bytes
			bits := new(big.Int)
			for i := range 16 {
				bits.Lsh(bits, 16+uint(size)).Add(bits, big.NewInt(int64(i%3+1)<<(size-2)-1))
			}
			group := bits.FillBytes(make([]byte, 2*(16+int(size))))
			file = append(file, bytes.ReplaceAll(group, []byte{0xff}, []byte{0xff, 0})...)
		}
		file = append(file, 0xff, 0xd9)
		if _, _, _, err := reference(file); err != nil || check(t, file, image.Pt(8, 8), 1) != taken {
			t.Errorf("%d bits: found taken %v, expected %v; %v", size, !taken, taken, err)
		}
	}
}

func FuzzAppend(f *testing.F) {
	for name, file := range files(f) {
		f.Add(file, uint8(45), uint8(37), name != "grey.jpg")
	}
	f.Fuzz(func(t *testing.T, file []byte, width, height uint8, rgb bool) {
		check(t, file, image.Pt(int(width), int(height)), map[bool]int{false: 1, true: 3}[rgb])
	})
}

// TestLaterFiles has files that lack a table or a quantizer, after one that has it.
func TestLaterFiles(t *testing.T) {
	whole := files(t)["2x2.jpg"]
	for _, marker := range []byte{0xdb, 0xc4, 0xc0} {
		at := bytes.Index(whole, []byte{0xff, marker})
		end := at + 2 + int(whole[at+2])<<8 + int(whole[at+3])
		file := append(bytes.Clone(whole[:at]), whole[end:]...)
		check(t, whole, image.Pt(45, 37), 3)
		if check(t, file, image.Pt(45, 37), 3) {
			t.Errorf("without %x: taken", marker)
		}
	}
}
