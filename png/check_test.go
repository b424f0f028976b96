package png_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"image"
	stdpng "image/png"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/idxport/idxport/png"
)

// checkFile checks a file by its structure and by what image/png reads from it.
func checkFile(t *testing.T, k kind, width, height int, pixels, file []byte) {
	t.Helper()
	if limit := newEncoder(t, k, width, height).MaxSize(); len(file) > limit {
		t.Errorf("found %d bytes, expected at most %d", len(file), limit)
	}
	checkStructure(t, k, width, height, file)
	img, err := stdpng.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatalf("image/png: %v", err)
	}
	if img.Bounds() != image.Rect(0, 0, width, height) {
		t.Fatalf("found bounds %v, expected %d×%d", img.Bounds(), width, height)
	}
	got := samples(t, k, img)
	if !bytes.Equal(got, pixels) {
		for i := range min(len(got), len(pixels)) {
			if got[i] != pixels[i] {
				t.Fatalf("byte %d: found %d, expected %d", i, got[i], pixels[i])
			}
		}
		t.Fatalf("found %d bytes, expected %d", len(got), len(pixels))
	}
}

// samples returns the pixels of an image as they were given to Append.
func samples(t *testing.T, k kind, img image.Image) []byte {
	t.Helper()
	var out []byte
	switch img := img.(type) {
	case *image.Gray:
		if k.color == png.Gray && k.bitDepth == 8 {
			return img.Pix
		}
	case *image.Gray16:
		if k.color == png.Gray && k.bitDepth == 16 {
			for i := 0; i < len(img.Pix); i += 2 {
				out = append(out, img.Pix[i+1], img.Pix[i])
			}
			return out
		}
	case *image.RGBA: // how image/png gives colour type 2, opaque
		if k.color == png.RGB {
			for i := 0; i < len(img.Pix); i += 4 {
				out = append(out, img.Pix[i:i+3]...)
			}
			return out
		}
	case *image.NRGBA:
		if k.color == png.RGBA {
			return img.Pix
		}
	}
	t.Fatalf("image/png gave %T for %s", img, k.name)
	return nil
}

// checkStructure reads the chunks as the standard defines them, with a CRC of its own, and the length of the scanlines.
func checkStructure(t *testing.T, k kind, width, height int, file []byte) {
	t.Helper()
	rest, ok := bytes.CutPrefix(file, []byte("\x89PNG\r\n\x1a\n"))
	if !ok {
		t.Fatalf("found signature % x", file[:min(8, len(file))])
	}
	header := binary.BigEndian.AppendUint32(nil, uint32(width))
	header = binary.BigEndian.AppendUint32(header, uint32(height))
	header = append(header, byte(k.bitDepth), map[png.Color]byte{png.Gray: 0, png.RGB: 2, png.RGBA: 6}[k.color], 0, 0, 0)
	for _, name := range []string{"IHDR", "IDAT", "IEND"} {
		if len(rest) < 12 || uint64(binary.BigEndian.Uint32(rest)) > uint64(len(rest)-12) {
			t.Fatalf("%s: the file ends early", name)
		}
		n := binary.BigEndian.Uint32(rest)
		chunk, crc := rest[4:8+n], binary.BigEndian.Uint32(rest[8+n:])
		rest = rest[12+n:]
		if string(chunk[:4]) != name {
			t.Fatalf("found chunk %q, expected %s", chunk[:4], name)
		}
		if want := crc32Bitwise(chunk); crc != want {
			t.Errorf("%s: found CRC %08x, expected %08x", name, crc, want)
		}
		switch data := chunk[4:]; name {
		case "IHDR":
			if !bytes.Equal(data, header) {
				t.Errorf("found header % x, expected % x", data, header)
			}
		case "IDAT":
			checkLines(t, height*(width*k.pixelBytes+1), data)
		case "IEND":
			if len(data)+len(rest) != 0 {
				t.Errorf("found %d bytes in IEND and %d after it", len(data), len(rest))
			}
		}
	}
}

// checkLines checks that stream is one zlib stream, with nothing behind it, of size bytes; zlib checks their Adler-32.
func checkLines(t *testing.T, size int, stream []byte) {
	t.Helper()
	source := bytes.NewReader(stream)
	r, err := zlib.NewReader(source)
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, r)
	if err != nil || n != int64(size) || source.Len() != 0 {
		t.Errorf("found %d bytes of scanlines, %d after the stream, error %v; expected %d", n, source.Len(), err, size)
	}
}

// crc32Bitwise is PNG's CRC (annex D), a bit at a time.
func crc32Bitwise(data []byte) uint32 {
	crc := ^uint32(0)
	for _, b := range data {
		crc ^= uint32(b)
		for range 8 {
			crc = crc>>1 ^ -(crc&1)&0xedb88320
		}
	}
	return ^crc
}

// patterns make the bytes of an image, by the bytes of a row and the rows.
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

// sparse is black with a random value in every twentieth place or so.
func sparse(rowBytes, height int) []byte {
	random := rand.New(rand.NewPCG(5, 6))
	return fill(rowBytes, height, func(_, _ int) int {
		if random.IntN(20) > 0 {
			return 0
		}
		return random.IntN(256)
	})
}

// ring is a soft white ring of the given radius on black, much like a handwritten zero.
func ring(rowBytes, height int, radius float64) []byte {
	return fill(rowBytes, height, func(x, y int) int {
		r := math.Hypot(float64(x)-float64(rowBytes)/2, float64(y)-float64(height)/2)
		return int(255 * max(0, 1-math.Abs(r-radius)/2))
	})
}
