package png

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	"github.com/idxport/idxport/internal/fault"
)

const (
	// headSize is the size of the signature, the IHDR chunk, and the length and type of IDAT.
	headSize = 8 + (4 + 4 + 13 + 4) + (4 + 4)
	// End is the IEND chunk, the last one.
	End = "\x00\x00\x00\x00IEND\xaeB`\x82"
)

// Sizes of scanlines for which the fixed codes are used. They take a tenth of the general deflate's
// time, most of which is a fixed cost, so for tiny images they are used unless they save next to
// nothing. For larger images the general deflate is worth its time, except on plain images: where
// the fixed codes reach half the size (glyphs, sheets of digits), both are usually within a tenth;
// where they reach two thirds, the general deflate is a tenth to a third smaller.
const (
	tiny     = 2 << 10
	maxFixed = 8 << 10 // larger images do not try the fixed codes
)

// An Encoder writes images of one size and kind. It is not safe for concurrent use.
type Encoder struct {
	format  format
	head    [headSize]byte // everything before IDAT's data; its length is filled in per image
	codes   *fixedCodes    // nil if images are too large
	general *general       // nil until an image needs it
	lines   []byte         // the image's scanlines, then loadSlack bytes
}

// NewEncoder returns an encoder for images of width × height pixels, at least one, of 1, 3 or 4
// channels (grey, RGB, RGBA), with bitDepth bits per sample: 8, or 16 for grey. The first Append
// allocates memory in proportion to the image. The error is fault.Unsupported if the worst case of
// the whole file does not fit 2³¹−1 bytes. That is the limit of a chunk, as the pixels are one, and
// fits an int on every system.
func NewEncoder(width, height, channels, bitDepth int) (*Encoder, error) {
	pixelBytes := channels * bitDepth / 8
	// The limit of 2³¹ − 2²⁰ leaves room for storedSize and the other chunks.
	if n := (uint64(width)*uint64(pixelBytes) + 1) * uint64(height); n > math.MaxInt32-1<<20 {
		return nil, fault.New(fault.Unsupported, "png: image size out of range: found %d×%d, "+
			"%d bytes of scanlines, expected at most %d", width, height, n, math.MaxInt32-1<<20)
	}
	f := format{height: height, rowBytes: width * pixelBytes, pixelBytes: pixelBytes}
	e := &Encoder{format: f}
	copy(e.head[len(Header(e.head[:0], width, height, channels, bitDepth)):], "\x00\x00\x00\x00IDAT")
	if f.linesSize() <= maxFixed {
		e.codes = newFixedCodes(f.pixelBytes, f.stride(), f.linesSize())
	}
	return e, nil
}

// Header appends the signature and the IHDR chunk of an image to dst, which is empty. The other
// parameters are those of NewEncoder.
func Header(dst []byte, width, height, channels, bitDepth int) []byte {
	dst = append(dst, "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"...)
	dst = binary.BigEndian.AppendUint32(dst, uint32(width))
	dst = binary.BigEndian.AppendUint32(dst, uint32(height))
	colorType := [...]byte{1: 0, 3: 2, 4: 6}[channels]
	dst = append(dst, byte(bitDepth), colorType, 0, 0, 0) // deflate, the five filters, not interlaced
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[12:]))
}

// MaxSize returns an upper bound for the bytes that Append adds, which incompressible images reach.
func (e *Encoder) MaxSize() int { return fileSize(storedSize(e.format.linesSize())) }

// Append appends one complete PNG file to dst and returns the extended slice. The pixels are row by
// row from the top, with the samples of a pixel together and without padding; samples of 16 bits
// are little-endian. Append panics if the length of pixels is not width × height × bytes per pixel.
// It keeps neither slice.
func (e *Encoder) Append(dst, pixels []byte) []byte {
	if want := e.format.height * e.format.rowBytes; len(pixels) != want {
		panic(fmt.Sprintf("png: found %d bytes of pixels, expected %d", len(pixels), want))
	}
	e.lines = e.format.appendLines(e.lines[:0], pixels)
	stream := e.deflate()
	dst = slices.Grow(dst, fileSize(len(stream)))
	idat := len(dst) + headSize - 8 // start of the chunk: length, type, data
	dst = append(dst, e.head[:]...)
	binary.BigEndian.PutUint32(dst[idat:], uint32(len(stream)))
	dst = append(dst, stream...)
	dst = binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[idat+4:]))
	return append(dst, End...)
}

// deflate returns the zlib stream of e.lines, the smallest one that is worth the time. It is valid
// until the next call.
func (e *Encoder) deflate() []byte {
	size := e.format.linesSize()
	var stream []byte
	if e.codes != nil {
		enough := storedSize(size) / 2
		if size <= tiny {
			enough = storedSize(size) * 15 / 16
		}
		if stream = e.codes.deflate(e.lines, size); len(stream) <= enough {
			return stream
		}
	}
	if e.general == nil {
		e.general = newGeneral(e.format)
	}
	if s := e.general.deflate(e.lines[:size]); stream == nil || len(s) < len(stream) {
		stream = s
	}
	if len(stream) > storedSize(size) {
		stream = appendStored(stream[:0], e.lines[:size])
	}
	return stream
}

// fileSize returns the size of the file whose zlib stream has n bytes.
func fileSize(n int) int { return headSize + n + 4 + len(End) }

// HasChannels reports whether pixels can have n samples: 1 (grey), 3 (RGB) or 4 (RGB and an alpha
// that does not premultiply them).
func HasChannels(n int) bool { return n == 1 || n == 3 || n == 4 }

// A format describes the scanlines of an image.
type format struct {
	height     int
	rowBytes   int // bytes of a row of pixels, without the filter byte
	pixelBytes int // 1 to 4; 2 only for samples of 16 bits
}

func (f format) stride() int    { return f.rowBytes + 1 }        // bytes from one scanline to the next
func (f format) linesSize() int { return f.stride() * f.height } // bytes of all scanlines

// appendLines appends the scanlines of pixels with filter 0, and loadSlack zeros.
func (f format) appendLines(dst, pixels []byte) []byte {
	dst = slices.Grow(dst, f.linesSize()+loadSlack)
	for ; len(pixels) > 0; pixels = pixels[f.rowBytes:] {
		row := pixels[:f.rowBytes]
		if dst = append(dst, 0); f.pixelBytes != 2 {
			dst = append(dst, row...)
			continue
		}
		for ; len(row) >= 2; row = row[2:] {
			dst = binary.BigEndian.AppendUint16(dst, binary.LittleEndian.Uint16(row))
		}
	}
	return append(dst, make([]byte, loadSlack)...)
}
