package source

import (
	"context"
	"fmt"
)

// unstacked makes a column of each element of a column.
type unstacked struct {
	wrapped
	columns []Column
	size    int // of an element, bytes
}

// Unstack makes a scalar column of each element of t's only column, whose records must have as many elements as there are names. The one of index label gets
// the classes. QMNIST's labels are such: eight numbers for each image, the first of which is the class.
func Unstack(t Table, names []string, label int) (Table, error) {
	inner := t.Columns()[0]
	if len(t.Columns()) != 1 || inner.Elements() != len(names) {
		return nil, fmt.Errorf("%s: records of %d elements, expected %d: %v", inner.Origin, inner.Elements(), len(names), names)
	}
	u := &unstacked{wrapped: wrapped{t}, size: inner.DType.Size()}
	for i, name := range names {
		c := Column{Name: name, DType: inner.DType, Origin: inner.Origin}
		if i == label {
			c.Classes = inner.Classes
		}
		u.columns = append(u.columns, c)
	}
	return u, nil
}

func (u *unstacked) Columns() []Column { return u.columns }

func (u *unstacked) Read(ctx context.Context, b *Raw) error { return u.readPart(ctx, b) }

// Decode decodes the records and deals their elements out to the columns.
func (u *unstacked) Decode(b *Raw) error {
	p := b.Part(0)
	if err := u.Table.Decode(p); err != nil {
		return err
	}
	if len(b.Columns) == 0 {
		b.Columns = make([][]byte, len(u.columns))
	}
	record := u.size * len(u.columns)
	for i := range u.columns {
		column := Grow(b.Columns[i], b.Rows*u.size)
		for row := range b.Rows {
			at := row*record + i*u.size
			copy(column[row*u.size:(row+1)*u.size], p.Columns[0][at:at+u.size])
		}
		b.Columns[i] = column
	}
	return nil
}
