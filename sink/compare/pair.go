package compare

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
)

// A pair is two tables side by side.
type pair struct {
	expected, found               source.Table
	columns                       []source.Column
	expectedColumns, foundColumns []int // the compared columns of expected and found
	next                          int64 // next row
	ended                         bool  // whether at least one table has ended
}

// Pair returns a table with the columns expectedColumns of expected and then the columns
// foundColumns of found. If both numbers of rows are known and differ, the error is fault.Differs.
// If one is unknown, the Sink compares them at the end. Closing the table closes both.
func Pair(expected, found source.Table, expectedColumns, foundColumns []int) (source.Table, error) {
	if a, b := expected.Rows(), found.Rows(); a >= 0 && b >= 0 && a != b {
		return nil, countError(b, a)
	}
	p := &pair{expected: expected, found: found, expectedColumns: expectedColumns, foundColumns: foundColumns}
	for _, i := range expectedColumns {
		p.columns = append(p.columns, expected.Columns()[i])
	}
	for _, i := range foundColumns {
		p.columns = append(p.columns, found.Columns()[i])
	}
	return p, nil
}

func (p *pair) Columns() []source.Column { return p.columns }
func (p *pair) Rows() int64              { return max(p.expected.Rows(), p.found.Rows()) }
func (p *pair) Close() error             { return errors.Join(p.expected.Close(), p.found.Close()) }

// Info returns the notes and warnings of both tables.
func (p *pair) Info() source.Info {
	a, b := source.About(p.expected), source.About(p.found)
	return source.Info{Notes: append(a.Notes, b.Notes...), Warnings: append(a.Warnings, b.Warnings...)}
}

// Read reads the same number of rows from both tables. If one table ends before the other, the last
// batch has what each of them has: the Sink compares the rows that both have, and reports the rest
// in row order like any difference.
func (p *pair) Read(ctx context.Context, b *source.Raw) error {
	b.Rows = 0
	if p.ended {
		return io.EOF
	}
	want, got := b.Part(0), b.Part(1)
	for _, side := range []struct {
		table source.Table
		raw   *source.Raw
	}{{p.expected, want}, {p.found, got}} {
		if err := side.table.Read(ctx, side.raw); err == io.EOF {
			side.raw.Rows = 0
		} else if err != nil {
			return err
		}
	}
	p.ended = want.Rows != got.Rows || want.Rows == 0 // Read fills its batch, so the one with fewer rows has ended
	if want.Rows > 0 {
		p.next = want.First
	}
	b.First, b.Rows = p.next, max(want.Rows, got.Rows)
	p.next += int64(want.Rows)
	if b.Rows == 0 {
		return io.EOF
	}
	if p.ended && schema.Of(p).RowSize() == 0 { // the Sink cannot count rows without bytes
		return lengthError(b.First+int64(min(want.Rows, got.Rows)), want.Rows > got.Rows, p.Rows())
	}
	return nil
}

// lengthError returns the error for two tables of which one has n rows and the other has more.
// foundEnds reports whether the found table is the shorter one. known is the number of rows of the
// longer one, or at most n if it is unknown.
func lengthError(n int64, foundEnds bool, known int64) error {
	if known <= n {
		known = -1
	}
	if foundEnds {
		return countError(n, known)
	}
	return countError(known, n)
}

// countError returns the error for different numbers of rows; −1 is an unknown number that is
// greater than the other.
func countError(found, expected int64) error {
	switch {
	case found < 0:
		return fault.New(fault.Differs, "found more than %s, expected %s", display.Count(expected, "row"), display.Thousands(expected))
	case expected < 0:
		return fault.New(fault.Differs, "found %s, expected more", display.Count(found, "row"))
	}
	return fault.New(fault.Differs, "found %s, expected %s", display.Count(found, "row"), display.Thousands(expected))
}

func (p *pair) Decode(b *source.Raw) error {
	b.Columns = b.Columns[:0]
	for i, side := range []struct {
		table   source.Table
		columns []int
	}{{p.expected, p.expectedColumns}, {p.found, p.foundColumns}} {
		raw := b.Part(i)
		if raw.Rows == 0 { // the table has ended
			b.Columns = append(b.Columns, make([][]byte, len(side.columns))...)
			continue
		}
		if err := side.table.Decode(raw); err != nil {
			return err
		}
		for _, k := range side.columns {
			b.Columns = append(b.Columns, raw.Columns[k])
		}
	}
	return nil
}

// Match returns the counterpart in found of each column of expected: the column of the same name,
// or else the only tensor or the only scalar of both tables, whatever its name. expectedColumns and
// foundColumns are the indices of the counterparts, as [Pair] takes them. If partial, each table
// may have columns that the other lacks, as long as some columns have counterparts; missing has the
// names of those that found lacks. The error is fault.Differs and describes the columns that
// differ.
func Match(expected, found []source.Column, partial bool) (expectedColumns, foundColumns []int, missing []string, err error) {
	matched := map[int]bool{}
	for i, e := range expected {
		k := slices.IndexFunc(found, func(f source.Column) bool { return f.Name == e.Name })
		if k < 0 {
			k = onlyOne(expected, found, e)
		}
		if k < 0 && partial {
			missing = append(missing, e.Name)
			continue
		}
		switch {
		case k < 0:
			return nil, nil, nil, fault.New(fault.Differs, "found no column %s, only %s", e.Name, names(found))
		case found[k].Elements() != e.Elements(), len(found[k].Shape) > 1 && len(e.Shape) > 1 && !slices.Equal(found[k].Shape, e.Shape):
			return nil, nil, nil, fault.New(fault.Differs, "column %s has records of the shape %s, expected %s", e.Name, display.Shape(found[k].Shape), display.Shape(e.Shape))
		}
		expectedColumns, foundColumns, matched[k] = append(expectedColumns, i), append(foundColumns, k), true
	}
	for k, f := range found {
		if !matched[k] && (!partial || len(expectedColumns) == 0) {
			return nil, nil, nil, fault.New(fault.Differs, "found column %s, which is not in the inputs: they have only %s", f.Name, names(expected))
		}
	}
	return expectedColumns, foundColumns, missing, nil
}

// onlyOne returns the index of the only scalar of found if e is the only scalar of expected, and
// likewise for tensors; −1 if either table has another number of them.
func onlyOne(expected, found []source.Column, e source.Column) int {
	kind := func(c source.Column) bool { return c.Scalar() == e.Scalar() }
	k := slices.IndexFunc(found, kind)
	if k < 0 || slices.ContainsFunc(found[k+1:], kind) {
		return -1
	}
	if i := slices.IndexFunc(expected, kind); slices.ContainsFunc(expected[i+1:], kind) {
		return -1
	}
	return k
}

func names(columns []source.Column) string {
	var all []string
	for _, c := range columns {
		all = append(all, c.Name)
	}
	return strings.Join(all, ", ")
}
