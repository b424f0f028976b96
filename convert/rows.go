package convert

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/internal/publish"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink/formats"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/dataset"
)

// A job is one split and everything that is made from it.
type job struct {
	split chosenSplit
	alone bool // it is the only job of the run
	// passes are the different tables that outputs need: one, or the logical and the raw one.
	passes []*pass
}

// A pass is one reading of a table. A logical table is as the data set defines it. In a raw one,
// for IDX outputs, labels of several numbers stay one column. If the two tables do not differ, all
// outputs are made from the logical one.
type pass struct {
	table   source.Table
	schema  *schema.Schema
	raw     bool
	applied Applied
	first   int64 // index of its first row in the input, or in the selection if there is one
	chosen  int64 // number of rows that the view chooses, of which the table may be a part
}

// title returns the name of the job's split for messages.
func (j *job) title() string { return splitTitle(j.split.Split) }

// base returns the base name of the job's outputs in an output folder.
func (j *job) base() string { return cmp.Or(j.split.Name, j.split.Stem) }

// datasetName returns the name of the data set, or "" if it is not known.
func (j *job) datasetName() string {
	if j.split.Dataset == nil {
		return ""
	}
	return j.split.Dataset.Name
}

// close closes the table and releases its memory. It may be called again.
func (p *pass) close() {
	if p.table != nil {
		_ = p.table.Close() // read-only: an error does not matter
		p.table = nil
	}
}

func closeAll(jobs []*job) {
	for _, j := range jobs {
		for _, p := range j.passes {
			p.close()
		}
	}
}

// openJobs opens the tables of all splits.
func (o *conversion) openJobs(ctx context.Context, splits []dataset.Split) (jobs []*job, err error) {
	if o.classNames, err = o.readClasses(ctx, splits); err != nil {
		return nil, err
	}
	chosen, err := o.chooseRows(ctx, splits)
	if err != nil {
		return nil, err
	}
	for _, c := range chosen {
		j, err := o.openJob(ctx, c)
		if err != nil {
			closeAll(jobs)
			return nil, aboutSplit(err, c.Split, splits)
		}
		j.alone = len(chosen) == 1
		jobs = append(jobs, j)
		if err := sameClasses(jobs); err != nil {
			closeAll(jobs)
			return nil, err
		}
	}
	return jobs, nil
}

// sameClasses returns an error if the last job gives a label another name than the first one does.
func sameClasses(jobs []*job) error {
	first, last := jobs[0], jobs[len(jobs)-1]
	for _, c := range last.passes[0].table.Columns() {
		i := columnIndex(first.passes[0].table.Columns(), c.Name)
		if i < 0 {
			continue
		}
		if a, b, label := otherName(first.passes[0].table.Columns()[i].Classes, c.Classes); label >= 0 {
			return fault.New(fault.Unsupported, "%s and %s number their classes differently: label %d of column %s is %q and %q",
				first.title(), last.title(), label, c.Name, a, b).
				WithHint("give them one numbering in the program that wrote them, or convert each alone with --split")
		}
	}
	return nil
}

// openJob opens the logical table of a split, the raw one, or both, as the outputs require.
func (o *conversion) openJob(ctx context.Context, c chosenSplit) (*job, error) {
	s := c.Split
	difference := o.difference(s)
	needsRaw := difference != "" && o.makes(func(f formats.Format) bool { return f.IsIDX })
	needsBoth := needsRaw && o.makes(func(f formats.Format) bool { return !f.IsIDX })
	if i := slices.IndexFunc(s.Files, readableOnce); needsBoth && i >= 0 {
		advice := "run twice, once for IDX and once for the other formats"
		if s.Dataset != nil {
			advice += ", or add --dataset none"
		}
		return nil, usagef("%s can be read only once, but would be read twice: IDX outputs keep the data as stored, and other formats do not: %s", shownPath(s.Files[i].Path), difference).WithHint("%s", advice)
	}
	j := &job{split: c}
	for _, raw := range []bool{false, true} {
		if raw && !needsRaw || !raw && needsRaw && !needsBoth {
			continue
		}
		p, err := o.openPass(ctx, c, raw)
		if err != nil {
			closeAll([]*job{j})
			return nil, err
		}
		j.passes = append(j.passes, p)
	}
	return j, nil
}

