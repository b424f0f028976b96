package convert

import (
	"context"
	"fmt"
	"strings"

	"github.com/idxport/idxport/internal/formats"
	"github.com/idxport/idxport/internal/input"
	"github.com/idxport/idxport/internal/object"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
)

// A Table is one split of a source, open for reading.
type Table struct {
	source.Table
	Schema *schema.Schema
	Split  string // the name of the split, or empty
	Name   string // Split or, if that is empty, the base name of outputs: see dataset.Split.Stem

	job    *job
	inputs *inputs
}

// Open opens the splits of a source as view shows them, for programs that read the rows themselves.
// The caller closes the tables.
func Open(ctx context.Context, s Source, view View) ([]*Table, *Report, error) {
	report := NewReport(s.Events)
	in, jobs, err := openAll(ctx, Options{Source: s, View: view}, report)
	var tables []*Table
	for _, j := range jobs {
		in.describeJob(j)
		tables = append(tables, &Table{Table: j.table, Schema: j.schema, Split: j.split.Name, Name: j.base(), job: j,
			inputs: in})
	}
	return tables, report, err
}

// Read reads the next rows into b. It returns at once when ctx is done; b must not be used then,
// because the read from a pipe, for example, may still wait for data.
func (t *Table) Read(ctx context.Context, b *source.Raw) error {
	_, err := input.Interruptible(ctx, func() (struct{}, error) { return struct{}{}, t.Table.Read(ctx, b) })
	return err
}

// Title returns the name of the table for messages.
func (t *Table) Title() string { return t.job.title() }

// ReportNotes adds to the report what was found while reading.
func (t *Table) ReportNotes() { t.inputs.tableNotes(t.Table) }

// Note adds a note to the report.
func (t *Table) Note(format string, args ...any) { t.inputs.request.report.Note(format, args...) }

// Draw writes a contact sheet of each table to the outputs of a target. Like the outputs of [Run],
// they appear when all of them are complete. draw returns a PNG file and its number of images.
func Draw(ctx context.Context, tables []*Table, to Target, draw func(*Table) (png []byte, images int64,
	err error)) error {
	sheets, err := parseSheet(to.Outputs)
	if err != nil {
		return err
	}
	in, r := *tables[0].inputs, *tables[0].inputs.request
	r.Target, r.targets = to, []target{sheets}
	in.request = &r
	var jobs []*job
	for _, t := range tables {
		jobs = append(jobs, t.job)
	}
	outputs, err := planOutputs(ctx, &in, jobs)
	if err != nil {
		return err
	}
	p, err := prepare(ctx, &r, outputs, in.set.Paths(), "")
	if err != nil {
		return err
	}
	defer p.discard() // no effect after commit
	var entries []Output
	for i, out := range outputs {
		data, images, err := draw(tables[i])
		if err != nil {
			return err
		}
		if _, err := p.to[i].writer.Write(data); err != nil {
			return fmt.Errorf("%s: %w", out.shownName(), err)
		}
		entries = append(entries, Output{Path: out.path, Format: out.format.Name, Split: out.job.split.Name,
			Rows: images, Bytes: int64(len(data))})
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := p.commit(); err != nil {
		return err
	}
	r.report.Outputs = append(r.report.Outputs, entries...)
	return nil
}

// parseSheet parses the -o arguments of contact sheets: one file, or a folder that gets a sheet of
// each split.
func parseSheet(args []string) (target, error) {
	f, path, named, err := cutFormat(args[0])
	if err != nil {
		return target{}, err
	}
	t := target{path: path, named: named, formats: []formats.Format{{Name: "png", Extension: ".png"}}}
	ext := extension(path)
	t.container = !named && path != Stdio && path != "" && (ext == "" || isFolder(path))
	isFile := f.Name == "png" || !named && (path == Stdio || strings.EqualFold(ext, ".png"))
	if object.IsURL(path) {
		return t, usagef("preview cannot write to a URL").WithHint("write a local file")
	}
	if len(args) > 1 || !isFile && !t.container {
		return t, usagef("-o %s: expected a local .png file, a folder, or -", strings.Join(args, " -o ")).
			WithHint("write -o %s", text.Path(strings.TrimSuffix(path, ext)+".png"))
	}
	return t, nil
}
