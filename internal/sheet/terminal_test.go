package sheet_test

import (
	"image"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/sheet"
	"github.com/idxport/idxport/test/must"
)

func TestPrint(t *testing.T) {
	t.Parallel()
	grey := func(caption ...string) sheet.Picture {
		return sheet.Picture{Image: imageOf(2, 1, 0, 255, 128, 255, 64, 64), Caption: caption}
	}
	red := sheet.Picture{Image: imageOf(1, 4, 255, 0, 0, 255, 95, 135, 215, 255)}
	clear := sheet.Picture{Image: imageOf(1, 4, 200, 100, 50, 255, 255, 255, 255, 0)}
	letters, colours := sheet.Terminal{Width: 80}, sheet.Terminal{Width: 80, Colors: true}
	for name, c := range map[string]struct {
		terminal sheet.Terminal
		want     string
		pictures []sheet.Picture
	}{
		"letters": {letters, ":@\n::\n", []sheet.Picture{grey()}},
		"grey": {colours, "\x1b[38;5;16;48;5;244m▀\x1b[38;5;231;48;5;231m▀\x1b[0m\n\x1b[38;5;238;49m▀▀\x1b[0m\n",
			[]sheet.Picture{grey()}},
		"colours": {colours, "\x1b[38;5;196;48;5;68m▀\x1b[0m\n", []sheet.Picture{red}},
		"alpha":   {colours, "\x1b[38;5;167;48;5;16m▀\x1b[0m\n", []sheet.Picture{clear}},
		"captions": {letters, ":@    :@\n::    ::\n9     0 お\na     b\n",
			[]sheet.Picture{grey("9", "a"), grey("0 お", "b")}},
		"lines": {sheet.Terminal{Width: 6}, ":@  :@\n::  ::\n1   2\n\n:@\n::\n3\n",
			[]sheet.Picture{grey("1"), grey("2"), grey("3")}},
		"a long caption": {letters, ":@\n::\n8 a very long…\n", []sheet.Picture{grey("8 a very long name")}},
		// the mean of 0 255 128 255 is 160, above that of the two that are left, 64
		"reduced": {sheet.Terminal{Width: 1}, "=\n", []sheet.Picture{grey()}},
	} {
		var out strings.Builder
		must.Do(t, c.terminal.Print(&out, c.pictures))
		if out.String() != c.want {
			t.Errorf("%s: found\n%q\nexpected\n%q", name, out.String(), c.want)
		}
	}
}

func TestFit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ width, image, want int }{
		{80, 28, 2}, {88, 28, 3}, {87, 28, 2}, {20, 28, 1}, {80, 1, 27},
	} {
		pictures := []sheet.Picture{{Image: image.Rect(0, 0, c.image, 1)}}
		if found := (sheet.Terminal{Width: c.width}).Fit(pictures); found != c.want {
			t.Errorf("width %d: found %d images of %d, expected %d", c.width, found, c.image, c.want)
		}
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"Trouser", 7, "Trouser"}, {"Trouser", 6, "Trous…"},
		{"おおお", 6, "おおお"}, {"おおお", 5, "おお…"}, {"おおお", 4, "お…"},
	} {
		if found := sheet.Shorten(c.text, "…", c.width); found != c.want {
			t.Errorf("%q to %d: found %q, expected %q", c.text, c.width, found, c.want)
		}
	}
}
