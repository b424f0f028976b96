package convert

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/sink/plan"
	"github.com/idxport/idxport/sink/publish"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/dataset"
)

// Tool is the program and its version as plans record them. Parts are only made by the version that
// made the plan: another one may write different bytes.
const Tool = "idxport " + Version

// defaultPartBytes is the approximate size of a part by default, in bytes of uncompressed rows.
const defaultPartBytes = 256 << 20

// WritePlan divides a conversion into parts of rowsPerPart rows, 0 for a default size, and writes
// the plan to a file or an object. It returns the plan and its path without the parameters of a
// URL. Each output becomes a folder of parts. Options.Overwrite applies to the plan.
func WritePlan(ctx context.Context, options Options, rowsPerPart int64, arg string) (p *plan.Plan, path string, r *Report, err error) {
	r = NewReport(options.Events)
	if len(options.Outputs) == 0 {
		return nil, "", r, usagef("no output").WithHint("give a path such as -o mnist.parquet, or a folder such as -o out/")
	}
	for _, arg := range options.Outputs {
		if _, path, _, _ := CutFormat(arg); path == Stdio {
			return nil, "", r, usagef("a plan cannot write to standard output").WithHint("name a folder: -o out/")
		}
	}
	o, err := newConversion(options, true, r)
	if err != nil {
		return nil, "", r, err
	}
	if rowsPerPart < 0 {
		return nil, "", r, usagef("--rows-per-part %d, expected at least 1", rowsPerPart)
	}
	if options.Rows != "" {
		return nil, "", r, usagef("found --rows %s, which a plan cannot have", options.Rows)
	}
	if err := object.CheckOutput(arg); err != nil {
		return nil, "", r, err
	}
	if path, err = parseURL(o.store, arg); err != nil {
		return nil, path, r, err
	}
	if p, err = o.plan(ctx, options, rowsPerPart); err != nil {
		return nil, path, r, err
	}
	for _, t := range p.Targets {
		what := "an output"
		if slices.ContainsFunc(t.Inputs, func(in plan.Input) bool { return in.Path == path }) {
			what = "an input"
		}
		if what == "an input" || t.Path == path {
			return nil, path, r, usagef("--plan %s: it is %s", path, what).WithHint("give the plan a name of its own")
		}
	}
	p.Complete(time.Now())
	return p, path, r, p.Write(ctx, path, o.Overwrite)
}

