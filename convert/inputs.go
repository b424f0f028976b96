package convert

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/pipeline"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/compressed"
	"github.com/idxport/idxport/source/dataset"
	"github.com/idxport/idxport/source/formats"
	"github.com/idxport/idxport/source/idx"
)

// prober looks into files for package dataset, with the options that they will be read with.
type prober struct{ options source.Options }

func (p prober) Header(path string) (idx.Header, error) {
	t, err := source.OpenIDX(path, p.options)
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
	f, err := source.In(p.options.Files).Open(path)
	if err != nil {
		return false // who reads it will say so
	}
	defer f.Close() // only read from
	var prefix [6]byte
	n, _ := io.ReadFull(f, prefix[:])
	return compressed.Detect(prefix[:n]) != compressed.Plain
}

// sourceOptions are the options that files are read with.
func (o *inputs) sourceOptions() source.Options {
	return source.Options{MaxRecordSize: o.MaxRecordBytes, LittleEndian: o.littleEndian, Salvage: o.Salvage, Reshape: o.Reshape}
}

// find looks for the splits of the inputs; damaged takes files too that cannot be read or do not fit together.
func (o *inputs) find(ctx context.Context, damaged bool) ([]dataset.Split, error) {
	if others, err := o.findOthers(ctx); others != nil || err != nil {
		return others, err
	}
	probe := o.sourceOptions()
	probe.Files = o.files(ctx)
	probe.Reshape = nil // hashes and headers are those of the files
	return dataset.Find(o.args, prober{probe}, dataset.Options{Dataset: o.Dataset, Split: o.Split, Uncounted: o.Salvage,
		Reshaped: o.Reshape != nil, Damaged: damaged, Files: probe.Files, Table: formats.Named})
}

// readClasses reads the file of class names, if there is one, for the labels among splits.
func (o *inputs) readClasses(ctx context.Context, splits []dataset.Split) ([]string, error) {
	if o.Classes == "" {
		return nil, nil
	}
	if o.LabelColumn == "" && o.others == nil && !slices.ContainsFunc(splits, func(s dataset.Split) bool { return slices.ContainsFunc(s.Files, isLabels) }) {
		return nil, usagef("--classes %s: no input holds labels", o.Classes).WithHint("say which file does: label=FILE")
	}
	f, err := o.files(ctx).Open(o.Classes)
	if err != nil {
		return nil, fault.In(o.Classes, err)
	}
	defer f.Close() // only read from
	classes, note, err := dataset.ReadClasses(f, o.Classes)
	if note != "" {
		o.report.Note("%s", note)
	}
	for _, s := range splits {
		if d := s.Dataset; err == nil && d != nil && o.LabelColumn == "" && len(classes) != len(d.Classes) {
			o.report.warning("%s has names for %d labels, but %s has %d", o.Classes, len(classes), d.Title, len(d.Classes))
		}
	}
	return classes, err
}

// open opens the files of a split as one table: as they are stored, or as the data set says they are meant (labels of several numbers as
// columns with names).
func (o *inputs) open(ctx context.Context, s dataset.Split, classes []string, stored bool) (source.Table, error) {
	var tables []source.Table
	fail := func(err error) (source.Table, error) {
		for _, t := range tables {
			err = errors.Join(err, t.Close())
		}
		return nil, err
	}
	for _, f := range s.Files {
		t, err := o.openColumn(ctx, s, f, classes)
		if err != nil {
			return fail(err)
		}
		tables = append(tables, t)
		if other, ok := o.others[f.Path]; !stored && (!ok || other.Format.OneColumn) {
			if t, err = o.columnsOf(t, s, f); err != nil {
				return fail(err)
			}
			tables[len(tables)-1] = t
		}
	}
	t, err := source.Join(o.Salvage, tables...)
	if err != nil {
		return fail(err)
	}
	if o.LabelColumn != "" && !stored {
		chosen, err := o.chooseLabel(t, classes)
		if err != nil {
			tables = []source.Table{t}
			return fail(err)
		}
		t = chosen
	}
	return source.CheckLabels(t), nil
}

// openColumn opens the file f of the split s, or the table that it is in another format.
func (o *inputs) openColumn(ctx context.Context, s dataset.Split, f dataset.File, classes []string) (source.Table, error) {
	if _, ok := o.others[f.Path]; ok {
		return o.openOther(ctx, s, f, classes)
	}
	return o.openFile(ctx, s, f, classes)
}

// reshapeOf is the value of --reshape for the file f of the split s: it is about the images where labels are beside them.
func (o *inputs) reshapeOf(s dataset.Split, f dataset.File) []int {
	if isLabels(f) && slices.ContainsFunc(s.Files, func(other dataset.File) bool { return !isLabels(other) }) {
		return nil
	}
	return o.Reshape
}

// isLabels tells whether a file holds labels.
func isLabels(f dataset.File) bool { return f.Role == dataset.Label }

// openFile opens the file f of the split s, as it is stored.
func (o *inputs) openFile(ctx context.Context, s dataset.Split, f dataset.File, classes []string) (*source.IDX, error) {
	options := o.sourceOptions()
	options.Name, options.Files, options.Reshape = f.Name, o.files(ctx), o.reshapeOf(s, f)
	if isLabels(f) {
		if o.LabelColumn == "" {
			options.Classes = classes // else they are those of the column that was chosen
		}
		if options.Classes == nil && s.Dataset != nil {
			options.Classes = s.Dataset.Classes
		}
	}
	t, err := Interruptible(ctx, func() (*source.IDX, error) {
		if f.Path == source.Stdin {
			return source.NewIDX(o.stdin, source.Stdin, options)
		}
		return source.OpenIDX(f.Path, options)
	})
	if err == nil {
		o.opened.idx(f.Path, t, o.readOnce(f))
	}
	return t, err
}

// unstacked is t, read from the file f, with a column for each number of a label where the data set of s has names for them.
func unstacked(t source.Table, s dataset.Split, f dataset.File) source.Table {
	if s.Dataset == nil || !isLabels(f) || !slices.Equal(t.Columns()[0].Shape, []int{len(s.Dataset.LabelColumns)}) {
		return t
	}
	columns, err := source.Unstack(t, s.Dataset.LabelColumns, 0)
	if err != nil {
		return t // not as many as there are names, which was seen to
	}
	return columns
}

// Interruptible is f, but it returns when ctx is done although f waits for a pipe that nobody writes to; f is left behind then, as the
// program is about to end.
func Interruptible[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		r.err = pipeline.Recovering(func() (err error) { r.value, err = f(); return err })
		done <- r
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}
