package main

import (
	"context"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/sink/plan"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/dataset"
)

// planInputs are the inputs of a target while it is planned.
type planInputs struct {
	program *program
	options *convertOptions
	split   dataset.Split
	rows    int64 // of the target
	inputs  []plan.Input
	files   []*source.IDX // of each input; nil where that is no column
}

// add opens the file f. It is whole if rows from its middle cannot be read without those before.
func (in *planInputs) add(ctx context.Context, f dataset.File) (whole bool, err error) {
	o := in.options
	if _, other := o.others[f.Path]; other || o.readOnce(f) {
		return false, usagef("%s is no IDX file that can be read from its middle", shownPath(f.Path)).WithHint("convert it to IDX first: idxport convert … -o idx=DIR/")
	}
	input, err := o.planInput(ctx, f.Path)
	if err != nil {
		return false, err
	}
	input.Column = f.Name
	t, err := o.openFile(ctx, in.program, in.split, f, nil)
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
func (o *inputOptions) planInput(ctx context.Context, path string) (plan.Input, error) {
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

// span tells which bytes of input i the rows first to last−1 are made of.
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
