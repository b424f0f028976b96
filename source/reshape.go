package source

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/idxport/idxport/source/idx"
)

// Reshape returns t as an array of other dimensions over the same elements in C order; the first
// dimension is the number of rows, and one may be −1. A table of several columns keeps its rows:
// the records of each tensor that has as many elements take the new shape, but those called
// "label". In a table of one column, several rows may become one, of at most limit bytes. The error
// is an idx.ShapeError.
func Reshape(t Table, dims []int, limit int64) (Table, error) {
	columns := slices.Clone(t.Columns())
	if len(columns) == 1 {
		shape, each, err := shapeOver(columns[0], t.Rows(), dims)
		if err != nil {
			return nil, err
		}
		columns[0].Shape = shape
		if size := int64(columns[0].RecordSize()); size > limit && each > 1 {
			return nil, idx.ShapeError("records of %s are too large, expected at most %d bytes", idx.ShapeText(shape), limit)
		}
		if each == 1 {
			return WithColumns(t, columns), nil
		}
		return &regrouped{wrapped: wrapped{t}, columns: columns, each: each}, nil
	}
	fits := false
	var found []string
	for i, c := range columns {
		if c.Scalar() || c.Name == "label" {
			continue
		}
		found = append(found, fmt.Sprintf("%s %s", c.Name, idx.ShapeText(c.Shape)))
		if shape, each, err := shapeOver(c, t.Rows(), dims); err == nil && each == 1 {
			columns[i].Shape, fits = shape, true
		}
	}
	if !fits {
		return nil, idx.ShapeError("no column has %d rows with records of as many elements, found %s", t.Rows(), strings.Join(found, ", "))
	}
	return WithColumns(t, columns), nil
}

// shapeOver is the shape of the records of column c, of rows rows (−1 if that is unknown), seen as an array of dims, and how many of its records are
// one of that shape.
func shapeOver(c Column, rows int64, dims []int) (shape []int, each int64, err error) {
	as := idx.Header{DType: c.DType, Dims: []int64{rows}}
	for _, d := range c.Shape {
		as.Dims = append(as.Dims, int64(d))
	}
	if rows < 0 {
		if dims[0] != -1 {
			return nil, 0, idx.ShapeError("the number of rows is not known in advance, so that the first dimension can only be -1")
		}
		as.Dims, dims = []int64{0}, slices.Concat([]int{0}, dims[1:]) // of no records, any shape that is valid can be made
	}
	if as, err = as.Reshape(dims); err != nil {
		return nil, 0, err
	}
	shape = as.RecordShape()
	in, out := c.Elements(), Column{Shape: shape}.Elements()
	switch {
	case in == out && (rows < 0 || as.Records() == rows):
		return shape, 1, nil
	case in > 0 && out > 0 && out%in == 0:
		return shape, int64(out / in), nil
	}
	return nil, 0, idx.ShapeError("a record of %s has %d elements, which do not make whole records of %s", c.Name, in, idx.ShapeText(shape))
}

// regrouped is a table of one column, each of whose records is several consecutive ones of another table.
type regrouped struct {
	wrapped
	columns []Column
	each    int64 // records of the other table that are one of this
}

func (r *regrouped) Columns() []Column  { return r.columns }
func (r *regrouped) Skip(n int64) error { return Skip(r.Table, n*r.each) }
func (r *regrouped) Limit(n int64)      { Limit(r.Table, n*r.each) }

func (r *regrouped) Rows() int64 { return r.whole(r.Table.Rows()) }

func (r *regrouped) SourceRows() int64 { return r.whole(SourceRows(r.Table)) }

// whole is the number of rows that n rows of the other table make.
func (r *regrouped) whole(n int64) int64 {
	if n < 0 {
		return n
	}
	return n / r.each
}

func (r *regrouped) Read(ctx context.Context, b *Raw) error {
	p := b.Part(0)
	p.Cap = b.Cap * int(r.each)
	err := r.Table.Read(ctx, p)
	b.First, b.Rows = p.First/r.each, int(int64(p.Rows)/r.each)
	if rest := int64(p.Rows) % r.each; err == nil && rest != 0 {
		return idx.ShapeError("the %d elements after record %d do not make another of %s",
			rest*int64(r.Table.Columns()[0].Elements()), b.First+int64(b.Rows), idx.ShapeText(r.columns[0].Shape))
	}
	if err == io.EOF {
		b.Rows = 0
	}
	return err
}

func (r *regrouped) Decode(b *Raw) error {
	p := b.Part(0)
	err := r.Table.Decode(p)
	b.Columns = p.Columns
	return err
}
