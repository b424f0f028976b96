package source

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source/idx"
)

// Skip skips the next n rows of t: by its own method if t is a Seeker, else by reading them.
func Skip(t Table, n int64) error {
	if s, ok := t.(Seeker); ok {
		return s.Skip(n)
	}
	return skipReading(t, n)
}

// skipReading skips the next n rows of t by reading them.
func skipReading(t Table, n int64) error {
	b, limit := &Raw{}, int64(blockRows(t))
	for n > 0 {
		b.Cap = int(min(n, limit))
		if err := t.Read(context.Background(), b); err != nil {
			return err
		}
		n -= int64(b.Rows)
	}
	return nil
}

// Each reads t to its end and calls f with each batch, decoded.
func Each(ctx context.Context, t Table, f func(b *Raw) error) error {
	b := &Raw{Cap: blockRows(t)}
	for {
		err := readDecoded(ctx, t, b)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = f(b)
		}
		if err != nil {
			return err
		}
	}
}

// readDecoded reads and decodes the next rows of t.
func readDecoded(ctx context.Context, t Table, b *Raw) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := t.Read(ctx, b); err != nil {
		return err
	}
	return t.Decode(b)
}

// Count returns the number of rows of t. If t does not know it, Count reads t to its end, without
// decoding.
func Count(ctx context.Context, t Table) (int64, error) {
	if n := t.Rows(); n >= 0 {
		return n, nil
	}
	b := &Raw{Cap: blockRows(t)}
	for n := int64(0); ; n += int64(b.Rows) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if err := t.Read(ctx, b); err == io.EOF {
			return n, nil
		} else if err != nil {
			return 0, err
		}
	}
}

// skipBlock is the approximate number of bytes that Skip, Count and Each read at a time.
const skipBlock = 1 << 20

// blockRows returns the number of rows of t that have about skipBlock bytes.
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
	first, end int64 // end is the row after the last one
	next       int64
	started    bool
}

// Slice returns the rows first to last−1 of t, which keep their indices. Rows before them are
// skipped, without reading if possible; rows after them are neither read nor checked. If t has
// fewer rows, the error is of the kind fault.Usage.
func Slice(t Table, first, last int64) (Table, error) {
	rows := t.Rows()
	if first < 0 || first > last || rows >= 0 && last > rows {
		return nil, fault.New(fault.Usage, "no such rows: rows %d:%d of %d", first, last, rows)
	}
	Limit(t, last)
	return &sliced{wrapped: wrapped{t}, first: first, end: last, next: first}, nil
}

func (s *sliced) Rows() int64 { return s.end - s.first }

// Limit counts n from the first row of the slice, not from that of the whole table.
func (s *sliced) Limit(n int64) { Limit(s.Table, s.first+n) }

// Skip only moves the start, if nothing was read yet: the first Read then skips all rows before the
// start.
func (s *sliced) Skip(n int64) error {
	if n < 0 || n > s.end-s.next {
		return fault.New(fault.Usage, "no such rows: skip %d of %d", n, s.end-s.next)
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
			return fault.New(fault.Usage, "no such rows: rows %d:%d, the table ends before row %d", s.first, s.end, s.next)
		} else if err != nil {
			return err
		}
	}
	if s.next == s.end && s.end != s.Table.Rows() {
		b.Rows = 0
		return io.EOF
	}
	if s.next == s.end { // after the last row of the table: check its end too
		return s.Table.Read(ctx, b)
	}
	limit := b.Cap
	b.Cap = int(min(int64(limit), s.end-s.next))
	err := s.Table.Read(ctx, b)
	b.Cap = limit
	if err == io.EOF {
		return fault.New(fault.Usage, "no such rows: rows %d:%d, the table ends at row %d", s.first, s.end, s.next)
	}
	s.next += int64(b.Rows)
	return err
}

// Reshape returns t as an array of other dimensions with the same elements in C order. The first
// dimension is the number of rows. One dimension may be −1: it is computed from the others.
// If t has several columns, its number of rows stays, and the new shape applies to each tensor
// column whose records have as many elements as the new records, except a column named "label". If
// t has one column, several rows may be combined into one of at most limit bytes. Errors are made
// by idx.ShapeError.
func Reshape(t Table, dims []int, limit int64) (Table, error) {
	columns := slices.Clone(t.Columns())
	if len(columns) == 1 {
		shape, perRecord, err := reshapeColumn(columns[0], t.Rows(), dims)
		if err != nil {
			return nil, err
		}
		columns[0].Shape = shape
		if size := int64(columns[0].RecordSize()); size > limit && perRecord > 1 {
			return nil, idx.ShapeError("records of %s are too large, expected at most %d bytes", display.Shape(shape), limit)
		}
		if perRecord == 1 {
			return WithColumns(t, columns), nil
		}
		return &regrouped{newDerived(t, columns, copyColumns), perRecord}, nil
	}
	fits := false
	for i, c := range columns {
		if shape, perRecord, err := reshapeColumn(c, t.Rows(), dims); reshapes(c) && err == nil && perRecord == 1 {
			columns[i].Shape, fits = shape, true
		}
	}
	if !fits {
		return nil, noReshape(t, dims)
	}
	return WithColumns(t, columns), nil
}

