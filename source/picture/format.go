package picture

import (
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/source/idx"
)

// A Format describes the samples of a picture, after it is converted if Describe returned it.
type Format struct {
	Width, Height int     // pixels, at least 1
	Channels      int     // 1 (grey), 3 (red, green, blue) or 4 (and alpha)
	Depth         int     // bits of a sample: 8 or 16
	options       Options // zero if pictures are not converted
}

// Options say how pictures are converted. The zero value leaves them as they are.
type Options struct {
	Width, Height int    // to which pictures are scaled, or 0
	Grey          bool   // colours become grey
	Shape         [3]int // of records, or zeros: H×W×3 gives grey ones colours
	Limit         int64  // largest size in bytes of the samples of a picture, also before it is converted; or 0
}

// Shape returns the shape of a record: [H W], or [H W C] if there is more than one channel.
func (f Format) Shape() []int { return []int{f.Height, f.Width, f.Channels}[:min(3, 1+f.Channels)] }

// DType returns the type of the samples: Int16 for 16 bits.
func (f Format) DType() idx.DType { return map[int]idx.DType{8: idx.Uint8, 16: idx.Int16}[f.Depth] }

// Size returns the number of bytes of a record.
func (f Format) Size() int64 { return int64(f.Width) * int64(f.Height) * int64(f.Channels*f.Depth/8) }

// MaxFile returns the most bytes of a file: twice its samples, and 4 MiB for profiles and previews.
func (f Format) MaxFile() int64 { return 2*max(f.Size(), f.options.Limit) + 4<<20 }

// String describes the format: "28×28, 8-bit grey".
func (f Format) String() string {
	colors := [...]string{1: "grey", 3: "RGB", 4: "RGBA"}
	return fmt.Sprintf("%d×%d, %d-bit %s", f.Width, f.Height, f.Depth, colors[f.Channels])
}

// Describe returns the format of the converted picture of a file.
func (o Options) Describe(file []byte) (Format, error) {
	stored, _, err := inspect(file)
	if err != nil {
		return Format{}, err
	}
	return o.Convert(stored)
}

// Convert returns the format of a converted picture, or an error: lines and weights have 64 MiB.
func (o Options) Convert(from Format) (Format, error) {
	f := from
	if o.Grey {
		f.options, f.Channels = o, 1
	}
	if o.Width > 0 {
		f.options, f.Width, f.Height, f.Channels = o, o.Width, o.Height, min(f.Channels, 3)
	}
	if o.Shape == [3]int{f.Height, f.Width, 3} && f.Depth == 8 && !o.Grey {
		f.Channels = 3
	}
	switch size := max(from.Size(), f.Size()); {
	case o.Width > 0 && f.Depth > 8:
		return f, fault.New(fault.Unsupported, "found %v, expected 8 bits for --resize", from).
			WithHint("convert the images to 8 bits first, in a copy: mogrify -depth 8 FILES")
	case o.Limit > 0 && size > o.Limit:
		return f, fault.New(fault.Unsupported, "the image is %v, %d bytes, expected at most %d", from, size,
			o.Limit).WithHint("allow larger images with --max-record-bytes %d", size)
	case o.Width > 0 && int64(from.Width)*int64(4*o.Height/from.Height+10)*8+int64(from.Height)*32 > 64<<20:
		return f, fault.New(fault.Unsupported, "the image is %v, too large to be scaled", from).
			WithHint("scale it with another program first, in a copy: mogrify -resize %dx%d! FILES", f.Width, f.Height)
	}
	return f, nil
}

// accepts returns an error unless the picture of a file can become a record of f.
func (f Format) accepts(stored Format) error {
	found, err := f.options.Convert(stored)
	if err != nil {
		return err
	}
	if f.Channels > 1 { // of grey, all channels are equal; opaque pixels have an alpha of 255, or need none
		found.Channels = f.Channels
	}
	if found == f {
		return nil
	}
	hint := fmt.Sprintf("for colours, --grey or --shape %dx%dx3; for 16 bits, in a copy: mogrify -depth 8 FILES",
		f.Height, f.Width)
	if found.Width != f.Width || found.Height != f.Height {
		hint = fmt.Sprintf("give all images one size: --resize %dx%d", f.Width, f.Height)
	}
	return fault.New(fault.Malformed, "found %v, expected %v as in the first image", stored, f).WithHint("%s", hint)
}

// KindOf returns the kind of the image in a file, such as "PNG", or "" if it is none that is read.
func KindOf(file []byte) string {
	if _, kind, err := inspect(file); err == nil || kind == "PNG" {
		return kind
	}
	return ""
}

// KindByName returns the kind of images with the extension of name, also one not read, or "".
func KindByName(name string) string {
	const kinds = " PNG JPEG WEBP GIF BMP TIF TIFF APNG ARW AVIF CR2 CR3 DCM DDS DIB DNG EXR HDR HEIC HEIF HIF ICNS " +
		"ICO J2C J2K JP2 JPC JPF JPX JXL JXR NEF ORF PAM PBM PCX PGM PNM PPM PSD QOI RAF RGB RW2 SGI SVG TGA XBM XPM "
	switch kind := strings.ToUpper(strings.TrimPrefix(path.Ext(name), ".")); {
	case strings.Contains(" JPG JPE JFIF JIF PJPEG PJP JPS MPO ", " "+kind+" "):
		return "JPEG"
	case strings.Contains(kinds, " "+kind+" "):
		return kind
	}
	return ""
}

const hintPNG = "-format png FILES, then remove the old ones (in a table: with what wrote it)" // both are read

// Decoders returns what the converted pixels of some kinds depend on, as "image/jpeg go1.26.0".
func (o Options) Decoders(kinds ...string) (all []string) {
	if slices.Contains(kinds, "WEBP") {
		all = append(all, "golang.org/x/image/webp v0.48.0") // as in go.mod
	}
	if o.Width > 0 {
		all = append(all, "Catmull-Rom")
	}
	if slices.Contains(kinds, "JPEG") {
		all = append(all, "image/jpeg "+runtime.Version())
	}
	return all
}
