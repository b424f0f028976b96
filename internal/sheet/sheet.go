package sheet

import (
	_ "embed" // the font
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/idxport/idxport/internal/png"
)

// A Group is tiles that belong together. It starts on a new line.
type Group struct {
	Heading string // in ASCII; other characters are replaced, and long headings are cut
	Tiles   []Tile
}

// A Sheet is a page with tiles on it.
type Sheet struct {
	Width, Height int
	channels      int
	scale         int
	columns       int // tiles in a full line
	left          int // x of the first tile of a line, without its frame
	stepX, stepY  int // distance from one tile to the next
	tile          Tile
	font          int // scale of the font
	groups        []Group
	tops          []int // y of the first tile of each group
}

const (
	usualTile    = 64   // pixels of the larger side
	usualWidth   = 2000 // pixels
	usualColumns = 10
	margin       = 10    // around everything, pixels
	longHeading  = 24    // characters
	paper        = 0xff  // a white page: most images are bright on black
	frame        = 0xd0  // light, between the tiles
	ink          = 0x20  // of headings
	maxSide      = 65535 // pixels; many viewers refuse more
)

// New lays out groups of tiles, which must all have the same size and number of channels. A line
// has as many as fit about 2,000 pixels, and at least 10. Every pixel becomes scale×scale; a scale
// of 0 makes small tiles about 64 pixels large.
func New(groups []Group, scale int) *Sheet {
	s := &Sheet{scale: scale, font: 1}
	longest, text := 0, 0
	for _, g := range groups {
		g.Heading = Shorten(printable(g.Heading), "...", longHeading)
		if len(g.Tiles) == 0 {
			continue
		}
		s.tile, longest, text = g.Tiles[0], max(longest, len(g.Tiles)), max(text, textWidth(g.Heading))
		s.groups = append(s.groups, g)
	}
	if s.scale == 0 {
		s.scale = max(1, usualTile/max(1, s.tile.Width, s.tile.Height))
	}
	width, height := s.scale*s.tile.Width, s.scale*s.tile.Height
	switch {
	case height >= 15*glyphHeight:
		s.font = 3
	case height >= 2*glyphHeight:
		s.font = 2
	}
	s.left, s.stepX = margin+1, width+1
	if text > 0 {
		s.left += s.font*text + margin
	}
	s.stepY = max(height, s.font*glyphHeight) + 1
	s.columns = max(1, min(longest, max(usualColumns, (usualWidth-s.left-margin)/s.stepX)))
	y := margin + 1
	for _, g := range s.groups {
		s.tops = append(s.tops, y)
		y += (len(g.Tiles) + s.columns - 1) / s.columns * s.stepY
	}
	s.Width, s.Height, s.channels = s.left+s.columns*s.stepX+margin, y+margin, max(1, s.tile.Channels)
	return s
}

// Size returns the number of bytes needed to draw the sheet, or math.MaxInt64 if a side is too long
// for viewers.
func (s *Sheet) Size() int64 {
	if s.Width > maxSide || s.Height > maxSide {
		return math.MaxInt64
	}
	return int64(s.Width) * int64(s.Height) * int64(s.channels)
}

// At returns the upper left corner and the scale of tile i of group g, counting only groups with
// tiles.
func (s *Sheet) At(g, i int) (x, y, scale int) {
	return s.left + i%s.columns*s.stepX, s.tops[g] + i/s.columns*s.stepY, s.scale
}

// AppendPNG draws the sheet and appends it to dst as a PNG file.
func (s *Sheet) AppendPNG(dst []byte) ([]byte, error) {
	e, err := png.NewEncoder(s.Width, s.Height, s.channels, 8)
	if err != nil {
		return dst, fmt.Errorf("sheet: %w", err)
	}
	return e.Append(dst, s.draw()), nil
}

// draw returns the sheet's pixels.
func (s *Sheet) draw() []byte {
	pix := make([]byte, s.Width*s.Height*s.channels)
	s.fill(pix, 0, 0, s.Width, s.Height, paper)
	for g, group := range s.groups {
		for i, t := range group.Tiles {
			x, y, _ := s.At(g, i)
			big := t.scaled(1, s.scale)
			s.fill(pix, x-1, y-1, big.Width+2, big.Height+2, frame)
			for row := range big.Height {
				line := big.Width * s.channels
				copy(pix[((y+row)*s.Width+x)*s.channels:], big.Pix[row*line:(row+1)*line])
			}
		}
		// The heading is centred vertically on the first line of tiles, as if it had no descenders.
		s.write(pix, margin, s.tops[g]+(s.scale*s.tile.Height-s.font*(glyphHeight-1))/2, group.Heading)
	}
	return pix
}

