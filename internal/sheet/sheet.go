package sheet

import (
	"image"
	"image/color"
	"image/draw"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

// A Picture is an image whose upper left corner is at (0, 0), with a caption of some lines.
type Picture struct {
	Image   image.RGBA64Image // an *image.Gray or *image.NRGBA; for Fit, anything of that size
	Caption []string
}

const (
	usualImage   = 64   // pixels of the larger side
	usualWidth   = 2000 // pixels
	usualColumns = 10
	margin       = 10    // around everything, pixels
	longHeading  = 24    // characters
	frame        = 0xd0  // light, between the images
	maxSide      = 65535 // pixels; many viewers refuse more
	glyphWidth   = 7     // of the font
	glyphHeight  = 13    // with descenders
	capHeight    = 9     // of capital letters
)

// Draw draws pictures, at least one, whose images have the same size and type, on a white page. A
// picture with a caption begins a new line, and the first line of the caption is its heading. A
// line has 10 pictures, or more if they fit 2,000 pixels. Small images become about 64 pixels.
// If the page has more than limit bytes or is too large for viewers, only its size is returned.
func Draw(pictures []Picture, limit int64) (page draw.Image, size image.Point) {
	first := pictures[0].Image
	scale := max(1, usualImage/max(first.Bounds().Dx(), first.Bounds().Dy()))
	enlarged := first.Bounds().Size().Mul(scale)
	corners, size := layout(pictures, enlarged)
	isGray := first.ColorModel() == color.GrayModel
	pixel := map[bool]int64{true: 1, false: 4}[isGray] // bytes
	switch {
	case pixel*int64(size.X)*int64(size.Y) > limit || max(size.X, size.Y) > maxSide:
		return nil, size
	case isGray:
		page = image.NewGray(image.Rectangle{Max: size})
	default:
		page = image.NewNRGBA(image.Rectangle{Max: size})
	}
	draw.Draw(page, page.Bounds(), image.White, image.Point{}, draw.Src)
	for i, p := range pictures {
		area := image.Rectangle{Max: enlarged}.Add(corners[i])
		draw.Draw(page, area.Inset(-1), image.NewUniform(color.Gray{Y: frame}), image.Point{}, draw.Src)
		for y := range enlarged.Y {
			for x := range enlarged.X {
				page.Set(area.Min.X+x, area.Min.Y+y, p.Image.At(x/scale, y/scale))
			}
		}
		// The heading is centred vertically on the image, as if it had no descenders.
		baseline := fixed.P(margin, area.Min.Y+(enlarged.Y+capHeight)/2)
		text := font.Drawer{Dst: page, Src: image.Black, Face: basicfont.Face7x13, Dot: baseline}
		text.DrawString(p.heading())
	}
	return page, size
}

// layout returns the upper left corner of each image of the given size, and the size of the page.
func layout(pictures []Picture, size image.Point) (corners []image.Point, page image.Point) {
	longest, run, text := 0, 0, 0
	for _, p := range pictures {
		if p.Caption != nil {
			run, text = 0, max(text, glyphWidth*len([]rune(p.heading())))
		}
		run++
		longest = max(longest, run)
	}
	left := margin + 1
	if text > 0 {
		left += text + margin
	}
	step := image.Pt(size.X+1, max(size.Y, glyphHeight)+1)
	columns := max(1, min(longest, max(usualColumns, (usualWidth-left-margin)/step.X)))
	right := left + columns*step.X
	corner := image.Pt(left, margin+1)
	for i, p := range pictures {
		if i > 0 && (p.Caption != nil || corner.X == right) {
			corner = image.Pt(left, corner.Y+step.Y)
		}
		corners = append(corners, corner)
		corner.X += step.X
	}
	return corners, image.Pt(right+margin, corner.Y+step.Y+margin)
}

// heading returns the heading of the line that the picture begins, or "".
func (p Picture) heading() string {
	if p.Caption == nil {
		return ""
	}
	return Shorten(p.Caption[0], "...", longHeading)
}
