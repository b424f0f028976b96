package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ErrCounts is the sentinel for columns of different length.
var ErrCounts = errors.New("the columns have different numbers of records")

// A CountsError lists the lengths of columns that do not match.
type CountsError struct {
	Names []string // of the columns with their origin
	Rows  []int64
}

func (e *CountsError) Error() string {
	parts := make([]string, len(e.Names))
	for i, n := range e.Names {
		parts[i] = fmt.Sprintf("%s has %d", n, e.Rows[i])
	}
	return fmt.Sprintf("%v: %s", ErrCounts, strings.Join(parts, ", "))
}

// Unwrap returns ErrCounts.
func (e *CountsError) Unwrap() error { return ErrCounts }

// Hint says what usually happened.
func (e *CountsError) Hint() string {
	return "one of the files is truncated, or they belong to different splits; --salvage takes the rows that all have"
}

// joined is several tables side by side.
type joined struct {
	tables   []Table
	columns  []Column
	rows     int64
	shortest bool
	done     bool // shortest: the shortest table has ended
	notes    []string
}

// Join puts the columns of several tables side by side. Their numbers of rows are compared at once where they are known, and at the end where not. With
// shortest, the rows that all tables have are taken instead. The joined table closes its parts.
func Join(shortest bool, tables ...Table) (Table, error) {
	if len(tables) == 1 {
		return tables[0], nil
	}
	j := &joined{tables: tables, shortest: shortest, rows: tables[0].Rows()}
	same, known := true, true
	seen := map[string]string{}
	for _, t := range tables {
		for _, c := range t.Columns() {
			if other, ok := seen[c.Name]; ok {
				return nil, fmt.Errorf("two columns are called %q: %s and %s", c.Name, other, c.Origin)
			}
			seen[c.Name] = c.Origin
			j.columns = append(j.columns, c)
		}
		same = same && t.Rows() == j.rows
		known = known && t.Rows() >= 0
	}
	switch {
	case !known:
		j.rows = -1
	case !same && !shortest:
		return nil, j.countsError(Table.Rows)
	case !same:
		for _, t := range tables {
			j.rows = min(j.rows, t.Rows())
		}
		j.notes = append(j.notes, fmt.Sprintf("%v; took the %d rows that all have", j.countsError(Table.Rows), j.rows))
	}
	return j, nil
}

func (j *joined) countsError(rows func(Table) int64) *CountsError {
	e := &CountsError{}
	for _, t := range j.tables {
		c := t.Columns()[0]
		e.Names = append(e.Names, fmt.Sprintf("%s (%s)", c.Name, c.Origin))
		e.Rows = append(e.Rows, rows(t))
	}
	return e
}

func (j *joined) Columns() []Column { return j.columns }
func (j *joined) Rows() int64       { return j.rows }

func (j *joined) Notes() []string {
	notes := j.notes
	for _, t := range j.tables {
		notes = append(notes, Notes(t)...)
	}
	return notes
}

// Read reads the same rows of every part.
func (j *joined) Read(ctx context.Context, b *Raw) error {
	if j.done {
		b.Rows = 0
		return io.EOF
	}
	ended, least, most := 0, b.Cap, 0
	for i, t := range j.tables {
		p := b.Part(i)
		err := t.Read(ctx, p)
		switch {
		case errors.Is(err, io.EOF):
			ended++
		case err != nil:
			return err
		}
		least, most = min(least, p.Rows), max(most, p.Rows)
	}
	b.First, b.Rows = b.Part(0).First, least
	if least < most {
		if !j.shortest {
			return j.lengths(b)
		}
		j.done = true
	}
	if least == 0 {
		j.done = true
		return io.EOF
	}
	return nil
}

// lengths is the error for parts that turned out to differ when their end was reached in b.
func (j *joined) lengths(b *Raw) error {
	i := -1
	return j.countsError(func(Table) int64 {
		i++
		p := b.Part(i)
		return p.First + int64(p.Rows)
	})
}

// Decode decodes every part and gathers the columns.
func (j *joined) Decode(b *Raw) error {
	b.Columns = b.Columns[:0]
	for i, t := range j.tables {
		p := b.Part(i)
		if err := t.Decode(p); err != nil {
			return err
		}
		for k, c := range t.Columns() {
			b.Columns = append(b.Columns, p.Columns[k][:b.Rows*c.RecordSize()])
		}
	}
	return nil
}

// Skip skips in every part.
func (j *joined) Skip(n int64) error {
	for _, t := range j.tables {
		if err := Skip(t, n); err != nil {
			return err
		}
	}
	return nil
}

func (j *joined) Close() error {
	var err error
	for _, t := range j.tables {
		err = errors.Join(err, t.Close())
	}
	return err
}
