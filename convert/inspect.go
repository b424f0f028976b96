package convert

import (
	"context"
	"errors"
	"math"
	"path/filepath"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/pipeline"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/sink/summary"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/compressed"
	"github.com/idxport/idxport/source/dataset"
	"github.com/idxport/idxport/source/idx"
)

// A File is what Inspect found in one file.
type File struct {
	Path         string   `json:"path"`
	Split        string   `json:"split,omitempty"`
	Role         string   `json:"role"`
	Format       string   `json:"format,omitempty"` // of what is no IDX file: its columns have the types and shapes
	Dataset      string   `json:"dataset,omitempty"`
	Evidence     string   `json:"dataset_by,omitempty"` // how the data set was told
	DType        string   `json:"dtype"`                // empty if the header cannot be read
	Shape        []int64  `json:"shape"`                // of the file: its first number is that of the records; null if the header cannot be read
	Compression  string   `json:"compression"`
	Seekable     bool     `json:"seekable,omitempty"`   // compressed, but its middle can be read alone
	Sequential   bool     `json:"sequential,omitempty"` // an IDX file that can be read only from its start
	FileBytes    int64    `json:"file_bytes"`           // −1: not a file
	ETag         string   `json:"etag,omitempty"`       // of an object: the version that was read
	PayloadBytes int64    `json:"payload_bytes"`
	Whole        bool     `json:"whole"`
	Problem      error    `json:"-"` // why it is not whole
	Columns      []Column `json:"columns,omitempty"`
	PairsWith    []string `json:"pairs_with,omitempty"`
}

// A Column sums up the values of one column.
type Column struct {
	Name   string   `json:"name"`
	DType  string   `json:"dtype,omitempty"` // of a table in another format than IDX
	Shape  []int64  `json:"shape,omitempty"` // likewise, with the number of rows first
	Min    *float64 `json:"min"`             // of the finite elements; null where there are none
	Max    *float64 `json:"max"`
	Mean   *float64 `json:"mean"`
	Zeros  int64    `json:"zeros"`
	NaNs   int64    `json:"nans,omitempty"`
	Infs   int64    `json:"infinities,omitempty"`
	Total  int64    `json:"elements"`
	Labels []Label  `json:"labels,omitempty"`

	Omitted string `json:"-"` // why it is no column of the table; empty if it is one
}

// A Label is one bar of a histogram of labels.
type Label struct {
	Label int64  `json:"label"`
	Name  string `json:"name,omitempty"`
	Count int64  `json:"count"`
}

// Inspect reads every file of a source to its end, and calls found with what each holds. Files that
// are damaged do not keep it from the others; the first error is returned.
func Inspect(ctx context.Context, in Source, found func(*File) error) (*Report, error) {
	r := NewReport(in.Events)
	o, err := newInputs(in, r)
	if err != nil {
		return r, err
	}
	return r, o.inspect(ctx, found)
}

func (o *inputs) inspect(ctx context.Context, found func(*File) error) error {
	splits, mismatch, err := o.findAnyway(ctx)
	if err != nil {
		return err
	}
	classes, err := o.readClasses(ctx, splits)
	if err != nil {
		return err
	}
	first := mismatch
	for _, s := range splits {
		o.report.splitNotes(s)
		for i, f := range s.Files {
			file, err := o.inspectFile(ctx, s, f, classes)
			if err != nil {
				if ctx.Err() != nil {
					return err
				}
				file.Problem = err
				if first == nil {
					first = err
				}
			}
			for k, other := range s.Files {
				if k != i {
					file.PairsWith = append(file.PairsWith, filepath.Base(other.Path))
				}
			}
			if err := found(file); err != nil {
				return err
			}
		}
	}
	return first
}

