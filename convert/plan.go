package convert

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"reflect"
	"slices"
	"time"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/sink/plan"
	"github.com/idxport/idxport/sink/publish"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/dataset"
)

// Tool is the program as plans name it: another version may make other bytes.
const Tool = "idxport " + Version

// usualPartBytes is about how much of the inputs becomes a part where the user does not say it.
const usualPartBytes = 256 << 20

// WritePlan divides a conversion into parts of rowsPerPart rows, or of a usual size if that is 0,
// and writes the plan to a file or an object, whose path without parameters it returns. Every
// output becomes a folder of parts. Overwrite is about the plan.
func WritePlan(ctx context.Context, options Options, rowsPerPart int64, to string) (work *plan.Plan, path string, r *Report, err error) {
	r = NewReport(options.Events)
	o, err := newConversion(options, true, r)
	if err != nil {
		return nil, "", r, err
	}
	if rowsPerPart < 0 {
		return nil, "", r, usagef("--rows-per-part %d, expected at least 1", rowsPerPart)
	}
	if path, err = parseURL(o.store, to); err != nil {
		return nil, path, r, err
	}
	if work, err = o.plan(ctx, options, rowsPerPart); err != nil {
		return nil, path, r, err
	}
	if slices.ContainsFunc(work.Targets, func(t plan.Target) bool { return t.Path == path || t.Reads(path) }) {
		return nil, path, r, usagef("--plan %s: it is an input or an output", path).WithHint("give the plan a name of its own")
	}
	work.Complete(time.Now())
	return work, path, r, work.Write(ctx, path, o.Overwrite)
}

// plan divides the conversion.
func (o *conversion) plan(ctx context.Context, options Options, rowsPerPart int64) (*plan.Plan, error) {
	r, err := o.prepare(ctx)
	if err != nil {
		return nil, err
	}
	defer closeAll(r.jobs)
	of := options.ofParts()
	of.Classes = o.Classes // without the parameters of a URL
	text, err := json.Marshal(of)
	if err != nil {
		return nil, err
	}
	if back := (Options{}); json.Unmarshal(text, &back) != nil || !reflect.DeepEqual(back, of) {
		return nil, usagef("found an option that is not UTF-8, which a plan cannot hold").WithHint("write it in UTF-8")
	}
	work := &plan.Plan{Tool: Tool, Options: text, Objects: o.store, Parameters: o.store.Parameters()}
	for _, j := range r.jobs {
		o.describe(j, r.passes(j))
		if err := r.addTarget(ctx, work, j, rowsPerPart); err != nil {
			return nil, err
		}
	}
	return work, nil
}

// ReadPlan reads the plan in a file or an object, and returns its path without parameters, too.
func ReadPlan(ctx context.Context, arg string) (*plan.Plan, string, error) {
	store := new(object.Store)
	path, err := parseURL(store, arg)
	if err != nil {
		return nil, path, err
	}
	work, err := plan.Read(ctx, store, path)
	if file := (*fs.PathError)(nil); errors.As(err, &file) {
		err = fault.In(path, err)
	}
	return work, path, err
}

// ofParts is what of o decides on the bytes of a part. What is read and written is in the targets
// of a plan.
func (o Options) ofParts() Options {
	o.Inputs, o.Split, o.Dataset, o.Outputs, o.To = nil, nil, "", nil, nil
	o.Stdin, o.Stdout, o.Workers, o.Events = nil, nil, 0, Events{}
	o.Overwrite, o.IfChanged, o.Verify, o.Checksum, o.RowsPerFile, o.FileSize = false, false, false, false, 0, 0
	return o
}

