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
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink/compare"
	"github.com/idxport/idxport/sink/csv"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/formats"
)

// A comparison describes how two tables are compared.
type comparison struct {
	path    string // what is verified, for messages
	label   string // of the progress
	text    bool   // values are text: all NaNs are equal
	partial bool   // columns may be missing
	notes   bool   // the notes of both tables are reported
}

// compare compares found with expected.
func (o *inputs) compare(ctx context.Context, expected, found source.Table, c comparison) (Verified, error) {
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
	rows, err := o.drain(ctx, both, s, c.label, k)
	if err != nil && !errors.Is(err, fault.Differs) {
		return Verified{}, err
	}
	if c.notes {
		for _, n := range source.Notes(both) {
			o.report.Note("%s", n)
		}
	}
	var differences []string
	values, in, first := k.Differences()
	if first != nil {
		differences = append(differences, first.String())
	}
	if values > 1 {
		differences = append(differences, fmt.Sprintf("%s values in %s rows differ", display.Thousands(values), display.Thousands(in)))
	}
	if err != nil { // the numbers of rows differ
		differences = append(differences, err.Error())
	}
	if differences != nil {
		return Verified{}, differs(c.path, differences...)
	}
	result := Verified{Path: c.path, Rows: rows, Missing: missing}
	for _, i := range from {
		result.Columns = append(result.Columns, expected.Columns()[i].Name)
	}
	return result, nil
}

// differs is the error for an output at path that differs from its inputs.
func differs(path string, differences ...string) error {
	return fault.New(fault.Differs, "%s differs: %s", path, strings.Join(differences, "; "))
}

// verifyOutput compares an output that is not visible yet with its inputs, which are read again.
func (o *conversion) verifyOutput(ctx context.Context, out *output) error {
	to, ok := out.to.(*local)
	if !ok || to.set.Partial(to.i) == "" {
		return nil // a device: there is nothing to read
	}
	expected, err := o.openPass(ctx, out.job.split, out.pass.raw)
	if err != nil {
		return err
	}
	defer expected.table.Close() // only read from
	found, err := o.reopen(to.set.Partial(to.i), out, expected.table.Columns())
	if errors.Is(err, fs.ErrNotExist) { // its folder was moved meanwhile
		err = fault.New(fault.IO, "reading it again: %v", fs.ErrNotExist).In(out.path).Because(err)
	}
	if err != nil {
		return err
	}
	defer found.Close() // only read from
	_, err = o.compare(ctx, expected.table, found, comparison{path: out.path, label: "verifying " + out.job.label(),
		text: out.format.Text(), partial: out.format.OneColumn || out.format.Images})
	return err
}

// reopen opens the output out, made of columns, which is at path until it is published.
func (o *conversion) reopen(path string, out *output, columns []source.Column) (source.Table, error) {
	if out.format.Stored {
		t, err := source.OpenIDX(path, source.Options{Name: columns[out.options.Column].Name, MaxRecordSize: o.MaxRecordBytes})
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
	if err != nil || !out.format.OneColumn {
		return t, err
	}
	found := slices.Clone(t.Columns())
	found[0].Name = columns[out.options.Column].Name
	return source.WithColumns(t, found), nil
}
