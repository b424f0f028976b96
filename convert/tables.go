package convert

import (
	"cmp"
	"context"
	"fmt"
	"slices"
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

// find returns the splits of the inputs, as findSplits does, and how their files are reshaped.
func (o *inputs) find(ctx context.Context, damaged bool) ([]dataset.Split, error) {
	splits, err := o.findSplits(ctx, damaged)
	for i := 0; i < len(splits) && err == nil && o.Reshape != nil; i++ {
		err = o.chooseReshaped(ctx, splits[i])
	}
	return splits, err
}

// chooseReshaped sets the dimensions of the files of s that --reshape applies to: those whose
// records have as many elements as the new ones; if there are none, all. Labels are left out if
// there are other columns.
func (o *inputs) chooseReshaped(ctx context.Context, s dataset.Split) error {
	others := slices.ContainsFunc(s.Files, func(f dataset.File) bool { return !isLabels(f) })
	var fit, all []*dataset.File
	for i := range s.Files {
		f := &s.Files[i]
		h := f.Header
		if o.tables[f.Path].Format.OneColumn && len(s.Files) > 1 {
			t, err := o.openTable(ctx, *f, nil, nil)
			if err != nil {
				return err
			}
			h = idx.Header{DType: t.Columns()[0].DType, Dims: []int64{t.Rows()}}
			for _, d := range t.Columns()[0].Shape {
				h.Dims = append(h.Dims, int64(d))
			}
			_ = t.Close() // read-only: an error does not matter
		}
		if isLabels(*f) && others {
			continue
		}
		all = append(all, f)
		if len(h.Dims) < 2 {
			continue
		}
		if reshaped, err := h.Reshape(o.Reshape); err == nil && reshaped.Dims[0] == h.Dims[0] {
			fit = append(fit, f)
		}
	}
	if fit == nil {
		fit = all
	}
	for _, f := range fit {
		f.Reshape = o.Reshape
	}
	return nil
}

// open opens the files of a split as one table; columns are those that are needed, nil for all. If
// raw is set, the columns are those of the files.
// Otherwise the data set's definition and --label-column apply: a label of several numbers becomes
// named columns, for example.
func (o *inputs) open(ctx context.Context, s dataset.Split, columns, classes []string, raw bool) (_ source.Table, err error) {
	var tables []source.Table
	defer func() {
		if err != nil {
			for _, t := range tables {
				_ = t.Close() // read-only: an error does not matter
			}
		}
	}()
	for _, f := range s.Files {
		t, err := o.openColumn(ctx, s, f, columns, classes)
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
		if t = scalarLabels(t, f); o.tables == nil {
			t = o.narrowed(t)
		}
		if table, ok := o.tables[f.Path]; !raw && (!ok || table.Format.OneColumn) {
			if t, err = o.labelColumns(t, s, f); err != nil {
				return nil, err
			}
		}
		tables[len(tables)-1] = t
	}
	t, err := source.Join(o.Salvage, tables...)
	if err == nil && o.tables == nil && !o.forOutput {
		err = o.checkTyped(s.Files[0].Path, t.Columns())
	}
	isText := func(f dataset.File) bool { return o.tables[f.Path].Format.Text }
	none := o.LabelColumn == "none" && slices.ContainsFunc(s.Files, isText) // the reader left out the label
	if err == nil && o.LabelColumn != "" && !raw {
		if !none || o.labelIn(t.Columns()) >= 0 {
			t, err = o.chooseLabel(t, classes)
		}
	}
	return t, err
}

// openColumn opens the file f of the split s: a column, or a table in another format.
func (o *inputs) openColumn(ctx context.Context, s dataset.Split, f dataset.File, columns, classes []string) (source.Table, error) {
	if _, ok := o.tables[f.Path]; ok {
		return o.openTable(ctx, f, columns, classes)
	}
	return o.openIDX(ctx, s, f, classes)
}

func (o *inputs) openIDX(ctx context.Context, s dataset.Split, f dataset.File, classes []string) (*source.IDX, error) {
	options := o.sourceOptions(ctx)
	options.Name, options.Reshape = f.Name, f.Reshape
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
func (o *inputs) openTable(ctx context.Context, f dataset.File, columns, classes []string) (source.Table, error) {
	table := o.tables[f.Path]
	read := source.ReadOptions{MaxRecordSize: o.MaxRecordBytes, DType: o.dtype, Shape: o.Shape, Header: o.Header, Classes: classes,
		Resize: o.Resize, Grey: o.Grey, Columns: columns, Name: f.Name, Array: f.Array, Files: o.files(ctx)}
	if o.placesLabel() {
		read.Label = o.LabelColumn
	}
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
	t, err := o.shaped(opened, f.Reshape, f.Path)
	if err != nil {
		_ = opened.Close() // read-only: an error does not matter
		return nil, err
	}
	found := slices.Clone(t.Columns())
	if table.Format.OneColumn && len(found) == 1 {
		found[0].Name = f.Name
	}
	label := slices.IndexFunc(found, func(c source.Column) bool { return c.Elements() == 1 && c.Name == dataset.Label.String() })
	switch {
	case label >= 0 && classes != nil:
		if err := o.renumbers(f.Path, found[label].Classes, classes); err != nil {
			_ = t.Close() // read-only: an error does not matter
			return nil, err
		}
		found[label].Classes = classes
	case label >= 0 && len(found[label].Classes) == 0:
		found[label].Classes = datasetClasses(cmp.Or(o.Dataset, source.About(t).Meta[keyDataset]))
	case label < 0 && classes != nil && o.LabelColumn == "" && !table.Format.OneColumn &&
		!slices.ContainsFunc(found, func(c source.Column) bool { return c.Classes != nil }):
		_ = t.Close() // read-only: an error does not matter
		if _, err := project(t, nil); err != nil {
			return nil, err
		}
		return nil, usagef("--classes %s: %s has no column label, only %s", o.Classes, f.Path, strings.Join(namesOf(found), ", ")).
			WithHint("if another column holds the labels, name it with --label-column")
	}
	return source.WithColumns(t, found), nil
}

// project returns t with only the named columns, or with all if columns is nil. It fails if one of
// them cannot be read.
func project(t source.Table, columns []string) (source.Table, error) {
	for _, c := range source.About(t).Omitted {
		if c.Err != nil && (columns == nil || slices.Contains(columns, c.Column)) {
			return nil, c.Err
		}
	}
	if columns == nil {
		return t, nil
	}
	return source.Project(t, columns)
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

// narrowed returns t with the type of --dtype in place of wider integers.
func (o *inputs) narrowed(t source.Table) source.Table {
	for i, c := range t.Columns() {
		if c.Integer() && o.dtype.Valid() && !o.dtype.Float() && c.DType.Size() > o.dtype.Size() {
			t = source.Cast(t, i, o.dtype, source.HintDType)
		}
	}
	return t
}

// shaped returns t, the table at path, with the shapes that the user gave. Lists of bytes without a
// recorded shape, as other tools write them, are squares if their length allows it, as in CSV.
func (o *inputs) shaped(t source.Table, reshape []int, path string) (source.Table, error) {
	t = o.narrowed(t)
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
	t, err := source.Reshape(t, reshape)
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
			WithHint("leave out --dtype: it gives bytes a type, and narrows integers, such as int16 to uint8")
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

// maxLabel returns the largest label of a split, found by reading the IDX files of its labels, or
// −1 if there are none or they can be read only once.
func (o *inputs) maxLabel(ctx context.Context, s dataset.Split) (largest int64, err error) {
	s.Files = slices.DeleteFunc(slices.Clone(s.Files), func(f dataset.File) bool {
		return !isLabels(f) && f.Name != o.LabelColumn || len(f.Header.Dims) == 0 // reading a stream would empty it
	})
	if len(s.Files) == 0 {
		return -1, nil
	}
	t, err := o.open(ctx, s, nil, nil, false)
	if err != nil {
		return -1, err
	}
	defer t.Close() // read-only: an error does not matter
	i := schema.Of(t).Label()
	if largest = -1; i < 0 {
		return largest, nil
	}
	err = source.Each(ctx, t, func(b *source.Raw) error {
		for row := range b.Rows {
			largest = max(largest, source.Int(t.Columns()[i].DType, b.Columns[i], row))
		}
		return nil
	})
	if err != nil {
		return -1, fmt.Errorf("reading the labels: %w", err)
	}
	return largest, nil
}

// drain reads a table to its end, passes its rows to sinks, and returns their number. title is the
// name of the table in progress messages.
func (o *inputs) drain(ctx context.Context, t source.Table, s *schema.Schema, title string, sinks ...sink.Sink) (int64, error) {
	update, end := o.report.progress(title, s.Rows)
	defer end()
	stats, err := pipeline.Run(ctx, t, s, sinks, pipeline.Options{Workers: o.Workers, Progress: update})
	return stats.Rows, err
}
