package sheet

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Colors is the number of colours of a terminal.
type Colors int

// The values of Colors.
const (
	NoColors   Colors = iota // plain text
	Palette                  // the 256 colours of xterm: a cube of 216 and 24 greys
	TrueColors               // 24 bits
)

// A Picture is a tile with lines of text below it.
type Picture struct {
	Tile
	Caption string
}

// A Terminal describes where pictures are printed.
type Terminal struct {
	Width  int // in characters
	Colors Colors
	Mark   string // at the end of captions that were cut
	Scale  int    // maximum factor by which tiles are enlarged if they fit the width; 0 for none
	// Least is the minimum number of small tiles in a line: they are reduced until so many fit,
	// unless Scale asks for larger ones.
	Least int
}

const (
	gap        = 2  // characters between pictures
	maxCaption = 14 // characters of a caption that is wider than its picture
	smallTile  = 64 // pixels: the greatest width of a small tile
	legible    = 12 // characters: the least width to which Least reduces small tiles
)

// Fit returns how many of pictures, which all have one size, fit a line. It is at least one,
// because larger pictures are reduced. It does not use the pixels.
func (t Terminal) Fit(pictures []Picture) int {
	return max(1, (t.Width+gap)/(t.cell(pictures)+gap))
}

// LineSize returns the number of bytes of a line of tiles that have the size of tile.
func (t Terminal) LineSize(tile Tile) int64 {
	_, enlarge := t.factors(tile.Width)
	pixels := int64(tile.Width) * int64(tile.Height) * int64(enlarge) * int64(enlarge)
	return int64(t.Fit([]Picture{{Tile: tile}})) * pixels * int64(tile.Channels)
}

// cell returns the width of each of pictures with its caption.
func (t Terminal) cell(pictures []Picture) int {
	text, width := 0, 0
	for _, p := range pictures {
		for line := range strings.SplitSeq(p.Caption, "\n") {
			text = max(text, TextWidth(line))
		}
		reduce, enlarge := t.factors(p.Width)
		width = (p.Width + reduce - 1) / reduce * enlarge
	}
	return min(t.Width, max(width, min(text, maxCaption)))
}

// factors returns the factors by which tiles of the given width are reduced and enlarged, one of
// which is 1.
func (t Terminal) factors(width int) (reduce, enlarge int) {
	room := t.Width
	if t.Least > 0 && t.Scale <= 1 && width <= smallTile {
		room = min(t.Width, max(legible, (t.Width+gap)/t.Least-gap))
	}
	return max(1, (width+room-1)/room), max(1, min(t.Scale, t.Width/width))
}

// Print prints pictures of one size in lines, as many in each as fit.
func (t Terminal) Print(w io.Writer, pictures []Picture) error {
	out := bufio.NewWriter(w)
	cell, separator := t.cell(pictures), ""
	for line := range slices.Chunk(pictures, t.Fit(pictures)) {
		out.WriteString(separator)
		t.line(out, line, cell)
		separator = "\n"
	}
	return out.Flush() // returns the first error of all writes
}

// line prints pictures side by side, each in a cell of the given width in characters.
func (t Terminal) line(out *bufio.Writer, pictures []Picture, cell int) {
	tiles := make([]Tile, len(pictures))
	reduce, enlarge := t.factors(pictures[0].Width)
	var captions []string
	for i, p := range pictures {
		tiles[i] = p.scaled(reduce, enlarge)
		for k, text := range strings.Split(p.Caption, "\n") {
			if k == len(captions) {
				captions = append(captions, "")
			}
			text = Shorten(text, t.Mark, cell)
			captions[k] += text + strings.Repeat(" ", cell-TextWidth(text)+gap)
		}
	}
	space := strings.Repeat(" ", cell-tiles[0].Width+gap)
	for y := 0; y < tiles[0].Height; y += 2 {
		var text strings.Builder
		for _, tile := range tiles {
			t.row(&text, tile, y)
			text.WriteString(space)
		}
		fmt.Fprintln(out, strings.TrimRight(text.String(), " "))
	}
	for _, text := range captions {
		if text = strings.TrimRight(text, " "); text != "" {
			fmt.Fprintln(out, text)
		}
	}
}

// row draws the pixels of rows y and y+1, if the latter exists, with one character per column.
func (t Terminal) row(text *strings.Builder, tile Tile, y int) {
	last := ""
	for x := range tile.Width {
		upper := tile.rgb(x, y)
		lower, both := upper, y+1 < tile.Height
		if both {
			lower = tile.rgb(x, y+1)
		}
		if t.Colors == NoColors {
			text.WriteByte(rampCharacter(upper, lower))
			continue
		}
		code := "\x1b[" + t.code(38, upper) + ";49m"
		if both {
			code = "\x1b[" + t.code(38, upper) + ";" + t.code(48, lower) + "m"
		}
		if code != last {
			text.WriteString(code)
		}
		last = code
		text.WriteString("▀") // the upper half has the foreground colour
	}
	if t.Colors != NoColors {
		text.WriteString("\x1b[0m")
	}
}

// code returns the parameters that select the colour c for a layer: the foreground (38) or the
// background (48).
func (t Terminal) code(layer int, c [3]byte) string {
	if t.Colors == TrueColors {
		return fmt.Sprintf("%d;2;%d;%d;%d", layer, c[0], c[1], c[2])
	}
	return fmt.Sprintf("%d;5;%d", layer, paletteIndex(c))
}

// paletteIndex returns an entry of xterm's 256 colours that is near c. The cube from 16 on has the
// levels 0, 95, 135, 175, 215 and 255; the greys from 232 on are 8, 18, … 238.
func paletteIndex(c [3]byte) int {
	if c[0] == c[1] && c[1] == c[2] {
		switch v := int(c[0]); {
		case v < 4:
			return 16
		case v > 246:
			return 231
		default:
			return 232 + min(23, (max(v, 8)-3)/10)
		}
	}
	level := func(v byte) int {
		if v < 48 {
			return 0
		}
		return max(1, (int(v)-35)/40)
	}
	return 16 + 36*level(c[0]) + 6*level(c[1]) + level(c[2])
}

// ramp is characters of growing weight.
const ramp = " .:-=+*#%@"

// rampCharacter returns the character of ramp for the brightness of two pixels.
func rampCharacter(upper, lower [3]byte) byte {
	return ramp[(luma(upper)+luma(lower))*len(ramp)/(2*256)]
}

// luma returns the brightness of c, 0 to 255, according to ITU-R BT.601.
func luma(c [3]byte) int { return (299*int(c[0]) + 587*int(c[1]) + 114*int(c[2]) + 500) / 1000 }

// TextWidth returns how many columns of a terminal text takes: two for a character of East Asian
// scripts.
func TextWidth(text string) int {
	n := 0
	for _, r := range text {
		n += runeWidth(r)
	}
	return n
}

// runeWidth returns the width of r, roughly as in Unicode's East Asian Width.
func runeWidth(r rune) int {
	switch {
	case r >= 0x1100 && r <= 0x115f, // Hangul Jamo
		r >= 0x2e80 && r <= 0xa4cf && r != 0x303f, // CJK, kana, Yi
		r >= 0xac00 && r <= 0xd7a3,                // Hangul
		r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6,
		r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}

// Shorten cuts text to at most width columns; a text that was cut ends in mark, such as "…".
func Shorten(text, mark string, width int) string {
	if TextWidth(text) <= width {
		return text
	}
	cut, n := "", TextWidth(mark)
	for _, r := range text {
		if n += runeWidth(r); n > width {
			break
		}
		cut += string(r)
	}
	return cut + mark
}
