package csv

import (
	"slices"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/flat"
)

// arrangeLike finds the columns of a file without a header: those that are expected, if they have as many elements as a line has fields, else by the
// number of fields. Scalars come first, as package sink/csv writes them.
func (t *Table) arrangeLike(o source.ReadOptions) error {
	n := 0
	for _, c := range o.Like {
		n += c.Elements()
	}
	if n != t.count || o.Shape != nil {
		return t.arrange(o.Shape)
	}
	if !t.told {
		t.note("no header, as the first line is all numbers")
	}
	for _, scalars := range []bool{true, false} {
		for _, c := range o.Like {
			if c.Scalar() == scalars {
				t.add(flat.Field{Name: c.Name, Shape: c.Shape}, c.Elements())
			}
		}
	}
	return t.checkNames()
}

// takeLike gives f the type and shape of its counterpart among columns: the one of its name, or the only one of its kind. Integers that its type does not
// hold tell the type themselves.
func (t *Table) takeLike(f *field, columns []source.Column) {
	i := slices.IndexFunc(columns, func(c source.Column) bool { return c.Name == f.Name && c.Elements() == f.count })
	if i < 0 && f.count == 1 {
		if i = t.onlyElement(f, columns); i >= 0 {
			f.Name, f.Shape = columns[i].Name, columns[i].Shape
		}
	}
	if i < 0 {
		kind := func(c source.Column) bool { return c.Scalar() == (f.Shape == nil) && c.Elements() == f.count }
		if i = slices.IndexFunc(columns, kind); i >= 0 && slices.ContainsFunc(columns[i+1:], kind) {
			return
		}
	}
	if i < 0 {
		return
	}
	least, most := columns[i].DType.Limits()
	if !columns[i].Integer() || !f.seen.floats && f.seen.min >= float64(least) && f.seen.max <= float64(most) {
		f.dtype = columns[i].DType
	}
	if f.Guess != "" || len(f.Shape) == 1 { // else the header tells the shape
		f.Shape = columns[i].Shape
	}
}

// onlyElement is the index of the tensor among columns whose records have one element, if the header calls that f; −1 if there is none.
func (t *Table) onlyElement(f *field, columns []source.Column) int {
	tensors := 0
	for _, c := range columns {
		if !c.Scalar() {
			tensors++
		}
	}
	return slices.IndexFunc(columns, func(c source.Column) bool {
		called := func(i int) bool { return string(schema.AppendElementName(nil, c, i, tensors == 1)) == f.Name }
		taken := func(other field) bool { return other.Name == c.Name }
		return !c.Scalar() && c.Elements() == 1 && (called(0) || called(1)) && !slices.ContainsFunc(t.fields, taken)
	})
}
