package source

import (
	"context"
	"io"
	"math"

	"github.com/idxport/idxport/internal/fault"
)

// Skip skips the next n rows of t: by its own method if t has one, else by reading them. If
// there are fewer, the error of reading them is io.EOF.
func Skip(t Table, n int64) error {
	if s, ok := t.(interface{ Skip(int64) error }); ok {
		return s.Skip(n)
	}
	found, err := readRows(context.Background(), t, n, nil)
	if err == nil && found < n {
		err = io.EOF
	}
	return err
}

// Each reads t to its end and calls f with each batch, decoded.
func Each(ctx context.Context, t Table, f func(b *Raw) error) error {
	_, err := readRows(ctx, t, math.MaxInt64, f)
	return err
}

// Count returns the number of rows of t, for which it may read t to its end.
func Count(ctx context.Context, t Table) (int64, error) {
	if rows := t.Rows(); rows >= 0 {
		return rows, nil
	}
	return readRows(ctx, t, math.MaxInt64, nil)
}

// readRows reads the next limit rows of t, or those that are left, and returns their number. Unless
// f is nil, it calls f with each batch, decoded.
func readRows(ctx context.Context, t Table, limit int64, f func(b *Raw) error) (n int64, err error) {
	for b := new(Raw); n < limit; n += int64(b.Rows) {
		b.Cap = int(min(limit-n, int64(blockRows(t))))
		if err = t.Read(ctx, b); err == io.EOF {
			return n, nil
		}
		if err == nil && f != nil {
			if err = t.Decode(b); err == nil {
				err = f(b)
			}
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// blockRows returns the number of rows of t that Skip, Count and Each read at a time: about 1 MiB.
func blockRows(t Table) int { return int(max(1, 1<<20/(1+RowSize(t.Columns())))) }

// RowSize returns the number of bytes of a row of the columns.
func RowSize(columns []Column) (size int64) {
	for _, c := range columns {
		size += int64(c.RecordSize())
	}
	return size
}

// sliced is a range of rows of a table.
type sliced struct {
	Table
	first, end int64 // end is the row after the last one
	next       int64
	started    bool
}

// Slice returns the rows first to last−1 of t, which keep their indices. Rows before them are
// skipped, those after them neither read nor checked. If t has fewer rows, it is a fault.Usage.
func Slice(t Table, first, last int64) (Table, error) {
	rows := t.Rows()
	if first < 0 || first > last || rows >= 0 && last > rows {
		return nil, fault.New(fault.Usage, "no such rows: rows %d:%d of %d", first, last, rows)
	}
	limitRows(t, last)
	return &sliced{Table: t, first: first, end: last, next: first}, nil
}

// limitRows tells the IDX files of t that row n and the rows after it will not be read, so that
// those in buckets do not fetch them in advance.
func limitRows(t Table, n int64) {
	switch t := t.(type) {
	case *joined:
		for _, part := range t.tables {
			limitRows(part, n)
		}
	case *derived:
		limitRows(t.Table, n)
	case *IDX:
		if f, ok := t.file.(interface{ Limit(end int64) }); ok && t.stream == nil {
			f.Limit(t.offset(n))
		}
	}
}

func (s *sliced) Rows() int64 { return s.end - s.first }
func (s *sliced) Info() Info  { return About(s.Table) }

func (s *sliced) Read(ctx context.Context, b *Raw) error {
	if !s.started {
		s.started = true
		if err := Skip(s.Table, s.first); err != nil {
			return s.ended(err)
		}
	}
	b.Rows = 0
	if s.next == s.end && s.end != s.Table.Rows() {
		return io.EOF
	} else if s.next == s.end { // after the last row of the table: check its end too
		return s.Table.Read(ctx, b)
	}
	limit := b.Cap
	b.Cap = int(min(int64(limit), s.end-s.next))
	err := s.Table.Read(ctx, b)
	b.Cap, s.next = limit, s.next+int64(b.Rows)
	return s.ended(err)
}

// ended returns err, but an error for rows that do not exist in place of io.EOF.
func (s *sliced) ended(err error) error {
	if err == io.EOF {
		return fault.New(fault.Usage, "no such rows: rows %d:%d, the table has no row %d", s.first, s.end, s.next)
	}
	return err
}
