package picture

import (
	"fmt"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source/idx"
)

// A Format describes the samples of a decoded picture. Describe sets all fields; a Format with the
// exported fields alone is for pictures that are not converted.
type Format struct {
	Width, Height int // pixels, at least 1
	Channels      int // 1 (grey), 3 (red, green, blue) or 4 (and alpha)
	Depth         int // bits of a sample: 8 or 16
	options       Options
}

// Options say how pictures are converted. The zero value leaves them as they are.
type Options struct {
	Width, Height int   // to which pictures are scaled, or 0
	Grey          bool  // colours become grey
	Limit         int64 // largest size of the samples of a file in bytes, if pictures are converted
}

// converts reports whether pictures are converted.
func (o Options) converts() bool { return o.Grey || o.Width > 0 }

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

// fileExtra is the number of bytes that a file may have beyond twice its samples, for texts, colour
// profiles and previews.
const fileExtra = 4 << 20

// MaxFile returns the largest size in bytes that is expected of the file of a picture.
func (f Format) MaxFile() int64 { return 2*max(f.Size(), f.options.Limit) + fileExtra }

// String describes the format: "28×28, 8-bit grey".
func (f Format) String() string {
	color := map[int]string{1: "grey", 3: "RGB", 4: "RGBA"}[f.Channels]
	return fmt.Sprintf("%d×%d, %d-bit %s", f.Width, f.Height, f.Depth, color)
}

// Describe returns the format of the converted picture of a file.
func (o Options) Describe(file []byte) (Format, error) {
	s, err := inspect(file)
	if err != nil || !o.converts() {
		return s.Format, err
	}
	f := s.Format
	f.options = o
	if s.Depth > 8 && (o.Width > 0 || s.Channels > 1) {
		return f, fault.New(fault.Unsupported, "found %v, expected 8 bits for --grey and --resize", s.Format).
			WithHint("convert the images to 8 bits first: mogrify -depth 8 FILES")
	}
	if o.Grey {
		f.Channels = 1
	}
	if o.Width > 0 {
		f.Width, f.Height, f.Channels = o.Width, o.Height, min(f.Channels, 3)
	}
	return f, f.checkSource(s)
}

// maxScratch is the largest size in bytes of the working memory of scaling: x/image/draw keeps four
// float64 for each column of the result and row of the source.
const maxScratch = 64 << 20

// checkSource returns an error if a picture is too large to be converted.
func (f Format) checkSource(s stored) error {
	if limit := f.options.Limit; limit > 0 && s.Size() > limit {
		return fault.New(fault.Unsupported, "the image is %v, %d bytes, expected at most %d", s.Format, s.Size(),
			limit).
			WithHint("allow larger images with --max-record-bytes %d", s.Size())
	}
	if int64(f.options.Width)*int64(s.Height)*32 > maxScratch {
		return fault.New(fault.Unsupported, "the image is %v, too high to be scaled to %d×%d", s.Format, f.Width,
			f.Height).
			WithHint("scale it with another program first: mogrify -resize %dx%d! FILES", f.Width, f.Height)
	}
	return nil
}

// HasGreyPalette reports whether the palette of a file has opaque greys only, as optipng and
// pngquant write grey pictures. Describe returns an RGB format for it, but Append also accepts it
// for a format of 8-bit grey.
func HasGreyPalette(file []byte) bool {
	s, err := inspect(file)
	return err == nil && s.greys
}

// accepts returns an error unless the picture of a file can become a record of f.
func (f Format) accepts(s stored) error {
	found, expected := s.Format, f
	if f.options.Width > 0 {
		found.Width, found.Height = f.Width, f.Height
	}
	if f.Channels == 1 && (s.greys || f.options.Grey) {
		found.Channels = 1
	}
	if f.Channels == 3 && f.options.converts() && found.Channels == 4 {
		found.Channels = 3
	}
	expected.options = Options{}
	if found == expected {
		return f.checkSource(s)
	}
	advice := "remove this one, or convert it with another program"
	switch {
	case found.Depth != f.Depth:
	case found.Channels == f.Channels:
		advice = fmt.Sprintf("--resize %dx%d scales all images", f.Width, f.Height)
	case found.Width != f.Width || found.Height != f.Height:
		advice = fmt.Sprintf("--grey --resize %dx%d makes all images grey and scales them", f.Width, f.Height)
	default:
		advice = "--grey makes all images grey"
	}
	return fault.New(fault.Malformed, "found %v, expected %v as in the first image", s.Format, f).
		WithHint("all images must have the same size and type: %s", advice)
}
