package convert

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/dataset"
	"github.com/idxport/idxport/source/flat"
	"github.com/idxport/idxport/source/idx"
)

// open opens the files of a split as one table: as they are stored, or as the data set says they
// are meant (labels of several numbers as columns with names).
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
		if other, ok := o.foreign[f.Path]; !stored && (!ok || other.Format.OneColumn) {
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
	if _, ok := o.foreign[f.Path]; ok {
		return o.openForeign(ctx, s, f, classes)
	}
	return o.openFile(ctx, s, f, classes)
}

// reshapeOf is the value of --reshape for the file f of the split s: it is about the images where
// labels are beside them.
func (o *inputs) reshapeOf(s dataset.Split, f dataset.File) []int {
	if isLabels(f) && slices.ContainsFunc(s.Files, func(other dataset.File) bool { return !isLabels(other) }) {
		return nil
	}
	return o.Reshape
}

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

// openForeign opens the file f, which is of another format, as it is.
func (o *inputs) openForeign(ctx context.Context, s dataset.Split, f dataset.File, classes []string) (source.Table, error) {
	table := o.foreign[f.Path]
	read := source.ReadOptions{MaxRecordSize: o.MaxRecordBytes, DType: o.dtype, Shape: o.Shape, Header: o.Header, Classes: o.knownClasses(classes), Files: o.files(ctx)}
	t, err := Interruptible(ctx, func() (source.Table, error) { return table.Open(read) })
	if err != nil {
		return nil, err
	}
	if t.Rows() < 0 && o.counted {
		if o.readOnce(f) {
			err := usagef("%s does not tell its number of rows, which an output needs, and can be read only once", shownPath(f.Path)).
				WithHint("write it to a file first, or choose another format of output, such as Parquet")
			return nil, errors.Join(err, t.Close())
		}
		n, err := source.Count(ctx, t)
		if err = errors.Join(err, t.Close()); err != nil {
			return nil, err
		}
		if t, err = Interruptible(ctx, func() (source.Table, error) { return table.Open(read) }); err != nil {
			return nil, err
		}
		t = source.WithRows(t, n)
	}
	if t, err = o.shaped(t, o.reshapeOf(s, f), f.Path); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	columns := slices.Clone(t.Columns())
	if table.Format.OneColumn && len(columns) == 1 {
		columns[0].Name = f.Name
	}
	label := slices.IndexFunc(columns, func(c source.Column) bool { return c.Scalar() && c.Integer() && c.Name == dataset.Label.String() })
	if label >= 0 {
		columns[label].Classes = o.classesOf(t, columns[label], classes)
	} else if classes != nil && o.LabelColumn == "" && !table.Format.OneColumn {
		return nil, errors.Join(usagef("--classes %s: %s has no column label; its columns are %s", o.Classes, f.Path, strings.Join(names(columns), ", ")), t.Close())
	}
	return source.WithColumns(t, columns), nil
}

// shaped is t, the table at path, with the shapes that the user gave. A list of a square number of
// unsigned bytes without a recorded shape, as other tools write it, is taken for a square, as in
// CSV.
func (o *inputs) shaped(t source.Table, reshape []int, path string) (source.Table, error) {
	columns := slices.Clone(t.Columns())
	var guesses []string
	for i, c := range columns {
		square, ok := flat.Square(c.Name, c.Elements())
		switch {
		case len(c.Shape) != 1:
		case o.Shape != nil && (source.Column{Shape: o.Shape}).Elements() == c.Elements():
			columns[i].Shape = o.Shape
		case ok && c.Listed && c.DType == idx.Uint8 && c.Elements() > 1 && o.Shape == nil && reshape == nil && !o.asTold:
			columns[i].Shape = square
			guesses = append(guesses, fmt.Sprintf("%s: column %s: lists of %d bytes taken for %s, as their number is a square; --shape says otherwise",
				path, c.Name, c.Elements(), display.Shape(square)))
		}
	}
	if err := o.checkTyped(path, columns); err != nil {
		return t, err
	}
	t = source.WithColumns(t, columns, guesses...)
	if reshape == nil {
		return t, nil
	}
	as, err := source.Reshape(t, reshape, o.MaxRecordBytes)
	if err != nil {
		return t, fault.In(path, err)
	}
	return as, nil
}

// checkTyped refuses --dtype and --shape where the file at path records other types and shapes for
// all its columns.
func (o *inputs) checkTyped(path string, columns []source.Column) error {
	var types, shapes []string
	typed, shaped := o.dtype == 0, o.Shape == nil
	for _, c := range columns {
		types, shapes = append(types, c.Name+" "+c.DType.String()), append(shapes, c.Name+" "+display.Shape(c.Shape))
		typed, shaped = typed || c.DType == o.dtype, shaped || slices.Equal(c.Shape, o.Shape)
	}
	switch {
	case !typed:
		return usagef("--dtype %s: %s holds %s", o.dtype, path, strings.Join(types, ", ")).WithHint("leave out --dtype: it is for files that do not tell their types")
	case !shaped:
		return usagef("--shape %s: %s holds %s", display.Shape(o.Shape), path, strings.Join(shapes, ", ")).
			WithHint("give the shape of one record that has as many elements; --reshape gives records other dimensions")
	}
	return nil
}

// knownClasses are the names of classes that the user gave, or those of the data set that the user
// named; nil if neither.
func (o *inputs) knownClasses(given []string) []string {
	d, err := dataset.Lookup(o.Dataset)
	if given == nil && err == nil && o.Dataset != "" {
		return d.Classes
	}
	return given
}

