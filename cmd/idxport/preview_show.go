package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/convert"
	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/sheet"
	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/sink/images"
	"github.com/idxport/idxport/sink/publish"
	"github.com/idxport/idxport/source"
)

const (
	usualPerClass = 10
	usualInAll    = 100
	usualColumns  = 10
	usualBytes    = 32 << 20  // of records that are shown where --images does not say how many
	maxShown      = 256 << 20 // bytes: of records that are kept, and of a sheet
)

// preview does the work of `idxport preview`.
func (p *program) preview(ctx context.Context, s *settings, to *sheetArg, r *report) error {
	tables, report, err := convert.Open(ctx, s.Source, s.View)
	r.Report = report
	if err != nil {
		return err
	}
	defer func() {
		for _, t := range tables {
			_ = t.Close() // only read from
		}
	}()
	shown, err := withRows(tables)
	if err != nil {
		return err
	}
	paths, err := to.paths(shown)
	if err != nil {
		return err
	}
	for _, t := range shown {
		t.Describe()
	}
	if to != nil {
		return p.makeSheets(ctx, shown, to, paths, s, r)
	}
	for i, t := range shown {
		if err := p.printImages(ctx, t, s, r, len(tables) > 1, i > 0); err != nil {
			return err
		}
	}
	return nil
}

