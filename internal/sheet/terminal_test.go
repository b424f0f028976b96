package sheet_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/sheet"
	"github.com/idxport/idxport/test/must"
)

func TestPrint(t *testing.T) {
	t.Parallel()
	grey := sheet.Tile{Width: 2, Height: 3, Channels: 1, Pix: []byte{0, 255, 128, 255, 64, 64}}
	red := sheet.Tile{Width: 1, Height: 2, Channels: 3, Pix: []byte{255, 0, 0, 95, 135, 215}}
	clear := sheet.Tile{Width: 1, Height: 2, Channels: 4, Pix: []byte{200, 100, 50, 255, 255, 255, 255, 0}}
	for name, c := range map[string]struct {
		terminal sheet.Terminal
		pictures []sheet.Picture
		want     string
	}{
		"letters":       {sheet.Terminal{Width: 80}, []sheet.Picture{{Tile: grey}}, ":@\n::\n"},
		"true colours":  {sheet.Terminal{Width: 80, Colors: sheet.TrueColors}, []sheet.Picture{{Tile: grey}}, "\x1b[38;2;0;0;0;48;2;128;128;128m▀\x1b[38;2;255;255;255;48;2;255;255;255m▀\x1b[0m\n\x1b[38;2;64;64;64;49m▀▀\x1b[0m\n"},
		"palette, grey": {sheet.Terminal{Width: 80, Colors: sheet.Palette}, []sheet.Picture{{Tile: grey}}, "\x1b[38;5;16;48;5;244m▀\x1b[38;5;231;48;5;231m▀\x1b[0m\n\x1b[38;5;238;49m▀▀\x1b[0m\n"},
		"palette":       {sheet.Terminal{Width: 80, Colors: sheet.Palette}, []sheet.Picture{{Tile: red}}, "\x1b[38;5;196;48;5;68m▀\x1b[0m\n"},
		"alpha":         {sheet.Terminal{Width: 80, Colors: sheet.TrueColors}, []sheet.Picture{{Tile: clear}}, "\x1b[38;2;200;100;50;48;2;0;0;0m▀\x1b[0m\n"},
		"captions": {sheet.Terminal{Width: 80}, []sheet.Picture{{grey, "9"}, {grey, "0 お"}},
			":@    :@\n::    ::\n9     0 お\n"},
		"lines": {sheet.Terminal{Width: 6}, []sheet.Picture{{grey, "1"}, {grey, "2"}, {grey, "3"}},
			":@  :@\n::  ::\n1   2\n\n:@\n::\n3\n"},
		"a long caption": {sheet.Terminal{Width: 80, Mark: "…"}, []sheet.Picture{{grey, "8 a very long name"}},
			":@\n::\n8 a very long…\n"},
		"enlarged":             {sheet.Terminal{Width: 80, Scale: 2}, []sheet.Picture{{Tile: grey}}, "  @@\n++@@\n::::\n"},
		"enlarged as far as …": {sheet.Terminal{Width: 5, Scale: 9}, []sheet.Picture{{Tile: grey}}, "  @@\n++@@\n::::\n"},
		// the mean of 0 255 128 255 is 160, above that of the two that are left, 64
		"reduced": {sheet.Terminal{Width: 1}, []sheet.Picture{{Tile: grey}}, "=\n"},
		"nothing": {sheet.Terminal{Width: 80}, nil, ""},
	} {
		var out strings.Builder
		must.Do(t, c.terminal.Print(&out, c.pictures))
		if out.String() != c.want {
			t.Errorf("%s: found\n%q\nexpected\n%q", name, out.String(), c.want)
		}
	}
}

func TestPrintTellsErrors(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	r.Close()
	err := sheet.Terminal{Width: 80}.Print(w, []sheet.Picture{{Tile: tile(2, 2, 1, 0)}})
	if !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("found %v, expected %v", err, io.ErrClosedPipe)
	}
}

func TestFit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ width, tile, want int }{{80, 28, 2}, {88, 28, 3}, {87, 28, 2}, {20, 28, 1}, {80, 1, 27}} {
		pictures := []sheet.Picture{{Tile: sheet.Tile{Width: c.tile, Height: 1, Channels: 1}}}
		if found := (sheet.Terminal{Width: c.width}).Fit(pictures); found != c.want {
			t.Errorf("width %d: found %d tiles of %d, expected %d", c.width, found, c.tile, c.want)
		}
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{{"Trouser", 7, "Trouser"}, {"Trouser", 6, "Trous…"}, {"おおお", 6, "おおお"}, {"おおお", 5, "おお…"}, {"おおお", 4, "お…"}} {
		if found := sheet.Shorten(c.text, "…", c.width); found != c.want {
			t.Errorf("%q to %d: found %q, expected %q", c.text, c.width, found, c.want)
		}
	}
}

// TestLineSize includes a tall tile, which is also enlarged in width, and many of which fit a line.
func TestLineSize(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		terminal sheet.Terminal
		tile     sheet.Tile
		want     int64
	}{
		"as it is":  {sheet.Terminal{Width: 80}, sheet.Tile{Width: 28, Height: 28, Channels: 1}, 2 * 28 * 28},
		"enlarged":  {sheet.Terminal{Width: 80, Scale: 2}, sheet.Tile{Width: 28, Height: 28, Channels: 3}, 2 * 28 * 2 * 28 * 3},
		"tall":      {sheet.Terminal{Width: 80, Scale: 64}, sheet.Tile{Width: 1, Height: 100_000, Channels: 1}, 64 * 64 * 100_000},
		"too large": {sheet.Terminal{Width: 80, Scale: 64}, sheet.Tile{Width: 80, Height: 100, Channels: 1}, 80 * 100},
	} {
		if got := c.terminal.LineSize(c.tile); got != c.want {
			t.Errorf("%s: found %d bytes, expected %d", name, got, c.want)
		}
	}
}
