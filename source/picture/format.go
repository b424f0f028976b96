package picture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source/idx"
)

// A Format describes the samples of a decoded picture.
type Format struct {
	Width, Height int // pixels, at least 1
	Channels      int // 1 (grey), 3 (red, green, blue) or 4 (and alpha)
	Depth         int // bits of a sample: 8 or 16
}

// Shape returns the shape of a record: [H W], or [H W C] if there is more than one channel.
func (f Format) Shape() []int {
	if f.Channels == 1 {
		return []int{f.Height, f.Width}
	}
	return []int{f.Height, f.Width, f.Channels}
}

// DType returns the type of the samples: Int16 for 16 bits.
func (f Format) DType() idx.DType {
	if f.Depth == 16 {
		return idx.Int16
	}
	return idx.Uint8
}

// Size returns the number of bytes of a record. It does not overflow for a Format that Describe
// returned.
func (f Format) Size() int64 {
	return int64(f.Width) * int64(f.Height) * int64(f.Channels) * int64(f.Depth/8)
}

// String describes the format: "28×28, 8-bit grey".
func (f Format) String() string {
	color := map[int]string{1: "grey", 3: "RGB", 4: "RGBA"}[f.Channels]
	return fmt.Sprintf("%d×%d, %d-bit %s", f.Width, f.Height, f.Depth, color)
}

// maxSide is the longest side of a picture. image/png accepts 2³¹−1, but the size of two such
// sides, with four channels of two bytes, would overflow.
const maxSide = 1 << 28

const (
	signature  = "\x89PNG\r\n\x1a\n"
	chunkFrame = 12 // length, type and CRC around the data of a chunk
	headerSize = 13 // length of the data of IHDR
	headerEnd  = len(signature) + chunkFrame + headerSize
)

// The colour types of section 11.2.2 of the PNG specification.
const (
	grey      = 0
	trueColor = 2
	palette   = 3
	greyAlpha = 4
	withAlpha = 6
)

// A header describes a picture, from the chunks before its pixels.
type header struct {
	format      Format
	greyPalette bool // the picture has a palette of opaque greys only
	// minLinesSize is a lower bound for the size of the filtered lines, to which the compressed
	// pixels must decompress, in bytes.
	minLinesSize int64
}

// Describe returns the format of a PNG file. file may end where the pixels begin.
func Describe(file []byte) (Format, error) {
	h, err := parse(file)
	return h.format, err
}

// HasGreyPalette reports whether file is a PNG file whose palette has opaque greys only, as optipng
// and pngquant write grey pictures. Describe returns an RGB format for it, but Append also accepts
// it for a format of 8-bit grey.
func HasGreyPalette(file []byte) bool {
	h, err := parse(file)
	return err == nil && h.greyPalette
}

// fits reports whether the picture can be a record of f.
func (h header) fits(f Format) bool {
	asGrey := h.format
	asGrey.Channels = 1
	return h.format == f || h.greyPalette && asGrey == f
}