// reshapes reports whether c takes other dimensions in a table of several columns.
func reshapes(c Column) bool { return !c.Scalar() && c.Name != "label" }

// noReshape returns the error for a table t of several columns if dims fit none of them. If dims,
// with or without the first one, fit the records of a column, only the number of rows is wrong.
func noReshape(t Table, dims []int) error {
	var found []string
	for _, c := range t.Columns() {
		if !reshapes(c) {
			continue
		}
		found = append(found, fmt.Sprintf("%s %s", c.Name, display.Shape(c.Shape)))
		for _, shape := range [][]int{dims, dims[1:]} {
			if dims[0] != -1 && (Column{Shape: shape}).Elements() == c.Elements() {
				return idx.ShapeError("found %d as the first dimension, expected -1: the number of rows stays", dims[0]).
					WithHint("the first dimension is the number of rows: --reshape -1x%s",
						strings.ReplaceAll(display.Shape(shape), "×", "x"))
			}
		}
	}
	if found == nil {
		found = []string{"single numbers"}
	}
	want := "a scalar"
	if len(dims) > 1 {
		want = display.Shape(dims[1:])
	}
	return idx.ShapeError("no column has as many elements in a record as %s, found %s", want, strings.Join(found, ", "))
}

// reshapeColumn reshapes column c, which has the given number of rows (−1 if unknown), to dims. It
// returns the new shape of one record, and how many old records make one new record.
func reshapeColumn(c Column, rows int64, dims []int) (shape []int, perRecord int64, err error) {
	header := idx.Header{DType: c.DType, Dims: []int64{rows}}
	for _, d := range c.Shape {
		header.Dims = append(header.Dims, int64(d))
	}
	if rows < 0 {
		if dims[0] != -1 {
			return nil, 0, idx.ShapeError("the number of rows is not known in advance, so the first dimension must be -1")
		}
		header.Dims, dims = []int64{0}, slices.Concat([]int{0}, dims[1:]) // zero records can have any valid shape
	}
	if header, err = header.Reshape(dims); err != nil {
		return nil, 0, err
	}
	shape = header.RecordShape()
	in, out := c.Elements(), Column{Shape: shape}.Elements()
	switch {
	case in == out && (rows < 0 || header.Records() == rows):
		return shape, 1, nil
	case in > 0 && out > 0 && out%in == 0:
		return shape, int64(out / in), nil
	}
	return nil, 0, idx.ShapeError("the shape %s has %s, expected a multiple of %d, the elements in a record of column %s", display.Shape(shape), display.Count(out, "element"), in, c.Name)
}

// regrouped is a table of one column, in which several consecutive records of the inner table are
// one record.
type regrouped struct {
	*derived
	perRecord int64 // number of records of the inner table that become one
}

func (r *regrouped) Skip(n int64) error { return Skip(r.Table, n*r.perRecord) }
func (r *regrouped) Limit(n int64)      { Limit(r.Table, n*r.perRecord) }
func (r *regrouped) Rows() int64        { return r.outerRows(r.Table.Rows()) }

func (r *regrouped) Info() Info {
	info := r.derived.Info()
	info.SourceRows = r.outerRows(info.SourceRows)
	return info
}

// outerRows returns how many rows n rows of the inner table become, rounded down.
func (r *regrouped) outerRows(n int64) int64 {
	if n < 0 {
		return n
	}
	return n / r.perRecord
}

func (r *regrouped) Read(ctx context.Context, b *Raw) error {
	p := b.Part(0)
	p.Cap = b.Cap * int(r.perRecord)
	err := r.Table.Read(ctx, p)
	b.First, b.Rows = p.First/r.perRecord, int(int64(p.Rows)/r.perRecord)
	if rest := int64(p.Rows) % r.perRecord; err == nil && rest != 0 {
		return idx.ShapeError("the %d elements after record %d are too few for another record of %s",
			rest*int64(r.Table.Columns()[0].Elements()), b.First+int64(b.Rows), display.Shape(r.columns[0].Shape))
	}
	if err == io.EOF {
		b.Rows = 0
	}
	return err
}
