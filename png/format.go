package png

import (
	"encoding/binary"
	"math"

	"github.com/idxport/idxport/fault"
)

// HasChannels reports whether pixels can have n samples: 1 (grey), 3 (RGB) or 4 (RGB and an alpha
// that does not premultiply them).
func HasChannels(n int) bool { return n == 1 || n == 3 || n == 4 }

// colorType returns the colour type in IHDR for pixels with that many samples.
func colorType(channels int) byte { return [...]byte{1: 0, 3: 2, 4: 6}[channels] }

// A format describes the scanlines of an image.
type format struct {
	height     int
	rowBytes   int  // bytes of a row of pixels, without the filter byte
	pixelBytes int  // 1 to 4
	wide       bool // samples of 16 bits
}

func newFormat(width, height, channels, bitDepth int) (format, error) {
	wide := bitDepth == 16 && channels == 1
	if !HasChannels(channels) || bitDepth != 8 && !wide {
		return format{}, fault.New(fault.Unsupported, "png: unsupported image format: found %d channels of %d bits, expected 1 of 8 or 16, 3 or 4 of 8",
			channels, bitDepth)
	}
	pixelBytes := channels * bitDepth / 8
	if width < 1 || height < 1 || width > math.MaxInt32 || height > math.MaxInt32 {
		return format{}, fault.New(fault.Unsupported, "png: image size out of range: found %d×%d, expected sides from 1 to %d", width, height, math.MaxInt32)
	}
	// The product is below 2³³ · 2³¹, so it cannot overflow. The limit of 2³¹ − 2²⁰ leaves room for
	// storedSize and the other chunks.
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
