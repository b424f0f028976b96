package convert

import (
	"context"
	"fmt"
	"image"
	"image/png"
	"slices"
	"strings"

	"github.com/idxport/idxport/internal/input"
	"github.com/idxport/idxport/internal/sinks"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
)

// A Table is one split of a source, open for reading.
type Table struct {
	source.Table
	Schema *schema.Schema
	Name   string  // of the split or, if it has none, the base name of outputs: see dataset.Split.Stem
	Title  string  // for messages
	Alone  bool    // the source has no other split
	Report *Report // of the run
}

// Read reads the next rows into b. It returns at once when ctx is done; b must not be used then,
// because the read from a pipe, for example, may still wait for data.
func (t *Table) Read(ctx context.Context, b *source.Raw) error {
	_, err := input.Interruptible(ctx, func() (struct{}, error) { return struct{}{}, t.Table.Read(ctx, b) })
	return err
}

// Preview opens the splits of a source as view shows them, and calls draw with each that may have
// rows. draw returns the number of images that it has drawn and, if there are outputs, a contact
// sheet. Like the outputs of [Run], the sheets appear when all of them are complete.
func Preview(ctx context.Context, s Source, view View, to Target,
	draw func(*Table) (sheet image.Image, images int64, err error)) (*Report, error) {
	report, sheets := NewReport(s.Events), to.Outputs
	to.Outputs = nil // sheets are in no format of Run
	in, jobs, err := openAll(ctx, Options{s, view, to}, report)
	defer releaseAll(jobs)
	if err != nil {
		return report, err
	}
	shown := slices.DeleteFunc(slices.Clone(jobs), func(j *job) bool { return j.schema.Rows == 0 })
	for _, j := range jobs {
		in.describeJob(j)
		if j.schema.Rows == 0 && len(shown) > 0 {
			report.Note("%v", noRows(j))
		}
	}
	if len(shown) == 0 {
		return report, noRows(jobs[0])
	}
	p, err := prepareSheets(ctx, in, shown, sheets)
	if err != nil {
		return report, err
	}
	defer p.discard() // no effect after commit
	var entries []Output
	for i, j := range shown {
		sheet, images, err := draw(&Table{Table: j.table, Schema: j.schema, Name: j.base(), Title: j.title(),
			Alone: len(jobs) == 1, Report: report})
		if err != nil {
			return report, err
		}
		in.reportTable(j.table)
		if images == 0 { // a stream shows only at its end that it has no rows
			return report, noRows(j)
		} else if len(p.to) == 0 {
			continue
		}
		to := p.to[i]
		if err := png.Encode(to.writer, sheet); err != nil {
			return report, fmt.Errorf("%s: %w", to.out.shownName(), err)
		}
		entries = append(entries, (&writing{destination: to, rows: images}).reportEntry())
	}
	if err = context.Cause(ctx); err == nil {
		err = p.commit()
	}
	if err == nil {
		report.Outputs = append(report.Outputs, entries...)
	}
	return report, err
}

func noRows(j *job) error { return usagef("%s has no rows to show", j.title()) }

// prepareSheets makes the destinations of the sheets of all jobs, if there are any: one file, or a
// folder that gets a sheet of each split.
func prepareSheets(ctx context.Context, in *inputs, jobs []*job, sheets []string) (*publication, error) {
	var targets []target
	if len(sheets) > 0 {
		f, path, named, err := cutFormat(sheets[0])
		if err != nil {
			return nil, err
		}
		stem, ext := sinks.SplitName(path)
		isFile := f.Name == "png" || !named && (path == Stdio || strings.EqualFold(ext, ".png"))
		container := !named && path != Stdio && (ext == "" || namesFolder(path))
		switch {
		case text.IsURL(path):
			return nil, usagef("preview cannot write to a URL").WithHint("write a local file")
		case len(sheets) > 1 || !isFile && !container:
			return nil, usagef("-o %s: expected a local .png file, a folder, or -", strings.Join(sheets, " -o ")).
				WithHint("write -o %s", text.Path(stem+".png"))
		}
		targets = []target{{path: path, named: named, container: container,
			formats: []sinks.Format{{Name: "png", Extension: ".png"}}}}
	}
	outputs, err := planOutputs(ctx, in, jobs, targets)
	if err != nil {
		return nil, err
	}
	return prepare(ctx, in.request, outputs, in.paths(), "")
}
