package picture

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	_ "image/gif" // the packages register the kinds of files that image.Decode reads
	_ "image/jpeg"
	_ "image/png"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	_ "golang.org/x/image/bmp"
	_ "golang.org/x/image/tiff"
	_ "golang.org/x/image/webp"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/jpeg"
	"github.com/idxport/idxport/internal/png"
	"github.com/idxport/idxport/internal/resample"
)

// inspect describes the picture in a file, from what precedes its pixels, and its kind.
func inspect(file []byte) (f Format, kind string, err error) {
	defer fault.Recovered(&err)
	c, kind, err := image.DecodeConfig(bytes.NewReader(file))
	kind = strings.ToUpper(kind)
	if err != nil {
		return f, kind, damaged(file, kind, err)
	}
	if f, err = formatOf(kind, c.ColorModel, image.Rect(0, 0, c.Width, c.Height)); err == nil {
		err = f.check(file, kind)
	}
	return f, kind, err
}

// formatOf returns the format of a picture of a kind. Alpha is a channel in PNG files only.
func formatOf(kind string, model color.Model, bounds image.Rectangle) (Format, error) {
	f := Format{Width: bounds.Dx(), Height: bounds.Dy(), Channels: 3, Depth: 8}
	if longest := 1 << 28; min(f.Width, f.Height) < 1 || max(f.Width, f.Height) > longest { // or Size overflows
		return f, fault.New(fault.Malformed, "the image has %d×%d pixels, expected 1 to %d each way",
			f.Width, f.Height, longest).WithHint("the file is damaged: download or write it again")
	}
	p, isPalette := model.(color.Palette) // empty if the frames of a GIF have palettes of their own
	colored := func(c color.Color) bool { r, g, b, _ := c.RGBA(); return r != g || g != b }
	switch {
	case model == color.GrayModel, len(p) > 0 && !slices.ContainsFunc(p, colored):
		f.Channels = 1
	case model == color.Gray16Model:
		f.Channels, f.Depth = 1, 16
	case model == color.NRGBAModel && kind == "PNG":
		f.Channels = 4
	case !isPalette && !slices.Contains([]color.Model{color.NRGBAModel, color.RGBAModel, color.YCbCrModel,
		color.NYCbCrAModel}, model):
		return f, fault.New(fault.Unsupported, "found a %s image in CMYK or in colours of 16 bits, expected grey, or "+
			"RGB of 8 bits", kind).WithHint("convert it first: mogrify -colorspace sRGB -depth 8 " + hintPNG)
	}
	return f, nil
}

// check refuses pictures that other programs show in another way, or that need much memory or time.
func (f Format) check(file []byte, kind string) error {
	if turn := orientation(file); turn > 1 {
		return fault.New(fault.Unsupported, "the EXIF or XMP data say that the image is to be turned or mirrored "+
			"(orientation %d), which some programs do and others do not", turn).
			WithHint("turn the pixels: mogrify -auto-orient " + hintPNG + "; or leave them: with -strip in its place")
	}
	// The markers SOF2, of a progressive image, and SOS, of a scan (ITU-T T.81, B.1.1.3): for
	// image/jpeg, samples take 5 bytes, and each scan the whole image. Encoders write about ten.
	scans, sparse := bytes.Count(file, []byte("\xff\xda")), f.Size() > 8<<20 && f.Size()/64 > int64(len(file))
	if kind == "JPEG" && (sparse || scans > 100) && bytes.Contains(file, []byte("\xff\xc2")) {
		return fault.New(fault.Unsupported, "found a progressive JPEG image, %v, of %d scans in %d bytes", f,
			scans, len(file)).WithHint("write it as PNG: mogrify " + hintPNG)
	} else if kind != "TIFF" {
		return nil
	}
	order := map[byte]binary.ByteOrder{'I': binary.LittleEndian, 'M': binary.BigEndian}[file[0]]
	directory := file[order.Uint32(file[4:]):] // the first one, which the decoder has read
	n := int(order.Uint16(directory))
	counts, values := map[uint16]uint32{258: 1}, map[uint16]uint32{} // by tags, which ascend; default BitsPerSample
	for i := range n {
		entry := directory[2+12*i:] // section 2 of TIFF 6.0: a tag, a type, a number of values, and the value
		tag, short, long := order.Uint16(entry), uint32(order.Uint16(entry[8:])), order.Uint32(entry[8:])
		value := [6]uint32{1: uint32(entry[8]), 3: short, 4: long}[min(order.Uint16(entry[2:]), 5)]
		counts[tag], values[tag] = order.Uint32(entry[4:]), value
		// Previews of raw photographs, and what the decoder gets wrong: compression for faxes, the
		// order of bits, samples without a size, planes, differences but in LZW and Deflate.
		differs := value == 2 && slices.Contains([]uint32{5, 8, 32946}, values[259])
		if tag == 254 && value&1 != 0 || tag == 259 && 2 <= value && value <= 4 || tag == 266 && value != 1 ||
			tag == 277 && value != counts[258] || tag == 284 && value != 1 && f.Channels > 1 ||
			tag == 317 && value != 1 && !differs {
			return fault.New(fault.Unsupported, "the TIFF file has the tag %d with the value %d, which is not read",
				tag, value).WithHint("write it as PNG: mogrify " + hintPNG)
		}
	}
	if next := directory[2+12*n:]; len(next) >= 4 && order.Uint32(next) != 0 {
		return fault.New(fault.Unsupported, "the TIFF file has several pages, expected one image").
			WithHint("write each page to a file of its own: convert FILE.tif FILE-%%d.png, then remove FILE.tif")
	}
	return nil
}

