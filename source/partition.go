package source

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/idxport/idxport/fault"
)

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
			return nil, fault.New(fault.Malformed, "found %s and shape %v, expected integers as in the name of the folder", c.DType, c.Shape).In(path).InColumn(c.Name).
				WithHint("write the table again without the column, or name it differently")
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
			return fault.New(fault.Malformed, "found %d, expected %d as in the name of the folder", v, p.values[i]).
				In(p.path).InColumn(p.keys[i].Name).InRow(b.First + int64(row)).
				WithHint("the file was moved, or its folder renamed: partition the table again")
		}
	}
	return nil
}
