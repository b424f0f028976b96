package picture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/image/bmp"
	"golang.org/x/image/draw"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"

	"github.com/idxport/idxport/fault"
)

// A kind is a kind of image files.
type kind struct {
	name   string
	magic  string // how files begin; a ? is any byte
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
	check  func(file []byte) error // what config and decode do not check; or nil
}

func kinds() []kind {
	return []kind{
		{"PNG", signature, png.DecodeConfig, png.Decode, checkPNG},
		{"JPEG", "\xff\xd8\xff", jpeg.DecodeConfig, jpeg.Decode, checkJPEG},
		{"WebP", "RIFF????WEBP", webp.DecodeConfig, webp.Decode, checkWebP},
		{"GIF", "GIF8", gif.DecodeConfig, gif.Decode, nil},
		{"BMP", "BM", bmp.DecodeConfig, bmp.Decode, nil},
		{"TIFF", "II*\x00", tiff.DecodeConfig, tiff.Decode, checkTIFF},
		{"TIFF", "MM\x00*", tiff.DecodeConfig, tiff.Decode, checkTIFF},
	}
}

// kindOf returns the kind of a file; ok is false if it has none of the kinds.
func kindOf(file []byte) (k kind, ok bool) {
	for _, k := range kinds() {
		n := min(len(file), len(k.magic))
		matches := n == len(k.magic)
		for i, c := range file[:n] {
			matches = matches && (k.magic[i] == c || k.magic[i] == '?')
		}
		if matches {
			return k, true
		}
	}
	return kind{}, false
}

// imageVersion is the version of golang.org/x/image in go.mod.
const imageVersion = "v0.46.0"

// KindOf returns the kind of the image in a file, such as "PNG", or "" if it is none that is read.
func KindOf(file []byte) string {
	k, _ := kindOf(file)
	return k.name
}

// Is reports whether a file is an image, which it is not if it only happens to begin like one.
func Is(file []byte) bool {
	_, err := inspect(file)
	return err == nil || KindOf(file) == "PNG"
}

// KindByName returns the kind of images whose files have the extension of name, or "" if there is
// none. unread means that this package does not read them.
func KindByName(name string) (kind string, unread bool) {
	switch extension := strings.ToLower(path.Ext(name)); extension {
	case ".png":
		return "PNG", false
	case ".jpg", ".jpeg":
		return "JPEG", false
	case ".webp":
		return "WebP", false
	case ".gif", ".bmp", ".tiff":
		return strings.ToUpper(extension[1:]), false
	case ".tif":
		return "TIFF", false
	case ".ppm", ".pgm", ".pbm", ".pnm", ".avif", ".heic", ".heif", ".jxl", ".jp2":
		return strings.ToUpper(extension[1:]), true
	}
	return "", false
}

// Decoders returns the packages, and their versions, on which the pixels of some kinds of images
// depend once they are converted: "image/jpeg go1.26.0". It returns none for images that have the
// same pixels in all decoders.
func (o Options) Decoders(kinds ...string) (all []string) {
	if slices.Contains(kinds, "WebP") {
		all = append(all, "golang.org/x/image/webp "+imageVersion)
	}
	if o.Width > 0 {
		all = append(all, "golang.org/x/image/draw "+imageVersion)
	}
	if slices.Contains(kinds, "JPEG") {
		all = append(all, "image/jpeg "+runtime.Version())
	}
	return all
}

// A stored describes a picture as it is in its file.
type stored struct {
	Format
	kind  kind
	greys bool // the picture has a palette of opaque greys
}

// maxSide is the longest side of a picture: the size of two such sides, with four channels of two
// bytes, does not overflow.
const maxSide = 1 << 28

