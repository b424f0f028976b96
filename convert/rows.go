package convert

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

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
	// raw is the table as its files have it, for IDX outputs: they get no transposition that the
	// user did not ask for, and keep files of rank 2 as they are. It is logical itself where there
	// is no difference.
	raw *pass
}

// A pass is one reading of a table.
type pass struct {
	table   source.Table
	schema  *schema.Schema
	raw     bool // see job
	applied applied
	first   int64 // index of its first row
}

// label is how messages call the job.
func (j *job) label() string {
	if j.split.Name != "" {
		return "split " + j.split.Name
	}
	return j.split.Stem
}

// base is what outputs of the job are called in an output folder.
func (j *job) base() string { return cmp.Or(j.split.Name, j.split.Stem) }

// datasetName is the name of the data set, or empty.
func (j *job) datasetName() string {
	if j.split.Dataset == nil {
		return ""
	}
	return j.split.Dataset.Name
}

// passes are the different passes of the job.
func (j *job) passes() []*pass {
	if j.raw == j.logical {
		return []*pass{j.logical}
	}
	return []*pass{j.logical, j.raw}
}

// passFor is the pass that outputs of format f are made in.
func (j *job) passFor(f formats.Format) *pass {
	if f.Stored {
		return j.raw
	}
	return j.logical
}

