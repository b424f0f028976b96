package parquet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/flat"
	"github.com/idxport/idxport/source/idx"
)

// adviceColumns is what to do about a column that cannot be one of IDX.
const adviceColumns = "write the file again without the column"

// A resolver finds out which columns of IDX a file holds.
type resolver struct {
	file    *file
	options source.ReadOptions
	hints   map[string]hint
	classes map[string][]string
	found   []*column // one for each top-level column that is not passed over
	columns []*column
	notes   []string
	omitted []source.Omission
}

// A column is a column of IDX and what it is made of.
type column struct {
	source.Column
	leaves []*leaf
	single bool   // a record is one number: it may be an element of a tensor
	first  int    // index of the first of them among all that are read
	was    string // the type of its elements in the file, if IDX does not have it
	// decode makes the records, of what was read of the leaves.
	decode func(d *decoding) error
}

// resolve finds the columns of f.
func resolve(f *file, o source.ReadOptions) (*resolver, error) {
	r := &resolver{file: f, options: o, hints: f.hints(), classes: source.HubClasses(f.meta)}
	for _, n := range f.root.children {
		if err := r.add(n); err != nil {
			return nil, err
		}
	}
	if err := r.flatten(); err != nil {
		return nil, err
	}
	if len(r.columns) == 0 {
		return nil, unsupported("", "", "found no column that can be one of an IDX file")
	}
	first, names := 0, map[string]bool{}
	for _, c := range r.columns {
		c.first = first
		first += len(c.leaves)
		if names[c.Name] {
			return nil, unsupported(c.Name, "name the columns differently", "found two columns of this name")
		}
		names[c.Name] = true
		n, ok := product(c.Shape)
		if ok && n == 0 && f.rows > idx.MaxEmptyRecords {
			return nil, damaged("found %d records without elements, expected at most %d", f.rows, idx.MaxEmptyRecords).InColumn(c.Name)
		}
		if !ok || int64(n)*int64(c.DType.Size()) > o.MaxRecord() {
			return nil, unsupported(c.Name, adviceLarge, "found records of shape %v of %s, expected at most %d bytes", c.Shape, c.DType, o.MaxRecord())
		}
	}
	return r, nil
}

func (r *resolver) note(message string, values ...any) {
	r.notes = append(r.notes, fmt.Sprintf(message, values...))
}

// omit leaves a column of the file out of the table.
func (r *resolver) omit(name, kind, why string) {
	r.omitted = append(r.omitted, source.Omission{Column: name, Type: kind, Why: why})
	r.note("passed over column %s: %s", name, why)
}

// add finds out what the top-level column n is.
func (r *resolver) add(n *node) error {
	switch {
	case strings.HasPrefix(n.Name, "__index_level_"):
		r.omit(n.Name, "index", "the row numbers of a pandas frame")
		return nil
	case n.isText():
		if n.Name == schema.ClassName {
			r.omit(n.Name, "text", "names of classes")
			return nil
		}
		return unsupported(n.Name, adviceColumns, "found text, expected numbers or images")
	case n.leaf < 0 && n.child("bytes") != nil && n.child("bytes").isBytes():
		return r.addPicture(n, n.child("bytes"))
	case n.leaf < 0 && n.isSparkImage():
		return r.addSpark(n)
	case n.isBytes() && !n.repeated():
		return r.addBytes(n)
	case n.isFixedBytes() && !n.repeated():
		return r.addFixed(n)
	}
	value := n
	for value.leaf < 0 && len(value.children) == 1 {
		value = value.children[0]
	}
	if value.leaf < 0 || value.maxRepetition == 0 && value != n {
		return unsupported(n.Name, adviceColumns, "found %s, expected numbers, lists of numbers, or images", value.describe())
	}
	return r.addNumbers(n, value)
}

// isText tells whether n is text, or documents.
func (n *node) isText() bool {
	if n.leaf < 0 || n.kind() != format.ByteArray {
		return false
	}
	return n.LogicalType.Value != nil || n.ConvertedType.Valid
}

func (n *node) isBytes() bool { return n.leaf >= 0 && n.kind() == format.ByteArray && !n.isText() }

func (n *node) isFixedBytes() bool {
	return n.leaf >= 0 && n.kind() == format.FixedLenByteArray && n.LogicalType.Value == nil && !n.ConvertedType.Valid
}

// push adds c to what was found.
func (r *resolver) push(c *column) { r.found = append(r.found, c) }