// inspect describes a picture from what precedes its pixels.
func inspect(file []byte) (s stored, err error) {
	defer recovered(&err)
	k, ok := kindOf(file)
	if !ok {
		return s, noImage(file)
	}
	c, err := k.config(bytes.NewReader(file))
	if err != nil {
		return s, damaged(k, err)
	}
	if c.Width < 1 || c.Height < 1 || c.Width > maxSide || c.Height > maxSide {
		return s, fault.New(fault.Malformed, "the header says %d×%d pixels, expected 1 to %d each way", c.Width,
			c.Height, maxSide)
	}
	s = stored{Format: Format{Width: c.Width, Height: c.Height}, kind: k}
	if err := s.setColors(c.ColorModel, file); err != nil || k.check == nil {
		return s, err
	}
	return s, k.check(file)
}

// noImage returns the error for a file of none of the kinds.
func noImage(file []byte) error {
	if len(file) == 0 {
		return fault.New(fault.Truncated, "the file is empty, expected an image")
	}
	return fault.New(fault.Unsupported, "the file begins with % x, expected a PNG, JPEG, WebP, GIF, BMP or TIFF image",
		file[:min(len(file), 8)]).WithHint("convert the images to PNG: files with mogrify -format png FILES, " +
		"images in a column with the program that wrote it")
}

// setColors sets the channels and their depth, as the model of the header of file says.
func (s *stored) setColors(model color.Model, file []byte) error {
	s.Channels, s.Depth = 3, 8
	switch model {
	case color.GrayModel:
		s.Channels = 1
	case color.Gray16Model:
		s.Channels, s.Depth = 1, 16
	case color.NRGBAModel:
		s.Channels = 4
	case color.RGBA64Model:
		s.Depth = 16
	case color.NRGBA64Model:
		s.Channels, s.Depth = 4, 16
	case color.CMYKModel:
		return fault.New(fault.Unsupported,
			"found a %s image in the colours of printing (CMYK), expected grey or RGB", s.kind.name).
			WithHint("convert it first: mogrify -colorspace sRGB FILES")
	}
	p, palette := model.(color.Palette)
	if s.kind.name != "PNG" {
		s.Channels = min(s.Channels, 3)
	} else if _, next := pngChunk(file, "tRNS", "IDAT", "IEND"); next == "tRNS" || palette && !opaque(p) {
		s.Channels = 4
	}
	s.greys = palette && s.Channels == 3 && allGrey(p)
	return nil
}

// opaque reports whether all colours are opaque.
func opaque(p color.Palette) bool {
	return !slices.ContainsFunc(p, func(c color.Color) bool { _, _, _, a := c.RGBA(); return a < 0xffff })
}

// allGrey reports whether there are colours, and all are grey.
func allGrey(p color.Palette) bool {
	return len(p) > 0 && !slices.ContainsFunc(p, func(c color.Color) bool {
		r, g, b, _ := c.RGBA()
		return r != g || g != b
	})
}

// damaged returns the error for a file that cannot be decoded.
func damaged(k kind, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fault.New(fault.Truncated, "the file ends inside its %s image", k.name).
			WithHint("the file is incomplete: download or write it again")
	}
	return fault.New(fault.Malformed, "the %s image is damaged, or of a kind that is not read: %s", k.name,
		strings.TrimPrefix(err.Error(), strings.ToLower(k.name)+": ")).
		WithHint("download or write the file again, or convert it to PNG: mogrify -format png FILES")
}

// recovered sets err if a decoder has panicked.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fault.New(fault.Malformed, "decoding failed: %v", p)
	}
}

// large is held while a picture of more than largeSize bytes of samples is decoded: a progressive
// JPEG takes six times as much memory.
var large sync.Mutex

const largeSize = 4 << 20

// Append appends the samples of a file to dst as a record: in C order, little-endian. It fails if
// file is damaged, if its picture cannot become one of f, or if a sample of 16 bits exceeds 32767.
func (f Format) Append(dst, file []byte) (record []byte, err error) {
	if record, ok := f.appendPlain(dst, file); ok {
		return record, nil
	}
	s, err := inspect(file)
	if err == nil {
		err = f.accepts(s)
	}
	if err != nil {
		return dst, err
	}
	if s.Size() > largeSize {
		large.Lock()
		defer large.Unlock()
		defer runtime.GC() // else the next one is decoded beside the remains of this one
	}
	record, err = f.appendAny(dst, file, s)
	if err != nil {
		return dst, err
	}
	return record, nil
}

