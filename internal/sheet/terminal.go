package sheet

import (
	"bufio"
	"fmt"
	"image"
	"image/color"
	"io"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/width"
)

// A Terminal describes where pictures are printed.
type Terminal struct {
	Width  int  // in characters
	Colors bool // it has the 256 colours of xterm: a cube of 216 and 24 greys
}

const (
	gap        = 2  // characters between pictures
	maxCaption = 14 // characters of a caption that is wider than its image
)

// Fit returns how many of pictures, which all have one size, fit a line. It is at least one,
// because larger images are reduced. It does not use the pixels.
func (t Terminal) Fit(pictures []Picture) int { return max(1, (t.Width+gap)/(t.cell(pictures)+gap)) }

// cell returns the width of each of pictures with its caption.
func (t Terminal) cell(pictures []Picture) int {
	text, width := 0, 0
	for _, p := range pictures {
		for _, line := range p.Caption {
			text = max(text, TextWidth(line))
		}
		width = p.Image.Bounds().Dx()
	}
	return min(t.Width, max(width, min(text, maxCaption)))
}

// Print prints lines of pictures. All have one size, and captions with the same number of lines.
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
	size := pictures[0].Image.Bounds().Size()
	reduce := (size.X + t.Width - 1) / t.Width
	space := strings.Repeat(" ", cell-(size.X+reduce-1)/reduce+gap)
	for y := 0; y < size.Y; y += 2 * reduce {
		var text strings.Builder
		for _, p := range pictures {
			t.row(&text, p.Image, y, reduce)
			text.WriteString(space)
		}
		fmt.Fprintln(out, strings.TrimRight(text.String(), " "))
	}
	for i := range pictures[0].Caption {
		var text strings.Builder
		for _, p := range pictures {
			part := Shorten(p.Caption[i], "…", cell)
			text.WriteString(part + strings.Repeat(" ", cell-TextWidth(part)+gap))
		}
		fmt.Fprintln(out, strings.TrimRight(text.String(), " "))
	}
}

// row draws m from y on with one character per column, which shows two squares of reduce×reduce
// pixels, or one if there are no more below.
func (t Terminal) row(text *strings.Builder, m image.RGBA64Image, y, reduce int) {
	last, both := "", y+reduce < m.Bounds().Dy()
	for x := 0; x < m.Bounds().Dx(); x += reduce {
		upper := mean(m, x, y, reduce)
		lower, background := upper, "49"
		if both {
			lower = mean(m, x, y+reduce, reduce)
			background = "48;5;" + strconv.Itoa(paletteIndex(lower))
		}
		if !t.Colors {
			text.WriteByte(rampCharacter(upper, lower))
			continue
		}
		code := fmt.Sprintf("\x1b[38;5;%d;%sm", paletteIndex(upper), background)
		if code != last {
			text.WriteString(code)
		}
		last = code
		text.WriteString("▀") // the upper half has the foreground colour
	}
	if t.Colors {
		text.WriteString("\x1b[0m")
	}
}

// mean returns the mean, on black, of the n×n pixels from (x, y) on, without those outside of m.
func mean(m image.RGBA64Image, x, y, n int) color.RGBA {
	var red, green, blue uint64 // sums of samples of 16 bits, which are 257 times those of 8 bits
	square := image.Rect(x, y, x+n, y+n).Intersect(m.Bounds())
	for y := square.Min.Y; y < square.Max.Y; y++ {
		for x := square.Min.X; x < square.Max.X; x++ {
			c := m.RGBA64At(x, y)
			red, green, blue = red+uint64(c.R), green+uint64(c.G), blue+uint64(c.B)
		}
	}
	count := 257 * uint64(square.Dx()*square.Dy())
	of := func(sum uint64) uint8 { return uint8((sum + count/2) / count) }
	return color.RGBA{of(red), of(green), of(blue), 0xff}
}

// paletteIndex returns an entry of xterm's 256 colours that is near c. The cube from 16 on has the
// levels 0, 95, 135, 175, 215 and 255; the greys from 232 on are 8, 18, … 238.
func paletteIndex(c color.RGBA) int {
	if v := int(c.R); c.R == c.G && c.G == c.B && 4 <= v && v <= 246 { // else black or white, of the cube
		return 232 + min(23, (max(v, 8)-3)/10)
	}
	level := func(v byte) int {
		if v < 48 {
			return 0
		}
		return max(1, (int(v)-35)/40)
	}
	return 16 + 36*level(c.R) + 6*level(c.G) + level(c.B)
}

// rampCharacter returns a character for two pixels, which is the heavier the brighter they are.
func rampCharacter(upper, lower color.RGBA) byte {
	const ramp = " .:-=+*#%@"
	luma := func(c color.RGBA) int { return int(color.GrayModel.Convert(c).(color.Gray).Y) }
	return ramp[(luma(upper)+luma(lower))*len(ramp)/(2*256)]
}

// TextWidth returns how many columns text takes: two for a character of East Asian scripts.
func TextWidth(text string) (n int) {
	for _, r := range text {
		n++
		if kind := width.LookupRune(r).Kind(); kind == width.EastAsianWide || kind == width.EastAsianFullwidth {
			n++
		}
	}
	return n
}

// Shorten cuts text to at most width columns; a text that was cut ends in mark, such as "…".
func Shorten(text, mark string, width int) string {
	if TextWidth(text) <= width {
		return text
	}
	cut, n := "", TextWidth(mark)
	for _, r := range text {
		if n += TextWidth(string(r)); n > width {
			break
		}
		cut += string(r)
	}
	return cut + mark
}