func parse(file []byte) (header, error) {
	if !bytes.HasPrefix(file, []byte(signature)) {
		return header{}, notPNG(file)
	}
	if len(file) < headerEnd {
		return header{}, fault.New(fault.Truncated, "the file ends inside its header, after %d bytes", len(file)).WithHint("download or write the file again")
	}
	chunk := file[len(signature):headerEnd]
	if binary.BigEndian.Uint32(chunk) != headerSize || string(chunk[4:8]) != "IHDR" {
		return header{}, fault.New(fault.Malformed, "the first chunk is %q of %d bytes, expected IHDR of 13", chunk[4:8], binary.BigEndian.Uint32(chunk))
	}
	if crc32.ChecksumIEEE(chunk[4:8+headerSize]) != binary.BigEndian.Uint32(chunk[8+headerSize:]) {
		return header{}, fault.New(fault.Malformed, "the checksum of its header is wrong").WithHint("download or write the file again")
	}
	data := chunk[8:]
	w, h := binary.BigEndian.Uint32(data), binary.BigEndian.Uint32(data[4:])
	if w == 0 || h == 0 || w > maxSide || h > maxSide {
		return header{}, fault.New(fault.Malformed, "the header says %d×%d pixels, expected 1 to %d each way", w, h, maxSide)
	}
	depth, color := int(data[8]), data[9]
	samples, ok := samplesPerPixel(color, depth)
	if !ok {
		return header{}, fault.New(fault.Malformed, "the header says colour type %d with %d bits, which PNG does not have", color, depth)
	}
	f := Format{Width: int(w), Height: int(h), Channels: samples, Depth: max(depth, 8)}
	if color == palette {
		f.Channels = 3
	}
	colors, transparent := readPalette(file[headerEnd:])
	if color == greyAlpha || transparent {
		f.Channels = 4
	}
	return header{format: f, greyPalette: color == palette && !transparent && allGrey(colors), minLinesSize: f.pixels() / 8 * int64(depth*samples)}, nil
}

func (f Format) pixels() int64 { return int64(f.Width) * int64(f.Height) }

// samplesPerPixel returns the number of stored samples of a pixel. ok is false if PNG does not have
// this colour type with this depth.
func samplesPerPixel(color byte, depth int) (samples int, ok bool) {
	wholeBytes := depth == 8 || depth == 16
	partial := depth == 1 || depth == 2 || depth == 4
	switch color {
	case grey:
		return 1, wholeBytes || partial
	case palette:
		return 1, depth == 8 || partial
	case trueColor:
		return 3, wholeBytes
	case greyAlpha:
		return 2, wholeBytes
	case withAlpha:
		return 4, wholeBytes
	}
	return 0, false
}

// readPalette returns the colours of the palette, if there is one before the pixels. transparent
// reports whether there is a chunk tRNS, which makes colours transparent.
func readPalette(chunks []byte) (colors []byte, transparent bool) {
	for len(chunks) >= 8 {
		next := int64(binary.BigEndian.Uint32(chunks)) + chunkFrame
		switch kind := string(chunks[4:8]); {
		case kind == "tRNS":
			return colors, true
		case kind == "IDAT" || kind == "IEND" || next > int64(len(chunks)):
			return colors, false
		case kind == "PLTE":
			colors = chunks[8 : next-4]
		}
		chunks = chunks[next:]
	}
	return colors, false
}

// allGrey reports whether colors, of three bytes each, are all grey.
func allGrey(colors []byte) bool {
	for i := 0; i+3 <= len(colors); i += 3 {
		if colors[i] != colors[i+1] || colors[i] != colors[i+2] {
			return false
		}
	}
	return len(colors) >= 3
}

// notPNG returns the error for a file that is not a PNG file.
func notPNG(file []byte) error {
	const convert = "convert the images to PNG: files with mogrify -format png FILES, images in a column with the program that wrote it"
	for _, other := range []struct{ name, magic string }{
		{"a JPEG", "\xff\xd8\xff"}, {"a GIF", "GIF8"}, {"a BMP", "BM"}, {"a TIFF", "II*\x00"}, {"a TIFF", "MM\x00*"},
	} {
		if bytes.HasPrefix(file, []byte(other.magic)) {
			return fault.New(fault.Unsupported, "found %s file, expected PNG", other.name).WithHint(convert)
		}
	}
	if len(file) >= 12 && string(file[:4]) == "RIFF" && string(file[8:12]) == "WEBP" {
		return fault.New(fault.Unsupported, "found a WebP file, expected PNG").WithHint(convert)
	}
	if len(file) == 0 {
		return fault.New(fault.Truncated, "the file is empty, expected a PNG image")
	}
	return fault.New(fault.Unsupported, "the file begins with % x, expected the signature of PNG, % x", file[:min(len(file), 8)], signature)
}