// difference describes how the logical and the raw table of s differ; it is "" if they do not.
func (o *conversion) difference(s dataset.Split) string {
	switch d := s.Dataset; {
	case d != nil && d.LabelColumns != nil:
		return d.Title + " stores several numbers for a label"
	}
	vectors := func(f dataset.File) bool {
		h := f.Header
		return isLabels(f) && (len(h.Dims) == 0 || h.RecordSize() != int64(h.DType.Size()) || o.Reshape != nil)
	}
	if _, ok := o.labelIndex(); ok && slices.ContainsFunc(s.Files, vectors) {
		return "--label-column makes columns of the numbers of a label"
	}
	return ""
}

// openPass opens the raw or the logical table of a split and applies the options to it.
func (o *conversion) openPass(ctx context.Context, c chosenSplit, raw bool) (_ *pass, err error) {
	s := c.Split
	opened, err := o.open(ctx, s, o.wantedColumns(false), o.classNames, raw)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = opened.Close() // read-only: an error does not matter
		}
	}()
	t, a := opened, Applied{Columns: o.Columns, Reshape: o.Reshape, Salvage: o.Salvage,
		Where: o.Where, Shuffle: o.Shuffle, Take: o.Take, Part: o.Part,
		Grey: o.Grey, Resize: o.Resize.String(), Decoders: source.About(opened).Decoders}
	if c.divided {
		a.Holdout, a.Stratify = o.Holdout, o.Stratify
	}
	if c.divided || o.Shuffle {
		a.Seed = o.Seed
	}
	if o.littleEndian {
		a.ByteOrder = "little"
	}
	if !raw {
		a.Label = o.LabelColumn
	}
	if t, err = o.transform(t, s, &a); err != nil {
		return nil, err
	}
	if !raw {
		t = o.wholeLabels(t)
	}
	var first, chosen int64
	if t, first, chosen, err = o.takeRows(t, c.rows, &a); err != nil {
		return nil, err
	}
	t = source.CheckLabels(t)
	p := &pass{table: t, raw: raw, applied: a, first: first, chosen: chosen, schema: schema.Of(t, metadata(t, s, a)...)}
	if o.ClassColumn && !raw {
		err = addClassColumn(p.schema)
	}
	return p, err
}

// transform applies --columns, --transpose and --invert to t, a table of s, and records them in a.
func (o *conversion) transform(t source.Table, s dataset.Split, a *Applied) (_ source.Table, err error) {
	if t, err = project(t, o.Columns); err != nil {
		return nil, err
	}
	turn := s.Dataset != nil && s.Dataset.Transposed
	if o.Transpose != nil {
		turn = *o.Transpose
	} else if o.tables != nil {
		if turn, err = o.isTransposed(t, s); err != nil {
			return nil, err
		}
	}
	if turn {
		if t, a.Transpose, err = transformColumns(t, isImage, source.Transpose); err != nil {
			return nil, err
		}
		if a.Transpose == nil && o.Transpose != nil {
			return nil, usagef("--transpose: no column has records of two dimensions").WithHint("--reshape -1x28x28 turns flat records into images")
		}
	}
	if o.Invert {
		// Images may be flattened, but labels of several numbers, such as QMNIST's, have no pixels.
		pixels := func(c source.Column) bool { return !c.Scalar() && c.Name != dataset.Label.String() }
		if t, a.Invert, err = transformColumns(t, pixels, source.Invert); err != nil {
			return nil, err
		}
		if a.Invert == nil {
			return nil, usagef("--invert: no column has images")
		}
	}
	return t, nil
}

