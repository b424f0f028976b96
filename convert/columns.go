package convert

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/dataset"
	"github.com/idxport/idxport/source/idx"
)

// hintLabel is the hint for a float that is not a label.
const hintLabel = "if this column holds no labels, choose the others with --columns"

// scalarLabels returns t, read from the file f, with scalar labels in place of arrays of one
// number, which MedMNIST and MATLAB store.
func scalarLabels(t source.Table, f dataset.File) source.Table {
	columns := slices.Clone(t.Columns())
	for i, c := range columns {
		label := c.Name == dataset.Label.String() || isLabels(f) && len(columns) == 1
		if label && !c.Scalar() && c.Elements() == 1 {
			columns[i].Shape = nil
			return source.WithColumns(t, columns)
		}
	}
	return t
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
	if k, ok := o.labelIndex(); ok && k == 0 && i < 0 { // the labels are no vectors
		i = columnIndex(columns, dataset.Label.String())
	}
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
		t = source.Cast(t, i, idx.Int32, hintLabel)
	}
	return source.ChooseLabel(t, i, classes), nil
}

// otherName returns the first label to which two lists of class names give different names, and
// these names. It is −1 if there is none.
func otherName(a, b []string) (inA, inB string, label int) {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] && a[i] != "" && b[i] != "" {
			return a[i], b[i], i
		}
	}
	return "", "", -1
}

// renumbers returns an error if names, those of --classes, have a name of own, those in the file,
// at another place: labels are numbers already, and would get the names of others.
func (o *inputs) renumbers(path string, own, names []string) error {
	for label, name := range own {
		if i := slices.Index(names, name); i >= 0 && i != label && name != "" {
			return usagef("--classes %s: %q is the name of label %d there, and of label %d in %s", o.Classes, name, i, label, path).
				WithHint("leave out --classes, as the file has names")
		}
	}
	return nil
}

// noLabels returns the error for a flag that needs labels, which the columns do not have.
func noLabels(flag string, columns []source.Column) error {
	if i := columnIndex(columns, dataset.Label.String()); i >= 0 && !columns[i].Scalar() {
		return usagef("%s: the labels have %s each, expected one", flag, display.Count(columns[i].Elements(), "number")).
			WithHint("--label-column 0 chooses the first")
	}
	e := usagef("%s: no column holds labels", flag)
	noLabel := func(c source.Column) bool { return !c.Scalar() || !c.Integer() }
	if names := namesOf(slices.DeleteFunc(slices.Clone(columns), noLabel)); names != nil {
		return e.WithHint("choose one with --label-column: %s", strings.Join(names, ", "))
	}
	return e.WithHint("give the file of the labels too, as label=FILE, or a table with a column of integers called label")
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

// columnIndex returns the index of the column with that name, −1 if there is none.
func columnIndex(columns []source.Column, name string) int {
	return slices.IndexFunc(columns, func(c source.Column) bool { return c.Name == name })
}
