package source

import (
	"context"
	"errors"
	"io"
)

// pieces are what ReadChained tells DecodeChained: which tables a batch is of, and their rows of it.
type pieces []piece

type piece struct {
	table Table // may be closed: to decode takes no more than what was read
	raw   *Raw
}

// ReadChained reads a batch, whose first row is first, for a table that is several others one after another. current is the one that is read, io.EOF after
// the last; ended is called when it has no more rows.
func ReadChained(ctx context.Context, b *Raw, first int64, current func() (Table, error), ended func() error) error {
	made, _ := b.State.(*pieces)
	if made == nil {
		made = new(pieces)
		b.State = made
	}
	*made = (*made)[:0]
	b.First, b.Rows = first, 0
	for want := max(b.Cap, 1); want > 0; {
		t, err := current()
		if err == io.EOF && b.Rows > 0 {
			break
		}
		if err != nil {
			return err
		}
		raw := b.Part(len(*made))
		raw.Cap = want
		err = t.Read(ctx, raw)
		if err == io.EOF {
			if err := ended(); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		*made = append(*made, piece{t, raw})
		b.Rows += raw.Rows
		want -= raw.Rows
	}
	return nil
}

// DecodeChained decodes a batch that ReadChained read, of the columns that all tables have: the rows of each, joined.
func DecodeChained(b *Raw, columns []Column) error {
	made, ok := b.State.(*pieces)
	if !ok {
		return errors.New("a batch that this table did not read")
	}
	for _, p := range *made {
		if err := p.table.Decode(p.raw); err != nil {
			return err
		}
	}
	if len(b.Columns) != len(columns) {
		b.Columns = make([][]byte, len(columns))
	}
	if len(*made) == 1 {
		copy(b.Columns, (*made)[0].raw.Columns)
		return nil
	}
	for i, column := range columns {
		joined := make([]byte, 0, b.Rows*column.RecordSize())
		for _, p := range *made {
			joined = append(joined, p.raw.Columns[i]...)
		}
		b.Columns[i] = joined
	}
	return nil
}