// orientation returns that of EXIF or XMP data or of a TIFF directory, from 2 to 8, or less.
func orientation(file []byte) (turn byte) {
	file = withProfiles(file)
	// A tag, the type SHORT or LONG, and one value: so many bytes do not occur by chance.
	for _, entry := range []string{"\x12\x01\x03\x00\x01\x00\x00\x00", "\x01\x12\x00\x03\x00\x00\x00\x01\x00",
		"\x12\x01\x04\x00\x01\x00\x00\x00", "\x01\x12\x00\x04\x00\x00\x00\x01\x00\x00\x00",
		`tiff:Orientation="`, `tiff:Orientation='`, "tiff:Orientation>"} { // XMP, which is read if EXIF has none
		_, value, _ := bytes.Cut(file, []byte(entry))
		if len(value) > 0 && value[0]&^'0' <= 8 && (turn == 0 || entry[0] != 't') {
			turn = max(turn, value[0]&^'0')
		}
	}
	return turn
}

// withProfiles returns file and, of a PNG file, the EXIF and XMP data that are in texts.
func withProfiles(file []byte) []byte {
	in, profiles := io.LimitedReader{N: 1 << 20}, []byte(nil) // N is of all texts together
	chunks, isPNG := bytes.CutPrefix(file, []byte("\x89PNG\r\n\x1a\n"))
	for size := 0; isPNG && len(chunks) >= 8; chunks = chunks[size:] {
		size = int(min(12+int64(binary.BigEndian.Uint32(chunks)), int64(len(chunks))))
		switch name, text, _ := bytes.Cut(chunks[8:size], []byte{0}); string(name) {
		case "Raw profile type exif", "Raw profile type APP1", "Raw profile type xmp": // of ImageMagick and GIMP
			in.R = bytes.NewReader(text)
			if len(text) > 3 && text[0] == 0 { // compressed, after a header of zlib
				in.R = flate.NewReader(bytes.NewReader(text[3:]))
			}
			text, _ = io.ReadAll(&in) // an empty line, the kind, a size, and lines of digits
			lines := bytes.SplitN(text, []byte{'\n'}, 4)
			digits := bytes.ReplaceAll(lines[len(lines)-1], []byte{'\n'}, nil)
			n, _ := hex.Decode(digits, digits)
			profiles = append(profiles, digits[:n]...)
		}
	}
	return append(file[:len(file):len(file)], profiles...) // a copy, if there are some
}

func damaged(file []byte, kind string, err error) error {
	switch {
	case len(file) == 0:
		return fault.New(fault.Truncated, "the file is empty, expected an image").WithHint("replace or remove it")
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return fault.New(fault.Truncated, "the file ends inside its %s image", kind).
			WithHint("the file is incomplete: download or write it again")
	case errors.Is(err, image.ErrFormat):
		return fault.New(fault.Unsupported, "the file begins with %q, expected a PNG, JPEG, WebP, GIF, BMP or TIFF "+
			"image", file[:min(len(file), 8)]).WithHint("if it is a web page or a Git LFS pointer, download the file " +
			"itself; or convert it to PNG: mogrify " + hintPNG)
	}
	return fault.New(fault.Malformed, "the %s image is damaged, or of a kind that is not read: %v", kind, err).
		WithHint("download or write the file again, or convert it to PNG: mogrify " + hintPNG)
}

