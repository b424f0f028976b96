package convert

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"

	"golang.org/x/term"

	"github.com/idxport/idxport/internal/card"
	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/formats"
	"github.com/idxport/idxport/internal/input"
	"github.com/idxport/idxport/internal/object"
	"github.com/idxport/idxport/internal/parts"
	"github.com/idxport/idxport/internal/publish"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
)

// Run converts. Wrong options and inputs are found before any output is begun, and all outputs are
// complete before any of them is visible. If ctx ends, the error is context.Cause(ctx) or
// ctx.Err(). The report is never nil.
func Run(ctx context.Context, o Options) (*Report, error) {
	report := NewReport(o.Events)
	if len(o.Outputs) == 0 {
		return report, usagef("no output").
			WithHint("give a file such as -o mnist.parquet, a folder such as -o out/, or -o csv=- for standard output")
	}
	in, jobs, err := openAll(ctx, o, report)
	if err != nil {
		return report, err
	}
	defer releaseAll(jobs)
	if err := checkClassesUsed(in, jobs); err != nil {
		return report, err
	}
	outputs, err := planOutputs(ctx, in, jobs)
	if err != nil {
		return report, err
	}
	return report, runJobs(ctx, in, jobs, outputs)
}

// runJobs checks what would be replaced, and writes the outputs of the jobs.
func runJobs(ctx context.Context, in *inputs, jobs []*job, outputs []*output) error {
	r := in.request
	cards, err := cardsOf(outputs)
	if err != nil {
		return err
	}
	for _, j := range jobs {
		if err := input.CheckRereadable("--verify", j.split.Split); r.Verify && err != nil {
			return err
		}
		in.describeJob(j)
	}
	if err := checkExpected(r, jobs, func(j *job) int64 { return j.schema.Rows }); err != nil {
		return err
	}
	key, err := runKey(in, jobs, outputs)
	if err != nil {
		return err
	}
	if unchanged, err := upToDate(r, outputs, key); unchanged || err != nil {
		return err
	}
	if err := checkStaying(r, outputs); err != nil {
		return err
	}
	p, err := prepare(ctx, r, outputs, in.set.Paths(), key)
	if err != nil {
		return err
	}
	defer p.discard() // no effect after commit
	return publishJobs(ctx, in, jobs, p, cards)
}

