package compare

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/pipeline"
	"github.com/idxport/idxport/source"
)

// A Pair has columns of one table, and then their counterparts in another. Closing it closes both.
type Pair struct {
	Missing []string // names of the columns that have no counterpart
	// Lengths is an error of the kind fault.Differs once one table has ended before the other,
	// which their numbers of rows did not show.
	Lengths error

	expected, found source.Table
	columns         []source.Column
	compared        [2][]int // indices of the compared columns of expected and found
	rows            int64    // read from both
}

// NewPair returns expected beside found. The counterpart of a column is the one of the same name,
// or else the only tensor or the only scalar of both tables, whatever its name. If partial, each
// table may have columns that the other lacks, as long as some columns have counterparts. If
// untyped, the names of labels in found may be those of its rows alone.
//
// The error is fault.Differs if the columns differ, with the Origin of one of another shape as its
// path, or if both numbers of rows are known and differ.
func NewPair(expected, found source.Table, partial, untyped bool) (*Pair, error) {
	p := &Pair{expected: expected, found: found}
	if err := p.match(partial, untyped); err != nil {
		return nil, err
	}
	if a, b := expected.Rows(), found.Rows(); a >= 0 && b >= 0 && a != b {
		return nil, countError(b, a)
	}
	return p, nil
}

// match sets the columns of p.
func (p *Pair) match(partial, untyped bool) error {
	expected, found := p.expected.Columns(), p.found.Columns()
	var counterparts []source.Column
	for i, e := range expected {
		k := source.Index(found, e.Name)
		if k < 0 {
			k = onlyOne(expected, found, e)
		}
		if k < 0 && partial {
			p.Missing = append(p.Missing, e.Name)
			continue
		}
		if k < 0 {
			return fault.New(fault.Differs, "found no column %s, only %s", e.Name, source.List(found))
		}
		f := found[k]
		a, b := squeezed(f.Shape), squeezed(e.Shape)
		if f.Elements() != e.Elements() || len(a) > 1 && len(b) > 1 && !slices.Equal(a, b) {
			return fault.New(fault.Differs, "column %s has records of the shape %s, expected %s",
				e.Name, text.Shape(f.Shape), text.Shape(e.Shape)).In(f.Origin)
		}
		for label := range int64(max(len(e.Classes), len(f.Classes))) {
			name, other, listed := e.ClassName(label), f.ClassName(label), f.Classes != nil && !untyped
			if e.Classes != nil && other != name && (other != "" || listed) {
				return fault.New(fault.Differs, "label %d of column %s is named %q, expected %q", label, e.Name,
					other, name).In(f.Origin)
			}
		}
		p.compared[0], p.compared[1] = append(p.compared[0], i), append(p.compared[1], k)
		p.columns, counterparts = append(p.columns, e), append(counterparts, f)
	}
	for k, f := range found {
		if !slices.Contains(p.compared[1], k) && (!partial || counterparts == nil) {
			return fault.New(fault.Differs, "found column %s, which is not in the inputs: they have only %s",
				f.Name, source.List(expected))
		}
	}
	p.columns = append(p.columns, counterparts...)
	return nil
}

// squeezed drops dimensions of 1: Keras has grey images of 28×28×1, PNG files have 28×28.
func squeezed(shape []int) []int {
	return slices.DeleteFunc(slices.Clone(shape), func(n int) bool { return n == 1 })
}

// Columns returns the columns of expected that have counterparts, and then these.
func (p *Pair) Columns() []source.Column { return p.columns }

// Rows returns the number of rows, or −1 if neither table knows it.
func (p *Pair) Rows() int64 { return max(p.expected.Rows(), p.found.Rows()) }

// Close closes both tables.
func (p *Pair) Close() error { return errors.Join(p.expected.Close(), p.found.Close()) }

// Read reads the same number of rows from both tables, at once, as both may be compressed. It ends
// with the shorter one.
func (p *Pair) Read(ctx context.Context, b *source.Raw) error {
	b.Rows = 0
	if p.Lengths != nil {
		return io.EOF
	}
	read := func(table source.Table, raw *source.Raw) error {
		err := table.Read(ctx, raw)
		if err == io.EOF {
			raw.Rows, err = 0, nil
		}
		return err
	}
	want, got := b.Part(0), b.Part(1)
	other := make(chan error, 1)
	go func() { other <- pipeline.Recover(func() error { return read(p.found, got) }) }()
	if err := cmp.Or(read(p.expected, want), <-other); err != nil {
		return err
	}
	b.First, b.Rows = want.First, min(want.Rows, got.Rows)
	p.rows += int64(b.Rows)
	switch { // Read fills its batch, so the table with fewer rows has ended
	case want.Rows > got.Rows:
		p.Lengths = countError(p.rows, p.expected.Rows())
	case want.Rows < got.Rows:
		p.Lengths = countError(p.found.Rows(), p.rows)
	}
	if b.Rows == 0 {
		return io.EOF
	}
	return nil
}

// countError returns the error for different numbers of rows; −1 is unknown, and the greater one.
func countError(found, expected int64) error {
	switch {
	case found < 0:
		return fault.New(fault.Differs, "found more than the expected %s", text.Count(expected, "row"))
	case expected < 0:
		return fault.New(fault.Differs, "found %s, expected more", text.Count(found, "row"))
	}
	return fault.New(fault.Differs, "found %s, expected %s", text.Count(found, "row"), text.Thousands(expected))
}

// Decode decodes both tables; the last batch of one may have more rows than that of the other.
func (p *Pair) Decode(b *source.Raw) error {
	b.Columns = b.Columns[:0]
	for i, table := range []source.Table{p.expected, p.found} {
		raw := b.Part(i)
		if err := table.Decode(raw); err != nil {
			return err
		}
		for _, k := range p.compared[i] {
			b.Columns = append(b.Columns, raw.Columns[k])
		}
	}
	return nil
}

// onlyOne returns the index of the only scalar of found if e is the only scalar of expected, and
// likewise for tensors; −1 if either table has another number of them.
func onlyOne(expected, found []source.Column, e source.Column) int {
	kind := func(c source.Column) bool { return c.Scalar() == e.Scalar() }
	i, k := slices.IndexFunc(expected, kind), slices.IndexFunc(found, kind)
	if k < 0 || slices.ContainsFunc(expected[i+1:], kind) || slices.ContainsFunc(found[k+1:], kind) ||
		source.Index(expected, found[k].Name) >= 0 { // it is the counterpart of another column
		return -1
	}
	return k
}
