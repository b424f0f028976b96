package source

import (
	"context"
	"io"
)

// restated is a table of which something else is said.
type restated struct {
	wrapped
	columns []Column
	rows    int64
	notes   []string
}

// WithColumns is t with other descriptions of the same columns: other names, classes or shapes of as many elements. Notes tell why.
func WithColumns(t Table, columns []Column, notes ...string) Table {
	return &restated{wrapped{t}, columns, t.Rows(), notes}
}

// WithRows is t where its number of rows was found out by other means: see Count.
func WithRows(t Table, rows int64) Table { return &restated{wrapped{t}, t.Columns(), rows, nil} }

func (r *restated) Columns() []Column { return r.columns }
func (r *restated) Rows() int64       { return r.rows }
func (r *restated) Notes() []string   { return append(Notes(r.Table), r.notes...) }

func (r *restated) SourceRows() int64 {
	if n := SourceRows(r.Table); n >= 0 {
		return n
	}
	return r.rows
}

// Count reads t to its end, without decoding, and returns its number of rows.
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
