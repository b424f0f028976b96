package source

import (
	"context"
	"io"

	"github.com/idxport/idxport/fault"
)

// Skip passes over the next n rows of t: at once if t is a Seeker, else by reading them.
func Skip(t Table, n int64) error {
	if s, ok := t.(Seeker); ok {
		return s.Skip(n)
	}
	b, most := &Raw{}, int64(blockRows(t))
	for n > 0 {
		b.Cap = int(min(n, most))
		if err := t.Read(context.Background(), b); err != nil {
			return err
		}
		n -= int64(b.Rows)
	}
	return nil
}

// skipBlock is about how many bytes Skip and Count read at a time.
const skipBlock = 1 << 20

// blockRows is how many rows of t are about skipBlock bytes.
func blockRows(t Table) int {
	row := 1
	for _, c := range t.Columns() {
		row += c.RecordSize()
	}
	return max(1, skipBlock/row)
}

// sliced is a range of rows of a table.
type sliced struct {
	wrapped
	first, last int64 // half-open
	next        int64
	started     bool
}

// Slice is the rows first to last−1 of t; they keep their indices. What comes before is passed over, without reading where that is possible;
// what comes after is not read and so not checked. It is an error, of the kind fault.Usage, if t has fewer rows.
func Slice(t Table, first, last int64) (Table, error) {
	rows := t.Rows()
	if first < 0 || first > last || rows >= 0 && last > rows {
		return nil, fault.New(fault.Usage, "no such rows: rows %d:%d of %d", first, last, rows)
	}
	Limit(t, last)
	return &sliced{wrapped: wrapped{t}, first: first, last: last, next: first}, nil
}

func (s *sliced) Rows() int64 { return s.last - s.first }

// Limit is about rows of the slice.
func (s *sliced) Limit(n int64) { Limit(s.Table, s.first+n) }

// SourceRows is the number of rows of the table that t is a part of, or its own if it is whole.
func SourceRows(t Table) int64 {
	if part, ok := t.(interface{ SourceRows() int64 }); ok {
		return part.SourceRows()
	}
	return t.Rows()
}

// Skip moves the start on, so that what is left out is still passed over in one go.
func (s *sliced) Skip(n int64) error {
	if n < 0 || n > s.last-s.next {
		return fault.New(fault.Usage, "no such rows: skip %d of %d", n, s.last-s.next)
	}
	if s.started {
		if err := Skip(s.Table, n); err != nil {
			return err
		}
	}
	s.next += n
	return nil
}

func (s *sliced) Read(ctx context.Context, b *Raw) error {
	if !s.started {
		s.started = true
		if err := Skip(s.Table, s.next); err == io.EOF {
			return fault.New(fault.Usage, "no such rows: rows %d:%d, the table ends before row %d", s.first, s.last, s.next)
		} else if err != nil {
			return err
		}
	}
	if s.next == s.last && s.last != s.Table.Rows() {
		b.Rows = 0
		return io.EOF
	}
	if s.next == s.last { // the last row of the table: its end is checked too
		return s.Table.Read(ctx, b)
	}
	limit := b.Cap
	b.Cap = int(min(int64(limit), s.last-s.next))
	err := s.Table.Read(ctx, b)
	b.Cap = limit
	if err == io.EOF {
		return fault.New(fault.Usage, "no such rows: rows %d:%d, the table ends at row %d", s.first, s.last, s.next)
	}
	s.next += int64(b.Rows)
	return err
}
