package convert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/pipeline"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/sink/compare"
	"github.com/idxport/idxport/sink/csv"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/formats"
)

// A comparison says how two tables are compared.
type comparison struct {
	path    string // of what is verified, for messages
	text    bool   // values are text: all NaNs are equal
	partial bool   // columns may be missing
	ours    bool   // this run made it, so there is nothing to say of how it is read
	label   string // of the progress
}

// compare compares found with expected.
func (o *inputs) compare(ctx context.Context, expected, found source.Table, c comparison) (equal Verified, err error) {
	from, to, missing, err := compare.Match(expected.Columns(), found.Columns(), c.partial)
	if err != nil {
		return Verified{}, differs(c.path, err.Error())
	}
	both, err := compare.Pair(expected, found, from, to)
	if err != nil {
		return Verified{}, differs(c.path, err.Error())
	}
	s := schema.Of(both)
	k := compare.New(s, c.text)
	read, end := o.report.progress(c.label, s.Rows)
	stats, err := pipeline.Run(ctx, both, s, []sink.Sink{k}, pipeline.Options{Workers: o.Workers, Progress: read})
	end()
	if err != nil && !errors.Is(err, fault.Differs) {
		return Verified{}, err
	}
	for _, n := range source.Notes(both) {
		if !c.ours {
			o.report.Note("%s", n)
		}
	}
	var how []string
	values, rows, first := k.Differences()
	if first != nil {
		how = append(how, first.String())
	}
	if values > 1 {
		how = append(how, fmt.Sprintf("%s values in %s rows differ", display.Thousands(values), display.Thousands(rows)))
	}
	if err != nil { // of the numbers of rows
		how = append(how, err.Error())
	}
	if how != nil {
		return Verified{}, differs(c.path, how...)
	}
	result := Verified{Rows: stats.Rows, Missing: missing}
	for _, i := range from {
		result.Columns = append(result.Columns, expected.Columns()[i].Name)
	}
	return result, nil
}

// differs is the error for the output at path that is not what its inputs make.
func differs(path string, how ...string) error {
	return fault.New(fault.Differs, "%s differs: %s", path, strings.Join(how, "; "))
}

// verifyOutput compares an output that is not yet visible with its inputs, which are read again.
func (o *conversion) verifyOutput(ctx context.Context, out *output) error {
	path := out.to.partial()
	if path == "" {
		return nil // a device: there is nothing to read
	}
	expected, err := o.openPass(ctx, out.job.split, o.classNames, out.pass.raw)
	if err != nil {
		return err
	}
	defer func() { _ = expected.table.Close() }() // only read from
	found, err := o.reopen(path, out, expected.table.Columns())
	if errors.Is(err, fs.ErrNotExist) { // its folder was moved meanwhile
		err = fault.New(fault.IO, "reading it again: %v", fs.ErrNotExist).In(out.path).Because(err)
	}
	if err != nil {
		return err
	}
	defer func() { _ = found.Close() }() // likewise
	c := comparison{path: out.path, label: "verifying " + out.job.label(),
		ours: true, text: out.format.Text(), partial: out.format.OneColumn || out.format.Images}
	_, err = o.compare(ctx, expected.table, found, c)
	return err
}

// reopen opens the output out, made of columns, where it lies at path before it is published.
func (o *conversion) reopen(path string, out *output, columns []source.Column) (source.Table, error) {
	if out.format.Stored {
		column := columns[out.options.Column]
		t, err := source.OpenIDX(path, source.Options{Name: column.Name, MaxRecordSize: o.MaxRecordBytes})
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
	read := source.ReadOptions{MaxRecordSize: o.MaxRecordBytes, Like: columns}
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
