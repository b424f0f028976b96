package convert

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink/formats"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/dataset"
)

// A job is one split and everything that is made of it.
type job struct {
	split   dataset.Split
	alone   bool  // it is the only job of the run
	logical *pass // the table as the data set means it
	// stored is the table as it is stored, for IDX outputs: they get no transposition that the user did not ask for, and keep files of rank 2
	// as they are. It is logical itself where there is no difference.
	stored *pass
}

// A pass is one reading of a table, with the outputs that are made of it.
type pass struct {
	table   source.Table
	schema  *schema.Schema
	outputs []output
	applied applied
	first   int64   // index of its first row
	opened  *opened // its inputs
}

// applied is what was done to the data on the way; it is recorded in the outputs' metadata and in reports.
type applied struct {
	Rows      string   `json:"rows,omitempty"`
	Reshape   []int    `json:"reshape,omitempty"`
	Transpose []string `json:"transpose,omitempty"` // columns
	Invert    []string `json:"invert,omitempty"`    // columns
	ByteOrder string   `json:"byte_order,omitempty"`
	Salvage   bool     `json:"salvage,omitempty"`
	Label     string   `json:"label_column,omitempty"` // as it was said
}

// Keys of the metadata of outputs.
const (
	keySources = "idx.sources" // JSON: the base names of the files, in the order of the columns
	keyDataset = "idx.dataset"
	keySplit   = "idx.split"
	keyApplied = "idx.applied" // JSON: see applied
	keyPlan    = "idx.plan"    // of a part of a plan: its ID
)

// label is how messages call the job.
func (j *job) label() string {
	if j.split.Name != "" {
		return "split " + j.split.Name
	}
	return j.split.Stem
}

// base is what outputs of the job are called in an output folder.
func (j *job) base() string {
	if j.split.Name != "" {
		return j.split.Name
	}
	return j.split.Stem
}

// datasetName is the name of the data set, or empty.
func (j *job) datasetName() string {
	if j.split.Dataset == nil {
		return ""
	}
	return j.split.Dataset.Name
}

// passes are the different passes of the job that have outputs.
func (j *job) passes() []*pass {
	passes := []*pass{j.logical}
	if j.stored != j.logical {
		passes = append(passes, j.stored)
	}
	return slices.DeleteFunc(passes, func(p *pass) bool { return len(p.outputs) == 0 })
}

// passFor is the pass that outputs of format f are made in.
func (j *job) passFor(f formats.Format) *pass {
	if f.Stored {
		return j.stored
	}
	return j.logical
}

func (j *job) close() error {
	err := j.logical.table.Close()
	if j.stored != j.logical {
		err = errors.Join(err, j.stored.table.Close())
	}
	return err
}

// openJobs opens the tables of all splits. Nothing is written yet.
func (o *conversion) openJobs(ctx context.Context, splits []dataset.Split) (jobs []*job, err error) {
	defer func() {
		if err != nil {
			closeAll(jobs)
		}
	}()
	classes, err := o.readClasses(ctx, splits)
	if err != nil {
		return nil, err
	}
	o.classNames = classes
	for _, s := range splits {
		j, err := o.openJob(ctx, s, classes)
		if err != nil {
			return jobs, err
		}
		j.alone = len(splits) == 1
		jobs = append(jobs, j)
		o.noteNumbers(j)
	}
	return jobs, nil
}

// openJob opens the table of a split: as it is meant, as it is stored, or both, as the outputs need it.
func (o *conversion) openJob(ctx context.Context, s dataset.Split, classes []string) (*job, error) {
	wants := func(stored bool) bool {
		return slices.ContainsFunc(o.outputs, func(a outputArg) bool {
			return slices.ContainsFunc(a.formats, func(f formats.Format) bool { return f.Stored == stored })
		})
	}
	stored := wants(true) && o.differs(s)
	first, err := o.openPass(ctx, s, classes, stored && !wants(false))
	if err != nil {
		return nil, err
	}
	j := &job{split: s, logical: first, stored: first}
	if !stored || !wants(false) {
		return j, nil
	}
	if slices.ContainsFunc(s.Files, func(f dataset.File) bool { return len(f.Header.Dims) == 0 }) {
		advice := "run twice"
		if s.Dataset != nil {
			advice += ", or add --dataset none"
		}
		err = usagef("an input that can be read only once cannot become IDX and something else in one run: %s", o.difference(s)).WithHint("%s", advice)
	} else {
		j.stored, err = o.openPass(ctx, s, classes, true)
	}
	if err != nil {
		_ = first.table.Close() // it was only read from
		return nil, err
	}
	return j, nil
}

func closeAll(jobs []*job) {
	for _, j := range jobs {
		_ = j.close() // inputs: they were only read from
	}
}

