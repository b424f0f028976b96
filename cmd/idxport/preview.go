package main

import (
	"cmp"
	"context"
	"io"
	"os"
	"strconv"

	"github.com/idxport/idxport/convert"
	"github.com/idxport/idxport/internal/sheet"
	"github.com/idxport/idxport/internal/text"
)

func runPreview(ctx context.Context, r *report) error {
	s := r.settings
	r.dataOnStdout = len(s.Outputs) == 0
	if r.dataOnStdout && s.Overwrite {
		return usagef("--overwrite is for sheets, but there is no -o")
	}
	tables, report, err := convert.Open(ctx, s.Source, s.View)
	if r.Report = report; err != nil {
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
		if err := printImages(ctx, t, s, r, heading); err != nil {
			return err
		}
		heading = "\n%s\n"
	}
	return nil
}

// makeSheet draws the sheet of a table as a PNG file, and returns how many images are on it.
func makeSheet(ctx context.Context, t *convert.Table, s *settings, r *report) (png []byte, shown int64, err error) {
	k, err := newPicker(t, true)
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
func printImages(ctx context.Context, t *convert.Table, s *settings, r *report, heading string) error {
	k, err := newPicker(t, false)
	if err != nil {
		return err
	}
	out := r.program.stdout
	screen := newScreen(out, int(s.Scale), int(s.Images))
	tile := sheet.Tile{Width: k.view.Width, Height: k.view.Height, Channels: k.view.Channels}
	if s.Scale > 1 && screen.LineSize(tile) > maxShown {
		return usagef("a row of images of %s would take more than %s", t.Title(), text.Bytes(maxShown)).
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
		if err := show(out, heading, t.Name); err != nil {
			return err
		}
	}
	return screen.Print(out, pictures)
}

// leastOnLine is the minimum number of small images on a line of the terminal.
const leastOnLine = 5

// newScreen returns how out shows pictures. It uses no colours if out is not a terminal, if
// NO_COLOR is set (https://no-color.org), or if TERM is dumb.
func newScreen(out io.Writer, scale, images int) sheet.Terminal {
	t := sheet.Terminal{Width: columns(out), Mark: "…", Scale: scale, Least: leastOnLine}
	if images > 0 { // if fewer images are asked for, they may be larger
		t.Least = min(t.Least, images)
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 && n <= 10_000 {
		t.Width = n
	}
	switch {
	case !terminal(out), os.Getenv("NO_COLOR") != "", os.Getenv("TERM") == "dumb":
	case os.Getenv("COLORTERM") == "truecolor", os.Getenv("COLORTERM") == "24bit":
		t.Colors = sheet.TrueColors
	default:
		t.Colors = sheet.Palette
	}
	return t
}