// fill fills a rectangle with an opaque grey.
func (s *Sheet) fill(pix []byte, left, top, width, height int, gray byte) {
	for y := top; y < top+height; y++ {
		line := pix[(y*s.Width+left)*s.channels : (y*s.Width+left+width)*s.channels]
		for i := range line {
			line[i] = gray
			if s.channels == 4 && i%4 == 3 {
				line[i] = 0xff
			}
		}
	}
}

// write draws text, which must be printable.
func (s *Sheet) write(pix []byte, left, top int, text string) {
	for i, r := range text {
		for y := range glyphHeight {
			for x := range glyphWidth {
				if inked(r, x, y) {
					s.fill(pix, left+(i*glyphStep+x)*s.font, max(0, top)+y*s.font, s.font, s.font, ink)
				}
			}
		}
	}
}

// The font has 5×8 pixels per glyph; the last row is for descenders.
const (
	glyphWidth  = 5
	glyphHeight = 8
	glyphStep   = glyphWidth + 1 // distance from one glyph to the next
	glyphsInRow = 16             // of fontPicture
	firstGlyph  = ' '
	lastGlyph   = '~'
)

// fontPicture contains the glyphs of ASCII from the space on, drawn with # and '.', sixteen side by
// side with a column between them.
//
//go:embed font.txt
var fontPicture string

// fontLines returns the lines of fontPicture.
var fontLines = sync.OnceValue(func() []string { return strings.Split(fontPicture, "\n") })

// inked reports whether the glyph of r, a printable character, has ink at (x, y).
func inked(r rune, x, y int) bool {
	i := int(r - firstGlyph)
	line := fontLines()[i/glyphsInRow*glyphHeight+y]
	return line[i%glyphsInRow*glyphStep+x] == '#'
}

// printable returns text with "?" for characters without a glyph.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < firstGlyph || r > lastGlyph {
			return '?'
		}
		return r
	}, text)
}

// textWidth returns the width of a printable text in pixels of the font.
func textWidth(text string) int { return max(0, len(text)*glyphStep-1) }

// A Tile is one image: samples of 8 bits, the samples of a pixel together, row by row from the top.
type Tile struct {
	Width, Height int    // at least 1
	Channels      int    // 1: grey, 3: RGB, 4: RGB and an alpha that does not premultiply them
	Pix           []byte // Height·Width·Channels samples
}

// rgb returns the pixel at (x, y) on a black background.
func (t Tile) rgb(x, y int) [3]byte {
	p := t.Pix[(y*t.Width+x)*t.Channels:][:t.Channels]
	switch t.Channels {
	case 1:
		return [3]byte{p[0], p[0], p[0]}
	case 3:
		return [3]byte(p)
	}
	var dimmed [3]byte
	for i := range dimmed {
		dimmed[i] = byte((int(p[i])*int(p[3]) + 127) / 255)
	}
	return dimmed
}

// scaled returns t with each square of reduce×reduce pixels replaced by its mean, of which squares
// at the right and lower edges may have fewer, and then every pixel enlarge times as wide and high.
func (t Tile) scaled(reduce, enlarge int) Tile {
	if reduce == 1 && enlarge == 1 {
		return t
	}
	s := Tile{Channels: t.Channels,
		Width: (t.Width + reduce - 1) / reduce * enlarge, Height: (t.Height + reduce - 1) / reduce * enlarge}
	line := s.Width * s.Channels
	s.Pix = make([]byte, 0, line*s.Height)
	for y := range s.Height {
		if y%enlarge > 0 {
			s.Pix = append(s.Pix, s.Pix[len(s.Pix)-line:]...)
			continue
		}
		for i := range line {
			s.Pix = append(s.Pix, t.mean(i/s.Channels/enlarge*reduce, y/enlarge*reduce, reduce, i%s.Channels))
		}
	}
	return s
}

// mean returns the mean of channel c over the n×n pixels from (left, top) on, without those beyond
// the edges.
func (t Tile) mean(left, top, n, c int) byte {
	right, bottom := min(left+n, t.Width), min(top+n, t.Height)
	sum := 0
	for y := top; y < bottom; y++ {
		for x := left; x < right; x++ {
			sum += int(t.Pix[(y*t.Width+x)*t.Channels+c])
		}
	}
	count := (right - left) * (bottom - top)
	return byte((sum + count/2) / count)
}