// differs tells whether the table of s differs as it is stored and as it is meant.
func (o *conversion) differs(s dataset.Split) bool { return o.difference(s) != "" }

// difference says how the table of s differs as it is stored and as it is meant, or is empty.
func (o *conversion) difference(s dataset.Split) string {
	switch d := s.Dataset; {
	case d != nil && d.Transposed && o.Transpose == nil:
		return d.Title + " is stored transposed"
	case d != nil && d.LabelColumns != nil:
		return d.Title + " stores several numbers for a label"
	}
	if _, numbered := o.numberAt(); numbered && slices.ContainsFunc(s.Files, o.manyNumbers) {
		return "--label-column makes columns of the numbers of a label"
	}
	return ""
}

// manyNumbers tells whether the file f may have several numbers for a label.
func (o *conversion) manyNumbers(f dataset.File) bool {
	return isLabels(f) && (len(f.Header.Dims) != 1 || o.Reshape != nil)
}

// openPass opens the table of a split and applies what was asked for.
func (o *conversion) openPass(ctx context.Context, s dataset.Split, classes []string, stored bool) (_ *pass, err error) {
	t, err := o.open(ctx, s, classes, stored)
	if err != nil {
		return nil, err
	}
	opened := t
	defer func() {
		if err != nil {
			_ = opened.Close() // it was only read from
		}
	}()
	a := applied{Reshape: o.Reshape, Salvage: o.Salvage}
	if o.littleEndian {
		a.ByteOrder = "little"
	}
	if !stored {
		a.Label = o.LabelColumn
	}
	implied := !stored && s.Dataset != nil && s.Dataset.Transposed
	if o.Transpose != nil && *o.Transpose || o.Transpose == nil && implied {
		if t, a.Transpose, err = each(t, isImage, source.Transpose); err != nil {
			return nil, err
		}
		if a.Transpose == nil && o.Transpose != nil {
			return nil, usagef("--transpose: no column has records of two dimensions").WithHint("--reshape -1x28x28 makes images of flat records")
		}
	}
	if o.Invert {
		if t, a.Invert, err = each(t, hasPixels, source.Invert); err != nil {
			return nil, err
		}
		if a.Invert == nil {
			return nil, usagef("--invert: no column has images")
		}
	}
	begin := int64(0)
	if o.rows.given {
		first, last, err := o.rows.resolve(t.Rows())
		if err != nil {
			return nil, err
		}
		if t, err = source.Slice(t, first, last); err != nil {
			return nil, err
		}
		if begin = first; o.planID == "" { // else the rows are those of a part, and nothing is left out
			a.Rows = fmt.Sprintf("%d:%d", first, last)
		}
	}
	made := &pass{table: t, applied: a, first: begin, opened: o.opened, schema: schema.Of(t, metadata(t, s, a, o.planID)...)}
	if o.ClassColumn && !stored {
		if err = nameClasses(made.schema); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// isImage tells whether the records of c have rows and columns.
func isImage(c source.Column) bool { return len(c.Shape) >= 2 }

// hasPixels tells whether the records of c can be images, perhaps flat; QMNIST's labels have several numbers too.
func hasPixels(c source.Column) bool { return !c.Scalar() && c.Name != dataset.Label.String() }

// each applies a transformation to all columns that are wanted, and tells their names.
func each(t source.Table, wanted func(source.Column) bool, f func(source.Table, int) (source.Table, error)) (source.Table, []string, error) {
	var names []string
	for i, c := range t.Columns() {
		if !wanted(c) {
			continue
		}
		next, err := f(t, i)
		if err != nil {
			return t, nil, err
		}
		t, names = next, append(names, c.Name)
	}
	return t, names, nil
}

// metadata is what outputs keep about where they come from.
func metadata(t source.Table, s dataset.Split, a applied, planID string) []schema.Pair {
	var sources []string
	for _, c := range t.Columns() {
		if !slices.Contains(sources, display.Legible(c.Origin)) {
			sources = append(sources, display.Legible(c.Origin))
		}
	}
	pairs := []schema.Pair{{Key: keySources, Value: display.JSON(sources)}}
	if s.Dataset != nil {
		pairs = append(pairs, schema.Pair{Key: keyDataset, Value: s.Dataset.Name})
	}
	if s.Name != "" {
		pairs = append(pairs, schema.Pair{Key: keySplit, Value: s.Name})
	}
	if planID != "" {
		pairs = append(pairs, schema.Pair{Key: keyPlan, Value: planID})
	}
	if text := display.JSON(a); text != "{}" {
		pairs = append(pairs, schema.Pair{Key: keyApplied, Value: text})
	}
	return pairs
}