// appendAny decodes a file that f accepts.
func (f Format) appendAny(dst, file []byte, s stored) (_ []byte, err error) {
	defer recovered(&err)
	m, err := s.kind.decode(bytes.NewReader(file))
	if err != nil {
		return dst, damaged(s.kind, err)
	}
	if b := m.Bounds(); b != image.Rect(0, 0, s.Width, s.Height) {
		return dst, fault.New(fault.Unsupported,
			"the pixels are %d×%d at x = %d, y = %d, expected %d×%d as the header says",
			b.Dx(), b.Dy(), b.Min.X, b.Min.Y, s.Width, s.Height).
			WithHint("convert the images to PNG: mogrify -format png FILES")
	}
	channels := s.Channels
	switch {
	case s.greys && f.Channels == 1:
		channels = 1
	case channels == 4 && f.Channels < 4:
		channels = 3
	}
	if o, ok := m.(interface{ Opaque() bool }); ok && channels < 4 && !o.Opaque() {
		return dst, fault.New(fault.Unsupported, "some pixels are transparent, expected an opaque image").
			WithHint("put the images on a background first: mogrify -background white -alpha remove -alpha off FILES")
	}
	if !f.options.converts() {
		return s.appendSamples(slices.Grow(dst, int(f.Size())), m, channels)
	}
	samples, err := s.appendSamples(make([]byte, 0, s.Width*s.Height*channels*s.Depth/8), m, channels)
	if err != nil {
		return dst, err
	}
	if f.Channels == 1 && channels == 3 {
		samples = toGrey(samples)
	}
	if f.options.Width > 0 && (f.Width != s.Width || f.Height != s.Height) {
		samples = f.scale(samples, s.Width, s.Height)
	}
	return append(dst, samples...), nil
}

