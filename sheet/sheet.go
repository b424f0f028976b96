package sheet

import (
	"fmt"
	"math"

	"github.com/idxport/idxport/png"
)

// A Group is tiles that belong together, on lines of their own.
type Group struct {
	Heading string // in ASCII; other characters are replaced. What is longer than a heading may be is cut.
	Tiles   []Tile
}

// Options say how a sheet is laid out. The zero value chooses.
type Options struct {
	Scale   int // every pixel becomes Scale×Scale; 0: what makes small tiles about 64 pixels large
	Columns int // the most tiles in a line; 0: as many as make about 2,000 pixels, at least 10
}

// A Sheet is a page with tiles on it.
type Sheet struct {
	Width, Height int
	channels      int
	scale         int
	columns       int // tiles in a line
	left          int // where the first tile of a line begins, without its frame
	stepX, stepY  int // from one tile to the next
	tile          Tile
	font          int // enlargement of the font
	groups        []Group
	tops          []int // where the first tile of each group begins
}

const (
	usualTile    = 64   // pixels, wanted of the larger side
	usualWidth   = 2000 // pixels
	usualColumns = 10
	margin       = 10    // around everything, pixels
	longHeading  = 24    // characters
	paper        = 0xff  // a white page: most images are bright on black
	frame        = 0xd0  // light, between the tiles
	ink          = 0x20  // of headings
	maxSide      = 65535 // pixels: many viewers refuse more
)

// New lays out groups of tiles, which must all have one size and one number of channels.
func New(groups []Group, o Options) *Sheet {
	s := &Sheet{scale: o.Scale, columns: o.Columns, font: 1}
	longest, text := 0, 0
	for _, g := range groups {
		g.Heading = cut(printable(g.Heading))
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
	if s.columns == 0 {
		s.columns = max(usualColumns, (usualWidth-s.left-margin)/s.stepX)
	}
	s.columns = max(1, min(s.columns, longest))
	y := margin + 1
	for _, g := range s.groups {
		s.tops = append(s.tops, y)
		y += (len(g.Tiles) + s.columns - 1) / s.columns * s.stepY
	}
	s.Width, s.Height, s.channels = s.left+s.columns*s.stepX+margin, y+margin, max(1, s.tile.Channels)
	return s
}

// cut shortens a heading that is too long.
func cut(heading string) string {
	if len(heading) <= longHeading {
		return heading
	}
	return heading[:longHeading-3] + "..."
}

// Size is the number of bytes that drawing the sheet takes, math.MaxInt64 if a side is longer than images are made.
func (s *Sheet) Size() int64 {
	if s.Width > maxSide || s.Height > maxSide {
		return math.MaxInt64
	}
	return int64(s.Width) * int64(s.Height) * int64(s.channels)
}

// At is where tile i of the group g that has tiles is drawn: its left upper corner and the enlargement.
func (s *Sheet) At(g, i int) (x, y, scale int) {
	return s.left + i%s.columns*s.stepX, s.tops[g] + i/s.columns*s.stepY, s.scale
}

// AppendPNG draws the sheet and appends it to dst as a PNG file.
func (s *Sheet) AppendPNG(dst []byte) ([]byte, error) {
	color, ok := png.ColorOf(s.channels)
	if !ok {
		return dst, fmt.Errorf("sheet: found tiles of %d channels, expected 1, 3 or 4", s.channels)
	}
	e, err := png.NewEncoder(s.Width, s.Height, color, 8)
	if err != nil {
		return dst, fmt.Errorf("sheet: %w", err)
	}
	return e.Append(dst, s.draw()), nil
}

// draw is the sheet's pixels.
func (s *Sheet) draw() []byte {
	pix := make([]byte, s.Width*s.Height*s.channels)
	s.fill(pix, 0, 0, s.Width, s.Height, paper)
	for g, group := range s.groups {
		for i, t := range group.Tiles {
			x, y, _ := s.At(g, i)
			big := t.enlarged(s.scale)
			s.fill(pix, x-1, y-1, big.Width+2, big.Height+2, frame)
			for row := range big.Height {
				line := big.Width * s.channels
				copy(pix[((y+row)*s.Width+x)*s.channels:], big.Pix[row*line:(row+1)*line])
			}
		}
		// in the middle of the first line's height, without what hangs below the line of text
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

// write writes text, which is printable.
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
