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
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink/formats"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/dataset"
)

// maxNumbers is the most numbers of a label that --label-column K makes columns of.
const maxNumbers = 4096

// numberAt is the value of --label-column as the index of a number among those of a label.
func (o *inputs) numberAt() (int, bool) {
	k, err := strconv.ParseUint(o.LabelColumn, 10, 31)
	return int(k), err == nil
}

// columnsOf is t, read from the file f, with a column for each number of a label where the data set of s has names for them, or where --label-column
// says which is the label.
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

// chooseLabel is t with the column that --label-column names as its label; classes are those of --classes, or nil.
func (o *inputs) chooseLabel(t source.Table, classes []string) (source.Table, error) {
	columns := t.Columns()
	i := slices.IndexFunc(columns, func(c source.Column) bool { return c.Label }) // the number that it tells, see columnsOf
	if i < 0 {
		i = slices.IndexFunc(columns, func(c source.Column) bool { return c.Name == o.LabelColumn })
	}
	if i < 0 {
		var names []string
		for _, c := range columns {
			names = append(names, c.Name)
		}
		return nil, usagef("--label-column %s: no column is called so, the columns are %s", o.LabelColumn, strings.Join(names, ", "))
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

// noteNumbers tells that the labels beside the images of j are several numbers each, where an output has a place for one of them.
func (o *conversion) noteNumbers(j *job) {
	wants := len(o.outputs) == 0 || slices.ContainsFunc(o.outputs, func(a outputArg) bool {
		return slices.ContainsFunc(a.formats, func(f formats.Format) bool { return usesLabel(o, f) })
	})
	if !wants || j.logical.schema.Label() >= 0 || !slices.ContainsFunc(j.logical.schema.Columns, isImage) {
		return
	}
	for _, c := range j.logical.schema.Columns {
		if c.Name == dataset.Label.String() && len(c.Shape) == 1 && c.Integer() {
			o.report.Note("%s: the labels of %s are %d numbers each, and none is taken for the label: --label-column 0 takes the first", j.base(), c.Origin, c.Elements())
		}
	}
}

// nameClasses puts a column of the names of the classes behind the labels of s.
func nameClasses(s *schema.Schema) error {
	label := s.Label()
	if label < 0 {
		return usagef("--class-column: no column holds labels").
			WithHint("give the file of the labels too, or say which column has them: label=FILE, or --label-column NAME")
	}
	if c := s.Columns[label]; len(c.Classes) == 0 {
		return usagef("--class-column: the classes of column %q have no names", c.Name).
			WithHint("give the names with --classes FILE or --dataset NAME")
	}
	for _, c := range s.Columns { // many readers do not tell capital letters
		if strings.EqualFold(c.Name, schema.ClassName) {
			return usagef("--class-column: a column is called %q already", c.Name).
				WithHint("give it another name: category=FILE")
		}
	}
	s.Classes = schema.NewClasses(s, label)
	return nil
}

// maxLabel is the largest label of a split, found by reading the file of the label column, or −1 if there is none or it can be read only once.
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

// largest is the largest value of column i of t, −1 if that is not of single integers or has no rows.
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