// publishJobs writes the outputs of the jobs to the places of p, and makes them visible. cards are
// those of shared folders.
func publishJobs(ctx context.Context, in *inputs, jobs []*job, p *publication, cards map[string]*card.Card) error {
	r := in.request
	var written []*writing
	for _, j := range jobs {
		done, err := writeJob(ctx, in, j, p)
		if len(p.outputs) > 1 && fault.KindOf(err) == fault.PipeClosed {
			r.report.warning("the reader of standard output has closed it, so no output was written")
		}
		if err != nil {
			return err
		}
		written = append(written, done...)
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	rows := map[*job]int64{}
	for _, w := range written {
		rows[w.out.job] = w.rows
		if c, e := cards[w.out.path], w.reportEntry(); w.out.shared() {
			c.Splits = append(c.Splits, card.Split{Name: w.out.sharding.stem, Rows: e.Rows, Files: len(e.Parts),
				Bytes: e.Bytes})
			w.to.folder.SetCard(c.Text()) // the last one has all splits
		}
	}
	if err := checkExpected(r, jobs, func(j *job) int64 { return rows[j] }); err != nil {
		return err
	}
	if err := p.set.Complete(); err != nil { // of local outputs: objects are complete
		return err
	}
	for _, w := range written {
		if err := w.check(ctx, in); err != nil {
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
// its inputs, which are read again.
func (w *writing) check(ctx context.Context, in *inputs) (err error) {
	path := w.to.hidden // "" for an object or a device, which cannot be read
	if path != "" && in.request.replaces() {
		err = w.out.checkLosses(ctx, in.request, path)
	}
	if err == nil && path != "" && in.request.Verify && !w.out.format.Beside {
		err = verifyOutput(ctx, in, w.out, path)
	}
	return err
}

// checkClassesUsed returns an error if --classes is given but not used: no output contains class
// names, no rows are selected by them, and no input has class names in place of labels.
func checkClassesUsed(in *inputs, jobs []*job) error {
	usedByInput := slices.ContainsFunc(jobs, func(j *job) bool {
		return in.set.Table(j.split.Files[0].Path).Format.Name == "png" || source.About(j.table).Classes
	})
	r := in.request
	named := func(f formats.Format) bool { // or its files are accompanied by a list of names
		return f.Folder || r.ClassColumn && f.ClassColumn || f.Codecs != nil || f.IsIDX
	}
	if r.Classes == "" || usedByInput || r.choice.ByClass() || r.makes(named) {
		return nil
	}
	return usagef("no output uses --classes").
		WithHint("--class-column writes the names, --where class=NAME selects by them, " +
			"and PNG folders, Parquet and Arrow contain them")
}

// cardsOf returns the card (the README.md) of each folder that several splits share, by path, still
// without the splits. It fails if one card cannot describe all of them.
func cardsOf(outputs []*output) (map[string]*card.Card, error) {
	cards := map[string]*card.Card{}
	for _, out := range outputs {
		if !out.shared() {
			continue
		}
		c, err := cards[out.path], error(nil)
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
	var sinks []sink.Sink
	for i, out := range p.outputs {
		if out.job != j {
			continue
		}
		w := &writing{out: out, to: p.to[i]}
		if w.sink, err = openSink(r, out, w.to); err != nil {
			return nil, fmt.Errorf("%s: %w", out.shownName(), err)
		}
		all, sinks = append(all, w), append(sinks, w.sink)
	}
	rows, err := drain(ctx, r, j.table, j.schema, j.title(), sinks...)
	if err != nil {
		return nil, err
	}
	for _, w := range all {
		w.rows = rows
		if w.to.object != nil {
			if err := w.to.object.Complete(); err != nil {
				return nil, err
			}
		}
	}
	in.tableNotes(j.table)
	for _, s := range sinks {
		if n, ok := s.(sink.Noter); ok {
			for _, note := range n.Notes() {
				r.report.Note("%s", note)
			}
		}
	}
	j.release()
	return all, nil
}

// formatVersion is increased when the same inputs and options produce other bytes than before, also
// between releases: --if-changed then rewrites earlier outputs.
const formatVersion = 4

// runKey returns, with --if-changed, a text over the names of the outputs, the inputs and all else
// that the bytes of outputs depend on, except their formats; without the flag it is empty.
func runKey(in *inputs, jobs []*job, outputs []*output) (key string, err error) {
	r := in.request
	if !r.IfChanged {
		return "", nil
	}
	for _, out := range outputs {
		key += text.JSON(filepath.Base(out.path))
	}
	key += text.JSON([]any{formatVersion, Version, r.Expect, r.View, r.Dataset, r.DType, r.Shape,
		r.Resize, r.Grey, r.Header, r.Salvage, r.LabelColumn, r.RowsPerFile, r.Compression, r.Layout, r.ClassColumn})
	for _, j := range jobs {
		if err := input.CheckRereadable("--if-changed", j.split.Split); err != nil {
			return "", err
		}
		key += text.JSON([]any{j.split.Name, j.applied, j.schema.Columns})
		if j.split.Dataset != nil {
			key += j.split.Dataset.Name
		}
	}
	for _, path := range slices.Compact(in.set.Paths()) {
		if object.IsURL(path) {
			return "", usagef("--if-changed: inputs with URLs cannot be compared with those of an earlier run").
				WithHint("leave out --if-changed")
		}
		fingerprint, err := publish.Fingerprint(path)
		if err != nil {
			return "", fault.In(path, err)
		}
		key += " " + path + " " + fingerprint
	}
	return key, nil
}

// upToDate reports whether --if-changed finds that a run with the same key made all outputs.
func upToDate(r *request, outputs []*output, key string) (bool, error) {
	for _, out := range outputs {
		if !r.IfChanged {
			return false, nil
		}
		if same, err := publish.UpToDate(out.path, out.keyOf(key)); !same || err != nil {
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

// A destination is what an output is written to: a file or folder, an object, or standard output.
type destination struct {
	writer *tally          // nil for a folder
	folder *publish.Folder // to fill, or nil
	object *object.Writer  // or nil; it is completed when all is written, which frees its memory
	hidden string          // the path at which it can be read before it is published, or ""
}

// standardOutput returns the destination of an output that goes to w, which must be none of inputs.
func standardOutput(w io.Writer, f formats.Format, inputs []string) (destination, error) {
	file, ok := w.(*os.File)
	if ok && term.IsTerminal(int(file.Fd())) && !f.Text {
		return destination{}, usagef("will not write %s to a terminal", f.Name).
			WithHint("redirect standard output to a file or a program")
	}
	out, _ := file.Stat() // nil without a file
	for _, path := range inputs {
		if in, err := os.Stat(path); err == nil && os.SameFile(in, out) {
			return destination{}, fault.New(fault.Refused, "refused: it is the input %s", path).
				WithHint("redirect standard output to another file")
		}
	}
	return destination{writer: &tally{Writer: w}}, checkOpen(w)
}

// checkOpen returns an error if w is standard output and was closed when the program began. Go's
// runtime has then opened the null device there for reading and writing; a shell's >/dev/null opens
// it for writing only. Python's subprocess.DEVNULL cannot be told from a closed output, so call
// checkOpen only where losing the data would be an error.
func checkOpen(w io.Writer) error {
	f, ok := w.(*os.File)
	if !ok || runtime.GOOS == "windows" {
		return nil
	}
	info, err := f.Stat()
	null, nullErr := os.Stat(os.DevNull)
	if err != nil || nullErr != nil || !os.SameFile(info, null) {
		return nil
	}
	if _, err = f.Read(make([]byte, 1)); err != io.EOF { // it is not open for reading
		return nil
	}
	return fault.New(fault.IO, "it is closed, expected a file or a program").Because(syscall.EBADF).
		WithHint("redirect standard output to a file")
}

// A publication is the outputs of a run on their way: all of them are complete before any of them
// is visible.
type publication struct {
	set     *publish.Set
	outputs []*output
	to      []destination // of each output
}

// prepare makes the destinations of all outputs, the local ones first: their errors cost no
// request. No output may replace one of the inputs. key is that of [runKey].
func prepare(ctx context.Context, r *request, outputs []*output, inputs []string, key string) (
	_ *publication, err error) {
	p := &publication{outputs: outputs}
	var targets []publish.Target
	places := make([]int, len(outputs)) // indices of their targets
	for i, out := range outputs {
		if out.path == Stdio || object.IsURL(out.path) {
			continue
		}
		t := publish.Target{Path: out.path, Folder: out.isFolder(), Key: out.keyOf(key)}
		if out.sharding != nil {
			t.Kind = out.sharding.kind
		}
		if places[i] = slices.Index(targets, t); places[i] < 0 || !out.shared() {
			places[i] = len(targets)
			targets = append(targets, t)
		}
	}
	if p.set, err = publish.Prepare(targets, publish.Options{Overwrite: r.replaces(), Inputs: inputs}); err != nil {
		return nil, err
	}
	for i, out := range outputs {
		to := destination{}
		switch {
		case out.path == Stdio:
			if to, err = standardOutput(r.Stdout, out.format, inputs); err != nil {
				err = fmt.Errorf("%s: %w", out.shownName(), err)
			}
		case object.IsURL(out.path) && slices.Contains(inputs, out.path):
			err = fault.New(fault.Refused, "refused: it is an input").In(out.path)
		case object.IsURL(out.path):
			to.object, err = r.input.Storage.Store.Create(ctx, out.path, r.replaces())
			to.writer = &tally{Writer: to.object}
		case out.isFolder():
			to = destination{folder: p.set.Folder(places[i]), hidden: p.set.Partial(places[i])}
		default:
			to = destination{writer: &tally{Writer: p.set.File(places[i])}, hidden: p.set.Partial(places[i])}
		}
		if err != nil {
			p.discard()
			return nil, err
		}
		p.to = append(p.to, to)
	}
	return p, nil
}

// commit makes all outputs, which are complete, visible: objects first, as requests fail more often
// than renames.
func (p *publication) commit() error {
	for _, to := range p.to {
		if to.object != nil {
			if err := to.object.Commit(); err != nil {
				return err
			}
		}
	}
	return p.set.Commit()
}

// discard removes what commit has not made visible.
func (p *publication) discard() {
	for _, to := range p.to {
		if to.object != nil {
			to.object.Discard()
		}
	}
	p.set.Discard()
}

// A tally counts the bytes written through it.
type tally struct {
	io.Writer
	n int64
}

func (t *tally) Write(p []byte) (int, error) {
	n, err := t.Writer.Write(p)
	t.n += int64(n)
	return n, err
}

// openSink begins to write an output.
func openSink(r *request, out *output, to destination) (sink.Sink, error) {
	if out.sharding == nil {
		o := formats.Output{Folder: to.folder}
		if to.writer != nil {
			o.Writer = to.writer
		}
		return out.format.Open(o, out.job.schema, out.options)
	}
	subfolder, err := to.folder.Subfolder(out.sharding.subfolder)
	if err != nil {
		return nil, err
	}
	perFile := *out.job.schema
	if r.RowsPerFile > 0 && (perFile.Rows < 0 || perFile.Rows > r.RowsPerFile) {
		perFile.Rows = r.RowsPerFile // row groups depend on it
	}
	options := parts.Options{Stem: out.sharding.stem, Extension: out.fileExtension(), Rows: r.RowsPerFile,
		First: out.job.first}
	return parts.New(subfolder, out.job.schema, options, func(to io.Writer) (sink.Sink, error) {
		return out.format.Open(formats.Output{Writer: to}, &perFile, out.options)
	})
}

// A writing is an output that its sink writes.
type writing struct {
	out  *output
	to   destination
	sink sink.Sink
	rows int64 // once all are written
}

// reportEntry returns the entry of a complete output in the report.
func (w *writing) reportEntry() Output {
	out := w.out
	e := Output{Path: out.path, Format: out.format.Name, Split: out.job.split.Name, Rows: w.rows}
	made, isParts := w.sink.(*parts.Sink)
	switch {
	case out.format.Beside:
		e.Rows, e.Bytes = int64(len(out.job.schema.Columns[out.options.Column].Classes)), w.to.writer.n
	case !isParts && w.to.folder != nil:
		count, bytes := w.to.folder.Totals()
		e.Files, e.Bytes = &count, bytes
	case !isParts:
		e.Bytes = w.to.writer.n
	default:
		dir := filepath.Join(out.path, out.sharding.subfolder)
		for _, p := range made.Parts() {
			e.Parts = append(e.Parts, Part{filepath.Join(dir, p.Name), p.Rows, p.Bytes})
			e.Bytes += p.Bytes
		}
		count := int64(len(e.Parts))
		e.Files, e.Shown = &count, filepath.Join(dir, out.sharding.stem+"-*")
		if !out.shared() {
			e.Shown = out.path + string(filepath.Separator)
		} else if count == 1 {
			e.Shown = e.Parts[0].Path
		}
	}
	return e
}
