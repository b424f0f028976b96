package convert

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
)

// A Table is one split of a source, open for reading.
type Table struct {
	source.Table
	Schema *schema.Schema
	Split  string   // the name of the split, or empty
	Name   string   // Split or, if that is empty, the base name of outputs: see dataset.Split.Stem
	Inputs []string // paths of the files

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
		tables = append(tables, &Table{Table: j.passes[0].table, Schema: j.passes[0].schema, Split: j.split.Name, Name: j.base(), Inputs: o.inputPaths([]*job{j}), job: j, conversion: o})
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

// Path fills in {split} and {format} in the path of an output. If folder is set, it appends the
// table's file name.
func (t *Table) Path(path string, folder bool, extension string) (string, error) {
	filled, err := fill(path, map[string]string{"split": t.Name, "format": strings.TrimPrefix(extension, ".")})
	if err == nil && folder {
		filled = filepath.Join(filled, t.Name+extension)
	}
	return filled, err
}