// isTransposed reports whether t, a table in a format other than IDX, has the transposed images of
// a data set such as EMNIST, which --dataset or the name of a file without names of columns says.
// Its own CSV files have them, and none have column names; other programs may have turned them.
func (o *conversion) isTransposed(t source.Table, s dataset.Split) (bool, error) {
	file, about := s.Files[0].Path, source.About(t)
	name := o.Dataset
	if name == "" && about.Unnamed {
		name = dataset.ParseName(o.tables[file].Name).Dataset
	}
	d, err := dataset.Lookup(name)
	_, ours := about.Meta[keySources]
	if err != nil || !d.Transposed || ours || o.tables[file].Format.Name == "png" || !slices.ContainsFunc(t.Columns(), isImage) {
		return false, nil
	}
	if about.Unnamed && o.Dataset != "" {
		o.report.Note("%s: %s stores its images transposed; they are turned upright (--transpose=false keeps them as stored)", file, d.Title)
		return true, nil
	}
	return false, usagef("%s: %s stores its images transposed, and this file does not say whether they were turned", file, d.Title).
		WithHint("--transpose turns them upright, --transpose=false keeps them as they are")
}

// takeRows returns the rows of t that the view asks for, the index of the first one, and how many
// there were before --part. selected is the selection of the view, nil if it has only a range.
func (o *conversion) takeRows(t source.Table, selected *source.Selection, a *Applied) (_ source.Table,
	first, chosen int64, err error) {
	if !o.rows.given && selected == nil && o.Take == 0 && o.Part == "" {
		return t, 0, t.Rows(), nil
	}
	if t.Rows() < 0 && (o.rows.relative() || o.Take > 0 || o.Part != "") {
		return nil, 0, 0, usagef("the number of rows is needed in advance, but this input can be read only once").
			WithHint("save it to a file first")
	}
	rows := rowRange{open: o.rows.open || !o.rows.given, first: o.rows.first, last: o.rows.last}
	first, last, err := rows.resolve(t.Rows())
	if err != nil {
		return nil, 0, 0, err
	}
	if o.rows.given {
		a.Rows = fmt.Sprintf("%d:%d", first, last)
	}
	if selected == nil {
		if o.Take > 0 {
			last = min(last, first+min(o.Take, last-first))
		}
		from, to := o.part.of(first, last)
		t, err = source.Slice(t, from, to)
		return t, from, last - first, err
	}
	chosen = selected.Len()
	if o.Part != "" {
		selected = selected.Part(o.part.of(0, chosen))
	}
	return source.Select(t, selected, publish.Scratch(func() string { return o.scratch })), selected.First(), chosen, nil
}

// isImage reports whether the records of c have rows and columns.
func isImage(c source.Column) bool { return len(c.Shape) >= 2 }

// transformColumns applies f to the columns for which wanted reports true, and returns their names.
func transformColumns(t source.Table, wanted func(source.Column) bool, f func(source.Table, int) (source.Table, error)) (_ source.Table, names []string, err error) {
	for i, c := range t.Columns() {
		if !wanted(c) {
			continue
		}
		if t, err = f(t, i); err != nil {
			return nil, nil, err
		}
		names = append(names, c.Name)
	}
	return t, names, nil
}

// metadata returns what outputs record about their origin.
func metadata(t source.Table, s dataset.Split, a Applied) []schema.Pair {
	var sources []string
	for _, c := range t.Columns() {
		if !slices.Contains(sources, display.Legible(c.Origin)) {
			sources = append(sources, display.Legible(c.Origin))
		}
	}
	all := []schema.Pair{{Key: keySources, Value: display.JSON(sources)}, {Key: keyDataset}, {Key: keySplit, Value: s.Name}, {Key: keyApplied}}
	if s.Dataset != nil {
		all[1].Value = s.Dataset.Name
	}
	if text := display.JSON(a); text != "{}" {
		all[3].Value = text
	}
	return slices.DeleteFunc(all, func(p schema.Pair) bool { return p.Value == "" })
}

// addClassColumn adds a column of class names after the label of s.
func addClassColumn(s *schema.Schema) error {
	label := s.Label()
	if label < 0 {
		return noLabels("--class-column", s.Columns)
	}
	if c := s.Columns[label]; len(c.Classes) == 0 {
		return usagef("--class-column: the classes of column %q have no names", c.Name).WithHint("give the names with --classes FILE or --dataset NAME")
	}
	for _, c := range s.Columns { // many readers ignore case
		if strings.EqualFold(c.Name, schema.ClassName) {
			return usagef("--class-column: there is already a column %q", c.Name).WithHint(schema.HintName)
		}
	}
	s.Classes = schema.NewClasses(s, label)
	return nil
}