// take adds c.
func (r *resolver) take(c *column) {
	if c.was != "" {
		r.note("column %s: %s becomes %s, as IDX has no such type", c.Name, c.was, c.DType)
	}
	r.columns = append(r.columns, c)
}

// addNumbers adds the scalar or the tensor at n, whose values are the leaf value.
func (r *resolver) addNumbers(n, value *node) error {
	l := r.file.newLeaf(value)
	h := r.hints[n.Name]
	if h.permuted != nil {
		return unsupported(n.Name, "write it in C order, without a permutation", "found tensors whose dimensions are permuted: %v", h.permuted)
	}
	dtype, was, err := r.elements(l, n.Name, h)
	if err != nil {
		return err
	}
	c := &column{Column: source.Column{Name: n.Name, DType: dtype}, leaves: []*leaf{l}, was: was, decode: decodeNumbers}
	if l.maxRepetition == 0 {
		if dtype != idx.Float32 && dtype != idx.Float64 {
			c.Classes = r.classes[n.Name]
		}
		c.single = true
		r.push(c)
		return nil
	}
	most := r.options.MaxRecord() / int64(l.element.size)
	first, ok, err := firstRow(l, max(1, most))
	if err != nil {
		return err
	}
	if !ok { // no rows
		if !h.found || len(h.shape) == 0 {
			return untold(n.Name, "lists")
		}
		c.Shape = h.shape
		r.push(c)
		return nil
	}
	l.expect(first.repetition, first.defined)
	l.shape = fmt.Sprintf("the shape %v", first.shape)
	c.Shape = first.shape
	c.Listed = len(c.Shape) == 1 && !(h.found && len(h.shape) > 0)
	if found, _ := product(first.shape); h.found && len(h.shape) > 0 {
		if told, _ := product(h.shape); told == found {
			c.Shape = h.shape
		} else {
			r.note("column %s has lists of shape %v, not %v as its metadata says", n.Name, first.shape, h.shape)
		}
	}
	r.push(c)
	return nil
}

// flatten makes columns of what was found: tensors where there is a scalar for each element.
func (r *resolver) flatten() error {
	names := make([]string, len(r.found))
	for i, c := range r.found {
		names[i] = c.Name
	}
	fields, bad := flat.Group(names, len(names), func(i int) bool {
		h := r.hints[names[i]]
		return !r.found[i].single || h.found && len(h.shape) == 0
	})
	if bad != nil {
		return unsupported("", bad.Hint, "found %s", bad.Msg)
	}
	for _, f := range fields {
		group := make([]*column, len(f.Columns))
		for i, k := range f.Columns {
			group[i] = r.found[k]
		}
		r.group(f, group)
	}
	return nil
}

// group adds the columns of f, as one tensor if they can be that.
func (r *resolver) group(f flat.Field, group []*column) {
	h := r.hints[group[0].Name]
	told, _ := product(h.shape)
	one := group[0].single && len(group) == 1 && h.found && len(h.shape) > 0 && told == 1 // a tensor of one element
	if (f.Shape == nil || !r.alike(f.Name, group)) && !one {
		for _, scalar := range group {
			r.take(scalar)
		}
		return
	}
	c := &column{Column: source.Column{Name: f.Name, DType: group[0].DType, Shape: f.Shape}, decode: decodeFlat}
	for _, scalar := range group {
		c.leaves = append(c.leaves, scalar.leaves...)
		c.was = cmp.Or(c.was, scalar.was)
	}
	switch {
	case one:
		if c.Name = strings.TrimSuffix(c.Name, "0"); c.Name == "pixel" {
			c.Name = flat.Image
		}
		c.Shape = h.shape
	case h.found && told == len(group):
		c.Shape = h.shape
	case f.Guess != "":
		r.note("column %s: %s", c.Name, f.Guess)
	}
	r.take(c)
}

// alike tells whether the columns of group, of the tensor called name, are of one type. Integers of several types are made that, as long as every value fits.
func (r *resolver) alike(name string, group []*column) bool {
	if !slices.ContainsFunc(group, func(c *column) bool { return c.DType != group[0].DType }) {
		return true
	}
	if slices.ContainsFunc(group, func(c *column) bool { return !c.Integer() }) {
		return false
	}
	d := idx.Int32
	if o := r.options.DType; o != 0 && !o.Float() {
		d = o
	}
	for _, c := range group {
		c.leaves[0].become(d)
		c.DType, c.was = d, ""
	}
	r.note("column %s: integers of several types become %s", name, d)
	return true
}
