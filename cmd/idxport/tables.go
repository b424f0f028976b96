package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/compressed"
	"github.com/idxport/idxport/source/dataset"
	"github.com/idxport/idxport/source/idx"
)

// prober looks into files for package dataset, with the options that they will be read with.
type prober struct{ options source.Options }

func (p prober) Header(path string) (idx.Header, error) {
	t, err := source.OpenIDX(path, p.options)
	if file := (*source.FileError)(nil); errors.As(err, &file) {
		return idx.Header{}, file.Err // package dataset names the file
	}
	if err != nil {
		return idx.Header{}, err
	}
	return t.Claim(), t.Close()
}

func (p prober) PayloadSHA256(path string) (string, error) {
	t, err := source.OpenIDX(path, p.options)
	if err != nil {
		return "", err
	}
	defer t.Close() // only read from
	hash := sha256.New()
	b := &source.Raw{Cap: 1 << 16}
	for {
		if err := t.Read(context.Background(), b); err == io.EOF {
			return hex.EncodeToString(hash.Sum(nil)), nil
		} else if err != nil {
			return "", err
		}
		hash.Write(b.Columns[0]) // as in the file: not decoded
	}
}

func (p prober) Compressed(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false // who reads it will say so
	}
	defer f.Close() // only read from
	var prefix [6]byte
	n, _ := io.ReadFull(f, prefix[:])
	return compressed.Detect(prefix[:n]) != compressed.Plain
}

// sourceOptions are the options that files are read with.
func (o *inputOptions) sourceOptions() source.Options {
	return source.Options{MaxRecordSize: o.maxRecordSize, LittleEndian: o.littleEndian, Salvage: o.salvage, Reshape: o.reshape}
}

// find looks for the splits of the inputs.
func (o *inputOptions) find() ([]dataset.Split, error) {
	probe := o.sourceOptions()
	probe.Reshape = nil // hashes and headers are those of the files
	return dataset.Find(o.inputs, prober{probe}, dataset.Options{Dataset: o.dataset, Split: o.splits, Uncounted: o.salvage, Reshaped: o.reshape != nil})
}

// readClasses reads the file of class names, if there is one.
func (o *inputOptions) readClasses(r *report) ([]string, error) {
	if o.classes == "" {
		return nil, nil
	}
	f, err := os.Open(o.classes)
	if missing := (*fs.PathError)(nil); errors.As(err, &missing) {
		return nil, &source.FileError{Path: o.classes, Err: missing.Err}
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read from
	classes, note, err := dataset.ReadClasses(f, o.classes)
	if note != "" {
		r.note("%s", note)
	}
	return classes, err
}

// open opens the files of a split as one table: as they are stored, or as the data set says they are meant (labels of several numbers as
// columns with names).
func (o *inputOptions) open(ctx context.Context, p *program, s dataset.Split, classes []string, stored bool) (source.Table, error) {
	var tables []source.Table
	fail := func(err error) (source.Table, error) {
		for _, t := range tables {
			err = errors.Join(err, t.Close())
		}
		return nil, err
	}
	for _, f := range s.Files {
		t, err := o.openFile(ctx, p, f, s.Dataset, classes, stored)
		if err != nil {
			return fail(err)
		}
		tables = append(tables, t)
	}
	t, err := source.Join(o.salvage, tables...)
	if err != nil {
		return fail(err)
	}
	return source.CheckLabels(t), nil
}

// openFile opens one file of a split.
func (o *inputOptions) openFile(ctx context.Context, p *program, f dataset.File, d *dataset.Info, classes []string, stored bool) (source.Table, error) {
	options := o.sourceOptions()
	options.Name = f.Name
	if o.reshape != nil && len(f.Header.Dims) > 0 && f.Role == dataset.Label {
		options.Reshape = nil // --reshape is about the images beside them
	}
	if f.Role == dataset.Label {
		options.Classes = classes
		if classes == nil && d != nil {
			options.Classes = d.Classes
		}
	}
	t, err := interruptible(ctx, func() (*source.IDX, error) {
		if f.Path == source.Stdin {
			return source.NewIDX(p.stdin, source.Stdin, options)
		}
		return source.OpenIDX(f.Path, options)
	})
	if err != nil || stored || d == nil || f.Role != dataset.Label || d.LabelColumns == nil {
		return orNil(t, err)
	}
	if c := t.Columns()[0]; !slices.Equal(c.Shape, []int{len(d.LabelColumns)}) {
		return t, nil
	}
	return source.Unstack(t, d.LabelColumns)
}

// interruptible is f, but it returns when ctx is done although f waits for a pipe that nobody writes to; f is left behind then, as the
// program is about to end.
func interruptible[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := f()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// orNil keeps a nil *source.IDX from becoming a table that is not nil.
func orNil(t *source.IDX, err error) (source.Table, error) {
	if err != nil {
		return nil, err
	}
	return t, nil
}

// maxLabel is the largest label of a split, found by reading its label file, or −1 if there is none or it can be read only once.
func (o *inputOptions) maxLabel(ctx context.Context, p *program, s dataset.Split) (int64, error) {
	for _, f := range s.Files {
		if f.Role != dataset.Label || f.Path == source.Stdin {
			continue
		}
		t, err := o.openFile(ctx, p, f, s.Dataset, nil, false)
		if err != nil {
			return -1, err
		}
		defer t.Close() // only read from
		return largest(ctx, t)
	}
	return -1, nil
}

// largest is the largest value of the first column of t, −1 if that is not of single integers or has no rows.
func largest(ctx context.Context, t source.Table) (int64, error) {
	c := t.Columns()[0]
	most := int64(-1)
	if !c.Scalar() || !c.Integer() {
		return most, nil
	}
	b := &source.Raw{Cap: 1 << 16}
	for {
		err := t.Read(ctx, b)
		if err == io.EOF {
			return most, nil
		}
		if err == nil {
			err = t.Decode(b)
		}
		if err != nil {
			return -1, fmt.Errorf("reading the labels: %w", err)
		}
		for i := range b.Rows {
			most = max(most, source.Int(c.DType, b.Columns[0], i))
		}
	}
}
