package source

import (
	"slices"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source/idx"
)

// transformed applies one function to one column of a table.
type transformed struct {
	wrapped
	columns []Column
	column  int
	apply   func(b *Raw)
}

func (t *transformed) Columns() []Column { return t.columns }

func (t *transformed) Decode(b *Raw) error {
	if err := t.Table.Decode(b); err != nil {
		return err
	}
	t.apply(b)
	return nil
}

// Transpose is t with the first two axes of column's records swapped: rows of an image become its columns.
func Transpose(t Table, column int) (Table, error) {
	columns := slices.Clone(t.Columns())
	c := &columns[column]
	if len(c.Shape) < 2 {
		return nil, fault.New(fault.Usage, "transpose: not possible: column %s has records of %d dimensions, expected at least 2", c.Name, len(c.Shape))
	}
	n1, n2 := c.Shape[0], c.Shape[1]
	c.Shape = slices.Clone(c.Shape)
	c.Shape[0], c.Shape[1] = n2, n1
	record := c.RecordSize()
	if record == 0 {
		return &transformed{wrapped: wrapped{t}, columns: columns, column: column, apply: func(*Raw) {}}, nil
	}
	cell := record / (n1 * n2) // bytes that stay together
	apply := func(b *Raw) {
		data := b.Columns[column]
		b.Scratch = Grow(b.Scratch, record)
		for at := 0; at+record <= len(data); at += record {
			transposeRecord(b.Scratch, data[at:at+record], n1, n2, cell)
			copy(data[at:at+record], b.Scratch)
		}
	}
	return &transformed{wrapped: wrapped{t}, columns: columns, column: column, apply: apply}, nil
}

// transposeRecord writes to dst the n1×n2 matrix src, of cells of some bytes, with its axes swapped.
func transposeRecord(dst, src []byte, n1, n2, cell int) {
	if cell == 1 {
		for i := range n1 {
			for j, v := range src[i*n2 : (i+1)*n2] {
				dst[j*n1+i] = v
			}
		}
		return
	}
	for i := range n1 {
		for j := range n2 {
			copy(dst[(j*n1+i)*cell:][:cell], src[(i*n2+j)*cell:])
		}
	}
}

// Invert is t with 255−x for every element x of column, which must be of unsigned bytes: black on white becomes white on black.
func Invert(t Table, column int) (Table, error) {
	columns := t.Columns()
	if c := columns[column]; c.DType != idx.Uint8 {
		return nil, fault.New(fault.Usage, "invert: not possible: column %s is %s, expected uint8", c.Name, c.DType)
	}
	apply := func(b *Raw) {
		for i, v := range b.Columns[column] {
			b.Columns[column][i] = ^v // 255−v
		}
	}
	return &transformed{wrapped: wrapped{t}, columns: columns, column: column, apply: apply}, nil
}
