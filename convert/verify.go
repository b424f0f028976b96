package convert

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/shell"
	"github.com/idxport/idxport/sink/compare"
	"github.com/idxport/idxport/sink/csv"
	sinkformats "github.com/idxport/idxport/sink/formats"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/dataset"
	"github.com/idxport/idxport/source/formats"
)

// A comparison describes how two tables are compared.
type comparison struct {
	path    string // of what is verified, for messages
	title   string // for progress messages
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
	rows, err := o.drain(ctx, both, s, c.title, k)
	if err != nil && !errors.Is(err, fault.Differs) {
		return Verified{}, err
	}
	if c.notes {
		info := source.About(both)
		for _, n := range info.Notes {
			o.report.Note("%s", n)
		}
		for _, w := range info.Warnings {
			o.report.warning("%s", w)
		}
	}
	var differences []string
	values, in, first := k.Differences()
	if first != nil {
		differences = append(differences, first.String())
	}
	if values > 1 {
		differences = append(differences, fmt.Sprintf("%s in %s differ", display.Count(values, "value"), display.Count(in, "row")))
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
func differs(path string, differences ...string) *fault.Error {
	return fault.New(fault.Differs, "%s differs: %s", path, strings.Join(differences, "; "))
}

// verifyOutput compares an output that is not visible yet with its inputs, which are read again.
func (o *conversion) verifyOutput(ctx context.Context, out *output) error {
	to, ok := out.destination.(*local)
	if !ok || to.set.Partial(to.i) == "" {
		return nil // a device: there is nothing to read
	}
	expected, err := o.openPass(ctx, out.job.split, out.pass.raw)
	if err != nil {
		return err
	}
	defer expected.table.Close() // read-only: an error does not matter
	found, err := o.reopen(to.set.Partial(to.i), out, expected.table.Columns())
	if errors.Is(err, fs.ErrNotExist) { // its folder was moved meanwhile
		err = fault.New(fault.IO, "reading it again: %v", fs.ErrNotExist).In(out.path).Because(err)
	}
	if err != nil {
		return err
	}
	defer found.Close() // read-only: an error does not matter
	_, err = o.compare(ctx, expected.table, found, comparison{path: out.path, title: "verifying " + out.job.title(),
		text: out.format.Text, partial: out.format.OneColumn || out.format.Images})
	return err
}

// reopen opens the output out, which is at path until it is published. columns are those of the
// table that was written to it.
func (o *conversion) reopen(path string, out *output, columns []source.Column) (source.Table, error) {
	if out.format.IsIDX {
		t, err := source.OpenIDX(path, source.Options{Name: columns[out.options.Column].Name, MaxRecordSize: o.MaxRecordBytes})
		if err != nil {
			return nil, fmt.Errorf("%s: reading it again: %w", out.path, err)
		}
		return t, nil
	}
	prefix := ""
	if out.sharding != nil {
		path, prefix = filepath.Join(path, out.sharding.subfolder), out.sharding.stem+"-"
	}
	table, ok, err := formats.As(out.format.Name, path, prefix, out.path)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, usagef("--verify: %s files cannot be read back", out.format.Name)
	}
	read := source.ReadOptions{MaxRecordSize: MaxRecordBytesLimit, Like: columns} // lines of text are longer than records
	if out.format.Text {
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

// A verification holds the validated options of Verify.
type verification struct {
	conversion        // of the inputs
	output     inputs // the output to verify, read like an input
	several    bool   // the output has several tables
}

// Verify compares output, value by value, with the inputs as view shows them. The error is of the
// kind fault.Differs if something differs. If the output's metadata records that it was made with
// other flags, the hint has these.
func Verify(ctx context.Context, output string, in Source, view View) (*Report, error) {
	r := NewReport(in.Events)
	if f, _, _ := sinkformats.ByName(output); f.WriteOnly {
		return r, usagef("%s: verify does not read %s", output, f.Name).WithHint("compare an output of another format, such as Parquet")
	}
	in.Inputs = append([]string{output}, in.Inputs...) // so that one store gets the parameters of all URLs
	c, err := newInputConversion(in, view, r)
	if err != nil {
		return r, err
	}
	o := &verification{conversion: *c, output: c.inputs}
	out := &o.output
	o.args, out.args = o.args[1:], o.args[:1]
	out.LabelColumn, out.Reshape, out.littleEndian, out.Salvage, out.Classes = "", nil, false, false, ""
	out.Resize, out.Grey = Size{}, false
	out.exact = true                  // the output is read as it is
	out.Split = nil                   // --split is about the inputs, see errPassedOver
	out.Dataset = dataset.DatasetNone // no data set is recognised in the output; its metadata may name one
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
	o.forOutput = o.output.tables != nil
	o.several = len(outputs) > 1
	for _, n := range outputs[0].FolderNotes {
		o.report.Note("%s", n)
	}
	path := o.output.args[0].Path
	o.noteWriteOnly(ctx, path)
	singleFile := len(outputs) == 1 && filepath.Clean(outputs[0].Files[0].Path) == filepath.Clean(path)
	chosen, err := o.chosenInputs(ctx)
	if err != nil {
		return err
	}
	var first error
	left := slices.Clone(chosen) // not compared with any output
	for _, split := range outputs {
		matched, err := o.verifySplit(ctx, split, chosen)
		switch {
		case err == nil, errors.Is(err, errPassedOver):
		case o.several && errors.Is(err, fault.Differs):
			o.report.warning("%v", err)
			first = cmp.Or(first, err)
		default:
			return err
		}
		left = slices.DeleteFunc(left, func(s chosenSplit) bool { return s.Stem == matched.Stem && s.Name == matched.Name })
	}
	if first == nil && !singleFile && len(left) > 0 {
		return differs(path, "it has no split "+splitNames(splitsOf(left))).WithHint("to compare other splits only, name them: --split NAME")
	}
	return first
}

// noteWriteOnly notes files in the folder of the output that cannot be read, and so not compared.
func (o *verification) noteWriteOnly(ctx context.Context, dir string) {
	entries, _ := o.output.files(ctx).ReadDir(dir, 0) // of a file, there are none
	for _, e := range entries {
		if f, _, _ := sinkformats.ByName(e.Name()); f.WriteOnly {
			o.report.Note("%s: %s files are not compared, such as %s", dir, f.Name, e.Name())
			return
		}
	}
}

// errPassedOver means that a table of the output belongs to none of the splits that --split names,
// and was not held out of one of them either.
var errPassedOver = errors.New("a table of another split")

// placeHeader applies --header to the output if no input is text. The flag never applies to both,
// because an output may have a header although its input has none.
func (o *verification) placeHeader(ctx context.Context) error {
	o.output.Header = nil
	if o.Header == nil {
		return nil
	}
	for _, in := range o.args {
		found, err := o.tablesAt(ctx, in.Path)
		if err != nil || slices.ContainsFunc(found, func(t formats.Table) bool { return t.Format.Text }) {
			return err
		}
	}
	o.output.Header, o.Header = o.Header, nil
	return nil
}

// chosenInputs returns the splits of the inputs, with the rows that the flags select.
func (o *verification) chosenInputs(ctx context.Context) ([]chosenSplit, error) {
	all, err := o.find(ctx, false)
	if err != nil {
		return nil, err
	}
	if o.classNames, err = o.readClasses(ctx, all); err != nil {
		return nil, err
	}
	return o.chooseRows(ctx, all)
}

// splitsOf returns the splits of chosen.
func splitsOf(chosen []chosenSplit) (splits []dataset.Split) {
	for _, c := range chosen {
		splits = append(splits, c.Split)
	}
	return splits
}

// verifySplit verifies one table of the output, and returns the split of the inputs that it was
// compared with.
func (o *verification) verifySplit(ctx context.Context, split dataset.Split, chosen []chosenSplit) (matched dataset.Split, err error) {
	found, err := o.output.open(ctx, split, nil, nil, true)
	if err != nil {
		return matched, err
	}
	defer func() { _ = found.Close() }() // read-only: an error does not matter
	if _, err := project(found, nil); err != nil {
		return matched, err
	}
	i, err := o.splitFor(splitsOf(chosen), found, split)
	if err != nil {
		return matched, o.adviseMade(err, found, nil, nil)
	}
	_, isTable := o.output.tables[split.Files[0].Path]
	expected, err := o.openPass(ctx, chosen[i], !isTable)
	if err != nil {
		return matched, err
	}
	defer expected.table.Close() // read-only: an error does not matter
	matched = chosen[i].Split
	o.describeInputs(matched, expected)
	err = o.verifyTable(ctx, expected.table, found, split, matched)
	return matched, o.adviseMade(err, found, expected, matched.Dataset)
}

// verifyTable compares found, the table of the output's split own, with expected, that of the
// inputs' split matched.
func (o *verification) verifyTable(ctx context.Context, expected, found source.Table, own, matched dataset.Split) error {
	path := own.Files[0].Path
	table, isTable := o.output.tables[path]
	if table.Format.Untyped { // its types, shapes and labels are those that are expected
		again, err := table.Open(source.ReadOptions{MaxRecordSize: o.MaxRecordBytes, DType: o.output.dtype, Shape: o.output.Shape, Header: o.output.Header,
			Like: expected.Columns(), Files: o.output.files(ctx)})
		if err != nil {
			return err
		}
		defer again.Close() // read-only: an error does not matter
		found = again
	}
	if table.Format.Text && isMatrixOfScalars(expected, found) {
		return usagef("%s is one row of all labels, which cannot be read back as a column", path).
			WithHint("compare an output of another format, or a CSV made without --csv-style matrix")
	}
	// Files of one column, and PNG folders, which hold images and a label, may lack columns.
	result, err := o.compare(ctx, expected, found, comparison{path: path, title: matched.Stem, notes: true,
		partial: !isTable || table.Format.OneColumn || table.Format.Name == "png", text: table.Format.Text})
	if err != nil {
		return err
	}
	result.Split = matched.Name
	for _, f := range own.Files {
		if !slices.Contains(result.Paths, f.Path) { // a .npz file has several columns
			result.Paths = append(result.Paths, f.Path)
		}
	}
	o.report.Verified = append(o.report.Verified, result)
	if len(result.Missing) > 0 {
		o.report.Note("%s does not hold the %s", path, columnList(result.Missing))
	}
	return nil
}

// isMatrixOfScalars reports whether found seems to be a CSV of the style matrix that holds a column
// of scalars of expected: it has one row, of as many numbers as expected has rows.
func isMatrixOfScalars(expected, found source.Table) bool {
	numbers := func(columns []source.Column) (n int64) {
		for _, c := range columns {
			n += int64(c.Elements())
		}
		return n
	}
	n := expected.Rows()
	return n > 1 && found.Rows() <= 1 && numbers(found.Columns()) == n && numbers(expected.Columns()) != n &&
		slices.ContainsFunc(expected.Columns(), source.Column.Scalar)
}

// adviseMade adds a hint to err if a table of the output differs from the inputs, or belongs to
// none of their splits: the flags with which it was made, if its metadata has them and they are not
// those of expected, the inputs' table of the data set known; both are nil if there is none.
func (o *verification) adviseMade(err error, found source.Table, expected *pass, known *dataset.Info) error {
	var e *fault.Error
	if !errors.As(err, &e) || e.Kind != fault.Differs && expected != nil {
		return err
	}
	meta := source.About(found).Meta
	if _, ours := meta[keySources]; !ours {
		return e.WithHint("if it was made with flags that select or change rows, such as --holdout, --rows or --transpose, give them again")
	}
	var made Applied
	_ = json.Unmarshal([]byte(meta[keyApplied]), &made) // another program may have written it: then nothing is known
	for _, t := range o.output.tables {
		if len(t.Paths) > 1 { // the metadata is that of the first of several parts
			made.Part = ""
		}
	}
	flags, given := made.flags(), []string(nil)
	if expected != nil {
		given = expected.applied.flags()
		if made.Transpose == nil && expected.applied.Transpose != nil {
			flags = append(flags, "--transpose=false")
		}
		if name := meta[keyDataset]; name != "" && (known == nil || known.Name != name) {
			flags = append(flags, "--dataset "+name)
		}
	}
	if slices.Equal(flags, given) {
		return err
	}
	if flags == nil {
		return e.WithHint("it was made without flags that select or change values: leave them out")
	}
	return e.WithHint("it was made with %s: give verify the same", strings.Join(flags, " "))
}

// flags returns the flags that apply a, quoted for a shell: its fields have their names.
func (a Applied) flags() (flags []string) {
	fields := reflect.TypeFor[Applied]()
	for i := range fields.NumField() {
		tag, _, _ := strings.Cut(fields.Field(i).Tag.Get("json"), ",")
		flag := "--" + strings.ReplaceAll(tag, "_", "-")
		value := reflect.ValueOf(a).Field(i)
		if value.IsZero() || tag == "split" || tag == "decoders" {
			continue
		}
		switch v := value.Interface().(type) {
		case []string:
			switch {
			case tag == "transpose" || tag == "invert": // the columns that it changed
				flags = append(flags, flag)
			case tag == "columns":
				flags = append(flags, flag+" "+shell.Quote(strings.Join(v, ",")))
			default:
				for _, each := range v {
					flags = append(flags, flag+" "+shell.Quote(each))
				}
			}
		case []int:
			flags = append(flags, flag+" "+strings.ReplaceAll(display.Shape(v), "×", "x"))
		case bool:
			flags = append(flags, flag)
		default:
			flags = append(flags, flag+" "+shell.Quote(fmt.Sprint(v)))
		}
	}
	return flags
}

// splitFor returns the index of the split of the inputs that the table found was made from; splits
// are those of the inputs, own is that of the output. The metadata of found decides, then the name
// of own; if the output has several tables, the name decides first.
func (o *verification) splitFor(splits []dataset.Split, found source.Table, own dataset.Split) (int, error) {
	if len(splits) == 1 && !o.several {
		return 0, nil
	}
	names := []string{source.About(found).Meta[keySplit], own.Name, own.Stem}
	if o.several {
		slices.Reverse(names)
	}
	for _, name := range names {
		i := slices.IndexFunc(splits, func(s dataset.Split) bool {
			other := o.several && s.Name != "" && own.Name != "" && hubName(s.Name) != hubName(own.Name) // the stem may be the folder's name, the same for all
			return name != "" && !other && (hubName(s.Name) == hubName(name) || hubName(s.Stem) == hubName(name))
		})
		if i >= 0 {
			return i, nil
		}
	}
	switch {
	case o.several && o.Split != nil:
		return 0, errPassedOver
	case o.several:
		return 0, differs(own.Files[0].Path, "the inputs have no such split, only "+splitNames(splits))
	}
	if recorded := names[0]; recorded != "" {
		return 0, usagef("%s holds the split %s, but the inputs have the splits %s", own.Files[0].Path, recorded, splitNames(splits)).
			WithHint("choose one with --split")
	}
	return 0, usagef("the inputs have the splits %s, but %s does not record which of them it holds", splitNames(splits), own.Files[0].Path).
		WithHint("choose one with --split")
}
