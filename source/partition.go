package source

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// ErrPartition is the sentinel for a value in the name of a folder that cannot be, or is not, that
// of a column.
var ErrPartition = errors.New("not the value of a column")

// A PartitionError says what is wrong with a value in the name of a folder.
type PartitionError struct{ Message, Advice string }

// Error is the message, without the hint.
func (e *PartitionError) Error() string { return e.Message }

// Unwrap returns ErrPartition.
func (e *PartitionError) Unwrap() error { return ErrPartition }

// Hint is what the user can do.
func (e *PartitionError) Hint() string { return e.Advice }

// partition is a table with columns that have one value in all rows.
type partition struct {
	wrapped
	path    string // for errors
	columns []Column
	keys    []Column
	values  []int64 // of each key
	own     []int   // the index of each key among the columns of the table, which then must have that value; −1: it is not there
}

// WithPartition is t, a file at path, whose folders tell the values of columns: of integers, keys,
// with values. Those that t does not have are behind its own; those that it has must have these
// values in all rows.
func WithPartition(t Table, path string, keys []Column, values []int64) (Table, error) {
	p := &partition{wrapped: wrapped{t}, path: path, columns: slices.Clone(t.Columns()), keys: keys, values: values}
	for _, key := range keys {
		own := slices.IndexFunc(t.Columns(), func(c Column) bool { return c.Name == key.Name })
		p.own = append(p.own, own)
		if own < 0 {
			p.columns = append(p.columns, key)
		} else if c := p.columns[own]; !c.Scalar() || !c.Integer() {
			return nil, ErrorIn(path, &PartitionError{fmt.Sprintf("found a column %s of %s and shape %v, expected integers as in the name of the folder", c.Name, c.DType, c.Shape),
				"write the table again without the column, or name it differently"})
		}
	}
	return p, nil
}

func (p *partition) Columns() []Column { return p.columns }

// Read reads rows of the file.
func (p *partition) Read(ctx context.Context, b *Raw) error { return p.readPart(ctx, b) }

// Decode decodes the rows, and fills in the columns that the folders tell.
func (p *partition) Decode(b *Raw) error {
	inner := b.Part(0)
	if err := p.Table.Decode(inner); err != nil {
		return err
	}
	if len(b.Columns) != len(p.columns) {
		b.Columns = make([][]byte, len(p.columns))
	}
	next := copy(b.Columns, inner.Columns[:len(p.Table.Columns())])
	for i, key := range p.keys {
		if p.own[i] >= 0 {
			if err := p.compare(i, inner); err != nil {
				return err
			}
			continue
		}
		var element [8]byte
		binary.LittleEndian.PutUint64(element[:], uint64(p.values[i]))
		b.Columns[next] = b.Columns[next][:0]
		for range b.Rows {
			b.Columns[next] = append(b.Columns[next], element[:key.DType.Size()]...)
		}
		next++
	}
	return nil
}

// compare demands that the file's own column of key i has its value in all rows of b.
func (p *partition) compare(i int, b *Raw) error {
	own := p.own[i]
	for row := range b.Rows {
		if v := Int(p.columns[own].DType, b.Columns[own], row); v != p.values[i] {
			return ErrorIn(p.path, &PartitionError{fmt.Sprintf("row %d: found %s %d, expected %d as in the name of the folder", b.First+int64(row), p.keys[i].Name, v, p.values[i]),
				"the file was moved, or its folder renamed: partition the table again"})
		}
	}
	return nil
}
