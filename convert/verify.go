package convert

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/dataset"
	"github.com/idxport/idxport/source/formats"
)

// A verification is the options of Verify that were checked.
type verification struct {
	conversion        // of the inputs
	output     inputs // what is verified
}

// Verify compares output, value by value, with the table that in and view make. What was done to
// the data when the output was made is taken from its metadata where it has some. The error is of
// kind fault.Differs if something differs.
func Verify(ctx context.Context, output string, in Source, view View) (*Report, error) {
	r := NewReport(in.Events)
	in.Inputs = append([]string{output}, in.Inputs...) // so that URLs of both are of one store
	both, err := newInputs(in, r)
	if err != nil {
		return r, err
	}
	o := &verification{conversion: conversion{inputs: both, View: view}, output: both}
	o.args, o.output.args = both.args[1:], both.args[:1]
	out := &o.output
	out.LabelColumn, out.Reshape, out.littleEndian, out.Salvage, out.Classes = "", nil, false, false, ""
	out.asTold = true                 // records are compared, whatever their shape
	out.Split = nil                   // they choose among several tables, see run
	out.Dataset = dataset.DatasetNone // its names are looked at, no more
	if err := o.checkView(); err != nil {
		return r, err
	}
	return r, o.run(ctx)
}

func (o *verification) run(ctx context.Context) error {
	if err := o.placeHeader(ctx); err != nil {
		return err
	}
	outputs, err := o.output.find(ctx, false)
	if err != nil {
		return err
	}
	o.described = o.output.foreign != nil
	several := len(outputs) > 1
	if several && len(o.Split) > 0 {
		o.output.Split = o.Split
		if outputs, err = o.output.chosenSplits(outputs); err != nil {
			return err
		}
	}
	one := len(outputs) == 1 && filepath.Clean(outputs[0].Files[0].Path) == filepath.Clean(o.output.args[0].Path)
	var first error
	var left []dataset.Split // of the inputs, with which no output was compared
	for i, split := range outputs {
		own := *o // what is recorded in an output is about that one
		of, splits, err := own.verifySplit(ctx, split, several)
		if err != nil && !(several && errors.Is(err, fault.Differs)) {
			return err
		}
		if err != nil {
			o.report.warning("%v", err)
			first = cmp.Or(first, err)
		}
		if i == 0 {
			left = slices.Clone(splits)
		}
		left = slices.DeleteFunc(left, func(s dataset.Split) bool { return s.Stem == of.Stem && s.Name == of.Name })
	}
	if first == nil && !one && len(left) > 0 {
		return differs(o.output.args[0].Path, "it has no split "+splitNames(left))
	}
	return first
}

// verifySplit verifies one table of the output, which may have several, and returns the split of
// the inputs that it was compared with, and all of them.
func (o *verification) verifySplit(ctx context.Context, split dataset.Split, several bool) (of dataset.Split, all []dataset.Split, err error) {
	found, err := o.output.open(ctx, split, nil, true)
	if err != nil {
		return of, nil, err
	}
	opened := found
	defer func() { _ = opened.Close() }() // only read from
	if err := o.takeRecorded(found); err != nil {
		return of, nil, err
	}
	if all, err = o.find(ctx, false); err != nil {
		return of, nil, err
	}
	if of, err = o.splitFor(all, found, split, several); err != nil {
		return of, all, err
	}
	_, other := o.output.foreign[split.Files[0].Path]
	expected, err := o.openExpected(ctx, of, !other)
	if err != nil {
		return of, all, err
	}
	defer func() { _ = expected.table.Close() }() // likewise
	o.describeInputs(of, expected)
	path := split.Files[0].Path
	if found, err = o.reread(ctx, found, path, expected.table.Columns()); err != nil {
		return of, all, err
	}
	opened = found
	result, err := o.compare(ctx, expected.table, found, comparison{
		path: path, text: o.output.text(path), partial: o.output.partial(path), label: of.Stem})
	if err != nil {
		return of, all, err
	}
	result.Path, result.Split = path, of.Name
	o.report.Verified = append(o.report.Verified, result)
	if len(result.Missing) > 0 {
		o.report.Note("%s: it does not hold %s", path, strings.Join(result.Missing, ", "))
	}
	return of, all, nil
}

