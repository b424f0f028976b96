package convert

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/idxport/idxport/internal/dataset"
	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/images"
	"github.com/idxport/idxport/internal/input"
	"github.com/idxport/idxport/internal/sinks"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/source/picture"
)

// A job is a table that is written: the chosen rows of a split, transformed.
type job struct {
	split   chosenSplit
	raw     bool // its columns are the files, also those of label vectors: see keepsRaw
	table   source.Table
	schema  *schema.Schema
	applied Applied
	first   int64 // index of its first row in the input, or in the selection if there is one
	chosen  int64 // number of rows that the view chooses, before --part
}

func (j *job) title() string { return splitTitle(j.split.Split) }
func (j *job) base() string  { return cmp.Or(j.split.Name, j.split.Stem) }

// release closes the table and releases its memory. It may be called again.
func (j *job) release() {
	if j.table != nil {
		_ = j.table.Close() // read-only: an error does not matter
		j.table = nil
	}
}

func releaseAll(jobs []*job) {
	for _, j := range jobs {
		j.release()
	}
}

// openAll checks the options, finds the inputs and opens the tables that are made of them, those of
// all splits, to be released in any case. It is an error if the flags select no row of any of them,
// unless the input of one is empty or was not counted.
func openAll(ctx context.Context, o Options, report *Report) (in *inputs, jobs []*job, err error) {
	r, err := newRequest(o, report)
	if err != nil {
		return nil, nil, err
	}
	set, err := input.Find(ctx, r.input, false) // damaged files are errors
	if err != nil {
		return nil, nil, err
	}
	in = &inputs{r, set}
	chosen, err := chooseRows(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range chosen {
		raw, err := keepsRaw(r, c.Split)
		if err != nil {
			return nil, jobs, err
		}
		j, err := openJob(ctx, in, c, raw)
		if err != nil {
			return nil, jobs, aboutSplit(err, c.Split, set.Splits)
		}
		jobs = append(jobs, j)
		for _, other := range jobs[:len(jobs)-1] {
			if err := r.checkTogether(other, j); err != nil {
				return nil, jobs, err
			}
		}
		if a, b := source.List(jobs[0].schema.Columns), source.List(j.schema.Columns); a != b {
			report.warning("%s has the columns %s, and %s has %s", jobs[0].title(), a, j.title(), b)
		}
	}
	if !slices.ContainsFunc(jobs, func(j *job) bool { return j.chosen != 0 || j.schema.SourceRows <= 0 }) {
		err = r.choice.Check() // no row is selected
	}
	return in, jobs, err
}

// checkTogether returns an error if one run cannot write a and b, or may have misread one of them.
func (r *request) checkTogether(a, b *job) error {
	if b.split.Name != "" && strings.EqualFold(a.split.Name, b.split.Name) { // so files may have one name
		hint := "give or rename one; name shards part-0, …; or join columns of CSV: paste -d, y.csv x.csv >all.csv"
		if a.split.whole != "" || b.split.whole != "" {
			hint = "choose another name for --holdout"
		}
		return usagef("%s and %s are two tables of %s", text.Path(a.split.Files[0].Path),
			text.Path(b.split.Files[0].Path), b.title()).WithHint("%s", hint)
	}
	isShared := func(c source.Column) bool { return source.Index(b.schema.Columns, c.Name) >= 0 }
	if n := b.schema.SourceRows; n > 0 && n == a.schema.SourceRows && !slices.ContainsFunc(a.schema.Columns, isShared) {
		return usagef("%s has the columns %s, %s has %s, and both have %s: they may be one table", a.title(),
			source.List(a.schema.Columns), b.title(), source.List(b.schema.Columns), text.Count(n, "row")).
			WithHint("choose with --split, join the tables, or name its files alike, such as train-images and train-x")
	}
	same := func(a, b source.Column) bool { return slices.Equal(a.Shape, b.Shape) }
	if r.input.PlacesLabel() && !slices.EqualFunc(a.schema.Columns, b.schema.Columns, same) {
		return usagef("--label-column %s: %s and %s have records of different shapes", r.LabelColumn, a.title(),
			b.title()).WithHint("convert each alone with --split")
	}
	return sameClasses(a, b)
}

// keepsRaw reports whether labels of several numbers in s, such as those of QMNIST, stay one
// column, as in IDX outputs. In others each number is a column, so that a run cannot make both.
func keepsRaw(r *request, s dataset.Split) (bool, error) {
	if s.Dataset == nil || s.Dataset.LabelColumns == nil || !r.makes(func(f sinks.Format) bool { return f.IsIDX }) {
		return false, nil
	}
	if r.makes(func(f sinks.Format) bool { return !f.IsIDX }) {
		return false, usagef("IDX outputs keep the labels of %s as vectors, others split them", s.Dataset.Title).
			WithHint("run twice, once for IDX and once for the other formats")
	}
	return true, nil
}

// sameClasses returns an error if two jobs give a label different names, or a name two labels.
func sameClasses(first, other *job) error {
	columns := other.table.Columns()
	for _, c := range first.table.Columns() {
		i := source.Index(columns, c.Name)
		if i < 0 {
			continue
		}
		names := slices.Sorted(slices.Values(columns[i].Classes)) // there may be a million
		for label, a := range c.Classes {
			_, known := slices.BinarySearch(names, a)
			if b := columns[i].ClassName(int64(label)); a != "" && a != b && (b != "" || known) {
				return fault.New(fault.Unsupported, "%s and %s number classes differently: label %d of %s is %q and %q",
					first.title(), other.title(), label, c.Name, a, b).
					WithHint("give them one numbering where they were written, or convert each alone with --split")
			}
		}
	}
	return nil
}

// openJob opens the table of a split and applies the view to it. raw is that of keepsRaw.
func openJob(ctx context.Context, in *inputs, c chosenSplit, raw bool) (_ *job, err error) {
	r, s := in.request, c.Split
	opened, err := in.set.Open(ctx, s, wantedColumns(r, false), raw)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = opened.Close() // read-only: an error does not matter
		}
	}()
	a := appliedTo(r, c, raw)
	a.Decoders = source.About(opened).Decoders
	t, err := in.transform(opened, s, &a)
	if err != nil {
		return nil, err
	}
	if !raw {
		t = integerLabels(r, t)
	}
	cut, err := r.choice.Cut(t, c.rows, r.scratch)
	if err != nil {
		return nil, err
	}
	a.Rows, t = cut.Rows, source.CheckedLabels(cut.Table, c.rows == nil)
	j := &job{split: c, raw: raw, table: t, schema: schema.Of(t, metadata(r, t, s, a)...), applied: a,
		first: cut.First, chosen: cut.Chosen}
	names, label := source.Index(t.Columns(), schema.ClassName), j.schema.Label()
	if r.Classes != "" && names >= 0 && label >= 0 && label != names && t.Columns()[names].Classes != nil {
		columns := text.Quote(strings.Join(slices.Delete(source.Names(t.Columns()), names, names+1), ","))
		return nil, usagef("--classes: found a label, and names in the column class").WithHint(
			"choose with --columns %s or, for the names, class in place of %s", columns, t.Columns()[label].Name)
	}
	if r.ClassColumn { // an IDX output has none, so none is raw
		err = addClassColumn(j.schema)
	}
	return j, err
}