// appendSamples appends the samples of m, of channels channels.
func (s stored) appendSamples(dst []byte, m image.Image, channels int) (_ []byte, err error) {
	b := m.Bounds()
	for y := range b.Dy() {
		switch m := m.(type) {
		case *image.Gray:
			dst = append(dst, m.Pix[y*m.Stride:][:b.Dx()]...)
		case *image.RGBA: // opaque
			dst = appendKept(dst, m.Pix[y*m.Stride:][:4*b.Dx()], channels)
		case *image.NRGBA:
			dst = appendKept(dst, m.Pix[y*m.Stride:][:4*b.Dx()], channels)
		case *image.YCbCr:
			dst = s.appendYCbCr(dst, m, y)
		case *image.NYCbCrA: // opaque
			dst = s.appendYCbCr(dst, &m.YCbCr, y)
		case *image.Paletted:
			dst, err = appendColors(dst, m, y, channels)
		case *image.Gray16, *image.RGBA64, *image.NRGBA64:
			dst, err = append16(dst, m, y, channels)
		default:
			err = fault.New(fault.Unsupported, "the image is a %T", m)
		}
		if err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// appendKept appends the first channels of each pixel, which has four samples.
func appendKept(dst, row []byte, channels int) []byte {
	if channels == 4 {
		return append(dst, row...)
	}
	for x := 0; x < len(row); x += 4 {
		dst = append(dst, row[x:x+channels]...)
	}
	return dst
}

// appendYCbCr appends the colours of row y of m, which is from a JPEG or a WebP file.
func (s stored) appendYCbCr(dst []byte, m *image.YCbCr, y int) []byte {
	row, shift := m.COffset(0, y), 0 // of the column among those of the chroma
	switch m.SubsampleRatio {
	case image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420:
		shift = 1
	case image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410:
		shift = 2
	}
	video := s.kind.name == "WebP"
	for x, luma := range m.Y[y*m.YStride:][:m.Rect.Dx()] {
		var r, g, b uint8
		if at := row + x>>shift; video {
			r, g, b = videoToRGB(luma, m.Cb[at], m.Cr[at])
		} else {
			r, g, b = color.YCbCrToRGB(luma, m.Cb[at], m.Cr[at])
		}
		dst = append(dst, r, g, b)
	}
	return dst
}

// videoToRGB converts a colour of VP8, whose range is that of ITU-R BT.601 for video: 16 to 235 for
// the luma, 16 to 240 for the others (RFC 6386, section 9.2). The images that x/image/webp returns
// convert it as those of JPEG, with black as 16.
func videoToRGB(luma, cb, cr uint8) (r, g, b uint8) {
	const one = 1 << 16                                             // of the fixed-point numbers
	y, u, v := (int(luma)-16)*76309+one/2, int(cb)-128, int(cr)-128 // 255/219
	clamp := func(v int) uint8 { return uint8(max(0, min(255, v>>16))) }
	return clamp(y + 104597*v), clamp(y - 25675*u - 53279*v), clamp(y + 132201*u)
}

// appendColors appends the colours of row y of m, whose pixels are indices in its palette.
func appendColors(dst []byte, m *image.Paletted, y, channels int) ([]byte, error) {
	if channels == 1 && !allGrey(m.Palette) {
		return dst, fault.New(fault.Malformed, "the palette of the frame has colours, expected greys")
	}
	var table [256][4]byte
	for i, c := range m.Palette {
		switch c := c.(type) {
		case color.RGBA: // opaque, or not used
			table[i] = [4]byte{c.R, c.G, c.B, c.A}
		case color.NRGBA:
			table[i] = [4]byte{c.R, c.G, c.B, c.A}
		default:
			return dst, fault.New(fault.Malformed, "a palette of %T", c)
		}
	}
	for _, v := range m.Pix[y*m.Stride:][:m.Rect.Dx()] {
		dst = append(dst, table[v][:channels]...)
	}
	return dst, nil
}

// append16 appends the samples of row y of m, of 16 bits.
func append16(dst []byte, m image.Image, y, channels int) ([]byte, error) {
	for x := range m.Bounds().Dx() {
		c := color.NRGBA64Model.Convert(m.At(x, y)).(color.NRGBA64)
		for _, v := range []uint16{c.R, c.G, c.B, c.A}[:channels] {
			if v > 32767 {
				return dst, fault.New(fault.Malformed,
					"the pixel at x = %d, y = %d has a sample of %d, expected at most 32767", x, y, v).
					WithHint("IDX files have no unsigned type of 16 bits: halve the samples, or write 8 bits")
			}
			dst = binary.LittleEndian.AppendUint16(dst, v)
		}
	}
	return dst, nil
}

// toGrey returns one sample for each three, by the weights of ITU-R 601, as color.GrayModel does,
// which takes ten times as long.
func toGrey(samples []byte) []byte {
	for i := range len(samples) / 3 {
		r, g, b := uint32(samples[3*i]), uint32(samples[3*i+1]), uint32(samples[3*i+2])
		samples[i] = byte(((19595*r+38470*g+7471*b)*0x101 + 1<<15) >> 24)
	}
	return samples[:len(samples)/3]
}

// scale returns the samples of a picture of width×height, scaled to the size of f.
func (f Format) scale(samples []byte, width, height int) []byte {
	var from image.Image = &image.Gray{Pix: samples, Stride: width, Rect: image.Rect(0, 0, width, height)}
	if f.Channels == 3 {
		colors := image.NewRGBA(from.Bounds())
		for i := range width * height {
			copy(colors.Pix[4*i:], samples[3*i:3*i+3])
			colors.Pix[4*i+3] = 0xff
		}
		from = colors
	}
	to := image.NewRGBA(image.Rect(0, 0, f.Width, f.Height))
	draw.CatmullRom.Scale(to, to.Bounds(), from, from.Bounds(), draw.Src, nil)
	return appendKept(samples[:0], to.Pix, f.Channels)
}
