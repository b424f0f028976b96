package sheet

import (
	_ "embed" // the font
	"strings"
	"sync"
)

// The font: 5×8 pixels a glyph, the last row for what hangs below the line.
const (
	glyphWidth  = 5
	glyphHeight = 8
	glyphStep   = glyphWidth + 1 // from one glyph to the next
	glyphsInRow = 16             // of fontPicture
	firstGlyph  = ' '
	lastGlyph   = '~'
)

// fontPicture holds the glyphs of ASCII from the space on, drawn with # and '.', sixteen side by side with a column between them.
//
//go:embed font.txt
var fontPicture string

// fontLines are the lines of fontPicture.
var fontLines = sync.OnceValue(func() []string { return strings.Split(fontPicture, "\n") })

// inked tells whether the glyph of r, a character that has one, has ink at (x, y).
func inked(r rune, x, y int) bool {
	i := int(r - firstGlyph)
	line := fontLines()[i/glyphsInRow*glyphHeight+y]
	return line[i%glyphsInRow*glyphStep+x] == '#'
}

// printable is text with "?" for what has no glyph.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < firstGlyph || r > lastGlyph {
			return '?'
		}
		return r
	}, text)
}

// textWidth is the width of a printable text in pixels of the font.
func textWidth(text string) int { return max(0, len(text)*glyphStep-1) }