// closeAll closes the tables of jobs, which were only read from.
func closeAll(jobs []*job) {
	for _, j := range jobs {
		for _, p := range j.passes() {
			_ = p.table.Close()
		}
	}
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

// openJob opens the logical table of a split, the raw one, or both, as the outputs need it.
func (o *conversion) openJob(ctx context.Context, s dataset.Split, classes []string) (*job, error) {
	needsRaw := o.makes(func(f formats.Format) bool { return f.Stored }) && o.difference(s) != ""
	needsBoth := needsRaw && o.makes(func(f formats.Format) bool { return !f.Stored })
	first, err := o.openPass(ctx, s, classes, needsRaw && !needsBoth)
	if err != nil {
		return nil, err
	}
	j := &job{split: s, logical: first, raw: first}
	if !needsBoth {
		return j, nil
	}
	if slices.ContainsFunc(s.Files, func(f dataset.File) bool { return len(f.Header.Dims) == 0 }) {
		advice := "run twice"
		if s.Dataset != nil {
			advice += ", or add --dataset none"
		}
		err = usagef("an input that can be read only once cannot become IDX and something else in one run: %s", o.difference(s)).WithHint("%s", advice)
	} else {
		j.raw, err = o.openPass(ctx, s, classes, true)
	}
	if err != nil {
		_ = first.table.Close() // it was only read from
		return nil, err
	}
	return j, nil
}

// difference says how the logical and the raw table of s differ. It is empty if they do not.
func (o *conversion) difference(s dataset.Split) string {
	switch d := s.Dataset; {
	case d != nil && d.Transposed && o.Transpose == nil:
		return d.Title + " is stored transposed"
	case d != nil && d.LabelColumns != nil:
		return d.Title + " stores several numbers for a label"
	}
	vectors := func(f dataset.File) bool { return isLabels(f) && (len(f.Header.Dims) != 1 || o.Reshape != nil) }
	if _, numbered := o.numberAt(); numbered && slices.ContainsFunc(s.Files, vectors) {
		return "--label-column makes columns of the numbers of a label"
	}
	return ""
}

// openPass opens the raw or the logical table of a split and applies what was asked for.
func (o *conversion) openPass(ctx context.Context, s dataset.Split, classes []string, raw bool) (_ *pass, err error) {
	t, err := o.open(ctx, s, classes, raw)
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
	if !raw {
		a.Label = o.LabelColumn
	}
	implied := !raw && s.Dataset != nil && s.Dataset.Transposed
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
	made := &pass{table: t, raw: raw, applied: a, first: begin, schema: schema.Of(t, metadata(t, s, a, o.planID)...)}
	if o.ClassColumn && !raw {
		if err = nameClasses(made.schema); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// isImage reports whether the records of c have rows and columns.
func isImage(c source.Column) bool { return len(c.Shape) >= 2 }

// hasPixels reports whether the records of c can be images, perhaps flattened. QMNIST's labels have
// several numbers, too.
func hasPixels(c source.Column) bool { return !c.Scalar() && c.Name != dataset.Label.String() }

// each applies a transformation to all columns that are wanted, and returns their names.
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

// describe reports a split that is about to be converted: its files, and what was decided for the
// user in the passes.
func (o *inputs) describe(j *job, passes []*pass) {
	s, r := j.split, o.report
	o.describeInputs(s, j.logical)
	prefix := r.splitNotes(s)
	if rows := j.logical.schema; rows.Rows == 0 && rows.Source > 0 {
		r.warning("%s--rows takes none of its %s rows", prefix, display.Thousands(rows.Source))
	}
	if d := s.Dataset; d != nil && s.Evidence != dataset.ByOption {
		r.Note("%srecognised as %s by %s", prefix, d.Title, s.Evidence)
	}
	for i, p := range passes {
		a := p.applied
		if i > 0 && display.JSON(a) == display.JSON(j.logical.applied) {
			continue
		}
		if d := s.Dataset; d != nil && len(a.Transpose) > 0 && d.Transposed {
			r.Note("%s%s stores its images transposed; they are turned upright (--transpose=false leaves them)", prefix, d.Title)
		}
		if display.JSON(a) != "{}" {
			r.Applied = append(r.Applied, Applied{Split: s.Name, applied: a})
		}
	}
}

// describeInputs reports the files of s, which the table of p is made of.
func (o *inputs) describeInputs(s dataset.Split, p *pass) {
	columns := p.table.Columns()
	for _, f := range s.Files {
		in := Input{Path: f.Path, Split: s.Name, Column: f.Name, Rows: p.table.Rows()}
		in.ETag, in.Sequential = o.opened.of(f.Path)
		if p.applied.Rows != "" {
			in.SourceRows = &p.schema.Source
		}
		if s.Dataset != nil {
			in.Dataset = s.Dataset.Name
		}
		of := slices.DeleteFunc(slices.Clone(columns), func(c source.Column) bool { return c.Name != f.Name })
		if len(of) == 0 { // a table by itself, or a label of several numbers
			of = slices.DeleteFunc(slices.Clone(columns), func(c source.Column) bool { return c.Origin != filepath.Base(f.Path) && len(s.Files) > 1 })
		}
		for _, c := range of {
			in.Column, in.DType, in.Shape = c.Name, c.DType.String(), append([]int{}, c.Shape...)
			o.report.Inputs = append(o.report.Inputs, in)
		}
	}
}

// splitNotes reports what was decided for the user about s. Other notes about s begin with the
// prefix.
func (r *Report) splitNotes(s dataset.Split) (prefix string) {
	if s.Name != "" {
		prefix = s.Name + ": "
	}
	for _, n := range s.Notes {
		r.Note("%s%s", prefix, n)
	}
	if s.Doubt != "" {
		r.warning("%s%s", prefix, s.Doubt)
	}
	return prefix
}

// tableNotes reports what reading t has shown: of IDX files that they are damaged, which is a
// warning; of foreign ones what they do not record.
func (o *inputs) tableNotes(t source.Table) {
	say := o.report.warning
	if o.foreign != nil {
		say = o.report.Note
	}
	for _, n := range source.Notes(t) {
		say("%s", n)
	}
}

// noteNumbers notes that the labels beside the images of j are several numbers each, where an
// output has a place for one of them.
func (o *conversion) noteNumbers(j *job) {
	wants := len(o.wanted) == 0 || o.makes(func(f formats.Format) bool { return usesLabel(o, f) })
	if !wants || j.logical.schema.Label() >= 0 || !slices.ContainsFunc(j.logical.schema.Columns, isImage) {
		return
	}
	for _, c := range j.logical.schema.Columns {
		if c.Name == dataset.Label.String() && len(c.Shape) == 1 && c.Integer() {
			o.report.Note("%s: the labels of %s are %d numbers each, and none is taken for the label: --label-column 0 takes the first", j.base(), c.Origin, c.Elements())
		}
	}
}

// nameClasses puts a column of the names of the classes behind the labels of s.
func nameClasses(s *schema.Schema) error {
	label := s.Label()
	if label < 0 {
		return usagef("--class-column: no column holds labels").
			WithHint("give the file of the labels too, or say which column has them: label=FILE, or --label-column NAME")
	}
	if c := s.Columns[label]; len(c.Classes) == 0 {
		return usagef("--class-column: the classes of column %q have no names", c.Name).
			WithHint("give the names with --classes FILE or --dataset NAME")
	}
	for _, c := range s.Columns { // many readers ignore case
		if strings.EqualFold(c.Name, schema.ClassName) {
			return usagef("--class-column: a column is called %q already", c.Name).
				WithHint("give it another name: category=FILE")
		}
	}
	s.Classes = schema.NewClasses(s, label)
	return nil
}
