package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/pipeline"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/sink/compare"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/dataset"
	"github.com/idxport/idxport/source/formats"
)

const verifyUsage = `idxport verify OUTPUT INPUT... [flags]

Compares OUTPUT, value by value, with the table that INPUT makes, as in convert. OUTPUT is a table in any format but tar: a file, or a folder of
images or of parts; or a folder of several splits, which must be those of INPUT, or those that --split names.
What was done to the data when OUTPUT was made (--transpose, --invert, --rows, …) is taken from its metadata where it has some, as Parquet and Arrow do; give the same flags for other formats.

The exit code is 0 if all is equal, and 1 if something differs: the first value that does is named, and how many do.`

// verifyCommand is `idxport verify`.
func (p *program) verifyCommand() *cli.Command {
	flags := inputFlags()
	for _, f := range convertFlags() {
		if slices.Contains([]string{"rows", "transpose", "invert", "label-column"}, f.Names()[0]) {
			flags = append(flags, f)
		}
	}
	return &cli.Command{
		Name:            "verify",
		Usage:           "compare an output with its inputs, value by value",
		UsageText:       verifyUsage,
		Flags:           append(flags, runFlags()...),
		HideHelpCommand: true,
		OnUsageError:    onUsageError,
		Action: func(ctx context.Context, c *cli.Command) error {
			return p.reporting(ctx, c, func(r *report) error {
				o, err := parseVerify(c)
				if err != nil {
					return err
				}
				return p.verify(ctx, o, r)
			})
		},
	}
}

// verifyOptions are the validated flags of verify.
type verifyOptions struct {
	convertOptions              // of the inputs
	output         inputOptions // what is verified
}

// parseVerify validates the command line of verify.
func parseVerify(c *cli.Command) (*verifyOptions, error) {
	in, err := parseInput(c)
	if err != nil {
		return nil, err
	}
	if len(in.inputs) < 2 {
		return nil, usagef("found one path, expected an output and its inputs").WithHint("idxport verify out/train.parquet ./mnist")
	}
	o := &verifyOptions{convertOptions: convertOptions{inputOptions: in}, output: in}
	o.inputs, o.output.inputs = in.inputs[1:], in.inputs[:1]
	o.output.labelColumn, o.output.reshape, o.output.littleEndian, o.output.salvage, o.output.classes = "", nil, false, false, ""
	o.output.asTold = true                 // records are compared, whatever their shape
	o.output.splits = nil                  // they choose among several tables, see openOutput
	o.output.dataset = dataset.DatasetNone // its names are looked at, no more
	if err := o.parseView(c); err != nil {
		return nil, err
	}
	o.workers, err = parseWorkers(c)
	return o, err
}

// differs is the error for the output at path that is not what its inputs make.
func differs(path string, how ...string) error {
	return fault.New(fault.Differs, "%s differs: %s", path, strings.Join(how, "; "))
}

// verify does the work of `idxport verify`.
func (p *program) verify(ctx context.Context, o *verifyOptions, r *report) error {
	if err := o.placeHeader(ctx); err != nil {
		return err
	}
	outputs, err := o.output.find(ctx, false)
	if err != nil {
		return err
	}
	o.described = o.output.others != nil
	several := len(outputs) > 1
	if several && len(o.splits) > 0 {
		o.output.splits = o.splits
		if outputs, err = o.output.chosenSplits(outputs); err != nil {
			return err
		}
	}
	one := len(outputs) == 1 && filepath.Clean(outputs[0].Files[0].Path) == filepath.Clean(o.output.inputs[0].Path)
	var first error
	var left []dataset.Split // of the inputs, with which no output was compared
	for i, split := range outputs {
		own := *o // what is recorded in an output is about that one
		of, splits, err := p.verifySplit(ctx, &own, split, several, r)
		if err != nil && !(several && errors.Is(err, fault.Differs)) {
			return err
		}
		if err != nil {
			r.warning("%v", err)
			first = cmp.Or(first, err)
		}
		if i == 0 {
			left = slices.Clone(splits)
		}
		left = slices.DeleteFunc(left, func(s dataset.Split) bool { return s.Stem == of.Stem && s.Name == of.Name })
	}
	if first == nil && !one && len(left) > 0 {
		return differs(o.output.inputs[0].Path, "it has no split "+splitNames(left))
	}
	return first
}

// verifySplit verifies one table of the output, which may have several, and returns the split of the inputs that it was compared with, and all of them.
func (p *program) verifySplit(ctx context.Context, o *verifyOptions, split dataset.Split, several bool, r *report) (of dataset.Split, all []dataset.Split, err error) {
	found, err := o.output.open(ctx, p, split, nil, true)
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
	_, other := o.output.others[split.Files[0].Path]
	expected, err := p.openExpected(ctx, o, of, !other, r)
	if err != nil {
		return of, all, err
	}
	defer func() { _ = expected.table.Close() }() // likewise
	r.reads(of, expected)
	path := split.Files[0].Path
	if found, err = o.reread(ctx, found, path, expected.table.Columns()); err != nil {
		return of, all, err
	}
	opened = found
	result, err := p.compare(ctx, expected.table, found, comparison{
		path: path, text: o.output.text(path), partial: o.output.partial(path), workers: o.workers, label: of.Stem}, r)
	if err != nil {
		return of, all, err
	}
	r.verified(path, of.Name, result)
	return of, all, nil
}

