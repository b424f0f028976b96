package convert

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idxport/idxport/internal/card"
	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/input"
	"github.com/idxport/idxport/internal/parts"
	"github.com/idxport/idxport/internal/publish"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
)

// Run converts. Wrong options and inputs are found before any output is begun, except damage in
// rows, and all outputs are complete before any of them is visible. If ctx ends, the error is
// context.Cause(ctx) or ctx.Err(). The report is never nil.
func Run(ctx context.Context, o Options) (*Report, error) {
	report := NewReport(o.Events)
	if len(o.Outputs) == 0 && len(o.Inputs) > 0 {
		return report, usagef("no output").
			WithHint("an output follows -o: a folder as in -o out/, files as in -o 'x-{split}.parquet', or -o csv=-")
	}
	in, jobs, err := openAll(ctx, o, report)
	defer releaseAll(jobs)
	if err == nil {
		err = runJobs(ctx, in, jobs)
	}
	return report, err
}

// runJobs does the remaining checks that need no reading of rows, reports what was decided, and
// writes the outputs, unless all are up to date.
func runJobs(ctx context.Context, in *inputs, jobs []*job) error {
	r := in.request
	outputs, errOutputs := planOutputs(ctx, in, jobs, r.targets)
	cards, err := cardsOf(outputs)
	if err := cmp.Or(errOutputs, checkClassesUsed(r, jobs, outputs), err); err != nil {
		return err
	}
	for _, j := range jobs {
		in.describeJob(j)
	}
	if err := checkExpected(r, jobs, func(j *job) int64 { return j.schema.Rows }); err != nil { // as in the headers
		return err
	}
	key := ""
	if r.IfChanged {
		if key, err = runKey(ctx, in, jobs, outputs); err != nil {
			return err
		}
		if unchanged, err := upToDate(ctx, r, outputs, key); unchanged || err != nil {
			return err
		}
	}
	if err := checkStaying(ctx, r, outputs, in.paths()); err != nil {
		return err
	}
	p, err := prepare(ctx, r, outputs, in.paths(), key)
	if err != nil {
		return err
	}
	defer p.discard() // no effect after commit
	return writeAndPublish(ctx, in, jobs, p, cards)
}

// A writing is an output on its way: it is being written, or has been.
type writing struct {
	destination
	sink sink.Sink
	rows int64 // once all rows are written
}

// writeAndPublish writes the outputs of the jobs to p and makes them visible; cards are of cardsOf.
func writeAndPublish(ctx context.Context, in *inputs, jobs []*job, p *publication, cards map[string]*card.Card) error {
	r := in.request
	var written []*writing
	for _, j := range jobs {
		done, err := writeJob(ctx, in, j, p)
		if err != nil {
			if len(p.to) > 1 && fault.KindOf(err) == fault.PipeClosed {
				r.report.warning("the reader of standard output has closed it, so no output was written")
			}
			return err
		}
		written = append(written, done...)
	}
	rows := map[*job]int64{}
	for _, w := range written {
		rows[w.out.job] = w.rows
		if w.out.shared() {
			c, e := cards[w.out.path], w.reportEntry()
			c.Splits = append(c.Splits, card.Split{Name: path.Base(w.out.shards), Rows: e.Rows, Files: len(e.Parts),
				Bytes: e.Bytes})
			w.folder.Card = c.Text() // each replaces the one before; the last has all splits
		}
	}
	if err := checkExpected(r, jobs, func(j *job) int64 { return rows[j] }); err != nil {
		return err
	}
	if err := p.set.Complete(); err != nil { // of local outputs: writeJob has completed the objects
		return err
	}
	for _, w := range written {
		err := w.check(ctx, in)
		if err = cmp.Or(context.Cause(ctx), err); err != nil { // a check that ended early may have found anything
			return err
		}
	}
	if err := p.commit(); err != nil {
		return err
	}
	for _, w := range written {
		r.report.Outputs = append(r.report.Outputs, w.reportEntry())
	}
	return nil
}

// check compares an output that is not visible yet with what it replaces and, with --verify, with
// its inputs, which are read again. A list of names beside other outputs is not compared.
func (w *writing) check(ctx context.Context, in *inputs) (err error) {
	path := w.hidden // "" for an object, a device or standard output, which cannot be read
	if path == "" || w.out.format.Beside {
		return nil
	}
	if in.request.replaces() {
		err = w.out.checkLosses(ctx, in.request, path)
	}
	if err == nil && in.request.Verify {
		err = verifyOutput(ctx, in, w.out, path)
	}
	return err
}

