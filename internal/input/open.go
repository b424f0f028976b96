package input

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/idxport/idxport/internal/dataset"
	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/flat"
	"github.com/idxport/idxport/source/idx"
)

// Open opens the files of a split as one table; columns are those that are needed, nil for all. If
// raw is set, the columns are those of the files. Otherwise the data set's definition and
// --label-column apply: a label of several numbers becomes named columns, for example.
func (in *Set) Open(ctx context.Context, s dataset.Split, columns []string, raw bool) (_ source.Table, err error) {
	var tables []source.Table
	defer func() {
		if err != nil {
			for _, t := range tables {
				_ = t.Close() // read-only: an error does not matter
			}
		}
	}()
	for _, f := range s.Files {
		t, err := in.OpenFile(ctx, s, f, columns)
		if err != nil {
			return nil, err
		}
		tables = append(tables, in.narrowed(Labels(t, s, f, raw))) // tables in other formats are narrowed already
	}
	t, err := source.Join(in.Salvage, tables...)
	if err = fault.In(s.Files[0].Path, err); err == nil {
		err = in.checkColumns(s.Files[0].Path, t)
	}
	isText := func(f dataset.File) bool { return in.tables[f.Path].Format.Text }
	none := in.LabelColumn == "none" && slices.ContainsFunc(s.Files, isText) // the reader left out the label
	if err == nil && in.LabelColumn != "" && !raw && (!none || in.labelIn(t.Columns()) >= 0) {
		t, err = in.chooseLabel(t)
	}
	return t, err
}

// OpenFile opens the file f of the split s: a column, or a table in another format.
func (in *Set) OpenFile(ctx context.Context, s dataset.Split, f dataset.File, columns []string) (source.Table, error) {
	if _, ok := in.tables[f.Path]; ok {
		return in.openTable(ctx, f, columns)
	}
	options := in.idxOptions(ctx, in.Salvage)
	options.Name, options.Shape = f.Name, f.Shape
	if isLabels(f) && s.Dataset != nil {
		options.Classes = s.Dataset.Classes
	}
	var given []string
	if isLabels(f) && in.classes != nil && in.LabelColumn == "" { // else they are of that column
		given = in.classes
	} else if in.Dataset != "" {
		given = options.Classes
	}
	recorded, list, err := in.namesBeside(ctx, f, s.Stem, options.Classes)
	if err == nil || given != nil { // those that are given need no list
		options.Classes, err = in.namesFor(recorded, given, list)
	}
	if err != nil {
		return nil, err
	}
	t, err := Interruptible(ctx, func() (*source.IDX, error) {
		if f.Path == source.Stdin {
			return source.NewIDX(in.Stdin, source.Stdin, options)
		}
		return source.OpenIDX(f.Path, options)
	})
	if err != nil {
		return nil, err // not t, which is no nil Table
	}
	in.Storage.sequential.Store(f.Path, f.Path == source.Stdin || !t.Seekable())
	return t, nil
}

// openTable opens the file f, which is in a format other than IDX.
func (in *Set) openTable(ctx context.Context, f dataset.File, columns []string) (source.Table, error) {
	table := in.tables[f.Path]
	read := source.ReadOptions{MaxRecordSize: in.MaxRecordBytes, DType: in.DType, Shape: in.Shape, Header: in.Header,
		Classes: in.classes, Resize: in.Resize, Grey: in.Grey, Columns: columns, Name: f.Name, Array: f.Array,
		Workers: in.Workers, Files: in.Storage.Files(ctx), Label: in.LabelColumn, Like: in.Like}
	if in.classes == nil {
		read.Classes = datasetClasses(in.Dataset)
	}
	open := func() (source.Table, error) { return table.Open(read) }
	opened, err := Interruptible(ctx, open)
	if err == nil && opened.Rows() < 0 && in.Counted {
		opened, err = counted(ctx, opened, f.Path, open)
	}
	if err != nil {
		return nil, err
	}
	t := in.shaped(opened, f.Path)
	found, about := slices.Clone(t.Columns()), source.About(t)
	isLabel := func(c source.Column) bool { return c.Name == dataset.Label.String() && c.Elements() == 1 }
	label := slices.IndexFunc(found, isLabel)
	chosen, ofLabel := in.labelIn(found), read.Classes // or nil
	for i, c := range found {
		// Names are for the label, unless another is chosen, or others have texts that are names.
		if i == label && in.classes != nil && chosen != i && (chosen >= 0 || c.Classes == nil && about.Classes) {
			ofLabel = nil
		}
		switch names := source.ClassesIn(about.Meta, c.Name); {
		case len(c.Classes) > 0:
		case names != nil:
			found[i].Classes = names
		case i == label && in.Dataset == "":
			found[i].Classes = datasetClasses(about.Meta[source.KeyDataset])
		}
	}
	if label >= 0 {
		found[label].Classes, err = in.namesFor(found[label].Classes, ofLabel, f.Path)
	} else if in.classes != nil && in.LabelColumn == "" && !table.Format.OneColumn {
		err = in.checkLabelled(t, f.Path)
	}
	if err != nil {
		_ = t.Close() // read-only: an error does not matter
		return nil, err
	}
	return source.WithColumns(t, found), nil
}

