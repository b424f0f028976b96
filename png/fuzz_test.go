package png_test

import "testing"

// FuzzAppend repeats the given bytes over an image of any kind and up to 128×128 pixels.
func FuzzAppend(f *testing.F) {
	// Sides are one more than given.
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