// findAnyway finds the splits also where files are damaged or do not fit together; the latter is
// the second result.
func (o *inputs) findAnyway(ctx context.Context) (splits []dataset.Split, mismatch, err error) {
	splits, found := o.find(ctx, false)
	if found == nil {
		return splits, nil, nil
	}
	lenient := *o
	lenient.Salvage = true
	if splits, err = lenient.find(ctx, true); err != nil {
		return nil, nil, found
	}
	if errors.Is(found, dataset.ErrMismatch) {
		mismatch = found
	}
	return splits, mismatch, nil // inspectFile reports what is damaged
}

// inspectFile reads one file to its end. The result is as complete as the file allows.
func (o *inputs) inspectFile(ctx context.Context, s dataset.Split, f dataset.File, classes []string) (*File, error) {
	file := &File{Path: f.Path, Split: s.Name, Role: f.Role.String(), Format: o.foreign[f.Path].Format.Name, Compression: "none", FileBytes: -1}
	if s.Dataset != nil {
		file.Dataset, file.Evidence = s.Dataset.Name, s.Evidence
	}
	if info, err := o.files(ctx).Stat(f.Path); err == nil && f.Path != source.Stdin && info.Mode().IsRegular() {
		file.FileBytes = info.Size()
	}
	file.setHeader(f.Header)
	t, err := o.openColumn(ctx, s, f, classes)
	if err != nil {
		return file, err
	}
	defer t.Close() // only read from
	file.ETag, file.Sequential = o.opened.of(f.Path)
	stored, isIDX := t.(*source.IDX)
	if isIDX {
		file.setHeader(stored.Claim())
		file.Compression = stored.Compression().String()
		file.Seekable = !file.Sequential && stored.Compression() != compressed.Plain
		t = unstacked(t, s, f)
	}
	sc := schema.Of(t)
	sums := summary.New(sc)
	read, end := o.report.progress(filepath.Base(f.Path), sc.Rows)
	stats, err := pipeline.Run(ctx, t, sc, []sink.Sink{sums}, pipeline.Options{Workers: o.Workers, Progress: read})
	end()
	if err != nil {
		return file, err
	}
	file.Whole = !isIDX || !stored.Damaged()
	for i, c := range sc.Columns {
		column := describeColumn(c, sums.Columns()[i])
		if !isIDX {
			file.PayloadBytes += stats.Rows * int64(c.RecordSize())
			column.DType, column.Shape = c.DType.String(), []int64{stats.Rows}
			for _, d := range c.Shape {
				column.Shape = append(column.Shape, int64(d))
			}
		}
		file.Columns = append(file.Columns, column)
	}
	for _, left := range source.Omitted(t) {
		file.Columns = append(file.Columns, Column{Name: left.Column, DType: left.Type, Shape: []int64{stats.Rows}, Omitted: left.Why})
	}
	o.tableNotes(t)
	return file, checkNames(sc, sums.Columns(), f.Path)
}

// setHeader fills in what the header h says, if it was read.
func (f *File) setHeader(h idx.Header) {
	if len(h.Dims) > 0 {
		f.DType, f.Shape, f.PayloadBytes = h.DType.String(), h.Dims, h.PayloadSize()
	}
}

// describeColumn sums up one column.
func describeColumn(c source.Column, s summary.Column) Column {
	r := Column{Name: c.Name, Zeros: s.Zeros, NaNs: s.NaNs, Infs: s.Infs, Total: s.Elements}
	if s.Finite() > 0 {
		r.Min, r.Max, r.Mean = &s.Min, &s.Max, finite(s.Mean())
	}
	for _, label := range s.Labels() {
		r.Labels = append(r.Labels, Label{Label: label, Name: c.ClassName(label), Count: s.Counts[label]})
	}
	return r
}

// checkNames finds labels without a name where the names are known.
func checkNames(s *schema.Schema, sums []summary.Column, path string) error {
	for i, c := range s.Columns {
		if c.Classes == nil {
			continue
		}
		for _, label := range sums[i].Labels() {
			if c.ClassName(label) == "" {
				return fault.New(fault.Malformed, "a label has no name: %d occurs %d times", label, sums[i].Counts[label]).In(path)
			}
		}
	}
	return nil
}

// finite is v, or nil if it is infinite or no number.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
