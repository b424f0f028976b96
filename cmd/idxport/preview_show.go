package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/sheet"
	"github.com/idxport/idxport/sink/images"
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
func (p *program) preview(ctx context.Context, o *previewOptions, r *report) error {
	splits, err := o.find(ctx, false)
	if err != nil {
		return err
	}
	jobs, err := p.openJobs(ctx, &o.convertOptions, splits, r)
	if err != nil {
		return err
	}
	defer closeAll(jobs)
	several := len(jobs) > 1
	if jobs, err = withRows(jobs, r); err != nil {
		return err
	}
	if err := expandOutputs(jobs, &o.convertOptions); err != nil {
		return err
	}
	for _, j := range jobs {
		if len(o.outputs) == 0 {
			j.meant.outputs = []output{{format: sheetFormat(), path: stdout}} // so that what is applied to it is told
		}
		r.describe(j)
	}
	if len(o.outputs) > 0 {
		return p.makeSheets(ctx, jobs, o, r)
	}
	for i, j := range jobs {
		if err := p.printImages(ctx, j, o, r, several, i > 0); err != nil {
			return err
		}
	}
	return nil
}

// makeSheets makes a contact sheet of each job.
func (p *program) makeSheets(ctx context.Context, jobs []*job, o *previewOptions, r *report) error {
	set, err := prepare(jobs, &o.convertOptions)
	if err != nil {
		return err
	}
	defer set.Discard() // no effect after Commit
	var made []outputReport
	for i, j := range jobs {
		to := j.meant.outputs[0]
		if to.path == stdout && terminal(p.stdout) {
			return usagef("will not write png to a terminal").WithHint("leave out -o to see the images on the terminal")
		}
		if to.path == stdout && closed(p.stdout) {
			return fmt.Errorf("%s: %w", to.name(), closedError())
		}
		data, shown, err := p.makeSheet(ctx, j, o, r)
		if err != nil {
			return err
		}
		if to.path == stdout {
			_, err = p.stdout.Write(data)
		} else {
			_, err = set.File(i).Write(data)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", to.name(), err)
		}
		made = append(made, outputReport{Path: to.path, Format: to.format.Name, Split: j.split.Name, Rows: int64(shown), Bytes: int64(len(data))})
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := set.Commit(); err != nil {
		return err
	}
	for _, out := range made {
		r.wrote(out, "")
	}
	return nil
}

// makeSheet draws the sheet of a job as a PNG file, and tells how many images are on it.
func (p *program) makeSheet(ctx context.Context, j *job, o *previewOptions, r *report) (data []byte, shown int, err error) {
	view, err := newView(j, o.channels)
	if err != nil {
		return nil, 0, err
	}
	k := newPicker(j.meant.schema, view, view.Label >= 0)
	k.most = o.images
	if k.most == 0 {
		k.most = k.usual()
	}
	if err := p.pick(ctx, j, k, o.others != nil, r); err != nil {
		return nil, 0, err
	}
	groups := k.groups(j, r)
	s := sheet.New(groups, sheet.Options{Scale: o.scale})
	if s.Size() > maxShown {
		return nil, 0, usagef("the sheet of %s would have %d×%d pixels", j.label(), s.Width, s.Height).WithHint("show less: %s", showLess)
	}
	for _, g := range groups {
		shown += len(g.Tiles)
	}
	data, err = s.AppendPNG(nil)
	return data, shown, err
}

const showLess = "--images 1, --rows 0:1000 or --scale 1"

// newView decides how the table of j is seen.
func newView(j *job, channels string) (images.View, error) {
	view, err := images.NewView("preview", j.meant.schema, channels)
	var e *fault.Error
	if errors.As(err, &e) && e.Hint == images.AdviceOther { // that is no help to who wants to look
		e.Hint = "--reshape reads the data as images of other dimensions, such as -1x28x28"
	}
	return view, err
}

// withRows are those of jobs that have rows to show, or may have. The others are noted; it is an error if there are no rows at all.
func withRows(jobs []*job, r *report) ([]*job, error) {
	empty := func(j *job) bool { return j.meant.schema.Rows == 0 }
	if !slices.ContainsFunc(jobs, func(j *job) bool { return !empty(j) }) {
		return nil, noRows(jobs[0])
	}
	for _, j := range jobs {
		if empty(j) {
			r.note("%s has no rows to show", j.label())
		}
	}
	return slices.DeleteFunc(slices.Clone(jobs), empty), nil
}

func noRows(j *job) error { return usagef("%s has no rows to show", j.label()) }

// printImages draws the first images of a job on standard output, below its name if that is wanted.
func (p *program) printImages(ctx context.Context, j *job, o *previewOptions, r *report, named, more bool) error {
	view, err := newView(j, o.channels)
	if err != nil {
		return err
	}
	t := p.display(o.scale)
	tile := sheet.Tile{Width: view.Width, Height: view.Height, Channels: view.Channels}
	if o.scale > 1 && t.LineSize(tile) > maxShown {
		return usagef("a line of images of %s would take more than %s", j.label(), bytesText(maxShown)).WithHint("show less: --scale 1")
	}
	k := newPicker(j.meant.schema, view, false)
	k.most = o.images
	if k.most == 0 {
		k.most = t.Fit([]sheet.Picture{{Tile: tile}})
	}
	if err := p.pick(ctx, j, k, o.others != nil, r); err != nil {
		return err
	}
	pictures := k.pictures(j, r)
	if o.images == 0 {
		pictures = pictures[:min(len(pictures), t.Fit(pictures))] // captions may be wider than images
	}
	if more {
		fmt.Fprintln(p.stdout)
	}
	if named {
		fmt.Fprintln(p.stdout, oneLine(j.base()))
	}
	return t.Print(p.stdout, pictures) // tells too what failed before
}

// display is how standard output shows pictures. Without a terminal there are no colours; NO_COLOR asks for that too (https://no-color.org).
func (p *program) display(scale int) sheet.Terminal {
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
	text, name := strconv.FormatInt(label, 10), oneLine(c.ClassName(label))
	if plain && !strings.ContainsFunc(name, func(r rune) bool { return r > ' ' && r <= '~' }) {
		name = ""
	}
	if name == "" || name == text { // digits are called after themselves
		return text
	}
	return text + " " + name
}
