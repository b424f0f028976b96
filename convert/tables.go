package convert

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/pipeline"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/dataset"
	"github.com/idxport/idxport/source/flat"
	"github.com/idxport/idxport/source/idx"
)

// open opens the files of a split as one table. If raw is set, its columns are those of the files.
// Otherwise the data set's definition and --label-column apply: a label of several numbers becomes
// named columns, for example.
func (o *inputs) open(ctx context.Context, s dataset.Split, classes []string, raw bool) (_ source.Table, err error) {
	var tables []source.Table
	defer func() {
		if err != nil {
			for _, t := range tables {
				_ = t.Close() // read-only: an error does not matter
			}
		}
	}()
	for _, f := range s.Files {
		t, err := o.openColumn(ctx, s, f, classes)
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
		if table, ok := o.tables[f.Path]; !raw && (!ok || table.Format.OneColumn) {
			if t, err = o.labelColumns(t, s, f); err != nil {
				return nil, err
			}
			tables[len(tables)-1] = t
		}
	}
	t, err := source.Join(o.Salvage, tables...)
	if err == nil && o.LabelColumn != "" && !raw {
		t, err = o.chooseLabel(t, classes)
	}
	if err != nil {
		return nil, err
	}
	return source.CheckLabels(t), nil
}

// openColumn opens the file f of the split s: a column, or a table in another format.
func (o *inputs) openColumn(ctx context.Context, s dataset.Split, f dataset.File, classes []string) (source.Table, error) {
	if _, ok := o.tables[f.Path]; ok {
		return o.openTable(ctx, f, classes)
	}
	return o.openIDX(ctx, s, f, classes)
}

// reshapeOf returns the value of --reshape for the file f.
func (o *inputs) reshapeOf(f dataset.File) []int {
	if !f.Reshaped {
		return nil
	}
	return o.Reshape
}

