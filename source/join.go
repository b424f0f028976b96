package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
)

// joined is several tables side by side.
type joined struct {
	tables   []Table
	columns  []Column
	rows     int64 // number of rows that the table returns; −1 if unknown
	shortest bool
	done     bool // with shortest: a part has no further rows
	notes    []string
}

// Join puts the columns of several tables side by side. Tables of different lengths are an error:
// at once if the lengths are known, and at the end otherwise. With shortest, only the rows that all
// tables have are read instead. Closing the joined table closes its parts.
func Join(shortest bool, tables ...Table) (Table, error) {
	if len(tables) == 1 {
		return tables[0], nil
	}
	j := &joined{tables: tables, shortest: shortest, rows: tables[0].Rows()}
	most := j.rows
	for _, t := range tables {
		for _, c := range t.Columns() {
			if i := Index(j.columns, c.Name); i >= 0 {
				return nil, fault.New(fault.Usage, "two columns have the same name: %q is in %s and in %s", c.Name,
					j.columns[i].Origin, c.Origin).WithHint("give the files of one table, or name them all: NAME=FILE")
			}
			j.columns = append(j.columns, c)
		}
		j.rows, most = min(j.rows, t.Rows()), max(most, t.Rows()) // −1 is unknown
	}
	if j.rows < 0 || j.rows == most {
		return j, nil
	}
	err := j.countsError(nil)
	if !shortest {
		return nil, err
	}
	j.notes = []string{fmt.Sprintf("%v; reading only %s of each", err, text.Count(j.rows, "row"))}
	return j, nil
}

// countsError returns the error for parts of different lengths. b, nil before reading, is the batch
// in which this was found. It has the lengths of parts that do not know their number of rows.
func (j *joined) countsError(b *Raw) error {
	parts := make([]string, len(j.tables))
	for i, t := range j.tables {
		c, rows := t.Columns()[0], t.Rows()
		if rows < 0 {
			rows = b.First + int64(b.Part(i).Rows)
		}
		parts[i] = fmt.Sprintf("%s (%s) has %d", c.Name, c.Origin, rows)
	}
	return fault.New(fault.Malformed, "the columns have different numbers of records: %s", strings.Join(parts, ", ")).
		WithHint("give the files of one split, or choose columns that belong together with --columns")
}

func (j *joined) Columns() []Column { return j.columns }
func (j *joined) Rows() int64       { return j.rows }

// Info has the notes of every part. Parts have no omissions and metadata: each is one column.
func (j *joined) Info() Info {
	info := Info{SourceRows: math.MaxInt64, Notes: slices.Clone(j.notes)}
	for _, t := range j.tables {
		about := About(t)
		info.SourceRows, info.Notes = min(info.SourceRows, about.SourceRows), append(info.Notes, about.Notes...)
	}
	return info
}

// Read reads the same rows of every part.
func (j *joined) Read(ctx context.Context, b *Raw) error {
	b.Rows = 0
	if j.done {
		return io.EOF
	}
	smallest, largest := b.Cap, 0
	for i, t := range j.tables {
		p := b.Part(i)
		if err := t.Read(ctx, p); err != nil && err != io.EOF {
			return err
		}
		smallest, largest = min(smallest, p.Rows), max(largest, p.Rows)
	}
	b.First, b.Rows = b.Part(0).First, smallest
	if smallest < largest && !j.shortest {
		return j.countsError(b)
	}
	j.done = smallest < largest || smallest == 0
	for i, t := range j.tables {
		if n := b.Part(i).Rows; j.done && n == smallest && n > 0 { // let it check its end and complete its notes
			if err := t.Read(ctx, &Raw{Cap: 1}); err != nil && err != io.EOF {
				return err
			}
		}
	}
	if smallest == 0 {
		return io.EOF
	}
	return nil
}

// Decode decodes every part and collects the columns.
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

// Skip skips n rows of every part.
func (j *joined) Skip(n int64) error {
	for _, t := range j.tables {
		if err := Skip(t, n); err != nil {
			return err
		}
	}
	return nil
}

func (j *joined) Close() (err error) {
	for _, t := range j.tables {
		err = errors.Join(err, t.Close())
	}
	return err
}
