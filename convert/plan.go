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

// Tool is the program and its version as plans record them. Parts are only made by the version that
// made the plan: another one may write other bytes.
const Tool = "idxport " + Version

// defaultPartBytes is about how many bytes of the inputs become one part by default.
const defaultPartBytes = 256 << 20

// WritePlan divides a conversion into parts of rowsPerPart rows, 0 for a default size, and writes
// the plan to a file or an object. It returns the plan and its path without the parameters of a
// URL. Each output becomes a folder of parts. Options.Overwrite applies to the plan.
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

// ReadPlan reads the plan in a file or an object, and returns its path without the parameters of a
// URL, too.
func ReadPlan(ctx context.Context, arg string) (*plan.Plan, string, error) {
	store := new(object.Store)
	path, err := parseURL(store, arg)
	if err != nil {
		return nil, path, err
	}
	work, err := plan.Read(ctx, store, path)
	if errors.As(err, new(*fs.PathError)) {
		err = fault.In(path, err)
	}
	return work, path, err
}

// ofParts returns the options that the bytes of a part depend on. The targets of a plan hold its
// inputs and outputs.
func (o Options) ofParts() Options {
	o.Inputs, o.Split, o.Dataset, o.Outputs, o.To = nil, nil, "", nil, nil
	o.Stdin, o.Stdout, o.Workers, o.Events = nil, nil, 0, Events{}
	o.Overwrite, o.IfChanged, o.Verify, o.Checksum, o.RowsPerFile, o.FileSize = false, false, false, false, 0, 0
	return o
}

// addTarget adds the output of j to a plan.
func (r *run) addTarget(ctx context.Context, work *plan.Plan, j *job, rowsPerPart int64) error {
	outs := slices.DeleteFunc(slices.Clone(r.outputs), func(out *output) bool { return out.job != j })
	if len(outs) != 1 {
		return usagef("found %d outputs of %s, expected one", len(outs), j.label()).WithHint("make a plan for each format")
	}
	out, s := outs[0], j.logical.schema
	if out.sharding == nil || out.sharding.mark != publish.PartsMark {
		return usagef("%s cannot be divided into parts", out.name()).WithHint("Parquet, Arrow, CSV and tar can, in any layout but huggingface with -o DIR")
	}
	t := plan.Target{Path: out.path, Format: out.format.Name, Extension: out.sharding.extension, Rows: s.Rows, Dataset: dataset.DatasetNone}
	if name := j.datasetName(); name != "" {
		t.Dataset = name
	}
	var columns []*source.IDX // of the first inputs
	defer func() {
		for _, c := range columns {
			_ = c.Close() // only read from
		}
	}()
	for _, f := range j.split.Files {
		c, err := r.addColumn(ctx, &t, j.split, f)
		if err != nil {
			return err
		}
		columns = append(columns, c)
		if _, seekable := c.HeaderEnd(); !seekable && t.Rows > 0 {
			rowsPerPart = t.Rows
			r.report.Note("%s is compressed without a suitable seek table, so %s is one part; for more: idxport convert %s -o NAME.idx.zst, and plan with that", f.Path, t.Path, shell.Path(f.Path))
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
	err := t.Cut(ctx, rowsPerPart, work.Parts(), func(i int, first, last int64) (from, to int64) {
		if i < len(columns) {
			if from, to, ok := columns[i].Span(first, last); ok {
				return from, to
			}
		}
		return 0, t.Inputs[i].Bytes
	})
	if err != nil {
		return err
	}
	work.Targets = append(work.Targets, t)
	exists, err := work.There(ctx, &t)
	if exists {
		r.report.Note("%s exists: commit will refuse to replace it, unless this plan has made it", t.Path)
	}
	return err
}

// addColumn adds the file f of the split s to the inputs of a target and opens it.
func (r *run) addColumn(ctx context.Context, t *plan.Target, s dataset.Split, f dataset.File) (*source.IDX, error) {
	if _, foreign := r.foreign[f.Path]; foreign || r.readOnce(f) {
		return nil, usagef("%s is not an IDX file that can be read from any row", shownPath(f.Path)).WithHint("convert it to IDX first: idxport convert … -o idx=DIR/")
	}
	input, err := r.planInput(ctx, f.Path)
	if err != nil {
		return nil, err
	}
	c, err := r.openIDX(ctx, s, f, nil)
	if err != nil {
		return nil, err
	}
	if c.Rows() != t.Rows {
		_ = c.Close() // only read from
		return nil, fault.In(f.Path, fault.Changed)
	}
	input.Column = f.Name
	if to, ok := c.HeaderEnd(); ok && input.ETag == "" {
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
	defer f.Close() // only read from
	info, err := f.Stat()
	if err != nil {
		return plan.Input{}, fault.In(path, err)
	}
	input := plan.Input{Path: path, Bytes: info.Size()}
	if object.IsURL(path) {
		if input.ETag, _ = o.known.about(path); input.ETag == "" {
			return input, usagef("%s: the object has no ETag, so parts cannot check that they read the same version", path)
		}
	}
	return input, nil
}