// appliedTo returns what a request does to a split, except what depends on its table.
func appliedTo(r *request, c chosenSplit, raw bool) Applied {
	a := Applied{Columns: r.Columns, Shape: r.Shape, Salvage: r.Salvage, Where: r.Where, Shuffle: r.Shuffle,
		Take: r.Take, Part: r.Part, Grey: r.Grey}
	if r.Resize[0] > 0 {
		a.Resize = fmt.Sprintf("%dx%d", r.Resize[0], r.Resize[1])
	}
	if c.whole != "" {
		a.Holdout, a.Stratify = r.Holdout, r.Stratify
	}
	if c.whole != "" || r.Shuffle {
		a.Seed = r.Seed
	}
	if !raw { // else --label-column has no effect
		a.Label = r.LabelColumn
	}
	return a
}

// transform applies --columns, --transpose and --resize to t, a table of s, and records them in a.
func (in *inputs) transform(t source.Table, s dataset.Split, a *Applied) (_ source.Table, err error) {
	r := in.request
	if t, err = input.Project(t, r.Columns); err != nil {
		return nil, err
	}
	turn := s.Dataset != nil && s.Dataset.Transposed
	if r.Transpose != nil {
		turn = *r.Transpose && !turn // of a data set stored transposed, it swaps the upright images again
	} else if !in.set.IDX() {
		if turn, err = in.isTransposed(t, s); err != nil {
			return nil, err
		}
	}
	if i := slices.IndexFunc(t.Columns(), isFlat); i >= 0 && r.Transpose == nil && turn {
		return nil, usagef("%s: it stores images transposed: records of 784 elements stay so", t.Columns()[i].Origin).
			WithHint("--shape 28x28 makes images of them, and --transpose=false keeps them as they are")
	}
	if r.Transpose != nil && *r.Transpose && !slices.ContainsFunc(t.Columns(), isImage) {
		return nil, usagef("--transpose: no column has images, H×W, or H×W×C or C×H×W with 1, 3 or 4 channels").
			WithHint("--shape 28x28 turns flat records into images")
	}
	for i, c := range t.Columns() {
		if turn && isImage(c) {
			t = source.Transpose(t, i, images.Rows(c))
			a.Transpose = append(a.Transpose, c.Name)
		}
	}
	return in.resize(t, a)
}