// classesOf are the names of the classes of the labels c of t: those that were given, those of the
// data set that t was made of, or its own.
func (o *inputs) classesOf(t source.Table, c source.Column, given []string) []string {
	if given != nil {
		return given
	}
	name := o.Dataset
	if name == "" {
		name = source.Meta(t)[keyDataset]
	}
	if d, err := dataset.Lookup(name); err == nil && name != "" && len(c.Classes) == 0 {
		return d.Classes
	}
	return c.Classes
}

// names are the names of columns.
func names(columns []source.Column) (names []string) {
	for _, c := range columns {
		names = append(names, c.Name)
	}
	return names
}

// maxNumbers is the most numbers of a label that --label-column K makes columns of.
const maxNumbers = 4096

// numberAt is the value of --label-column as the index of a number among those of a label.
func (o *inputs) numberAt() (int, bool) {
	k, err := strconv.ParseUint(o.LabelColumn, 10, 31)
	return int(k), err == nil
}

// columnsOf is t, read from the file f, with a column for each number of a label where the data set
// of s has names for them, or where --label-column says which is the label.
func (o *inputs) columnsOf(t source.Table, s dataset.Split, f dataset.File) (source.Table, error) {
	c := t.Columns()[0]
	k, numbered := o.numberAt()
	if named := unstacked(t, s, f); named != t || !numbered || !isLabels(f) || c.Scalar() {
		return named, nil
	}
	n := c.Elements()
	switch {
	case len(c.Shape) > 1:
		return nil, usagef("--label-column %d: the labels of %s are of the shape %s, expected some numbers each", k, c.Origin, display.Shape(c.Shape))
	case !c.Integer():
		return nil, usagef("--label-column %d: the labels of %s are %s, expected integers", k, c.Origin, c.DType)
	case n > maxNumbers:
		return nil, usagef("--label-column %d: the labels of %s have %d numbers each, expected at most %d", k, c.Origin, n, maxNumbers)
	case k >= n:
		return nil, usagef("--label-column %d: the labels of %s have %d numbers each, expected 0 to %d", k, c.Origin, n, n-1)
	}
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s_%d", c.Name, i)
	}
	names[k] = c.Name
	columns, err := source.Unstack(t, names, k)
	if err != nil {
		return nil, err
	}
	return source.ChooseLabel(columns, k, nil), nil
}

// chooseLabel is t with the column that --label-column names as its label; classes are those of
// --classes, or nil.
func (o *inputs) chooseLabel(t source.Table, classes []string) (source.Table, error) {
	columns := t.Columns()
	i := slices.IndexFunc(columns, func(c source.Column) bool { return c.Label }) // chosen by its number, see columnsOf
	if i < 0 {
		i = slices.IndexFunc(columns, func(c source.Column) bool { return c.Name == o.LabelColumn })
	}
	if i < 0 {
		return nil, usagef("--label-column %s: no column is called so, the columns are %s", o.LabelColumn, strings.Join(names(columns), ", "))
	}
	switch c := columns[i]; {
	case !c.Scalar() && len(c.Shape) == 1 && c.Name == dataset.Label.String():
		return nil, usagef("--label-column %s: its records are %d numbers each, expected one", c.Name, c.Elements()).
			WithHint("say which of them is the label: --label-column 0")
	case !c.Scalar():
		return nil, usagef("--label-column %s: its records are of the shape %s, expected single integers", c.Name, display.Shape(c.Shape))
	case !c.Integer():
		return nil, usagef("--label-column %s: its values are %s, expected integers", c.Name, c.DType)
	}
	return source.ChooseLabel(t, i, classes), nil
}

// maxLabel is the largest label of a split, found by reading the file of the label column, or −1 if
// there is none or it can be read only once.
func (o *inputs) maxLabel(ctx context.Context, s dataset.Split) (int64, error) {
	for _, f := range s.Files {
		if !isLabels(f) && f.Name != o.LabelColumn || len(f.Header.Dims) == 0 { // a pipe would be empty for who comes next
			continue
		}
		most, found, err := o.maxLabelIn(ctx, s, f)
		if err != nil || found {
			return most, err
		}
	}
	return -1, nil
}

// maxLabelIn is maxLabel of the file f, if it has the label column.
func (o *inputs) maxLabelIn(ctx context.Context, s dataset.Split, f dataset.File) (most int64, found bool, err error) {
	file, err := o.openFile(ctx, s, f, nil)
	if err != nil {
		return -1, false, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	t, err := o.columnsOf(file, s, f)
	if err != nil {
		return -1, false, err
	}
	i := 0
	if o.LabelColumn != "" {
		i = slices.IndexFunc(t.Columns(), func(c source.Column) bool { return c.Label || c.Name == o.LabelColumn })
	}
	if i < 0 {
		return -1, false, nil
	}
	most, err = largest(ctx, t, i)
	return most, true, err
}

// largest is the largest value of column i of t, −1 if that is not of single integers or has no
// rows.
func largest(ctx context.Context, t source.Table, i int) (int64, error) {
	c := t.Columns()[i]
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
		for row := range b.Rows {
			most = max(most, source.Int(c.DType, b.Columns[i], row))
		}
	}
}

// unstacked is t, read from the file f, with a column for each number of a label where the data set
// of s has names for them.
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