func (o *inputs) openIDX(ctx context.Context, s dataset.Split, f dataset.File, classes []string) (*source.IDX, error) {
	options := o.sourceOptions(ctx)
	options.Name, options.Reshape = f.Name, o.reshapeOf(f)
	if isLabels(f) {
		if o.LabelColumn == "" {
			options.Classes = classes // else they are those of the chosen column
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
		o.opened.recordIDX(f.Path, t, readableOnce(f))
	}
	return t, err
}

// openTable opens the file f, which is in a format other than IDX.
func (o *inputs) openTable(ctx context.Context, f dataset.File, classes []string) (source.Table, error) {
	table := o.tables[f.Path]
	read := source.ReadOptions{MaxRecordSize: o.MaxRecordBytes, DType: o.dtype, Shape: o.Shape, Header: o.Header, Classes: classes, Name: f.Name, Array: f.Array, Files: o.files(ctx)}
	if classes == nil {
		read.Classes = datasetClasses(o.Dataset)
	}
	open := func() (source.Table, error) {
		return Interruptible(ctx, func() (source.Table, error) { return table.Open(read) })
	}
	opened, err := open()
	if err == nil && opened.Rows() < 0 && o.needsCount {
		opened, err = o.count(ctx, opened, f, open)
	}
	if err != nil {
		return nil, err
	}
	t, err := o.shaped(opened, o.reshapeOf(f), f.Path)
	if err != nil {
		_ = opened.Close() // read-only: an error does not matter
		return nil, err
	}
	columns := slices.Clone(t.Columns())
	if table.Format.OneColumn && len(columns) == 1 {
		columns[0].Name = f.Name
	}
	label := slices.IndexFunc(columns, func(c source.Column) bool { return c.Scalar() && c.Integer() && c.Name == dataset.Label.String() })
	switch {
	case label >= 0 && classes != nil:
		columns[label].Classes = classes
	case label >= 0 && len(columns[label].Classes) == 0:
		columns[label].Classes = datasetClasses(cmp.Or(o.Dataset, source.About(t).Meta[keyDataset]))
	case label < 0 && classes != nil && o.LabelColumn == "" && !table.Format.OneColumn:
		_ = t.Close() // read-only: an error does not matter
		return nil, usagef("--classes %s: %s has no column label, only %s", o.Classes, f.Path, strings.Join(namesOf(columns), ", ")).
			WithHint("if another column holds the labels, name it with --label-column")
	}
	return source.WithColumns(t, columns), nil
}

// count reads t, the table of the file f, to find its number of rows. It returns the table opened
// again with the function open.
func (o *inputs) count(ctx context.Context, t source.Table, f dataset.File, open func() (source.Table, error)) (source.Table, error) {
	if readableOnce(f) {
		_ = t.Close() // read-only: an error does not matter
		return nil, usagef("%s: the number of rows is needed in advance, but this input does not record it and can be read only once", shownPath(f.Path)).
			WithHint("save it to a file first, and convert that")
	}
	n, err := source.Count(ctx, t)
	_ = t.Close() // read-only: an error does not matter; its memory is free before it is opened again
	if err != nil {
		return nil, err
	}
	again, err := open()
	if err != nil {
		return nil, err
	}
	return source.WithRows(again, n), nil
}

// shaped returns t, the table at path, with the shapes that the user gave. Lists of bytes without a
// recorded shape, as other tools write them, are squares if their length allows it, as in CSV.
func (o *inputs) shaped(t source.Table, reshape []int, path string) (source.Table, error) {
	columns := slices.Clone(t.Columns())
	var notes []string
	for i, c := range columns {
		square, ok := flat.Square(c.Name, c.Elements())
		switch {
		case len(c.Shape) != 1:
		case o.Shape != nil && (source.Column{Shape: o.Shape}).Elements() == c.Elements():
			columns[i].Shape = o.Shape
		case ok && c.Listed && c.DType == idx.Uint8 && c.Elements() > 1 && o.Shape == nil && reshape == nil && !o.exact:
			columns[i].Shape = square
			notes = append(notes, fmt.Sprintf("%s: column %s: lists of %d bytes are read as %s, a square; --shape overrides this",
				path, c.Name, c.Elements(), display.Shape(square)))
		}
	}
	if err := o.checkTyped(path, columns); err != nil {
		return nil, err
	}
	t = source.WithColumns(t, columns, notes...)
	if reshape == nil {
		return t, nil
	}
	t, err := source.Reshape(t, reshape, o.MaxRecordBytes)
	return t, fault.In(path, err)
}

// checkTyped returns an error if --dtype or --shape matches no column of the file at path: then the
// flag has no use.
func (o *inputs) checkTyped(path string, columns []source.Column) error {
	var shapes []string
	typed, shaped := o.dtype == 0, o.Shape == nil
	for _, c := range columns {
		shapes = append(shapes, c.Name+" "+display.Shape(c.Shape))
		typed, shaped = typed || c.DType == o.dtype, shaped || slices.Equal(c.Shape, o.Shape)
	}
	switch {
	case !typed:
		return usagef("--dtype %s: no column of %s can be read as this type", o.dtype, path).
			WithHint("leave out --dtype: it does not convert numbers, but gives bytes a type, and chooses an integer type for int64, uint16 and the like")
	case !shaped:
		return usagef("--shape %s: no column of %s can be read with this shape, found %s", display.Shape(o.Shape), path, strings.Join(shapes, ", ")).
			WithHint("give a shape with as many elements as one of these lists, or other dimensions with --reshape -1x28x28")
	}
	return nil
}

// datasetClasses returns the class names of a data set, nil if it is not known.
func datasetClasses(name string) []string {
	if d, err := dataset.Lookup(name); err == nil && name != "" {
		return d.Classes
	}
	return nil
}

func namesOf(columns []source.Column) (names []string) {
	for _, c := range columns {
		names = append(names, c.Name)
	}
	return names
}

// columnList names columns in a message.
func columnList(names []string) string {
	if len(names) == 1 {
		return "column " + names[0]
	}
	return "columns " + strings.Join(names, ", ")
}

// vectorLabels returns an error if the labels have several numbers each, which flag cannot use.
func vectorLabels(flag string, columns []source.Column) error {
	for _, c := range columns {
		if c.Name == dataset.Label.String() && !c.Scalar() {
			return usagef("%s: the labels have %s each, expected one", flag, display.Count(c.Elements(), "number")).WithHint("--label-column 0 chooses the first")
		}
	}
	return nil
}

// maxLabelNumbers is the maximum length of a label vector that --label-column turns into columns.
const maxLabelNumbers = 4096

// labelIndex returns the value of --label-column if it is an index into labels of several numbers.
func (o *inputs) labelIndex() (int, bool) {
	k, err := strconv.ParseUint(o.LabelColumn, 10, 31)
	return int(k), err == nil
}

// labelColumns returns t, read from the file f, with a column for each number of a label if the
// data set of s names them, or if --label-column selects one.
func (o *inputs) labelColumns(t source.Table, s dataset.Split, f dataset.File) (source.Table, error) {
	c := t.Columns()[0]
	if !isLabels(f) || c.Scalar() {
		return t, nil
	}
	if d := s.Dataset; d != nil && d.LabelColumns != nil && slices.Equal(c.Shape, []int{len(d.LabelColumns)}) {
		return source.Unstack(t, d.LabelColumns, 0)
	}
	k, ok := o.labelIndex()
	n := c.Elements()
	switch {
	case !ok:
		return t, nil
	case len(c.Shape) > 1:
		return nil, usagef("--label-column %d: the labels of %s have the shape %s, expected vectors", k, c.Origin, display.Shape(c.Shape))
	case !c.Integer():
		return nil, usagef("--label-column %d: the labels of %s are %s, expected integers", k, c.Origin, c.DType)
	case n > maxLabelNumbers:
		return nil, usagef("--label-column %d: the labels of %s have %d numbers each, expected at most %d", k, c.Origin, n, maxLabelNumbers)
	case k >= n:
		return nil, usagef("--label-column %d: the labels of %s have %s each, expected an index below %d", k, c.Origin, display.Count(n, "number"), n)
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

// labelIn returns the index of the label column: the one that --label-column names, or, if it is an
// index, the one that labelColumns made. It returns −1 if there is none.
func (o *inputs) labelIn(columns []source.Column) int {
	if i := slices.IndexFunc(columns, func(c source.Column) bool { return c.Label }); i >= 0 {
		return i
	}
	return slices.IndexFunc(columns, func(c source.Column) bool { return c.Name == o.LabelColumn })
}

// chooseLabel returns t with the column that --label-column names as its label; classes are the
// names of --classes, or nil.
func (o *inputs) chooseLabel(t source.Table, classes []string) (source.Table, error) {
	columns := t.Columns()
	i := o.labelIn(columns)
	if i < 0 {
		return nil, usagef("--label-column %s: no such column, found only %s", o.LabelColumn, strings.Join(namesOf(columns), ", "))
	}
	switch c := columns[i]; {
	case !c.Scalar() && len(c.Shape) == 1 && c.Name == dataset.Label.String():
		return nil, usagef("--label-column %s: its records are vectors of %s, expected single integers", c.Name, display.Count(c.Elements(), "number")).
			WithHint("choose a number of the vector as the label: --label-column 0")
	case !c.Scalar():
		return nil, usagef("--label-column %s: its records have the shape %s, expected single integers", c.Name, display.Shape(c.Shape))
	case !c.Integer():
		return nil, usagef("--label-column %s: its values are %s, expected integers", c.Name, c.DType)
	}
	return source.ChooseLabel(t, i, classes), nil
}

// maxLabel returns the largest label of a split, found by reading the IDX file of the label column.
// It is −1 if there is no such IDX file, or if it can be read only once.
func (o *inputs) maxLabel(ctx context.Context, s dataset.Split) (int64, error) {
	for _, f := range s.Files {
		if !isLabels(f) && f.Name != o.LabelColumn || len(f.Header.Dims) == 0 { // reading a pipe would empty it
			continue
		}
		if largest, ok, err := o.maxLabelIn(ctx, s, f); ok || err != nil {
			return largest, err
		}
	}
	return -1, nil
}

// maxLabelIn is maxLabel for the file f; ok is false if the label column is not in it.
func (o *inputs) maxLabelIn(ctx context.Context, s dataset.Split, f dataset.File) (largest int64, ok bool, err error) {
	file, err := o.openIDX(ctx, s, f, nil)
	if err != nil {
		return -1, false, err
	}
	defer file.Close() // read-only: an error does not matter
	t, err := o.labelColumns(file, s, f)
	if err != nil {
		return -1, false, err
	}
	i := 0
	if o.LabelColumn != "" {
		i = o.labelIn(t.Columns())
	}
	if i < 0 {
		return -1, false, nil
	}
	c := t.Columns()[i]
	if largest = -1; !c.Scalar() || !c.Integer() {
		return largest, true, nil
	}
	for b := (&source.Raw{Cap: 1 << 16}); ; {
		if err = t.Read(ctx, b); err == nil {
			err = t.Decode(b)
		}
		switch {
		case err == io.EOF:
			return largest, true, nil
		case err != nil:
			return -1, true, fmt.Errorf("reading the labels: %w", err)
		}
		for row := range b.Rows {
			largest = max(largest, source.Int(c.DType, b.Columns[i], row))
		}
	}
}

// drain reads a table to its end, passes its rows to sinks, and returns their number. title is the
// name of the table in progress messages.
func (o *inputs) drain(ctx context.Context, t source.Table, s *schema.Schema, title string, sinks ...sink.Sink) (int64, error) {
	update, end := o.report.progress(title, s.Rows)
	defer end()
	stats, err := pipeline.Run(ctx, t, s, sinks, pipeline.Options{Workers: o.Workers, Progress: update})
	return stats.Rows, err
}