// describe reports a split that is about to be converted: its files, and what was decided on the
// user's behalf.
func (o *inputs) describe(j *job) {
	s, r := j.split.Split, o.report
	o.describeInputs(s, j.passes[0])
	prefix := r.splitNotes(s)
	switch p := j.passes[0]; {
	case p.schema.Rows == 0 && p.schema.SourceRows > 0 && j.split.divided:
		r.warning("%sthe split has no rows", prefix)
	case p.schema.Rows == 0 && p.schema.SourceRows > 0:
		r.warning("%snone of its %s is selected", prefix, display.Count(p.schema.SourceRows, "row"))
	case j.split.rows != nil:
		r.noteSelection(prefix, p)
	}
	if d := s.Dataset; d != nil && s.Evidence != dataset.ByOption {
		r.Note("%srecognised as %s by %s", prefix, d.Title, s.Evidence)
	}
	for i, p := range j.passes {
		a := display.JSON(p.applied)
		if a == "{}" || i > 0 && a == display.JSON(j.passes[0].applied) {
			continue
		}
		if d := s.Dataset; d != nil && len(p.applied.Transpose) > 0 && d.Transposed {
			r.Note("%s%s stores its images transposed; they are turned upright (--transpose=false keeps them as stored)", prefix, d.Title)
		}
		done := p.applied
		done.Split = s.Name
		r.Applied = append(r.Applied, done)
	}
}

// describeInputs reports the files of s, from which the table of p was made.
func (o *inputs) describeInputs(s dataset.Split, p *pass) {
	for _, f := range s.Files {
		in := Input{Path: f.Path, Split: s.Name, Column: f.Name, Rows: p.table.Rows()}
		in.ETag, in.Sequential = o.opened.about(f.Path)
		if p.applied.Rows != "" || p.schema.Rows != p.schema.SourceRows {
			in.SourceRows = &p.schema.SourceRows
		}
		if s.Dataset != nil {
			in.Dataset = s.Dataset.Name
		}
		columns := p.table.Columns()
		// Columns of a table in another format, or of an unstacked label, are not named f.Name.
		own := slices.ContainsFunc(columns, func(c source.Column) bool { return c.Name == f.Name })
		for _, c := range columns {
			if own && c.Name != f.Name || !own && len(s.Files) > 1 && c.Origin != source.Base(f.Path) {
				continue
			}
			in.Column, in.DType, in.Shape = c.Name, c.DType.String(), append([]int{}, c.Shape...)
			o.report.Inputs = append(o.report.Inputs, in)
		}
	}
}

// noteSelection notes how many rows of a job were selected, and the seed if the user did not choose
// it.
func (r *Report) noteSelection(prefix string, p *pass) {
	a, text := p.applied, ""
	switch rows := display.Thousands(p.schema.Rows); {
	case p.schema.Rows < p.schema.SourceRows:
		text = fmt.Sprintf("selected %s of %s rows", rows, display.Thousands(p.schema.SourceRows))
	case a.Shuffle:
		text = "shuffled " + display.Count(p.schema.Rows, "row")
	default:
		return
	}
	if a.Seed == 0 && (a.Shuffle || a.Holdout != nil) {
		text += " with --seed 0"
	}
	r.Note("%s%s", prefix, text)
}

// splitNotes reports what was decided about s on the user's behalf, and returns the prefix of
// further notes about it.
func (r *Report) splitNotes(s dataset.Split) (prefix string) {
	for _, n := range s.FolderNotes {
		r.Note("%s", n)
	}
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

// tableNotes reports what was found while reading t. Damage to IDX files and rows left out by
// --salvage are warnings. What had to be assumed about a file in another format, such as a shape
// that it does not record, is a note without --salvage.
func (o *inputs) tableNotes(t source.Table) {
	add := o.report.warning
	if o.tables != nil && !o.Salvage {
		add = o.report.Note
	}
	about := source.About(t)
	for _, n := range about.Notes {
		add("%s", n)
	}
	for _, w := range about.Warnings {
		o.report.warning("%s", w)
	}
}