var large sync.Mutex                                            // held while a large picture is decoded
var buffers = sync.Pool{New: func() any { return new([]byte) }} // of samples of JPEG pictures to convert

// Append appends the samples of a file to dst as a record: in C order, little-endian. It fails if
// file is damaged, if its picture cannot become one of f, or if a sample of 16 bits exceeds 32767.
func (f Format) Append(dst, file []byte) (record []byte, err error) {
	defer fault.Recovered(&err)
	if record, ok := f.appendPlain(dst, file); ok {
		return record, nil
	}
	if f.options == (Options{}) && f.Depth == 8 && bytes.HasPrefix(file, []byte("\xff\xd8")) && orientation(file) < 2 {
		if record, ok := jpeg.Append(dst, file, f.Width, f.Height, f.Channels); ok {
			return record, nil
		}
	}
	stored, kind, err := inspect(file)
	if err == nil {
		err = f.accepts(stored)
	}
	if err != nil {
		return nil, err
	}
	if stored.Size() > 4<<20 {
		large.Lock() // a progressive JPEG takes six times as much memory as its samples
		defer large.Unlock()
		defer runtime.GC() // else the next one is decoded beside the remains of this one
	}
	return f.appendAny(dst, file, stored, kind)
}

// appendAny appends the samples of a file that f accepts, if they are as its header says.
func (f Format) appendAny(dst, file []byte, from Format, kind string) ([]byte, error) {
	if kind == "JPEG" && f.Channels <= from.Channels && f != from { // else Append has tried
		buffer := buffers.Get().(*[]byte)
		defer buffers.Put(buffer)
		if samples, ok := jpeg.Append((*buffer)[:0], file, from.Width, from.Height, from.Channels); ok {
			*buffer = samples
			return f.AppendScaled(dst, samples, from), nil
		}
	}
	m, _, err := image.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, damaged(file, kind, err)
	} else if o, ok := m.(interface{ Opaque() bool }); ok && min(f.Channels, from.Channels) < 4 && !o.Opaque() {
		return nil, fault.New(fault.Unsupported, "some pixels are transparent, expected an opaque image").
			WithHint("give them a background: mogrify -background white -alpha remove -alpha off " + hintPNG +
				"; or give all an alpha channel: with -define png:color-type=6 in place of these")
	}
	found, err := formatOf(kind, m.ColorModel(), m.Bounds())
	if found.Channels != 3 || from.Channels != 1 { // else there are colours where the header says grey
		found.Channels = from.Channels
	}
	if at := m.Bounds().Min; err != nil || found != from || at != (image.Point{}) {
		return nil, fault.New(fault.Unsupported, "the pixels are %v, at x = %d, y = %d, expected %v as the header says",
			found, at.X, at.Y, from).WithHint("convert the images to PNG: mogrify " + hintPNG)
	}
	if grey, ok := m.(*image.Gray16); ok { // big-endian
		for i := 0; i < len(grey.Pix); i += 2 {
			v := binary.BigEndian.Uint16(grey.Pix[i:])
			if v > math.MaxInt16 {
				return nil, fault.New(fault.Malformed, "the pixel at x = %d, y = %d has a sample of %d, "+
					"expected at most 32767", i%grey.Stride/2, i/grey.Stride, v).
					WithHint("IDX has no uint16: halve the samples, or write 8 bits, in a copy: mogrify -depth 8 FILES")
			}
			dst = binary.LittleEndian.AppendUint16(dst, v)
		}
		return dst, nil
	} else if grey, ok := m.(*image.Gray); ok && f.Channels == 1 && int64(len(grey.Pix)) == from.Size() { // not padded
		return f.AppendScaled(dst, grey.Pix, from), nil // 1.3 times as fast as with draw
	}
	return f.AppendScaled(dst, from.draw(m, kind).Pix, Format{Width: from.Width, Height: from.Height, Channels: 4}), nil
}

// AppendScaled appends an opaque picture of the format from, of 8 bits, as one of f. If f has fewer
// channels, samples are overwritten: alpha is removed, or pixels become grey by the weights of
// ITU-R 601, rounded as in Pillow. A grey of color.GrayModel may be one more or less.
func (f Format) AppendScaled(dst, samples []byte, from Format) []byte {
	if f.Channels < from.Channels {
		kept := samples[:0]
		for ; len(samples) > 0; samples = samples[from.Channels:] {
			if r, g, b := samples[0], samples[1], samples[2]; f.Channels == 3 {
				kept = append(kept, r, g, b)
			} else {
				kept = append(kept, byte((19595*uint32(r)+38470*uint32(g)+7471*uint32(b)+1<<15)>>16))
			}
		}
		samples = kept
	}
	if f.Width == from.Width && f.Height == from.Height {
		return append(dst, samples...)
	}
	return resample.Append(dst, samples, f.Channels, [2]int{from.Width, from.Height}, [2]int{f.Width, f.Height})
}

