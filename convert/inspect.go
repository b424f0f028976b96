package convert

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink/summary"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/dataset"
	"github.com/idxport/idxport/source/idx"
)

// A File describes one file that Inspect has read.
type File struct {
	Path         string   `json:"path"`
	Split        string   `json:"split,omitempty"`
	Role         string   `json:"role"`
	Format       string   `json:"format,omitempty"` // empty for IDX; other formats have types and shapes in Columns
	Dataset      string   `json:"dataset,omitempty"`
	Evidence     string   `json:"dataset_by,omitempty"` // how the data set was recognised
	DType        string   `json:"dtype"`                // empty if the header cannot be read
	Shape        []int64  `json:"shape"`                // of the file, the number of records first; null if the header cannot be read
	Compression  string   `json:"compression"`
	Sequential   bool     `json:"sequential,omitempty"` // an IDX file that can only be read from its start
	FileBytes    int64    `json:"file_bytes"`           // −1 if it is not a file
	ETag         string   `json:"etag,omitempty"`       // version of an object that was read
	PayloadBytes int64    `json:"payload_bytes"`
	Whole        bool     `json:"whole"`
	Problem      error    `json:"-"` // what is wrong with the file, or nil
	Columns      []Column `json:"columns,omitempty"`
	PairsWith    []string `json:"pairs_with,omitempty"` // base names of the other files of its split
}

// A Column summarises the values of one column.
type Column struct {
	Name   string   `json:"name"`
	DType  string   `json:"dtype,omitempty"` // unless it is that of the IDX file
	Shape  []int64  `json:"shape,omitempty"` // likewise, the number of rows first
	Min    *float64 `json:"min"`             // of the finite elements; null if there are none
	Max    *float64 `json:"max"`
	Mean   *float64 `json:"mean"`
	Zeros  int64    `json:"zeros"`
	NaNs   int64    `json:"nans,omitempty"`
	Infs   int64    `json:"infinities,omitempty"`
	Total  int64    `json:"elements"`
	Labels []Label  `json:"labels,omitempty"`

	Omitted string `json:"-"` // why the column is not read; empty if it is
}

// A Label is one bar of a histogram of labels.
type Label struct {
	Label int64  `json:"label"`
	Name  string `json:"name,omitempty"`
	Count int64  `json:"count"`
}

// Inspect reads every file of a source to its end, and calls found with a description of each.
// After a damaged file it goes on with the next, and returns the first error at the end.
func Inspect(ctx context.Context, in Source, found func(*File) error) (*Report, error) {
	r := NewReport(in.Events)
	o, err := newInputs(in, r)
	if err != nil {
		return r, err
	}
	return r, o.inspect(ctx, found)
}

func (o *inputs) inspect(ctx context.Context, found func(*File) error) error {
	splits, first, err := o.findAnyway(ctx)
	if len(o.args) > 1 && fault.KindOf(err) == fault.Usage { // they are not one table
		return o.inspectEach(ctx, found)
	}
	if err != nil {
		return err
	}
	classes, err := o.readClasses(ctx, splits)
	if err != nil {
		return err
	}
	for _, s := range splits {
		o.report.splitNotes(s)
		for i, f := range s.Files {
			file := o.describeFile(ctx, s, f)
			if file.Problem = o.inspectFile(ctx, file, s, f, classes); file.Problem != nil {
				if ctx.Err() != nil {
					return file.Problem
				}
				if first == nil {
					first = file.Problem
				}
			}
			for k, other := range s.Files {
				if k != i && other.Path != f.Path {
					file.PairsWith = append(file.PairsWith, source.Base(other.Path))
				}
			}
			if err := found(file); err != nil {
				return err
			}
		}
		first = cmp.Or(first, o.checkCounts(ctx, s))
	}
	return first
}

// checkCounts returns an error if the columns of s have different numbers of records, or reports it
// if --salvage is given. Otherwise those of IDX files were compared when they were found.
func (o *inputs) checkCounts(ctx context.Context, s dataset.Split) error {
	if len(s.Files) < 2 || o.tables == nil && !o.Salvage || slices.ContainsFunc(s.Files, readableOnce) {
		return nil
	}
	t, err := o.open(ctx, s, nil, nil, true)
	switch {
	case err == nil:
		defer t.Close() // read-only: an error does not matter
		if o.Salvage {
			o.tableNotes(t)
		}
	case fault.KindOf(err) == fault.Malformed:
		return err
	}
	return nil
}