// resize applies --resize to the only column of images of t, unless its reader has; a records it.
func (in *inputs) resize(t source.Table, a *Applied) (source.Table, error) {
	r := in.request
	o := picture.Options{Width: r.Resize[0], Height: r.Resize[1], Limit: r.MaxRecordBytes}
	scaler := o.Decoders()
	if scaler == nil || slices.Contains(a.Decoders, scaler[0]) { // or the reader has scaled them
		return t, nil
	}
	pictures := slices.DeleteFunc(slices.Clone(t.Columns()), func(c source.Column) bool {
		return c.DType != idx.Uint8 || c.Elements() == 0 || len(c.Shape) != 2 && (len(c.Shape) != 3 || c.Shape[2] != 3)
	})
	if len(pictures) != 1 {
		return nil, usagef("--resize scales one column of images of bytes, H×W or H×W×3; found %d in the columns %s",
			len(pictures), source.List(t.Columns())).
			WithHint("choose with --columns; --shape 28x28 makes images of flat records")
	}
	c := pictures[0]
	from := picture.Format{Height: c.Shape[0], Width: c.Shape[1], Channels: 2*len(c.Shape) - 3, Depth: 8} // 1 or 3
	to, err := o.Convert(from)
	if err != nil {
		return nil, fault.In(c.Origin, err)
	}
	a.Decoders = append(a.Decoders, scaler...)
	scale := func(dst, record []byte) []byte { return to.AppendScaled(dst, record, from) }
	return source.MapRecords(t, source.Index(t.Columns(), c.Name), to.Shape(), scale), nil
}

// noteTurned is the note about images that are turned: a prefix, and the title of the data set.
const noteTurned = "%s%s stores its images transposed; they are turned upright (--transpose=false keeps them as stored)"

// isImage reports whether the records of c have rows and columns.
func isImage(c source.Column) bool { return images.Rows(c) >= 0 }
func isFlat(c source.Column) bool  { return len(c.Shape) == 1 && c.Shape[0] == 28*28 }

// isTransposed reports whether t, not of IDX files, has images that are stored transposed: EMNIST's
// own CSV, without column names, with --dataset. Where only the user can tell, it is an error.
func (in *inputs) isTransposed(t source.Table, s dataset.Split) (bool, error) {
	file, about := s.Files[0].Path, source.About(t)
	d, _ := dataset.Lookup(cmp.Or(in.request.Dataset, dataset.ParseName(in.set.Table(file).Name).Dataset)) // or zero
	_, ours := about.Meta[keySources]
	hasImages := slices.ContainsFunc(t.Columns(), isImage)
	hasFlat := in.request.Dataset != "" && slices.ContainsFunc(t.Columns(), isFlat) // outputs record the data set
	if !d.Transposed || ours || !hasImages && !hasFlat || in.set.Table(file).Format.Name == "png" {
		return false, nil
	}
	if about.Unnamed && in.request.Dataset != "" {
		if hasImages { // else it is an error
			in.request.report.Note(noteTurned, file+": ", d.Title)
		}
		return true, nil
	}
	return false, usagef("%s: %s stores images transposed, and this file does not tell if these are", file, d.Title).
		WithHint("--transpose turns them upright, --transpose=false keeps them as they are")
}