// counted reads t, the table at the path at, to count its rows, and returns what open opens again.
func counted(ctx context.Context, t source.Table, at string, open func() (source.Table, error)) (source.Table, error) {
	if at == source.Stdin {
		_ = t.Close() // read-only: an error does not matter
		return nil, usagef("%s: the number of rows is needed in advance, but it is read only once", shownPath(at)).
			WithHint("save it to a file first, and convert that")
	}
	n, err := source.Count(ctx, t)
	_ = t.Close() // read-only: an error does not matter; its memory is free before it is opened again
	if err == nil {
		t, err = Interruptible(ctx, open)
	}
	if err != nil {
		return nil, err
	}
	return source.WithRows(t, n), nil
}

// shaped returns t, the table at path, with the shapes that the user gave. Lists of bytes without a
// recorded shape, as other tools write them, are squares if their length allows it, as in CSV.
func (in *Set) shaped(t source.Table, path string) source.Table {
	t = in.narrowed(t)
	columns := slices.Clone(t.Columns())
	for i, c := range columns {
		square, ok := flat.Square(c.Name, c.Elements())
		switch {
		case len(c.Shape) == 0:
		case in.Shape != nil && in.Like == nil && (source.Column{Shape: in.Shape}).Elements() == c.Elements():
			columns[i].Shape = in.Shape
		case ok && in.Shape == nil && in.Like == nil && len(c.Shape) == 1 && c.Listed && c.DType == idx.Uint8:
			columns[i].Shape = square
			in.Note("%s: column %s: lists of %d bytes are read as %s, a square; --shape overrides this",
				path, c.Name, c.Elements(), text.Shape(square))
		}
	}
	return source.WithColumns(t, columns)
}

// HintLabel is the hint for a float that is not a label.
const HintLabel = "if this column holds no labels, choose the others with --columns"

// Labels returns t, read from the file f of s, with scalar labels in place of arrays of one number,
// which MedMNIST and MATLAB store. Unless raw is set, it has a column for each number of a label if
// the data set names them.
func Labels(t source.Table, s dataset.Split, f dataset.File, raw bool) source.Table {
	columns, d := slices.Clone(t.Columns()), s.Dataset
	for i, c := range columns {
		if (text.NamesLabels(c.Name) || isLabels(f) && len(columns) == 1) && !c.Scalar() && c.Elements() == 1 {
			columns[i].Shape = nil
		}
	}
	t = source.WithColumns(t, columns)
	named := d != nil && d.LabelColumns != nil && slices.Equal(columns[0].Shape, []int{len(d.LabelColumns)})
	if raw || !named || !isLabels(f) {
		return t
	}
	return source.Unstack(t, d.LabelColumns)
}

// labelIn returns the index of the column that --label-column names, or that the reader has found
// at the place that it names; −1 if there is none.
func (in *Set) labelIn(columns []source.Column) int {
	return slices.IndexFunc(columns, func(c source.Column) bool { return c.Label || c.Name == in.LabelColumn })
}

// chooseLabel returns t with the column that --label-column names as its label.
func (in *Set) chooseLabel(t source.Table) (source.Table, error) {
	i := in.labelIn(t.Columns())
	if i < 0 {
		return Project(t, []string{in.LabelColumn}) // an error, perhaps of names without numbers
	}
	c := t.Columns()[i]
	if c.Elements() != 1 {
		return nil, usagef("--label-column %s: its records have the shape %s, expected single integers",
			c.Name, text.Shape(c.Shape))
	}
	names, err := in.namesFor(c.Classes, in.classes, c.Origin)
	if err != nil {
		return nil, err
	}
	if !c.Integer() {
		t = source.Cast(t, i, idx.Int32, HintLabel)
	}
	columns := slices.Clone(t.Columns())
	columns[i].Label, columns[i].Classes, columns[i].Shape = true, names, nil // it has one element
	return source.WithColumns(t, columns), nil
}

