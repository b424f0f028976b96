package convert

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/idxport/idxport/internal/object"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/sink/formats"
	"github.com/idxport/idxport/source"
)

// A Table is one split of a source, open for reading.
type Table struct {
	source.Table
	Schema *schema.Schema
	Split  string // the name of the split, or empty
	Name   string // Split or, if that is empty, the base name of outputs: see dataset.Split.Stem

	job        *job
	conversion *conversion
}

// Open opens the splits of a source as view shows them, for programs that read the rows themselves.
// The caller closes the tables.
func Open(ctx context.Context, in Source, view View) ([]*Table, *Report, error) {
	r := NewReport(in.Events)
	o, err := newInputConversion(in, view, r)
	if err != nil {
		return nil, r, err
	}
	splits, err := o.find(ctx, false)
	if err != nil {
		return nil, r, err
	}
	jobs, err := o.openJobs(ctx, splits)
	var tables []*Table
	for _, j := range jobs {
		tables = append(tables, &Table{Table: j.passes[0].table, Schema: j.passes[0].schema, Split: j.split.Name, Name: j.base(), job: j, conversion: o})
	}
	return tables, r, err
}

// Title returns the name of the table for messages.
func (t *Table) Title() string { return t.job.title() }

// Describe adds to the report what was decided about the table.
func (t *Table) Describe() { t.conversion.describe(t.job) }

// ReportNotes adds to the report what was found while reading.
func (t *Table) ReportNotes() { t.conversion.tableNotes(t.Table) }

// Note adds a note to the report.
func (t *Table) Note(format string, args ...any) { t.conversion.report.Note(format, args...) }

// Draw writes a contact sheet of each table to the outputs of a target. Like the outputs of [Run],
// they appear when all of them are complete. draw returns a PNG file and its number of images.
func Draw(ctx context.Context, tables []*Table, target Target,
	draw func(*Table) (png []byte, images int64, err error)) error {
	arg, err := parseSheet(target.Outputs)
	if err != nil {
		return err
	}
	o := tables[0].conversion
	o.Target, o.wanted = target, []outputArg{arg}
	var jobs []*job
	for _, t := range tables {
		jobs = append(jobs, t.job)
	}
	outputs, err := o.expandOutputs(jobs)
	if err != nil {
		return err
	}
	dests, err := begin(ctx, outputs, o.inputPaths(jobs), o)
	if err != nil {
		return err
	}
	defer dests.Discard() // no effect after Commit
	for _, t := range tables {
		t.Describe()
	}
	for i, out := range outputs {
		to, _, err := out.destination.open(out)
		if err != nil {
			return fmt.Errorf("%s: %w", out.name(), err)
		}
		data, images, err := draw(tables[i])
		if err != nil {
			return err
		}
		out.counted, out.rows = &tally{Writer: to}, images
		if _, err := out.counted.Write(data); err != nil {
			return fmt.Errorf("%s: %w", out.name(), err)
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := dests.Commit(); err != nil {
		return err
	}
	for _, out := range outputs {
		o.report.Outputs = append(o.report.Outputs, Output{Path: out.path, Format: out.format.Name,
			Split: out.job.split.Name, Rows: out.rows, Bytes: out.counted.n})
	}
	return nil
}

// parseSheet parses the -o arguments of contact sheets: one file, or a folder that gets a sheet of
// each split.
func parseSheet(args []string) (arg outputArg, err error) {
	if len(args) > 1 {
		return arg, usagef("%d outputs, expected at most one sheet", len(args)).
			WithHint("{split} in its name is filled in: -o 'sheet-{split}.png'")
	}
	given := localPath(args[0])
	if given == "" { // file://
		return arg, usagef("-o is empty").WithHint("perhaps a shell variable is not set")
	}
	f, path, named, err := cutFormat(given)
	if err != nil {
		return arg, err
	}
	arg = outputArg{path: path, named: named, formats: []formats.Format{{Name: "png", Extension: ".png"}}}
	ext := extension(path)
	switch {
	case object.IsURL(path):
		return arg, usagef("preview cannot write to a URL").WithHint("write a local file")
	case path == Stdio && !named, named && f.Name == "png", !named && strings.EqualFold(ext, ".png") && !isFolder(path):
		return arg, nil
	case !named && (ext == "" || isFolder(path)):
		arg.container = true
		return arg, nil
	}
	stem, _ := formats.SplitName(path)
	return arg, usagef("-o %s: expected a .png file, found %s", args[0], cmp.Or(ext, f.Name)).
		WithHint("write -o %s", shell.Path(strings.TrimSuffix(stem, ".png")+".png"))
}