// checkExpected returns an error unless jobs have what --expect names; rows may be −1, if unknown.
func checkExpected(r *request, jobs []*job, rows func(*job) int64) error {
	for _, e := range r.expected {
		var splits []string
		found, isThere := "", false
		for _, j := range jobs {
			columns, n := source.Names(j.schema.Columns), rows(j)
			if j.schema.Classes != nil {
				columns = append(columns, schema.ClassName)
			}
			isSplit := e.rows >= 0 && j.split.IsCalled(e.name)
			splits, isThere = append(splits, j.base()), isThere || isSplit
			switch {
			case e.rows < 0 && !slices.Contains(columns, e.name):
				found = "only the columns " + strings.Join(columns, ", ") + " in " + j.title()
			case isSplit && n >= 0 && n != e.rows:
				found = text.Count(n, "row")
			}
		}
		if e.rows >= 0 && !isThere {
			found = "no such split, only " + strings.Join(splits, ", ")
		}
		if found != "" {
			return fault.New(fault.Malformed, "--expect %s: found %s", e.text, found).
				WithHint("complete the inputs, or change --expect")
		}
	}
	return nil
}

// checkClassesUsed returns an error if --classes is given but not used: no output or report holds
// the names of its label, no rows are selected by them, and no input has names in place of labels.
func checkClassesUsed(r *request, jobs []*job, outputs []*output) error {
	isNamed := func(c source.Column) bool { return c.Classes != nil }
	named := func(j *job) bool { return slices.ContainsFunc(j.table.Columns(), isNamed) }
	uses := func(j *job) bool { return source.About(j.table).Classes || r.Reported && named(j) }
	holds := func(o *output) bool {
		f, plain := o.format, slices.Contains([]string{"", "labels"}, o.options.Layout)
		return named(o.job) && (f.Folder && !plain || isColumnar(f) || f.Beside || f.ClassColumn && r.ClassColumn)
	}
	if r.Classes == "" || r.choice.ByClass() || slices.ContainsFunc(jobs, uses) || slices.ContainsFunc(outputs, holds) {
		return nil
	}
	return usagef("no output uses --classes").
		WithHint("--class-column writes the names, --where class=NAME selects by them, and PNG folders with " +
			"--layout names, Parquet, Arrow and folders of IDX files (-o idx=DIR/) hold those of a label")
}

// cardsOf returns the card (the README.md) of each folder that several splits share, by path, still
// without the splits. It fails if one card cannot describe all of them.
func cardsOf(outputs []*output) (cards map[string]*card.Card, err error) {
	cards = map[string]*card.Card{}
	for _, out := range outputs {
		if !out.shared() {
			continue
		}
		c := cards[out.path]
		if c == nil {
			c = &card.Card{Name: text.Legible(filepath.Base(out.path)), Version: Version}
			if d := out.job.split.Dataset; d != nil {
				c.Name, c.Homepage, c.License = d.Title, d.Homepage, d.License
			}
			cards[out.path] = c
		}
		if c.Features, err = card.Merge(c.Features, out.job.schema); err != nil {
			return nil, usagef("%s: %v", out.path, err).
				WithHint("choose one split with --split, or give all the same class names with --classes")
		}
		for _, f := range out.job.split.Files {
			name := text.Legible(source.Base(f.Path))
			if !slices.Contains(c.Sources, name) { // splits of --holdout share files
				c.Sources = append(c.Sources, name)
			}
		}
	}
	return cards, nil
}