// paths are where the sheets of tables go, each at a path of its own.
func (a *sheetArg) paths(tables []*convert.Table) (paths []string, err error) {
	if a == nil {
		return nil, nil
	}
	for _, t := range tables {
		path, err := t.Path(a.path, a.folder, ".png")
		if err != nil {
			return nil, err
		}
		if i := slices.Index(paths, path); i >= 0 {
			e := usagef("%s and %s would both be written to %s", tables[i].Label(), t.Label(), path)
			stem := strings.TrimSuffix(a.path, ".png")
			return nil, e.WithHint("write -o %s for a file each, or -o %s for a folder; or choose one with --split %s",
				shell.Path(stem+"-{split}.png"), shell.Path(stem+"/"), shell.Quote(tables[i].Name))
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// makeSheets makes a contact sheet of each table.
func (p *program) makeSheets(ctx context.Context, tables []*convert.Table, arg *sheetArg, paths []string, s *settings, r *report) error {
	var targets []publish.Target
	var inputs []string
	for i, t := range tables {
		inputs = append(inputs, t.Inputs...)
		if paths[i] != convert.Stdio {
			targets = append(targets, publish.Target{Path: paths[i], MakeParents: paths[i] != arg.path})
		}
	}
	set, err := publish.Prepare(targets, publish.Options{Overwrite: s.Overwrite, Inputs: inputs})
	if err != nil {
		return err
	}
	defer set.Discard() // no effect after Commit
	var made []convert.Output
	for i, t := range tables {
		var to io.Writer = p.stdout
		name := "standard output"
		if paths[i] != convert.Stdio {
			to, name = set.File(i), paths[i]
		} else if terminal(p.stdout) {
			return usagef("will not write png to a terminal").WithHint("leave out -o to see the images on the terminal")
		} else if err := convert.CheckOpen(p.stdout); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		data, shown, err := p.makeSheet(ctx, t, s, r)
		if err != nil {
			return err
		}
		if _, err = to.Write(data); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		made = append(made, convert.Output{Path: paths[i], Format: "png", Split: t.Split, Rows: int64(shown), Bytes: int64(len(data))})
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := set.Commit(); err != nil {
		return err
	}
	r.Outputs = made
	r.wroteAll()
	return nil
}

// makeSheet draws the sheet of a table as a PNG file, and tells how many images are on it.
func (p *program) makeSheet(ctx context.Context, t *convert.Table, s *settings, r *report) (data []byte, shown int, err error) {
	view, err := newView(t, s.Channels)
	if err != nil {
		return nil, 0, err
	}
	k := newPicker(t.Schema, view, view.Label >= 0)
	k.most = int(s.images)
	if k.most == 0 {
		k.most = k.usual()
	}
	if err := k.pick(ctx, t, r); err != nil {
		return nil, 0, err
	}
	groups := k.groups(t)
	drawn := sheet.New(groups, sheet.Options{Scale: int(s.scale)})
	if drawn.Size() > maxShown {
		return nil, 0, usagef("the sheet of %s would have %d×%d pixels", t.Label(), drawn.Width, drawn.Height).WithHint("show less: %s", showLess)
	}
	for _, g := range groups {
		shown += len(g.Tiles)
	}
	data, err = drawn.AppendPNG(nil)
	return data, shown, err
}

const showLess = "--images 1, --rows 0:1000 or --scale 1"

// newView decides how t is seen.
func newView(t *convert.Table, channels string) (images.View, error) {
	view, err := images.NewView("preview", t.Schema, channels)
	var e *fault.Error
	if errors.As(err, &e) && e.Hint == images.AdviceOther { // that is no help to who wants to look
		e.Hint = "--reshape reads the data as images of other dimensions, such as -1x28x28"
	}
	return view, err
}

// withRows are those of tables that have rows to show, or may have. The others are noted; it is an error if there are no rows at all.
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
			t.Note("%s has no rows to show", t.Label())
		}
	}
	return shown, nil
}

func noRows(t *convert.Table) error { return usagef("%s has no rows to show", t.Label()) }

// printImages draws the first images of a table on standard output, below its name if that is wanted.
func (p *program) printImages(ctx context.Context, t *convert.Table, s *settings, r *report, named, more bool) error {
	view, err := newView(t, s.Channels)
	if err != nil {
		return err
	}
	screen := p.screen(int(s.scale))
	tile := sheet.Tile{Width: view.Width, Height: view.Height, Channels: view.Channels}
	if s.scale > 1 && screen.LineSize(tile) > maxShown {
		return usagef("a line of images of %s would take more than %s", t.Label(), display.Bytes(maxShown)).WithHint("show less: --scale 1")
	}
	k := newPicker(t.Schema, view, false)
	k.most = int(s.images)
	if k.most == 0 {
		k.most = screen.Fit([]sheet.Picture{{Tile: tile}})
	}
	if err := k.pick(ctx, t, r); err != nil {
		return err
	}
	pictures := k.pictures(t)
	if s.images == 0 {
		pictures = pictures[:min(len(pictures), screen.Fit(pictures))] // captions may be wider than images
	}
	if more {
		fmt.Fprintln(p.stdout)
	}
	if named {
		fmt.Fprintln(p.stdout, display.Printable(t.Name))
	}
	return screen.Print(p.stdout, pictures) // tells too what failed before
}

// screen is how standard output shows pictures. Without a terminal there are no colours; NO_COLOR asks for that too (https://no-color.org).
func (p *program) screen(scale int) sheet.Terminal {
	t := sheet.Terminal{Width: columns(p.stdout), Scale: scale}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 && n <= 10_000 {
		t.Width = n
	}
	switch {
	case !terminal(p.stdout), os.Getenv("NO_COLOR") != "", os.Getenv("TERM") == "dumb":
	case os.Getenv("COLORTERM") == "truecolor", os.Getenv("COLORTERM") == "24bit":
		t.Colors = sheet.TrueColors
	default:
		t.Colors = sheet.Palette
	}
	return t
}

// labelText is how label is written beside images of its class; plain leaves out a name that has no letters of ASCII, as sheets cannot show it.
func labelText(c source.Column, label int64, plain bool) string {
	text, name := strconv.FormatInt(label, 10), display.Printable(c.ClassName(label))
	if plain && !strings.ContainsFunc(name, func(r rune) bool { return r > ' ' && r <= '~' }) {
		name = ""
	}
	if name == "" || name == text { // digits are called after themselves
		return text
	}
	return text + " " + name
}