// inspectEach inspects one input after the other.
func (o *inputs) inspectEach(ctx context.Context, found func(*File) error) (first error) {
	var stopped error // of found
	for i := range o.args {
		one := *o
		one.args, one.tables = o.args[i:i+1], nil
		first = cmp.Or(first, one.inspect(ctx, func(f *File) error { stopped = found(f); return stopped }))
		if ctx.Err() != nil || stopped != nil {
			break
		}
	}
	return first
}

// findAnyway finds the splits even if files are damaged or do not match; mismatch is the error in
// the latter case.
func (o *inputs) findAnyway(ctx context.Context) (splits []dataset.Split, mismatch, err error) {
	splits, findErr := o.find(ctx, false)
	if findErr == nil {
		return splits, nil, nil
	}
	lenient := *o
	lenient.Salvage = true
	if splits, err = lenient.find(ctx, true); err != nil {
		return nil, nil, findErr
	}
	if errors.Is(findErr, dataset.ErrMismatch) {
		mismatch = findErr
	}
	return splits, mismatch, nil // inspectFile reports the damage
}

// describeFile returns what is known about a file before its columns are read.
func (o *inputs) describeFile(ctx context.Context, s dataset.Split, f dataset.File) *File {
	file := &File{Path: f.Path, Split: s.Name, Role: f.Role.String(), Format: o.tables[f.Path].Format.Name, Compression: "none", FileBytes: -1}
	if s.Dataset != nil {
		file.Dataset, file.Evidence = s.Dataset.Name, s.Evidence
	}
	if info, err := o.files(ctx).Stat(f.Path); err == nil && !readableOnce(f) && !info.IsDir() {
		file.FileBytes = info.Size()
	}
	file.setHeader(f.Header)
	return file
}

// setHeader sets the fields that come from h, unless h is empty.
func (f *File) setHeader(h idx.Header) {
	if len(h.Dims) > 0 {
		f.DType, f.Shape, f.PayloadBytes = h.DType.String(), h.Dims, h.PayloadSize()
	}
}

// inspectFile reads one file to its end and completes its description.
func (o *inputs) inspectFile(ctx context.Context, file *File, s dataset.Split, f dataset.File, classes []string) error {
	t, err := o.openColumn(ctx, s, f, nil, classes)
	if err != nil {
		return err
	}
	defer t.Close() // read-only: an error does not matter
	file.ETag, file.Sequential = o.opened.about(f.Path)
	stored, isIDX := t.(*source.IDX)
	if isIDX {
		file.setHeader(stored.Header())
		file.Compression = stored.Compression()
		if t, err = o.labelColumns(scalarLabels(stored, f), s, f); err != nil {
			return err
		}
	}
	sc := schema.Of(t)
	sums := summary.New(sc)
	rows, err := o.drain(ctx, t, sc, source.Base(f.Path), sums)
	if err != nil {
		return err
	}
	file.Whole = !isIDX || !stored.Damaged()
	for i, c := range sc.Columns {
		column := describeColumn(c, sums.Columns()[i])
		if !isIDX {
			file.PayloadBytes += rows * int64(c.RecordSize())
		}
		if !isIDX || o.Reshape != nil {
			column.DType, column.Shape = c.DType.String(), []int64{rows}
			for _, d := range c.Shape {
				column.Shape = append(column.Shape, int64(d))
			}
		}
		file.Columns = append(file.Columns, column)
	}
	for _, c := range source.About(t).Omitted {
		if fault.KindOf(c.Err) == fault.Malformed {
			return c.Err
		}
		file.Columns = append(file.Columns, Column{Name: c.Column, DType: c.Type, Shape: []int64{rows}, Omitted: c.Why})
	}
	o.tableNotes(t)
	for i, c := range sc.Columns {
		for _, label := range sums.Columns()[i].Labels() {
			if c.Classes != nil && label != source.Unknown && c.ClassName(label) == "" {
				return fault.New(fault.Malformed, "label %d has no class name, and occurs in %s", label, display.Count(sums.Columns()[i].Counts[label], "row")).In(f.Path)
			}
		}
	}
	return nil
}

func describeColumn(c source.Column, s summary.Column) Column {
	r := Column{Name: c.Name, Zeros: s.Zeros, NaNs: s.NaNs, Infs: s.Infs, Total: s.Elements}
	if s.Finite() > 0 {
		r.Min, r.Max = &s.Min, &s.Max
		if mean := s.Mean(); !math.IsNaN(mean) && !math.IsInf(mean, 0) {
			r.Mean = &mean
		}
	}
	for _, label := range s.Labels() {
		r.Labels = append(r.Labels, Label{Label: label, Name: c.ClassName(label), Count: s.Counts[label]})
	}
	return r
}