// writeJob writes the outputs of one job, and releases its table.
func writeJob(ctx context.Context, in *inputs, j *job, p *publication) (all []*writing, err error) {
	r := in.request
	var open []sink.Sink
	for _, to := range p.to {
		if to.out.job != j {
			continue
		}
		w := &writing{destination: to}
		if w.sink, err = openSink(r, to); err != nil {
			return nil, fmt.Errorf("%s: %w", to.out.shownName(), err)
		}
		all, open = append(all, w), append(open, w.sink)
	}
	rows, err := drain(ctx, r, j.table, j.schema, j.title(), open...)
	if err != nil {
		return nil, err
	}
	in.reportTable(j.table)
	j.release()
	for _, w := range all {
		w.rows = rows
		if n, ok := w.sink.(interface{ Notes() []string }); ok {
			r.report.addInfo(source.Info{Notes: n.Notes()})
		}
		if w.object != nil {
			if err := w.object.Complete(); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// formatVersion is increased when the same inputs and options produce other bytes than before, also
// while Version stays the same: --if-changed then rewrites earlier outputs.
const formatVersion = 8

// runKey lists the names of the outputs, the inputs, all else that the bytes of outputs depend on,
// and --expect, so that another one is checked; output.keyOf adds the format of each output.
func runKey(ctx context.Context, in *inputs, jobs []*job, outputs []*output) (key string, err error) {
	r := in.request
	for _, out := range outputs {
		key += text.JSON(filepath.Base(out.path))
	}
	key += text.JSON([]any{formatVersion, Version, r.Expect, r.View, r.Dataset, r.DType, r.Shape,
		r.Resize, r.Grey, r.Header, r.Salvage, r.LabelColumn, r.RowsPerFile, r.Compression, r.Layout, r.ClassColumn})
	for _, j := range jobs {
		key += text.JSON([]any{j.split.Name, j.applied, j.schema.Columns}) + j.split.DatasetName()
	}
	for _, path := range slices.Compact(in.paths()) { // arrays of a .npz file have one
		if text.IsURL(path) {
			return "", usagef("--if-changed: inputs with URLs cannot be compared with those of an earlier run").
				WithHint("leave out --if-changed")
		}
		fingerprint, err := input.Interruptible(ctx, func() (string, error) { return publish.Fingerprint(path) })
		again, openErr := r.input.Storage.Files(ctx).Open(path) // fails if it was replaced since a table was opened
		if err = cmp.Or(context.Cause(ctx), fault.In(path, cmp.Or(err, openErr))); err != nil {
			return "", err
		}
		_ = again.Close() // read-only: an error does not matter
		key += " " + path + " " + fingerprint
	}
	return key, nil
}

// upToDate reports whether --if-changed finds that a run with the same key made all outputs.
func upToDate(ctx context.Context, r *request, outputs []*output, key string) (bool, error) {
	for _, out := range outputs {
		compare := func() (bool, error) { return publish.UpToDate(out.path, out.keyOf(key)) }
		if same, err := input.Interruptible(ctx, compare); !same || err != nil {
			return false, err
		}
	}
	for _, out := range outputs {
		if !slices.Contains(r.report.Unchanged, out.path) { // splits may share a folder
			r.report.Unchanged = append(r.report.Unchanged, out.path)
			r.report.Note("%s: unchanged", out.path)
		}
	}
	return true, nil
}

func openSink(r *request, to destination) (sink.Sink, error) {
	out := to.out
	if out.shards == "" {
		return out.format.Open(to.writer, to.folder, out.job.schema, out.options)
	}
	perFile := *out.job.schema
	if r.RowsPerFile > 0 && (perFile.Rows < 0 || perFile.Rows > r.RowsPerFile) {
		perFile.Rows = r.RowsPerFile // row groups depend on it
	}
	options := parts.Options{Stem: out.shards, Extension: out.ext(), Rows: r.RowsPerFile, First: out.job.first}
	return parts.New(to.folder, out.job.schema, options, func(file io.Writer) (sink.Sink, error) {
		return out.format.Open(file, nil, &perFile, out.options)
	})
}

// reportEntry returns the entry of a complete output in the report.
func (w *writing) reportEntry() Output {
	out := w.out
	e := Output{Path: out.path, Format: out.format.Name, Split: out.job.split.Name, Rows: w.rows}
	sharded, isParts := w.sink.(*parts.Sink)
	switch {
	case isParts:
		for _, p := range sharded.Parts {
			e.Parts = append(e.Parts, Part{filepath.Join(out.path, p.File.Name), p.Rows, p.File.Count})
			e.Bytes += p.File.Count
		}
		count := int64(len(e.Parts))
		e.Files, e.Shown = &count, filepath.Join(out.path, out.shards+"-*")
		if !out.shared() {
			e.Shown = out.path + string(filepath.Separator)
		} else if count == 1 {
			e.Shown = e.Parts[0].Path
		}
	case w.folder != nil:
		count := w.folder.Files // a pointer into w.folder would keep it while the report is used
		e.Files, e.Bytes = &count, w.folder.Bytes
	default:
		e.Bytes = w.writer.Offset
	}
	if out.format.Beside { // a list of names: its lines are its rows
		e.Rows = int64(len(out.job.schema.Columns[out.options.Column].Classes))
	}
	return e
}