// addTarget adds the output of j to the plan.
func (o *run) addTarget(ctx context.Context, made *plan.Plan, j *job, perPart int64) error {
	outs := slices.DeleteFunc(slices.Clone(o.outputs), func(out *output) bool { return out.job != j })
	if len(outs) != 1 {
		return usagef("found %d outputs of %s, expected one", len(outs), j.label()).WithHint("make a plan for each format")
	}
	out := outs[0]
	if out.sharding == nil || out.sharding.mark != publish.PartsMark {
		return usagef("%s cannot be divided into parts", out.name()).WithHint("Parquet, Arrow, CSV and tar can, in any layout but huggingface with -o DIR")
	}
	t := plan.Target{Path: out.path, Format: out.format.Name, Extension: out.sharding.extension, Rows: j.logical.schema.Rows, Dataset: dataset.DatasetNone}
	if name := j.datasetName(); name != "" {
		t.Dataset = name
	}
	in := &planInputs{options: o.conversion, split: j.split, rows: t.Rows}
	defer in.close()
	for _, f := range j.split.Files {
		whole, err := in.add(ctx, f)
		if err != nil {
			return err
		}
		if whole && t.Rows > 0 {
			perPart = t.Rows
			o.report.Note("%s is compressed and has no seek table that fits, so that %s is one part; for more: idxport convert %s -o NAME.idx.zst, and plan with that", f.Path, t.Path, shell.Path(f.Path))
		}
	}
	if o.Classes != "" {
		if err := in.addWhole(ctx, o.Classes); err != nil {
			return err
		}
	}
	t.Inputs = in.inputs
	if perPart == 0 {
		perPart = max(1, usualPartBytes/max(1, j.logical.schema.RowSize()))
	}
	if err := t.Cut(ctx, perPart, made.Parts(), in.span); err != nil {
		return err
	}
	made.Targets = append(made.Targets, t)
	there, err := made.There(ctx, &t)
	if there {
		o.report.Note("%s is there already: commit will refuse to replace it, unless this plan has made it", t.Path)
	}
	return err
}

// planInputs are the inputs of a target while it is planned.
type planInputs struct {
	options *conversion
	split   dataset.Split
	rows    int64 // of the target
	inputs  []plan.Input
	files   []*source.IDX // of each input; nil where that is no column
}

// add opens the file f. It is whole if rows from its middle cannot be read without those before.
func (in *planInputs) add(ctx context.Context, f dataset.File) (whole bool, err error) {
	o := in.options
	if _, other := o.foreign[f.Path]; other || o.readOnce(f) {
		return false, usagef("%s is no IDX file that can be read from its middle", shownPath(f.Path)).WithHint("convert it to IDX first: idxport convert … -o idx=DIR/")
	}
	input, err := o.planInput(ctx, f.Path)
	if err != nil {
		return false, err
	}
	input.Column = f.Name
	t, err := o.openFile(ctx, in.split, f, nil)
	if err != nil {
		return false, err
	}
	to, ok := t.HeaderEnd()
	if ok && input.ETag == "" {
		input.Header = &plan.Piece{To: to}
	}
	in.inputs, in.files = append(in.inputs, input), append(in.files, t)
	if t.Rows() != in.rows {
		return false, fault.In(f.Path, fault.Changed)
	}
	return !ok, nil
}

// addWhole adds a file that is no column: all of it belongs to every part.
func (in *planInputs) addWhole(ctx context.Context, path string) error {
	input, err := in.options.planInput(ctx, path)
	in.inputs, in.files = append(in.inputs, input), append(in.files, nil)
	return err
}

// planInput is the file or object at path, as it is now.
func (o *inputs) planInput(ctx context.Context, path string) (plan.Input, error) {
	f, err := o.files(ctx).Open(path)
	if err != nil {
		return plan.Input{}, fault.In(path, err)
	}
	defer f.Close() // only read from
	info, err := f.Stat()
	if err != nil {
		return plan.Input{}, fault.In(path, err)
	}
	input := plan.Input{Path: path, Bytes: info.Size()}
	if object.IsURL(path) {
		if input.ETag, _ = o.opened.of(path); input.ETag == "" {
			return input, usagef("%s: its storage has no name for versions of objects, by which every part could tell that it reads the same", path)
		}
	}
	return input, nil
}

// span is the range of bytes of input i that the rows first to last−1 are made of.
func (in *planInputs) span(i int, first, last int64) (from, to int64) {
	if t := in.files[i]; t != nil {
		if from, to, ok := t.Span(first, last); ok {
			return from, to
		}
	}
	return 0, in.inputs[i].Bytes
}

// close closes the files.
func (in *planInputs) close() {
	for _, t := range in.files {
		if t != nil {
			_ = t.Close() // only read from
		}
	}
}
