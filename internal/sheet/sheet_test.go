package sheet_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/sheet"
	"github.com/idxport/idxport/test/must"
)

// tile returns an image whose samples count up from first.
func tile(width, height, channels, first int) sheet.Tile {
	t := sheet.Tile{Width: width, Height: height, Channels: channels, Pix: make([]byte, width*height*channels)}
	for i := range t.Pix {
		t.Pix[i] = byte(first + 7*i)
	}
	return t
}

// draw draws a sheet and decodes it with image/png.
func draw(t *testing.T, s *sheet.Sheet) image.Image {
	t.Helper()
	file := must.Get(s.AppendPNG([]byte("before")))(t)
	file, ok := bytes.CutPrefix(file, []byte("before"))
	if !ok {
		t.Fatal("AppendPNG changed the bytes before the file")
	}
	m := must.Get(png.Decode(bytes.NewReader(file)))(t)
	if b := m.Bounds(); b.Dx() != s.Width || b.Dy() != s.Height {
		t.Fatalf("found an image of %v, expected %d×%d", b, s.Width, s.Height)
	}
	return m
}

// at returns the pixel of m as the samples of a tile.
func at(m image.Image, x, y, channels int) []byte {
	c := color.NRGBAModel.Convert(m.At(x, y)).(color.NRGBA)
	if channels == 1 {
		return []byte{c.R}
	}
	return []byte{c.R, c.G, c.B, c.A}[:channels]
}

// TestTilesAreOnTheSheet checks every enlarged pixel of every tile, and the light frames.
func TestTilesAreOnTheSheet(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		channels int
		scale    int
		drawn    int // expected scale
	}{
		"grey":     {1, 1, 1},
		"enlarged": {1, 3, 3},
		"chosen":   {1, 0, 12}, // 64/5
		"RGB":      {3, 2, 2},
		"RGBA":     {4, 2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			groups := []sheet.Group{
				{Heading: "9 Ankle boot", Tiles: []sheet.Tile{tile(5, 3, c.channels, 0), tile(5, 3, c.channels, 50), tile(5, 3, c.channels, 90)}},
				{Heading: "none"},
				{Heading: "", Tiles: []sheet.Tile{tile(5, 3, c.channels, 128)}},
			}
			s := sheet.New(groups, c.scale)
			m := draw(t, s)
			for g, group := range []sheet.Group{groups[0], groups[2]} {
				for i, want := range group.Tiles {
					left, top, scale := s.At(g, i)
					if scale != c.drawn {
						t.Fatalf("found scale %d, expected %d", scale, c.drawn)
					}
					for y := range 3 * scale {
						for x := range 5 * scale {
							pixel := want.Pix[(y/scale*5+x/scale)*c.channels:][:c.channels]
							if found := at(m, left+x, top+y, c.channels); !bytes.Equal(found, pixel) {
								t.Fatalf("tile %d,%d: found %v at %d,%d, expected %v", g, i, found, x, y, pixel)
							}
						}
					}
					light := color.NRGBA{0xd0, 0xd0, 0xd0, 0xff}
					for _, p := range []image.Point{{left - 1, top - 1}, {left + 5*scale, top + 3*scale}, {left - 1, top + 3*scale}, {left + 5*scale, top}} {
						if found := color.NRGBAModel.Convert(m.At(p.X, p.Y)); found != light {
							t.Errorf("tile %d,%d: found %v in the frame at %v, expected %v", g, i, found, p, light)
						}
					}
				}
			}
			if found := color.NRGBAModel.Convert(m.At(0, 0)); found != (color.NRGBA{0xff, 0xff, 0xff, 0xff}) {
				t.Errorf("found paper of %v, expected white", found)
			}
		})
	}
}

// TestLayout compares with a layout made by hand: a margin of 10 pixels, and frames of one pixel
// that neighbours share.
func TestLayout(t *testing.T) {
	t.Parallel()
	tiles := slices.Repeat([]sheet.Tile{tile(66, 9, 1, 1)}, 21) // a line of more than ten has over 2,000 pixels
	s := sheet.New([]sheet.Group{{Tiles: tiles}, {Tiles: tiles[:1]}}, 3)
	for _, c := range []struct{ group, tile, x, y int }{
		{0, 0, 11, 11}, {0, 1, 210, 11}, {0, 10, 11, 39}, {0, 20, 11, 67}, {1, 0, 11, 95},
	} {
		if x, y, _ := s.At(c.group, c.tile); x != c.x || y != c.y {
			t.Errorf("found tile %d,%d at %d,%d, expected %d,%d", c.group, c.tile, x, y, c.x, c.y)
		}
	}
	if s.Width != 11+10*199+10 || s.Height != 95+28+10 || s.Size() != 2011*133 {
		t.Errorf("found %d×%d, %d bytes", s.Width, s.Height, s.Size())
	}
}

// heading returns what is drawn to the left of the tiles, with the font's pixels as # and paper as
// '.'.
func heading(t *testing.T, text string) string {
	t.Helper()
	s := sheet.New([]sheet.Group{{Heading: text, Tiles: []sheet.Tile{tile(8, 8, 1, 0)}}}, 1)
	m := draw(t, s)
	left, top, _ := s.At(0, 0)
	var lines []string
	for y := top; y < top+8; y++ {
		line := ""
		for x := 10; x < left-1-10; x++ {
			switch v := at(m, x, y, 1)[0]; v {
			case 0xff:
				line += "."
			case 0x20:
				line += "#"
			default:
				t.Fatalf("found %d at %d,%d, expected ink or paper", v, x, y)
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestHeadings(t *testing.T) {
	t.Parallel()
	const want = `
#####......
#.#.#......
..#....####
..#...#...#
..#...#...#
..#....####
..#.......#
.......###.`
	if found := heading(t, "Tg"); "\n"+found != want {
		t.Errorf("found\n%s\nexpected%s", found, want)
	}
	if heading(t, "caf\u00e9 \u304a") != heading(t, "caf? ?") {
		t.Error("characters outside ASCII are not replaced")
	}
	if heading(t, strings.Repeat("x", 30)) != heading(t, strings.Repeat("x", 21)+"...") {
		t.Error("a long heading is not cut")
	}
	if heading(t, strings.Repeat("x", 24)) == heading(t, strings.Repeat("x", 21)+"...") {
		t.Error("a heading that fits is cut")
	}
}

func TestSheetsOfNothingAndOfTooMuch(t *testing.T) {
	t.Parallel()
	draw(t, sheet.New(nil, 0))
	many := slices.Repeat([]sheet.Tile{tile(28, 28, 1, 0)}, 4000)
	if size := sheet.New([]sheet.Group{{Tiles: many}}, 64).Size(); size != math.MaxInt64 {
		t.Errorf("found %d bytes, expected more than is drawn", size)
	}
}
