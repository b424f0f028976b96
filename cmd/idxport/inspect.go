package main

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/urfave/cli/v3"

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

const inspectUsage = `idxport inspect INPUT... [flags]

INPUT is as in convert, and of any format that convert reads. Every file is read to its end: the shape, the sizes, whether it is whole, the range of
its values, its labels and their names, and what it pairs with are printed. The exit code is 65 if a file is damaged.`

// inspectCommand is `idxport inspect`.
func (p *program) inspectCommand() *cli.Command {
	return &cli.Command{
		Name:            "inspect",
		Usage:           "show what IDX files and other inputs hold, and whether they are whole",
		UsageText:       inspectUsage,
		Flags:           append(inputFlags(), runFlags()...),
		HideHelpCommand: true,
		OnUsageError:    onUsageError,
		Action: func(ctx context.Context, c *cli.Command) error {
			return p.reporting(ctx, c, func(r *report) error {
				o, err := parseInput(c)
				if err != nil {
					return err
				}
				workers, err := parseWorkers(c)
				if err != nil {
					return err
				}
				return p.inspect(ctx, &o, workers, r)
			})
		},
	}
}

// A fileReport is what inspect found in one file.
type fileReport struct {
	Path         string         `json:"path"`
	Split        string         `json:"split,omitempty"`
	Role         string         `json:"role"`
	Format       string         `json:"format,omitempty"` // of what is no IDX file: its columns have the types and shapes
	Dataset      string         `json:"dataset,omitempty"`
	Evidence     string         `json:"dataset_by,omitempty"` // how the data set was told
	DType        string         `json:"dtype"`                // empty if the header cannot be read
	Shape        []int64        `json:"shape"`                // of the file: its first number is that of the records; null if the header cannot be read
	Compression  string         `json:"compression"`
	Seekable     bool           `json:"seekable,omitempty"`   // compressed, but its middle can be read alone
	Sequential   bool           `json:"sequential,omitempty"` // an IDX file that can be read only from its start
	FileBytes    int64          `json:"file_bytes"`           // −1: not a file
	ETag         string         `json:"etag,omitempty"`       // of an object: the version that was read
	PayloadBytes int64          `json:"payload_bytes"`
	Whole        bool           `json:"whole"`
	Problem      *errorReport   `json:"problem,omitempty"`
	Columns      []columnReport `json:"columns,omitempty"`
	PairsWith    []string       `json:"pairs_with,omitempty"`
}

// A columnReport sums up the values of one column.
type columnReport struct {
	Name   string        `json:"name"`
	DType  string        `json:"dtype,omitempty"` // of a table in another format than IDX
	Shape  []int64       `json:"shape,omitempty"` // likewise, with the number of rows first
	Min    *float64      `json:"min"`             // of the finite elements; null where there are none
	Max    *float64      `json:"max"`
	Mean   *float64      `json:"mean"`
	Zeros  int64         `json:"zeros"`
	NaNs   int64         `json:"nans,omitempty"`
	Infs   int64         `json:"infinities,omitempty"`
	Total  int64         `json:"elements"`
	Labels []labelReport `json:"labels,omitempty"`

	omitted string // why it is no column of the table; empty if it is one
}

// A labelReport is one bar of a histogram of labels.
type labelReport struct {
	Label int64  `json:"label"`
	Name  string `json:"name,omitempty"`
	Count int64  `json:"count"`
}

// inspect prints what the inputs hold. Files that are damaged do not keep it from the others; the first error is returned.
func (p *program) inspect(ctx context.Context, o *inputOptions, workers int, r *report) error {
	splits, mismatch, err := o.findAnyway(ctx)
	if err != nil {
		return err
	}
	classes, err := o.readClasses(ctx, splits, r)
	if err != nil {
		return err
	}
	first := mismatch
	for _, s := range splits {
		r.splitNotes(s)
		for i, f := range s.Files {
			look := p.inspectFile
			if _, other := o.others[f.Path]; other {
				look = p.inspectOther
			}
			report, err := look(ctx, o, s, f, classes, workers, r)
			if err != nil {
				if ctx.Err() != nil {
					return err
				}
				report.Problem = describeError(err)
				if first == nil {
					first = err
				}
			}
			for k, other := range s.Files {
				if k != i {
					report.PairsWith = append(report.PairsWith, filepath.Base(other.Path))
				}
			}
			r.Files = append(r.Files, report)
			if !r.jsonOut {
				if err := p.printFile(report); err != nil {
					return err
				}
			}
		}
	}
	return first
}

// findAnyway finds the splits also where files are damaged or do not fit together; the latter is the second result.
func (o *inputOptions) findAnyway(ctx context.Context) (splits []dataset.Split, mismatch, err error) {
	splits, found := o.find(ctx, false)
	if found == nil {
		return splits, nil, nil
	}
	lenient := *o
	lenient.salvage = true
	if splits, err = lenient.find(ctx, true); err != nil {
		return nil, nil, found
	}
	if errors.Is(found, dataset.ErrMismatch) {
		mismatch = found
	}
	return splits, mismatch, nil // a file that is damaged tells so itself
}

// inspectFile reads one file to its end. The report is as complete as the file allows.
func (p *program) inspectFile(ctx context.Context, o *inputOptions, s dataset.Split, f dataset.File, classes []string, workers int, r *report) (*fileReport, error) {
	report := &fileReport{Path: f.Path, Split: s.Name, Role: f.Role.String(), FileBytes: -1}
	if s.Dataset != nil {
		report.Dataset, report.Evidence = s.Dataset.Name, s.Evidence
	}
	if info, err := o.files(ctx).Stat(f.Path); err == nil && f.Path != source.Stdin && info.Mode().IsRegular() {
		report.FileBytes = info.Size()
	}
	report.Compression = "none"
	report.describe(f.Header)
	file, err := o.openFile(ctx, p, s, f, classes)
	if err != nil {
		return report, err
	}
	defer file.Close() // only read from
	report.describe(file.Claim())
	report.Compression = file.Compression().String()
	report.ETag, report.Sequential = o.opened.of(f.Path)
	report.Seekable = !report.Sequential && file.Compression() != compressed.Plain
	t := unstacked(file, s, f)
	sc := schema.Of(t)
	sums := summary.New(sc)
	progress := r.progress(filepath.Base(f.Path), sc.Rows)
	_, err = pipeline.Run(ctx, t, sc, []sink.Sink{sums}, pipeline.Options{Workers: workers, Progress: progress.rows})
	progress.done()
	if err != nil {
		return report, err
	}
	report.Whole = !file.Damaged()
	for i, c := range sc.Columns {
		report.Columns = append(report.Columns, describeColumn(c, sums.Columns()[i]))
	}
	for _, n := range source.Notes(t) {
		r.warning("%s", n)
	}
	return report, checkNames(sc, sums.Columns(), f.Path)
}

// describe fills in what the header h says, if it was read.
func (f *fileReport) describe(h idx.Header) {
	if len(h.Dims) > 0 {
		f.DType, f.Shape, f.PayloadBytes = h.DType.String(), h.Dims, h.PayloadSize()
	}
}

// describeColumn is the report about one column.
func describeColumn(c source.Column, s summary.Column) columnReport {
	r := columnReport{Name: c.Name, Zeros: s.Zeros, NaNs: s.NaNs, Infs: s.Infs, Total: s.Elements}
	if s.Finite() > 0 {
		r.Min, r.Max, r.Mean = &s.Min, &s.Max, finite(s.Mean())
	}
	for _, label := range s.Labels() {
		r.Labels = append(r.Labels, labelReport{Label: label, Name: c.ClassName(label), Count: s.Counts[label]})
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