// placeHeader makes --header one about the output where no input is text: it is about one of both,
// as the program writes headers that its inputs do not have.
func (o *verifyOptions) placeHeader(ctx context.Context) error {
	o.output.header = nil
	if o.header == nil {
		return nil
	}
	for _, in := range o.inputs {
		found, err := o.findTables(ctx, in.Path)
		if err != nil || slices.ContainsFunc(found, func(t formats.Table) bool { return t.Format.Text }) {
			return err
		}
	}
	o.output.header, o.header = o.header, nil
	return nil
}

// takeRecorded takes what was done to the data when found was made for what is to be done to the inputs, unless flags say otherwise.
func (o *verifyOptions) takeRecorded(found source.Table) error {
	meta := source.Meta(found)
	if _, ours := meta[keySources]; !ours {
		return nil
	}
	a := recorded(found)
	if o.transpose == nil {
		transposed := len(a.Transpose) > 0
		o.transpose = &transposed
	}
	o.invert = o.invert || len(a.Invert) > 0
	o.littleEndian = o.littleEndian || a.ByteOrder == "little"
	o.salvage = o.salvage || a.Salvage
	if o.reshape == nil {
		o.reshape = a.Reshape
	}
	if o.labelColumn == "" {
		o.labelColumn = a.Label
	}
	if o.dataset == "" {
		o.dataset = meta[keyDataset]
	}
	var err error
	if a.Rows != "" && !o.rows.given {
		o.rows, err = parseRows(a.Rows)
	}
	return err
}

// splitFor is the one of splits that found, the table of the split of, was made of: by its metadata or by its name, and by its name first where the output has
// several.
func (o *verifyOptions) splitFor(splits []dataset.Split, found source.Table, of dataset.Split, several bool) (dataset.Split, error) {
	if len(splits) == 1 && !several {
		return splits[0], nil
	}
	names := []string{source.Meta(found)[keySplit], of.Name, of.Stem}
	if several {
		slices.Reverse(names)
	}
	for _, name := range names {
		i := slices.IndexFunc(splits, func(s dataset.Split) bool {
			return name != "" && (hubName(s.Name) == hubName(name) || hubName(s.Stem) == hubName(name))
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

// text tells whether the file at path writes its values as text.
func (o *inputOptions) text(path string) bool { return o.others[path].Format.Text }

// partial tells whether an output at path may lack columns of its inputs: it is one column, or images with one label.
func (o *inputOptions) partial(path string) bool {
	t, ok := o.others[path]
	return !ok || t.Format.OneColumn || t.Format.Name == "png"
}

// A comparison says how two tables are compared.
type comparison struct {
	path    string // of what is verified, for messages
	text    bool   // values are text: all NaNs are equal
	partial bool   // columns may be missing
	ours    bool   // this run made it, so there is nothing to say of how it is read
	workers int
	label   string // of the progress
}

// verified is what a comparison found to be equal.
type verified struct {
	rows    int64
	columns []string
	missing []string // of the inputs, in an output that may lack some
}

// compare compares found with expected.
func (p *program) compare(ctx context.Context, expected, found source.Table, c comparison, r *report) (verified, error) {
	from, to, missing, err := compare.Match(expected.Columns(), found.Columns(), c.partial)
	if err != nil {
		return verified{}, differs(c.path, err.Error())
	}
	both, err := compare.Pair(expected, found, from, to)
	if err != nil {
		return verified{}, differs(c.path, err.Error())
	}
	s := schema.Of(both)
	k := compare.New(s, c.text)
	progress := r.progress(c.label, s.Rows)
	stats, err := pipeline.Run(ctx, both, s, []sink.Sink{k}, pipeline.Options{Workers: c.workers, Progress: progress.rows})
	progress.done()
	if err != nil && !errors.Is(err, fault.Differs) {
		return verified{}, err
	}
	for _, n := range source.Notes(both) {
		if !c.ours {
			r.note("%s", n)
		}
	}
	var how []string
	values, rows, first := k.Differences()
	if first != nil {
		how = append(how, first.String())
	}
	if values > 1 {
		how = append(how, fmt.Sprintf("%s values in %s rows differ", thousands(values), thousands(rows)))
	}
	if err != nil { // of the numbers of rows
		how = append(how, err.Error())
	}
	if how != nil {
		return verified{}, differs(c.path, how...)
	}
	result := verified{rows: stats.Rows, missing: missing}
	for _, i := range from {
		result.columns = append(result.columns, expected.Columns()[i].Name)
	}
	return result, nil
}

func columnNames(columns []source.Column) string {
	var names []string
	for _, c := range columns {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}