// metadata returns what outputs record about their origin.
func metadata(r *request, t source.Table, s dataset.Split, a Applied) []schema.Pair {
	var sources []string
	for _, c := range t.Columns() {
		if !slices.Contains(sources, text.Legible(c.Origin)) {
			sources = append(sources, text.Legible(c.Origin))
		}
	}
	all := []schema.Pair{{Key: keySources, Value: text.JSON(sources)},
		{Key: source.KeyDataset, Value: s.DatasetName()}, {Key: keySplit, Value: s.Name},
		{Key: source.KeyApplied, Value: strings.TrimPrefix(text.JSON(a), "{}")}} // empty if a lists nothing
	for _, c := range t.Columns() {
		key := source.ClassesKey(c.Name)
		if c.Classes != nil && (r.ClassColumn || key != source.KeyClasses || !r.knowsNames(s, c.Classes)) {
			all = append(all, schema.Pair{Key: key, Value: text.JSON(c.Classes)})
		}
	}
	return slices.DeleteFunc(all, func(p schema.Pair) bool { return p.Value == "" })
}

// addClassColumn adds a column of class names after the label of s.
func addClassColumn(s *schema.Schema) error {
	label := s.Label()
	if label < 0 {
		return noLabels("--class-column", s.Columns)
	} else if c := s.Columns[label]; len(c.Classes) == 0 {
		return usagef("--class-column: the classes of column %q have no names", c.Name).
			WithHint("give the names with --classes FILE --label-column %s, or --dataset NAME", text.Quote(c.Name))
	}
	isTaken := func(c source.Column) bool { return strings.EqualFold(c.Name, schema.ClassName) } // as many readers do
	if i := slices.IndexFunc(s.Columns, isTaken); i >= 0 {
		return usagef("--class-column: there is already a column %q", s.Columns[i].Name).WithHint(schema.HintName)
	}
	s.Classes = schema.NewClasses(s, label)
	return nil
}

// describeJob reports a table that is about to be converted: its files, and what was decided.
func (in *inputs) describeJob(j *job) {
	s, report := j.split.Split, in.request.report
	in.describeInputs(j)
	prefix := report.splitNotes(s)
	a, rows, all := j.applied, j.schema.Rows, j.schema.SourceRows
	switch {
	case rows == 0 && all > 0 && j.split.whole != "":
		report.warning("%sthe split has no rows", prefix)
	case rows == 0 && all > 0:
		report.warning("%snone of its %s is selected", prefix, text.Count(all, "row"))
	case j.split.rows != nil && rows < all:
		report.Note("%sselected %s of %s rows", prefix, text.Thousands(rows), text.Thousands(all))
	}
	if d := s.Dataset; d != nil && s.Evidence != dataset.ByOption {
		report.Note("%srecognised as %s by %s", prefix, d.Title, s.Evidence)
	}
	if d := s.Dataset; d != nil && d.Transposed && a.Transpose != nil {
		report.Note(noteTurned, prefix, d.Title)
	}
	if text.JSON(a) != "{}" { // it lists something
		a.Split = s.Name
		report.Applied = append(report.Applied, a)
	}
}

// describeInputs reports the files of the split from which j was made, by column.
func (in *inputs) describeInputs(j *job) {
	for _, c := range j.table.Columns() {
		named := slices.ContainsFunc(j.split.Files, func(f dataset.File) bool { return f.Name == c.Name })
		for _, f := range j.split.Files {
			if len(j.split.Files) > 1 && c.Name != f.Name && (named || c.Origin != source.Base(f.Path)) {
				continue // it is of another file; a file of several columns may be named like one of them
			}
			etag, sequential := in.request.input.Storage.About(f.Path)
			entry := Input{Path: f.Path, Split: j.split.Name, Column: c.Name, DType: c.DType.String(),
				Rows: j.table.Rows(), Dataset: j.split.DatasetName(), ETag: etag, Sequential: sequential,
				Classes: c.Classes, Shape: append([]int{}, c.Shape...)} // not null
			if j.applied.Rows != "" || j.schema.Rows != j.schema.SourceRows {
				entry.SourceRows = &j.schema.SourceRows
			}
			in.request.report.Inputs = append(in.request.report.Inputs, entry)
		}
	}
}