// narrowed returns t with the type of --dtype in place of wider integers.
func (in *Set) narrowed(t source.Table) source.Table {
	for i, c := range t.Columns() {
		if d := in.DType; c.Integer() && d.Valid() && !d.Float() && c.DType.Size() > d.Size() {
			t = source.Cast(t, i, d, "choose a type that holds all values, or leave out --dtype")
		}
	}
	return t
}

// checkColumns returns an error if --dtype or --shape matches no column of the table at path, or if
// arrays of images and labels are swapped. The shapes of IDX files are checked by their reader.
func (in *Set) checkColumns(path string, t source.Table) error {
	var shapes []string
	typed, shaped := in.DType == 0, in.Shape == nil || in.tables == nil || in.Like != nil
	columns := t.Columns()
	for _, c := range columns {
		shapes = append(shapes, c.Name+" "+text.Shape(c.Shape))
		typed, shaped = typed || c.DType == in.DType, shaped || slices.Equal(c.Shape, in.Shape)
	}
	image, label := source.Index(columns, dataset.Image.String()), source.Index(columns, dataset.Label.String())
	isArrays := in.tables[path].Format.OneColumn && min(image, label) >= 0
	_, unread := Project(t, nil) // the error of a column that cannot be read, perhaps with another shape
	switch {
	case isArrays && columns[image].Scalar() && !columns[label].Scalar():
		return fault.New(fault.Malformed, "%v: found %s", dataset.ErrSwapped, strings.Join(shapes, ", ")).In(path).
			WithHint("say which file is which: image=FILE label=FILE; or save the arrays under other names")
	case !typed:
		return cmp.Or[error](unread, usagef("--dtype %s: no column of %s can be read as this type", in.DType, path).
			WithHint("leave out --dtype: it narrows integers; NumPy makes pixels floats: a.astype(\"float32\") / 255"))
	case !shaped:
		return cmp.Or[error](unread, usagef("--shape %s: no column of %s can be read with this shape, found %s",
			text.Shape(in.Shape), path, strings.Join(shapes, ", ")).
			WithHint("give a shape with as many elements as one of these"))
	}
	return nil
}

// checkLabelled returns an error if t, the table at path, needs a column label for --classes.
func (in *Set) checkLabelled(t source.Table, path string) error {
	columns := t.Columns()
	named := func(c source.Column) bool { return c.Classes != nil }
	labels := func(c source.Column) bool { return text.NamesLabels(c.Name) }
	if slices.ContainsFunc(columns, named) || len(in.Splits) > 1 && !slices.ContainsFunc(columns, labels) {
		return nil
	}
	_, unread := Project(t, nil)
	return cmp.Or[error](unread, usagef("--classes %s: %s has no column label, only %s", in.Classes, path,
		source.List(columns)).WithHint("if another column holds the labels, name it with --label-column"))
}

// namesFor returns the names of labels: those of list, from --classes or --dataset, or those that
// are recorded in path if it is nil. A name of another label there is an error: the list may give
// labels new numbers, or new names.
func (in *Set) namesFor(recorded, list []string, path string) ([]string, error) {
	for label, name := range recorded {
		if i := slices.Index(list, name); i >= 0 && i != label && name != "" {
			return nil, usagef("%s: %q is the name of label %d there, and of label %d in %s",
				cmp.Or(in.Classes, in.Dataset), name, i, label, path).
				WithHint("number the names as there, or leave out --classes and --dataset; for other numbers, make " +
					"CSV with --class-column, and convert that with --columns class,image; for names, label,image")
		}
	}
	if list != nil {
		return list, nil
	}
	return recorded, nil
}

// datasetClasses returns the class names of a data set, nil if it is not known.
func datasetClasses(name string) []string {
	d, _ := dataset.Lookup(name) // zero if there is none
	return d.Classes
}

// Project returns t with only the named columns, nil for all, or the error of one of them.
func Project(t source.Table, columns []string) (source.Table, error) {
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
