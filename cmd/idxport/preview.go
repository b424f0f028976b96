package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/convert"
	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/internal/object"
	"github.com/idxport/idxport/internal/publish"
	"github.com/idxport/idxport/sheet"
	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/sink/images"
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
		sheet, err := parseSheets(r.settings)
		if err != nil {
			return err
		}
		r.dataOnStdout = r.dataOnStdout || sheet == nil
		return r.program.preview(ctx, r.settings, sheet, r)
	},
}

// A sheetArg is the -o argument of preview.
type sheetArg struct {
	path   string // with placeholders such as {split}
	folder bool   // path is a folder, which gets a sheet for each split
}

// parseSheets parses the -o arguments of preview; without any, the result is nil.
func parseSheets(s *settings) (*sheetArg, error) {
	switch {
	case len(s.Outputs) > 1:
		return nil, usagef("%d outputs, expected at most one sheet", len(s.Outputs)).WithHint("{split} in its name is filled in: -o 'sheet-{split}.png'")
	case len(s.Outputs) == 1:
		return parseSheet(s.Outputs[0])
	case s.Overwrite:
		return nil, usagef("--overwrite is for sheets, but there is no -o")
	}
	return nil, nil
}

// parseSheet parses the -o argument of preview.
func parseSheet(arg string) (*sheetArg, error) {
	local := convert.LocalPath(arg)
	if local == "" { // file://
		return nil, usagef("-o is empty").WithHint("perhaps a shell variable is not set")
	}
	f, path, named, err := convert.CutFormat(local)
	switch {
	case err != nil:
		return nil, err
	case object.IsURL(path):
		return nil, usagef("preview cannot write to a URL").WithHint("write a local file")
	case named && f.Name != "png":
		return nil, usagef("-o %s: a sheet is a PNG file", arg).WithHint("write -o %s", shell.Path(strings.TrimSuffix(path, convert.Extension(path))+".png"))
	case named || path == convert.Stdio:
		return &sheetArg{path: path}, nil
	}
	ext := convert.Extension(path)
	switch {
	case convert.IsFolder(path) || ext == "":
		return &sheetArg{path: path, folder: true}, nil
	case !strings.EqualFold(ext, ".png"):
		return nil, usagef("-o %s: a sheet must be a .png file, found the extension %s", arg, ext).
			WithHint("write -o %s", shell.Path(strings.TrimSuffix(strings.TrimSuffix(arg, ext), ".png")+".png"))
	}
	return &sheetArg{path: path}, nil
}

// preview does the work of `idxport preview`.
func (p *program) preview(ctx context.Context, s *settings, arg *sheetArg, r *report) error {
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
	paths, err := arg.paths(shown)
	if err != nil {
		return err
	}
	for _, t := range shown {
		t.Describe()
	}
	if arg != nil {
		return p.makeSheets(ctx, shown, arg, paths, s, r)
	}
	for i, t := range shown {
		if err := p.printImages(ctx, t, s, r, len(tables) > 1, i > 0); err != nil {
			return err
		}
	}
	return nil
}

// paths returns the paths of the sheets of tables, all different.
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
			return nil, a.collision(tables[i], t, path)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// collision returns the error for two tables whose sheets have one path.
func (a *sheetArg) collision(one, other *convert.Table, path string) error {
	alone := "choose one with --split " + shell.Quote(one.Name)
	if path == convert.Stdio {
		return usagef("%s and %s would both be written to standard output", one.Title(), other.Title()).WithHint("%s", alone)
	}
	stem := strings.TrimSuffix(strings.TrimRight(a.path, "/"), convert.Extension(a.path))
	return usagef("%s and %s would both be written to %s", one.Title(), other.Title(), path).
		WithHint("write -o %s for one file per split", shell.Path(stem+"-{split}.png"))
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

// makeSheet draws the sheet of a table as a PNG file, and returns how many images are on it.
func (p *program) makeSheet(ctx context.Context, t *convert.Table, s *settings, r *report) (data []byte, shown int, err error) {
	view, err := images.NewView("preview", t.Schema, s.Channels)
	if err != nil {
		return nil, 0, err
	}
	k := newPicker(t.Schema, view, view.Label >= 0)
	k.limit = int(s.Images)
	if k.limit == 0 {
		k.limit = k.defaultLimit()
	}
	if err := k.pick(ctx, t, r); err != nil {
		return nil, 0, err
	}
	groups := k.groups(t)
	drawn := sheet.New(groups, sheet.Options{Scale: int(s.Scale)})
	if drawn.Size() > maxShown {
		return nil, 0, usagef("the sheet of %s would have %d×%d pixels", t.Title(), drawn.Width, drawn.Height).WithHint("show less: %s", showLess)
	}
	for _, g := range groups {
		shown += len(g.Tiles)
	}
	data, err = drawn.AppendPNG(nil)
	return data, shown, err
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

// printImages draws the first images of a table on standard output, below its name if named is set,
// and after an empty line if separate is set.
func (p *program) printImages(ctx context.Context, t *convert.Table, s *settings, r *report, named, separate bool) error {
	view, err := images.NewView("preview", t.Schema, s.Channels)
	if err != nil {
		return err
	}
	screen := p.screen(int(s.Scale), int(s.Images))
	tile := sheet.Tile{Width: view.Width, Height: view.Height, Channels: view.Channels}
	if s.Scale > 1 && screen.LineSize(tile) > maxShown {
		return usagef("a row of images of %s would take more than %s", t.Title(), display.Bytes(maxShown)).WithHint("show less: --scale 1")
	}
	k := newPicker(t.Schema, view, false)
	k.limit = int(s.Images)
	if k.limit == 0 {
		k.limit = screen.Fit([]sheet.Picture{{Tile: tile}})
	}
	if err := k.pick(ctx, t, r); err != nil {
		return err
	}
	pictures := k.pictures(t)
	if s.Images == 0 {
		pictures = pictures[:min(len(pictures), screen.Fit(pictures))] // captions may be wider than images
	}
	if separate {
		if _, err := fmt.Fprintln(p.stdout); err != nil {
			return err
		}
	}
	if named {
		if err := show(p.stdout, "%s\n", t.Name); err != nil {
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
