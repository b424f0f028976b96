package convert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/sink/csv"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/dataset"
	"github.com/idxport/idxport/source/formats"
)

// checkVerify refuses --verify where something cannot be read again.
func (o *conversion) checkVerify(jobs []*job) error {
	if !o.Verify {
		return nil
	}
	for _, j := range jobs {
		for _, f := range j.split.Files {
			if o.readOnce(f) {
				return usagef("--verify: %s can be read only once", shownPath(f.Path)).WithHint("leave out --verify, or give a file")
			}
		}
		for _, pass := range j.passes() {
			for _, out := range pass.outputs {
				switch {
				case out.options.Style == "matrix" && !slices.ContainsFunc(pass.schema.Columns, isTensor):
					return usagef("--verify: %s is one row of all labels, which cannot be read back as a column", out.path).WithHint("leave out --verify, or --csv-style matrix")
				case out.format.Name == "tar":
					return usagef("--verify: tar files cannot be read back yet").WithHint("leave out --verify for them")
				}
			}
		}
	}
	return nil
}

// isTensor tells whether the records of c are more than single elements.
func isTensor(c source.Column) bool { return !c.Scalar() }

// verifyOutputs compares all outputs with the inputs, which are read again, before any output is published.
func (w *writers) verifyOutputs(ctx context.Context) error {
	if !w.Verify {
		return nil
	}
	if err := w.to.Complete(); err != nil {
		return err
	}
	for _, made := range w.written {
		if err := w.verifyOutput(ctx, made); err != nil {
			return err
		}
	}
	return nil
}

// verifyOutput compares one output with its inputs.
func (w *writers) verifyOutput(ctx context.Context, made *written) error {
	out := made.output
	path := out.to.partial()
	if path == "" {
		return nil // a device: there is nothing to read
	}
	stored := made.pass == made.job.stored && made.job.stored != made.job.logical
	expected, err := w.openPass(ctx, made.job.split, w.classNames, stored)
	if err != nil {
		return err
	}
	defer func() { _ = expected.table.Close() }() // only read from
	found, err := w.reopen(path, out, expected.table.Columns())
	if errors.Is(err, fs.ErrNotExist) { // its folder was moved meanwhile
		err = fault.New(fault.IO, "reading it again: %v", fs.ErrNotExist).In(out.path).Because(err)
	}
	if err != nil {
		return err
	}
	defer func() { _ = found.Close() }() // likewise
	c := comparison{path: out.path, label: "verifying " + made.job.label(),
		ours: true, text: out.format.Text(), partial: out.format.OneColumn || out.format.Images}
	_, err = w.compare(ctx, expected.table, found, c)
	return err
}

// reopen opens the output out, made of columns, where it lies at path before it is published.
func (w *writers) reopen(path string, out output, columns []source.Column) (source.Table, error) {
	if out.format.Stored {
		column := columns[out.options.Column]
		t, err := source.OpenIDX(path, source.Options{Name: column.Name, MaxRecordSize: w.MaxRecordBytes})
		if err != nil {
			return nil, fmt.Errorf("%s: reading it again: %w", out.path, err)
		}
		return t, nil
	}
	prefix := ""
	if out.sharding != nil {
		path, prefix = filepath.Join(path, out.sharding.class), out.sharding.stem+"-"
	}
	table, ok, err := formats.As(out.format.Name, path, prefix, out.path)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, usagef("--verify: %s files cannot be read back", out.format.Name)
	}
	read := source.ReadOptions{MaxRecordSize: w.MaxRecordBytes, Like: columns}
	if out.format.Text() {
		header := csv.HasHeader(out.options.Style)
		read.Header = &header
	}
	t, err := table.Open(read)
	if err != nil {
		return nil, err
	}
	found := slices.Clone(t.Columns())
	if out.format.OneColumn {
		found[0].Name = columns[out.options.Column].Name
		return source.WithColumns(t, found), nil
	}
	return t, nil
}

// openExpected opens what the inputs of the split s make, with the names of the classes that were given.
func (o *verification) openExpected(ctx context.Context, s dataset.Split, stored bool) (*pass, error) {
	classes, err := o.readClasses(ctx, []dataset.Split{s})
	if err != nil {
		return nil, err
	}
	return o.openPass(ctx, s, classes, stored)
}

// reread is found, an output whose file does not tell types, shapes or labels, as one of the columns expected.
func (o *verification) reread(ctx context.Context, found source.Table, path string, expected []source.Column) (source.Table, error) {
	table, other := o.output.others[path]
	if !other || !table.Format.Untyped {
		return found, nil
	}
	if err := found.Close(); err != nil {
		return found, err
	}
	return table.Open(source.ReadOptions{MaxRecordSize: o.MaxRecordBytes, DType: o.output.dtype, Shape: o.output.Shape, Header: o.output.Header, Like: expected, Files: o.output.files(ctx)})
}
