package convert

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/idxport/idxport/internal/compressed"
	"github.com/idxport/idxport/internal/dataset"
	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/input"
	"github.com/idxport/idxport/internal/summary"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
)

// A File describes one file that Inspect has read.
type File struct {
	Path         string   `json:"path"`
	Split        string   `json:"split,omitempty"`
	Role         string   `json:"role"`
	Format       string   `json:"format,omitempty"` // empty for IDX; other formats have types and shapes in Columns
	Dataset      string   `json:"dataset,omitempty"`
	Evidence     string   `json:"dataset_by,omitempty"` // how the data set was recognised
	DType        string   `json:"dtype"`                // of IDX; empty if the header cannot be read
	Shape        []int64  `json:"shape"`                // of the file, the number of records first; null if unknown
	Compression  string   `json:"compression"`
	Sequential   bool     `json:"sequential,omitempty"` // an IDX file that can only be read from its start
	FileBytes    int64    `json:"file_bytes"`           // −1 if it is not a file
	ETag         string   `json:"etag,omitempty"`       // version of an object that was read
	PayloadBytes int64    `json:"payload_bytes"`        // of the elements, decompressed
	Whole        bool     `json:"whole"`                // it was read to its end, without damage
	Problem      error    `json:"-"`                    // what is wrong with the file, or nil
	Columns      []Column `json:"columns,omitempty"`
}

// A Column summarises the values of one column.
type Column struct {
	Name   string   `json:"name"`
	DType  string   `json:"dtype,omitempty"` // empty for IDX, whose File has it, unless a shape was given
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
// After a damaged file it goes on with the next, and returns the first error at the end; after an
// error of found, or if ctx is done, it returns at once.
func Inspect(ctx context.Context, in Source, found func(*File) error) (*Report, error) {
	report := NewReport(in.Events)
	r, err := newRequest(Options{Source: in}, report)
	if err != nil {
		return report, err
	}
	r.input.AsStored = true
	return report, inspect(ctx, r, found)
}

func inspect(ctx context.Context, r *request, found func(*File) error) error {
	in, first, err := findAnyway(ctx, r)
	kinds := []fault.Kind{fault.Usage, fault.NotFound} // they are not one table, or one is not there
	if args := r.input.Args; len(args) > 1 && slices.Contains(kinds, fault.KindOf(err)) {
		for _, arg := range args {
			one := *r
			one.input.Args = []dataset.Input{arg}
			first = cmp.Or(first, inspect(ctx, &one, found))
		}
		return first
	} else if err != nil {
		return err
	}
	for _, s := range in.set.Splits {
		r.report.splitNotes(s)
		for _, f := range s.Files {
			file := in.describeFile(ctx, s, f)
			file.Problem = in.inspectFile(ctx, file, s, f)
			if file.Problem != nil && ctx.Err() != nil {
				return file.Problem
			}
			first = cmp.Or(first, file.Problem)
			if err := found(file); err != nil {
				return err
			}
		}
		first = cmp.Or(first, in.checkCounts(ctx, s))
	}
	return first
}

// checkCounts returns or, with --salvage, reports an error if columns of s have different lengths.
func (in *inputs) checkCounts(ctx context.Context, s dataset.Split) error {
	if len(s.Files) < 2 || slices.ContainsFunc(s.Files, isStdin) {
		return nil
	}
	t, err := in.set.Open(ctx, s, nil, true)
	if err == nil {
		in.reportTable(t)
		err = t.Close()
	} else if fault.KindOf(err) != fault.Malformed { // inspectFile finds it
		return nil
	}
	return err
}

// findAnyway finds the splits even if files are damaged, or swapped, which is an error of its own.
func findAnyway(ctx context.Context, r *request) (in *inputs, swapped, err error) {
	set, strict := input.Find(ctx, r.input, false)
	if strict != nil {
		if set, err = input.Find(ctx, r.input, true); err != nil {
			return nil, nil, strict
		}
	}
	if errors.Is(strict, dataset.ErrSwapped) {
		swapped = strict
	}
	return &inputs{r, set}, swapped, nil
}

// describeFile returns what is known about a file before it is opened.
func (in *inputs) describeFile(ctx context.Context, s dataset.Split, f dataset.File) *File {
	file := &File{Path: f.Path, Split: s.Name, Role: f.Role.String(), Format: in.set.Table(f.Path).Format.Name,
		Compression: compressed.Plain, FileBytes: -1, Dataset: s.DatasetName(), Evidence: s.Evidence}
	if info, err := in.set.Storage.Files(ctx).Stat(f.Path); err == nil && f.Path != source.Stdin && !info.IsDir() {
		file.FileBytes = info.Size()
	}
	return file
}

// inspectFile reads one file to its end and completes its description.
func (in *inputs) inspectFile(ctx context.Context, file *File, s dataset.Split, f dataset.File) error {
	r := in.request
	t, err := in.set.OpenFile(ctx, s, f, nil)
	stored, isIDX := t.(*source.IDX)
	if isIDX {
		f.Header = stored.Header() // also of standard input
	}
	if h := f.Header; len(h.Dims) > 0 { // it could be read, perhaps in a file that cannot be opened
		file.DType, file.Shape, file.PayloadBytes = h.DType.String(), h.Dims, h.PayloadSize()
	}
	if err != nil {
		return err
	}
	defer t.Close() // read-only: an error does not matter
	file.ETag, file.Sequential = in.set.Storage.About(f.Path)
	file.Compression = cmp.Or(source.About(t).Compression, compressed.Plain)
	if isIDX {
		t = input.Labels(stored, s, f, false)
	}
	sc := schema.Of(t)
	sums := summary.New(sc)
	rows, err := drain(ctx, r, t, sc, source.Base(f.Path), sums)
	if err != nil {
		return err
	}
	file.Whole = !isIDX || len(stored.Info().Notes) == 0
	var unnamed error
	for i, c := range sc.Columns {
		column := describeColumn(c, sums.Columns[i])
		if !isIDX {
			file.PayloadBytes += rows * int64(c.RecordSize())
		}
		if !isIDX || r.Shape != nil {
			column.DType, column.Shape = c.DType.String(), []int64{rows}
			for _, d := range c.Shape {
				column.Shape = append(column.Shape, int64(d))
			}
		}
		file.Columns = append(file.Columns, column)
		for _, l := range column.Labels {
			if c.Classes != nil && l.Label != source.Unknown && l.Name == "" && unnamed == nil {
				unnamed = fault.New(fault.Malformed, "label %d has no class name, and occurs in %s", l.Label,
					text.Count(l.Count, "row")).In(f.Path)
			}
		}
	}
	for _, c := range source.About(t).Omitted {
		if fault.KindOf(c.Err) == fault.Malformed {
			return c.Err
		}
		file.Columns = append(file.Columns, Column{Name: c.Column, DType: c.Type, Shape: []int64{rows}, Omitted: c.Why})
	}
	in.reportTable(t)
	return unnamed
}

func describeColumn(c source.Column, s summary.Column) Column {
	r := Column{Name: c.Name, Zeros: s.Zeros, NaNs: s.NaNs, Infs: s.Infs, Total: s.Elements}
	if s.Finite() > 0 {
		r.Min, r.Max = &s.Min, &s.Max
		if mean := s.Mean(); !math.IsNaN(mean) && !math.IsInf(mean, 0) {
			r.Mean = &mean
		}
	}
	for _, label := range slices.Sorted(maps.Keys(s.Counts)) {
		r.Labels = append(r.Labels, Label{Label: label, Name: c.ClassName(label), Count: s.Counts[label]})
	}
	return r
}
