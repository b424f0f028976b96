package compare

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/idxport/idxport/source"
)

// A CountError says that one of two tables has more rows than the other.
type CountError struct {
	Found, Expected int64 // rows; −1 for more than the other has
}

// Error says how many rows were found and expected.
func (e *CountError) Error() string {
	switch {
	case e.Found < 0:
		return fmt.Sprintf("found more than %d rows, expected %[1]d", e.Expected)
	case e.Expected < 0:
		return fmt.Sprintf("found %d rows, expected more", e.Found)
	}
	return fmt.Sprintf("found %d rows, expected %d", e.Found, e.Expected)
}

// pair is two tables side by side.
type pair struct {
	expected, found source.Table
	columns         []source.Column
	from, to        []int // the columns that are compared, in each
	ended           bool
}

// Pair puts the columns from of expected and the columns to of found side by side. Their numbers of rows are compared at once where they are known, and at
// the end where not; the error is a *CountError. The table closes both.
func Pair(expected, found source.Table, from, to []int) (source.Table, error) {
	if a, b := expected.Rows(), found.Rows(); a >= 0 && b >= 0 && a != b {
		return nil, &CountError{Found: b, Expected: a}
	}
	p := &pair{expected: expected, found: found, from: from, to: to}
	for _, i := range from {
		p.columns = append(p.columns, expected.Columns()[i])
	}
	for _, i := range to {
		p.columns = append(p.columns, found.Columns()[i])
	}
	return p, nil
}

func (p *pair) Columns() []source.Column { return p.columns }
func (p *pair) Rows() int64              { return max(p.expected.Rows(), p.found.Rows()) }
func (p *pair) Close() error             { return errors.Join(p.expected.Close(), p.found.Close()) }

// Notes are those of both tables.
func (p *pair) Notes() []string {
	return append(source.Notes(p.expected), source.Notes(p.found)...)
}

func (p *pair) Read(ctx context.Context, b *source.Raw) error {
	if p.ended {
		b.Rows = 0
		return io.EOF
	}
	want, got := b.Part(0), b.Part(1)
	wantErr := p.expected.Read(ctx, want)
	if wantErr != nil && wantErr != io.EOF {
		return wantErr
	}
	gotErr := p.found.Read(ctx, got)
	if gotErr != nil && gotErr != io.EOF {
		return gotErr
	}
	n := min(want.Rows, got.Rows)
	if n == 0 && wantErr == io.EOF && gotErr == io.EOF {
		b.Rows = 0
		return io.EOF
	}
	b.First, b.Rows = want.First, n
	switch {
	case want.Rows > n, wantErr == nil && gotErr == io.EOF: // Read fills its batch, so the other one has ended
		return &CountError{Found: want.First + int64(n), Expected: p.expected.Rows()}
	case got.Rows > n, gotErr == nil && wantErr == io.EOF:
		return &CountError{Found: p.found.Rows(), Expected: got.First + int64(n)}
	}
	return nil
}

func (p *pair) Decode(b *source.Raw) error {
	want, got := b.Part(0), b.Part(1)
	if err := p.expected.Decode(want); err != nil {
		return err
	}
	if err := p.found.Decode(got); err != nil {
		return err
	}
	b.Columns = b.Columns[:0]
	for _, i := range p.from {
		b.Columns = append(b.Columns, want.Columns[i])
	}
	for _, i := range p.to {
		b.Columns = append(b.Columns, got.Columns[i])
	}
	return nil
}