// plan divides the conversion.
func (o *conversion) plan(ctx context.Context, options Options, rowsPerPart int64) (*plan.Plan, error) {
	r, err := o.prepare(ctx)
	if err != nil {
		return nil, err
	}
	defer closeAll(r.jobs)
	stored := options.forParts()
	stored.Classes = o.Classes // without the parameters of a URL
	text, err := json.Marshal(stored)
	if err != nil {
		return nil, err
	}
	if back := (Options{}); json.Unmarshal(text, &back) != nil || !reflect.DeepEqual(back, stored) {
		return nil, usagef("found an option that is not UTF-8, which a plan cannot hold").WithHint("write it in UTF-8")
	}
	p := &plan.Plan{Tool: Tool, Options: text, Objects: o.store, Parameters: o.store.Parameters()}
	for _, j := range r.jobs {
		o.describe(j)
		if err := r.addTarget(ctx, p, j, rowsPerPart); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// ReadPlan reads the plan in a file or an object, and returns it with its path, without the
// parameters of a URL.
func ReadPlan(ctx context.Context, arg string) (*plan.Plan, string, error) {
	store := newStore()
	path, err := parseURL(store, arg)
	if err != nil {
		return nil, path, err
	}
	p, err := plan.Read(ctx, store, path)
	if errors.As(err, new(*fs.PathError)) {
		err = fault.In(path, err)
	}
	return p, path, err
}

// forParts returns the options that the bytes of a part depend on. The targets of a plan hold its
// inputs and outputs.
func (o Options) forParts() Options {
	o.Inputs, o.Split, o.Dataset, o.Outputs, o.To = nil, nil, "", nil, nil
	o.Stdin, o.Stdout, o.Workers, o.Events = nil, nil, 0, Events{}
	o.Overwrite, o.IfChanged, o.Verify, o.Checksum, o.RowsPerFile, o.FileSize = false, false, false, false, 0, 0
	return o
}

// addTarget adds the output of j to a plan.
func (r *run) addTarget(ctx context.Context, p *plan.Plan, j *job, rowsPerPart int64) error {
	outs := slices.DeleteFunc(slices.Clone(r.outputs), func(out *output) bool { return out.job != j })
	if len(outs) != 1 {
		return usagef("found %d outputs of %s, expected one", len(outs), j.title()).WithHint("make a plan for each format")
	}
	out, s := outs[0], j.passes[0].schema
	if out.sharding == nil || out.sharding.mark != publish.PartsMark {
		return usagef("%s cannot be divided into parts", out.name()).WithHint("in the layout huggingface, write a file, such as -o train.parquet, not a folder")
	}
	t := plan.Target{Path: out.path, Format: out.format.Name, Extension: out.sharding.extension, Rows: s.Rows,
		Dataset: cmp.Or(j.datasetName(), dataset.DatasetNone)}
	if j.split.divided {
		t.Split = j.split.Name
	}
	var columns []*source.IDX // opened; columns[i] is t.Inputs[i]
	defer func() {
		for _, c := range columns {
			_ = c.Close() // read-only: an error does not matter
		}
	}()
	for _, f := range j.split.Files {
		c, err := r.addColumn(ctx, &t, j, f)
		if err != nil {
			return err
		}
		columns = append(columns, c)
		if _, seekable := c.HeaderEnd(); !seekable && t.Rows > 0 {
			rowsPerPart = t.Rows
			r.report.Note("%s is compressed without a suitable seek table, so %s is one part; to divide it, convert the inputs with --to idx --compression idx=zstd, and run idxport plan on the result",
				f.Path, t.Path)
		}
	}
	if r.Classes != "" {
		classes, err := r.planInput(ctx, r.Classes)
		if err != nil {
			return err
		}
		t.Inputs = append(t.Inputs, classes)
	}
	if rowsPerPart == 0 {
		rowsPerPart = max(1, defaultPartBytes/max(1, s.RowSize()))
	}
	err := t.Cut(ctx, rowsPerPart, p.Parts(), func(i int, first, last int64) (from, to int64) {
		if i < len(columns) && !t.Inputs[i].Whole {
			if from, to, ok := columns[i].Span(first, last); ok {
				return from, to
			}
		}
		return 0, t.Inputs[i].Bytes
	})
	if err != nil {
		return err
	}
	p.Targets = append(p.Targets, t)
	exists, err := p.TargetExists(ctx, &t)
	if exists {
		r.report.Note("%s already exists: commit will refuse to replace it, unless it was made with an identical plan", t.Path)
	}
	return err
}

// addColumn adds the file f of the split of j to the inputs of a target and opens it.
func (r *run) addColumn(ctx context.Context, t *plan.Target, j *job, f dataset.File) (*source.IDX, error) {
	if _, isTable := r.tables[f.Path]; isTable {
		return nil, usagef("%s is not an IDX file, and a plan needs IDX files", shownPath(f.Path)).
			WithHint("convert it to IDX first: idxport convert %s -o idx=DIR/", shell.Path(f.Path))
	}
	if r.readableOnce(f) {
		return nil, usagef("%s can be read only once, and a plan needs files that can be opened again", shownPath(f.Path)).WithHint("save it to a file first")
	}
	input, err := r.planInput(ctx, f.Path)
	if err != nil {
		return nil, err
	}
	c, err := r.openIDX(ctx, j.split.Split, f, nil)
	if err != nil {
		return nil, err
	}
	if c.Rows() != j.passes[0].schema.SourceRows {
		_ = c.Close() // read-only: an error does not matter
		return nil, fault.In(f.Path, fault.Changed)
	}
	input.Column, input.Whole = f.Name, j.split.rows != nil
	if to, ok := c.HeaderEnd(); ok && input.Hashed() {
		input.Header = &plan.Piece{To: to}
	}
	t.Inputs = append(t.Inputs, input)
	return c, nil
}

// planInput returns the plan's record of the file or object at path.
func (o *inputs) planInput(ctx context.Context, path string) (plan.Input, error) {
	f, err := o.files(ctx).Open(path)
	if err != nil {
		return plan.Input{}, fault.In(path, err)
	}
	defer f.Close() // read-only: an error does not matter
	info, err := f.Stat()
	if err != nil {
		return plan.Input{}, fault.In(path, err)
	}
	input := plan.Input{Path: path, Bytes: info.Size()}
	if object.IsURL(path) {
		if input.ETag, _ = o.opened.about(path); input.ETag == "" {
			return input, usagef("%s: it has no strong ETag, so parts cannot check that they read the same version", path).WithHint("copy the file to this machine")
		}
		if o.store.HasQuery(path) {
			return input, usagef("%s: the part of the URL after the question mark may be a secret, which a plan cannot hold", path).WithHint("copy the file to this machine")
		}
	}
	return input, nil
}

// PartOptions are the options of MakePart. The bytes of the part do not depend on them.
type PartOptions struct {
	Verify  bool
	Workers int
	Events  Events
}

// MakePart makes one part of a plan. Making a part twice, even at the same time, is harmless. The
// report has no output if the part, or its whole target, already existed.
func MakePart(ctx context.Context, p *plan.Plan, index int, options PartOptions) (*Report, error) {
	r := NewReport(options.Events)
	t, part, err := p.Part(index)
	if err != nil {
		return r, err
	}
	if p.Tool != Tool {
		return r, usagef("the plan was made by %s, but this is %s, which may write different bytes", p.Tool, Tool).WithHint("run all parts with the version that made the plan")
	}
	if done, err := p.Committed(ctx, t); err != nil {
		return r, err
	} else if done {
		r.Note("%s is already committed", t.Path)
		return r, nil
	}
	if result, err := p.Result(ctx, t, part); err != nil {
		return r, err
	} else if result != nil {
		r.Note("part %d already exists", part.Index)
		return r, nil
	}
	err = makePart(ctx, p, t, part, options, r)
	if done, doneErr := p.Committed(ctx, t); doneErr == nil && done { // another attempt was faster
		p.Tidy(ctx, t)
		r.Note("%s is already committed", t.Path)
		return r, nil
	}
	if fault.KindOf(err) == fault.IO && errors.Is(err, fs.ErrNotExist) { // its folder was removed
		err = fault.New(fault.Refused, "part %d was aborted while this command ran", index).In(t.Path).
			WithHint("run it again: %s --part %d", p.Command("convert"), index)
	}
	if object.IsURL(t.Path) && errors.Is(err, fault.Exists) {
		err = fault.New(fault.Exists, "already exists").In(source.Under(t.Path, p.FileName(t, part))).
			WithHint("if a commit was interrupted, complete it: %s; otherwise move the object away", p.Command("commit"))
	}
	return r, err
}

// makePart makes a part under a temporary name and delivers it.
func makePart(ctx context.Context, p *plan.Plan, t *plan.Target, part *plan.Part, options PartOptions, r *Report) error {
	if err := t.CheckInputs(ctx, part); err != nil {
		return err
	}
	attempt, err := p.Attempt(t, part)
	if err != nil {
		return err
	}
	inner := NewReport(Events{Progress: options.Events.Progress}) // its output has the path of the attempt, which means nothing to the user
	o, err := newPart(p, t, part, attempt, options, inner)
	if err != nil {
		return err
	}
	w := o.watch(ctx, t, part)
	if err := o.run(ctx); err != nil {
		return err
	}
	if err := w.check(); err != nil {
		return errors.Join(err, p.Discard(ctx, attempt, o.pending))
	}
	r.Inputs, r.Applied, r.Verified = inner.Inputs, inner.Applied, inner.Verified
	for _, n := range inner.Notes {
		r.Note("%s", n)
	}
	for _, w := range inner.Warnings {
		r.warning("%s", w)
	}
	out := inner.Outputs[0]
	if err := p.Deliver(ctx, t, part, attempt, plan.Result{Bytes: out.Bytes, SHA256: out.SHA256, Upload: o.pending}); err != nil {
		return err
	}
	out.Path = source.Under(t.Path, p.FileName(t, part)) // where it will be once it is committed
	r.Outputs = append(r.Outputs, out)
	return nil
}

// newPart returns the conversion that makes a part at the path attempt.
func newPart(p *plan.Plan, t *plan.Target, part *plan.Part, attempt string, options PartOptions, r *Report) (*conversion, error) {
	var stored Options
	d := json.NewDecoder(bytes.NewReader(p.Options))
	d.DisallowUnknownFields()
	if err := d.Decode(&stored); err != nil {
		return nil, fault.New(fault.Malformed, "the options of the plan cannot be read: %v", err).WithHint("make it again with idxport plan")
	}
	if !reflect.DeepEqual(stored, stored.forParts()) {
		return nil, fault.New(fault.Malformed, "the plan has options that idxport plan never writes: it was edited or damaged").WithHint("make it again with idxport plan")
	}
	if t.Split == "" { // no rows are held out of this target, only of others
		stored.Holdout, stored.Stratify = nil, false
		if !stored.Shuffle {
			stored.Seed = 0
		}
	}
	stored.Dataset, stored.Outputs = t.Dataset, []string{t.Format + "=" + attempt}
	stored.Checksum, stored.Verify = true, options.Verify
	stored.Workers, stored.Stdin, stored.Stdout = options.Workers, bytes.NewReader(nil), io.Discard
	var args []dataset.Input
	for _, in := range t.Inputs {
		if in.Column != "" {
			args = append(args, dataset.Input{Path: in.Path, Name: in.Column})
			stored.Inputs = append(stored.Inputs, in.Path)
		}
	}
	o, err := newConversion(stored, false, r)
	if err != nil {
		return nil, err
	}
	o.args, o.store, o.planID, o.partSplit = args, p.Objects, p.ID, t.Split
	if object.IsURL(attempt) {
		o.pending = new(object.PendingUpload)
	}
	o.rows = rowRange{given: true, first: part.First, last: part.Last}
	return o, nil
}

// A watch is the file system of a part's inputs. It hashes the pieces of inputs as they are read,
// so that exactly the bytes that the part is made of are compared with the plan, even if a file
// changes meanwhile. Inputs that are read whole are compared before, by Target.CheckInputs. Objects
// are opened only in their planned version.
type watch struct {
	source.Files
	target *plan.Target
	part   *plan.Part

	mu   sync.Mutex
	same map[int]bool // by index of an input that was read: whether its bytes were those of the plan
}

// watch makes a conversion read its inputs through a watch.
func (o *conversion) watch(ctx context.Context, t *plan.Target, part *plan.Part) *watch {
	o.opened.fromPlan, o.opened.etags = true, map[string]string{}
	for _, in := range t.Inputs {
		if in.ETag != "" {
			o.opened.etags[in.Path] = in.ETag
		}
	}
	w := &watch{Files: storage{ctx, o.store, o.opened}, target: t, part: part, same: map[int]bool{}}
	o.partFiles = w
	return w
}

// Open opens a file. If several inputs are the same file, it is watched for each of them.
func (w *watch) Open(name string) (source.File, error) {
	f, err := w.Files.Open(name)
	if err != nil {
		return nil, err
	}
	for i, in := range w.target.Inputs {
		if in.Path != name || !in.Hashed() {
			continue
		}
		watched := &watchedFile{File: f, watch: w, input: i}
		for _, piece := range []*plan.Piece{&w.part.Pieces[i], in.Header} {
			if piece != nil {
				watched.left = append(watched.left, &watchedPiece{piece, piece.From, xxh3.New()})
			}
		}
		watched.hashBytes(nil) // pieces may be empty
		f = watched
	}
	return f, nil
}

// record notes whether the pieces of an input are those of the plan: true once all were read to
// their ends, false as soon as one differs. Once false, it stays false.
func (w *watch) record(input int, same bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, ok := w.same[input]
	w.same[input] = same && (before || !ok)
}

// check returns an error unless all hashed inputs were read and match the plan.
func (w *watch) check() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, in := range w.target.Inputs {
		if in.Hashed() && !w.same[i] {
			return w.target.ChangedError(i, w.part)
		}
	}
	return nil
}

// A watchedFile hashes the pieces of a file that a part is made of. It hashes each byte once, in
// file order, even if the file is read repeatedly.
type watchedFile struct {
	source.File
	watch  *watch
	input  int
	left   []*watchedPiece // those not read to their end
	offset int64           // offset of the next Read
}

type watchedPiece struct {
	*plan.Piece
	next int64 // offset of the next byte to hash
	hash *xxh3.Hasher
}

func (f *watchedFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.hashBytes(p[:n])
	f.offset += int64(n)
	return n, err
}

func (f *watchedFile) Seek(offset int64, whence int) (int64, error) {
	at, err := f.File.Seek(offset, whence)
	if err == nil {
		f.offset = at
	}
	return at, err
}

// hashBytes hashes the bytes p, which were read at f.offset, and checks the pieces that end there.
func (f *watchedFile) hashBytes(p []byte) {
	if len(f.left) == 0 {
		return
	}
	f.left = slices.DeleteFunc(f.left, func(w *watchedPiece) bool {
		first, last := max(f.offset, w.From), min(f.offset+int64(len(p)), w.To)
		if first <= w.next && w.next < last {
			_, _ = w.hash.Write(p[w.next-f.offset : last-f.offset]) // a hash never fails
			w.next = last
		}
		if w.next < w.To {
			return false
		}
		sum := w.hash.Sum128().Bytes()
		if hex.EncodeToString(sum[:]) != w.XXH3 {
			f.watch.record(f.input, false)
		}
		return true
	})
	if len(f.left) == 0 {
		f.watch.record(f.input, true)
	}
}