// draw returns the pixels of m, with alpha as it is in m. Samples of a VP8 frame are, unlike those
// of package draw, as in ITU-R BT.601 for video: from 16 to 235 or 240 (RFC 6386, section 9.2).
func (f Format) draw(m image.Image, kind string) *image.RGBA {
	pixels := image.NewRGBA(image.Rect(0, 0, f.Width, f.Height))
	frame, _ := m.(*image.YCbCr)
	switch m := m.(type) {
	case *image.NRGBA: // which package draw would multiply by alpha
		copy(pixels.Pix, m.Pix)
		return pixels
	case *image.NYCbCrA: // opaque
		frame = &m.YCbCr
	}
	if kind != "WEBP" { // whose other pictures are frames
		draw.Draw(pixels, pixels.Rect, m, image.Point{}, draw.Src)
		return pixels
	}
	clamp := func(v int) uint8 { return uint8(max(0, min(255, v>>16))) }
	for y := range pixels.Rect.Dy() {
		for x := range pixels.Rect.Dx() {
			c := frame.YCbCrAt(x, y)
			luma, cb, cr := (int(c.Y)-16)*76309+1<<15, int(c.Cb)-128, int(c.Cr)-128 // 255/219 and a half, of 1<<16
			pixels.SetRGBA(x, y, color.RGBA{R: clamp(luma + 104597*cr), G: clamp(luma - 25675*cb - 53279*cr),
				B: clamp(luma + 132201*cb), A: 255})
		}
	}
	return pixels
}

// A plainDecoder decodes the most common kind of small image: 8 bits, no palette, not interlaced,
// with a single IDAT chunk between the header and the end. It is reused, because image/png leaves
// 47 KB of garbage for each file, a third of its time on MNIST.
type plainDecoder struct {
	in    io.ReadCloser // a zlib reader, which is reset for each file
	lines []byte        // a line of zeros, then those of the picture, each after the byte of its filter
}

var plainDecoders = sync.Pool{New: func() any {
	in, _ := zlib.NewReader(strings.NewReader("\x78\x9c")) // a header, which is all that it reads
	return &plainDecoder{in: in}
}}

// appendPlain appends the samples of file, by sections 5 and 11.2.2 of the PNG specification. ok is
// false if it has other chunks than IHDR, one IDAT and IEND, is damaged, or is no picture of f.
func (f Format) appendPlain(dst, file []byte) (record []byte, ok bool) {
	rest, begins := bytes.CutPrefix(file, png.Header(make([]byte, 0, 64), f.Width, f.Height, f.Channels, 8))
	chunk, ends := bytes.CutSuffix(rest, []byte(png.End))
	end := len(chunk) - 4 // of the data, before the checksum
	if f.Depth != 8 || !begins || !ends || end < 8 || string(chunk[4:8]) != "IDAT" ||
		int64(binary.BigEndian.Uint32(chunk)) != int64(end-8) ||
		crc32.ChecksumIEEE(chunk[4:end]) != binary.BigEndian.Uint32(chunk[end:]) {
		return dst, false
	}
	d := plainDecoders.Get().(*plainDecoder)
	defer plainDecoders.Put(d)
	_ = d.in.(zlib.Resetter).Reset(bytes.NewReader(chunk[8:end]), nil) // Read returns its error, too
	line := 1 + f.Width*f.Channels
	d.lines = slices.Grow(d.lines[:0], line*(1+f.Height))[:line*(1+f.Height)]
	clear(d.lines[:line])
	_, err := io.ReadFull(d.in, d.lines[line:])
	if n, end := d.in.Read(make([]byte, 1)); err != nil || n != 0 || end != io.EOF { // this verifies the checksum
		return dst, false
	}
	for above, lines := d.lines[:line], d.lines[line:]; len(lines) > 0; above, lines = lines[:line], lines[line:] {
		if !png.Unfilter(lines[0], lines[1:line], above[1:], f.Channels) {
			return nil, false
		}
		dst = append(dst, lines[1:line]...)
	}
	return dst, true
}