// placeHeader makes --header one about the output where no input is text: it is about one of both,
// as the program writes headers that its inputs do not have.
func (o *verification) placeHeader(ctx context.Context) error {
	o.output.Header = nil
	if o.Header == nil {
		return nil
	}
	for _, in := range o.args {
		found, err := o.findTables(ctx, in.Path)
		if err != nil || slices.ContainsFunc(found, func(t formats.Table) bool { return t.Format.Text }) {
			return err
		}
	}
	o.output.Header, o.Header = o.Header, nil
	return nil
}

// takeRecorded takes what was done to the data when found was made for what is to be done to the
// inputs, unless flags say otherwise.
func (o *verification) takeRecorded(found source.Table) error {
	meta := source.Meta(found)
	if _, ours := meta[keySources]; !ours {
		return nil
	}
	a := recorded(found)
	if o.Transpose == nil {
		transposed := len(a.Transpose) > 0
		o.Transpose = &transposed
	}
	o.Invert = o.Invert || len(a.Invert) > 0
	o.littleEndian = o.littleEndian || a.ByteOrder == "little"
	o.Salvage = o.Salvage || a.Salvage
	if o.Reshape == nil {
		o.Reshape = a.Reshape
	}
	if o.LabelColumn == "" {
		o.LabelColumn = a.Label
	}
	if o.Dataset == "" {
		o.Dataset = meta[keyDataset]
	}
	var err error
	if a.Rows != "" && !o.rows.given {
		o.rows, err = parseRows(a.Rows)
	}
	return err
}

// splitFor is the one of splits that found, the table of the split of, was made of: by its metadata
// or by its name, and by its name first where the output has several.
func (o *verification) splitFor(splits []dataset.Split, found source.Table, of dataset.Split, several bool) (dataset.Split, error) {
	if len(splits) == 1 && !several {
		return splits[0], nil
	}
	names := []string{source.Meta(found)[keySplit], of.Name, of.Stem}
	if several {
		slices.Reverse(names)
	}
	for _, name := range names {
		i := slices.IndexFunc(splits, func(s dataset.Split) bool {
			other := several && s.Name != "" && of.Name != "" && hubName(s.Name) != hubName(of.Name) // of a folder, whose name is the stem of all
			return name != "" && !other && (hubName(s.Name) == hubName(name) || hubName(s.Stem) == hubName(name))
		})
		if i >= 0 {
			return splits[i], nil
		}
	}
	if several {
		return dataset.Split{}, differs(of.Files[0].Path, "the inputs have no such split, only "+splitNames(splits))
	}
	return dataset.Split{}, usagef("the inputs have the splits %s, and %s does not tell which it is", splitNames(splits), of.Files[0].Path).
		WithHint("choose one with --split")
}

// splitNames are the names of splits.
func splitNames(splits []dataset.Split) string {
	var names []string
	for _, s := range splits {
		names = append(names, cmp.Or(s.Name, s.Stem))
	}
	return strings.Join(names, ", ")
}

// text reports whether the file at path holds its values as text.
func (o *inputs) text(path string) bool { return o.foreign[path].Format.Text }

// partial reports whether an output at path may lack columns of its inputs: it is one column, or
// images with one label.
func (o *inputs) partial(path string) bool {
	t, ok := o.foreign[path]
	return !ok || t.Format.OneColumn || t.Format.Name == "png"
}

// recorded is what was done to the data that t was made of, as far as its file keeps it.
func recorded(t source.Table) (a applied) {
	_ = json.Unmarshal([]byte(source.Meta(t)[keyApplied]), &a) // a file of somebody else's: nothing is known
	return a
}

// openExpected opens what the inputs of the split s make, with the names of the classes that were
// given.
func (o *verification) openExpected(ctx context.Context, s dataset.Split, stored bool) (*pass, error) {
	classes, err := o.readClasses(ctx, []dataset.Split{s})
	if err != nil {
		return nil, err
	}
	return o.openPass(ctx, s, classes, stored)
}

// reread opens found, an output whose file does not record types, shapes or labels, as one of the
// columns expected.
func (o *verification) reread(ctx context.Context, found source.Table, path string, expected []source.Column) (source.Table, error) {
	table, other := o.output.foreign[path]
	if !other || !table.Format.Untyped {
		return found, nil
	}
	if err := found.Close(); err != nil {
		return found, err
	}
	return table.Open(source.ReadOptions{MaxRecordSize: o.MaxRecordBytes, DType: o.output.dtype, Shape: o.output.Shape, Header: o.output.Header, Like: expected, Files: o.output.files(ctx)})
}
