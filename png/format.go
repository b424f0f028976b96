package png

import (
	"encoding/binary"
	"math"

	"github.com/idxport/idxport/fault"
)

// Color is how samples make a pixel.
type Color uint8

// The colours, with PNG's colour type.
const (
	Gray Color = iota // one sample, 8 or 16 bits (0)
	RGB               // red, green, blue (2)
	RGBA              // red, green, blue, and alpha they are not multiplied with (6)
)

// ColorOf returns the colour of pixels of so many samples; false if there is none.
func ColorOf(samples int) (Color, bool) {
	for _, c := range []Color{Gray, RGB, RGBA} {
		if c.samples() == samples {
			return c, true
		}
	}
	return 0, false
}

// FirstNegative returns the index of the first of samples, of 16 bits, little-endian, that would be negative as an int16, -1 if there is none: PNG
// has no such samples, and would show it as a bright one.
func FirstNegative(samples []byte) int {
	for i := 1; i < len(samples); i += 2 {
		if samples[i]&0x80 != 0 {
			return i / 2
		}
	}
	return -1
}

// samples returns the samples per pixel, 0 for an unknown colour.
func (c Color) samples() int {
	switch c {
	case Gray:
		return 1
	case RGB:
		return 3
	case RGBA:
		return 4
	}
	return 0
}

// pngType returns the colour type of IHDR.
func (c Color) pngType() byte {
	switch c {
	case RGB:
		return 2
	case RGBA:
		return 6
	}
	return 0
}

// A format says how the pixels of an image lie in its scanlines.
type format struct {
	height     int
	rowBytes   int  // of one row of pixels, without the filter byte
	pixelBytes int  // 1 to 4
	wide       bool // samples of 16 bits
}

func newFormat(width, height int, color Color, bitDepth int) (format, error) {
	wide := bitDepth == 16 && color == Gray
	if color.samples() == 0 || bitDepth != 8 && !wide {
		return format{}, fault.New(fault.Unsupported, "png: unsupported image format: found colour %d with %d bits, expected gray with 8 or 16, RGB or RGBA with 8",
			color, bitDepth)
	}
	pixelBytes := color.samples() * bitDepth / 8
	if width < 1 || height < 1 || width > math.MaxInt32 || height > math.MaxInt32 {
		return format{}, fault.New(fault.Unsupported, "png: image size out of range: found %d×%d, expected sides from 1 to %d", width, height, math.MaxInt32)
	}
	// Below 2³³ · 2³¹, so it cannot overflow; 2³¹ − 2²⁰ leaves room for storedSize and the other chunks.
	if n := (uint64(width)*uint64(pixelBytes) + 1) * uint64(height); n > math.MaxInt32-1<<20 {
		return format{}, fault.New(fault.Unsupported, "png: image size out of range: found %d×%d, %d bytes of scanlines, expected at most %d",
			width, height, n, math.MaxInt32-1<<20)
	}
	return format{height: height, rowBytes: width * pixelBytes, pixelBytes: pixelBytes, wide: wide}, nil
}

// stride returns the bytes from one scanline to the next.
func (f format) stride() int { return f.rowBytes + 1 }

// linesSize returns the bytes of all scanlines.
func (f format) linesSize() int { return f.stride() * f.height }

// appendLines appends the scanlines of pixels with filter 0, and loadSlack zeros.
func (f format) appendLines(dst, pixels []byte) []byte {
	if n := f.linesSize() + loadSlack; cap(dst) < n {
		dst = make([]byte, 0, n)
	}
	for ; len(pixels) > 0; pixels = pixels[f.rowBytes:] {
		dst = append(dst, 0)
		if row := pixels[:f.rowBytes]; f.wide {
			dst = appendSwapped(dst, row)
		} else {
			dst = append(dst, row...)
		}
	}
	return append(dst, make([]byte, loadSlack)...)
}

// appendSwapped appends little-endian samples of 16 bits as big-endian ones.
func appendSwapped(dst, row []byte) []byte {
	for ; len(row) >= 2; row = row[2:] {
		dst = binary.BigEndian.AppendUint16(dst, binary.LittleEndian.Uint16(row))
	}
	return dst
}
