package main

import (
	"cmp"
	"context"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/idxport/idxport/convert"
	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/sheet"
)

const previewUsage = `idxport preview INPUT... [-o SHEET] [flags]

INPUT is as in convert. Without -o, the first images of each split are drawn on the terminal with
their labels, in colours or, where the terminal has none, in characters. With -o, a contact sheet is
written, a PNG file with a row of images for each class; SHEET is a .png file, a folder, which gets
a sheet for each split, or - for standard output.

Reading stops once there are enough images. Values other than bytes are scaled so that the smallest is
black and the largest white.`

const previewExamples = `  idxport preview ./fashion-mnist
  idxport preview ./fashion-mnist -o 'fashion-{split}.png'
  idxport preview ./mnist --split test -o digits.png --images 20 --scale 1
  idxport preview photos-idx4-ubyte --channels first --rows 100:`

// previewCommand is `idxport preview`.
var previewCommand = command{
	name:     "preview",
	usage:    "show images on the terminal, or write a contact sheet",
	text:     previewUsage,
	examples: previewExamples,
	inputs:   true,
	run: func(ctx context.Context, r *report) error {
		if len(r.settings.Outputs) == 0 && r.settings.Overwrite {
			return usagef("--overwrite is for sheets, but there is no -o")
		}
		r.dataOnStdout = len(r.settings.Outputs) == 0
		return r.program.preview(ctx, r.settings, r)
	},
}

// preview does the work of `idxport preview`.
func (p *program) preview(ctx context.Context, s *settings, r *report) error {
	tables, report, err := convert.Open(ctx, s.Source, s.View)
	r.Report = report
	if err != nil {
		return err
	}
	defer func() {
		for _, t := range tables {
			_ = t.Close() // read-only: an error does not matter
		}
	}()
	shown, err := withRows(tables)
	if err != nil {
		return err
	}
	if !r.dataOnStdout {
		err = convert.Draw(ctx, shown, s.Target, func(t *convert.Table) ([]byte, int64, error) {
			return makeSheet(ctx, t, s, r)
		})
		r.wroteAll()
		return err
	}
	heading := ""
	if len(tables) > 1 {
		heading = "%s\n"
	}
	for _, t := range shown {
		if err := p.printImages(ctx, t, s, r, heading); err != nil {
			return err
		}
		heading = "\n%s\n"
	}
	return nil
}

// makeSheet draws the sheet of a table as a PNG file, and returns how many images are on it.
func makeSheet(ctx context.Context, t *convert.Table, s *settings, r *report) (png []byte, shown int64, err error) {
	k, err := newPicker(t, s.Channels, true)
	if err != nil {
		return nil, 0, err
	}
	k.limit = int(cmp.Or(s.Images, int64(k.defaultLimit())))
	if err := k.pick(ctx, t, r); err != nil {
		return nil, 0, err
	}
	groups := k.groups(t)
	drawn := sheet.New(groups, int(s.Scale))
	if drawn.Size() > maxShown {
		return nil, 0, usagef("the sheet of %s would have %d×%d pixels", t.Title(), drawn.Width, drawn.Height).
			WithHint("show less: %s", showLess)
	}
	for _, g := range groups {
		shown += int64(len(g.Tiles))
	}
	png, err = drawn.AppendPNG(nil)
	return png, shown, err
}

// withRows returns the tables that have or may have rows, and notes the empty ones. It is an error
// if all are empty.
func withRows(tables []*convert.Table) (shown []*convert.Table, err error) {
	for _, t := range tables {
		if t.Schema.Rows != 0 {
			shown = append(shown, t)
		}
	}
	if shown == nil {
		return nil, noRows(tables[0])
	}
	for _, t := range tables {
		if t.Schema.Rows == 0 {
			t.Note("%s has no rows to show", t.Title())
		}
	}
	return shown, nil
}

// printImages draws the first images of a table on standard output, below its name in the format
// heading, if that is not empty.
func (p *program) printImages(ctx context.Context, t *convert.Table, s *settings, r *report, heading string) error {
	k, err := newPicker(t, s.Channels, false)
	if err != nil {
		return err
	}
	screen := p.screen(int(s.Scale), int(s.Images))
	tile := sheet.Tile{Width: k.view.Width, Height: k.view.Height, Channels: k.view.Channels}
	if s.Scale > 1 && screen.LineSize(tile) > maxShown {
		return usagef("a row of images of %s would take more than %s", t.Title(), display.Bytes(maxShown)).
			WithHint("show less: --scale 1")
	}
	k.limit = cmp.Or(int(s.Images), screen.Fit([]sheet.Picture{{Tile: tile}}))
	if err := k.pick(ctx, t, r); err != nil {
		return err
	}
	pictures := k.pictures(t)
	if s.Images == 0 {
		pictures = pictures[:min(len(pictures), screen.Fit(pictures))] // captions may be wider than images
	}
	if heading != "" {
		if err := show(p.stdout, heading, t.Name); err != nil {
			return err
		}
	}
	if screen.Colors != sheet.NoColors {
		return screen.Print(p.stdout, pictures)
	}
	var text strings.Builder
	_ = screen.Print(&text, pictures) // into memory
	_, err = io.WriteString(p.stdout, forLocale(text.String()))
	return err
}

// leastOnLine is the minimum number of small images on a line of the terminal.
const leastOnLine = 5

// screen returns how standard output shows pictures. It uses no colours if standard output is not a
// terminal, if NO_COLOR is set (https://no-color.org), if TERM is dumb, or if the locale
// has no half blocks.
func (p *program) screen(scale, images int) sheet.Terminal {
	t := sheet.Terminal{Width: columns(p.stdout), Scale: scale, Least: leastOnLine}
	if images > 0 { // if fewer images are asked for, they may be larger
		t.Least = min(t.Least, images)
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 && n <= 10_000 {
		t.Width = n
	}
	switch {
	case !terminal(p.stdout), os.Getenv("NO_COLOR") != "", os.Getenv("TERM") == "dumb", forLocale("▀") != "▀":
	case os.Getenv("COLORTERM") == "truecolor", os.Getenv("COLORTERM") == "24bit":
		t.Colors = sheet.TrueColors
	default:
		t.Colors = sheet.Palette
	}
	return t
}
