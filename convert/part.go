package convert

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"reflect"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/sink/plan"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/dataset"
)

// PartOptions are what a run that makes a part may choose: nothing that decides on its bytes.
type PartOptions struct {
	Verify  bool
	Workers int
	Events  Events
}

// MakePart makes the part of a plan with an index. To make it twice, at once or later, is harmless:
// there is no output in the report then.
func MakePart(ctx context.Context, work *plan.Plan, index int, options PartOptions) (*Report, error) {
	r := NewReport(options.Events)
	t, part, err := work.Part(index)
	if err != nil {
		return r, err
	}
	if work.Tool != Tool {
		return r, usagef("the plan is of %s, and this is %s: other versions may make other bytes", work.Tool, Tool).WithHint("run all parts with the version that made the plan")
	}
	if done, err := work.Committed(ctx, t); err != nil {
		return r, err
	} else if done {
		r.Note("%s is committed already", t.Path)
		return r, nil
	}
	if task, err := work.Told(ctx, t, part); task != nil || err != nil {
		if task != nil {
			r.Note("part %d is there already", part.Index)
		}
		return r, err
	}
	err = makePart(ctx, work, t, part, options, r)
	if done, doneErr := work.Committed(ctx, t); doneErr == nil && done { // meanwhile: another attempt was faster
		work.Tidy(ctx, t)
		r.Note("%s is committed already", t.Path)
		return r, nil
	}
	if fault.KindOf(err) == fault.IO && errors.Is(err, fs.ErrNotExist) { // its own folder is gone
		err = fault.New(fault.Refused, "part %d was aborted meanwhile", index).In(t.Path).WithHint("run the part again")
	}
	if object.IsURL(t.Path) && errors.Is(err, fault.Exists) {
		name := source.Under(t.Path, work.FileName(t, part))
		err = fault.New(fault.Exists, "it is there already").In(name).WithHint("idxport commit ends what a commit has begun; or move it away")
	}
	return r, err
}

// makePart makes a part under a name of its own and delivers it.
func makePart(ctx context.Context, work *plan.Plan, t *plan.Target, part *plan.Part, options PartOptions, r *Report) error {
	if err := t.CheckInputs(ctx, part); err != nil {
		return err
	}
	attempt, err := work.Attempt(t, part)
	if err != nil {
		return err
	}
	inner := NewReport(Events{Progress: options.Events.Progress}) // its outputs are attempts, of which nobody needs to know; its messages are told below
	o, err := partOptions(work, t, part, attempt, options, inner)
	if err != nil {
		return err
	}
	seen := o.newWatch(ctx, t, part)
	o.place = seen
	if err := o.run(ctx); err != nil {
		return err
	}
	if err := seen.check(); err != nil {
		return errors.Join(err, work.Discard(ctx, attempt, o.pending))
	}
	r.Inputs, r.Applied, r.Verified = inner.Inputs, inner.Applied, inner.Verified
	for _, n := range inner.Notes {
		r.Note("%s", n)
	}
	for _, w := range inner.Warnings {
		r.warning("%s", w)
	}
	out := inner.Outputs[0]
	if err := work.Deliver(ctx, t, part, attempt, plan.Task{Bytes: out.Bytes, SHA256: out.SHA256, Upload: o.pending}); err != nil {
		return err
	}
	out.Path = source.Under(t.Path, work.FileName(t, part)) // where it will be
	r.Outputs = append(r.Outputs, out)
	return nil
}

// partOptions are those of a conversion that makes the part at the path attempt.
func partOptions(work *plan.Plan, t *plan.Target, part *plan.Part, attempt string, options PartOptions, r *Report) (*conversion, error) {
	var of Options
	d := json.NewDecoder(bytes.NewReader(work.Options))
	d.DisallowUnknownFields()
	if err := d.Decode(&of); err != nil {
		return nil, fault.New(fault.Malformed, "the options of the plan cannot be read: %v", err).WithHint("make it anew with idxport plan")
	}
	if !reflect.DeepEqual(of, of.ofParts()) {
		return nil, fault.New(fault.Malformed, "the plan has options that are none of a part").WithHint("make it anew with idxport plan")
	}
	of.Dataset, of.Outputs, of.Checksum, of.Verify = t.Dataset, []string{t.Format + "=" + attempt}, true, options.Verify
	of.Workers, of.Stdin, of.Stdout = options.Workers, bytes.NewReader(nil), io.Discard
	var args []dataset.Input
	for _, in := range t.Inputs {
		if in.Column != "" {
			args = append(args, dataset.Input{Path: in.Path, Name: in.Column})
			of.Inputs = append(of.Inputs, in.Path)
		}
	}
	o, err := newConversion(of, false, r)
	if err != nil {
		return nil, err
	}
	o.args, o.store, o.planID = args, work.Objects, work.ID
	if object.IsURL(attempt) {
		o.pending = new(object.PendingUpload)
	}
	o.rows = rowRange{given: true, first: part.First, last: part.Last}
	return o, nil
}
