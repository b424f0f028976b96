package formats

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/columnar"
)

// A chain is several files with the same columns, read one after another. Only the current one is
// open.
type chain struct {
	open    func(path string, o source.ReadOptions) (source.Table, error)
	options source.ReadOptions
	paths   []string
	rows    []int64 // of each file, −1 if only reading to its end can tell
	total   int64   // sum of rows, or −1
	columns []source.Column
	info    source.Info // of the first file, and the notes that the others add while they are read

	table  source.Table // the current file; nil between files
	noted  int          // number of notes that table had when it was opened
	passed int          // number of files that were opened or skipped
	next   int64        // row of the chain that is read next
	skip   int64        // rows to skip at the start of the file that is opened next
}

// openChain opens the files at paths as one table, called name. If the files record their numbers
// of rows, all are opened to check them, and those without rows are left out. Types and shapes that
// a file does not record are assumed to be those of the first file.
func openChain(open func(string, source.ReadOptions) (source.Table, error), paths []string, name string,
	o source.ReadOptions) (source.Table, error) {
	c := &chain{open: open, options: o}
	for i, path := range paths {
		t, err := open(path, c.options)
		if errors.Is(err, columnar.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, err
		}
		rows := t.Rows()
		if rows != 0 {
			if c.paths == nil {
				c.columns, c.options.Like, c.info = slices.Clone(t.Columns()), t.Columns(), source.About(t)
				c.info.SourceRows = 0 // those of all files
			}
			c.paths, c.rows, c.total = append(c.paths, path), append(c.rows, rows), c.total+rows
			err = c.check(path, t)
		}
		if err := errors.Join(err, t.Close()); err != nil {
			return nil, err
		}
		if rows < 0 { // the other files are checked when they are read
			c.paths, c.total = append(c.paths, paths[i+1:]...), -1
			c.rows = append(c.rows, slices.Repeat([]int64{-1}, len(paths)-i-1)...)
			break
		}
	}
	if c.paths == nil { // no file has rows: the first one, or its error, is the result
		return open(paths[0], o)
	}
	for i := range c.columns {
		c.columns[i].Origin = filepath.Base(name)
	}
	return c, nil
}

// check requires the file at path, opened as t, to have the columns of the first file.
func (c *chain) check(path string, t source.Table) error {
	if slices.EqualFunc(t.Columns(), c.columns, source.Column.Same) {
		return nil
	}
	return fault.New(fault.Malformed, "found the columns %s, expected %s as in %s", describe(t.Columns()),
		describe(c.columns), c.paths[0]).In(path).
		WithHint("move the files with other columns away, or give the type of the values with --dtype")
}

// describe lists columns with their types and shapes.
func describe(columns []source.Column) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = fmt.Sprintf("%s (%s, %s)", c.Name, c.DType, display.Shape(c.Shape))
	}
	return strings.Join(list, ", ")
}

func (c *chain) Columns() []source.Column { return c.columns }
func (c *chain) Rows() int64              { return c.total }
func (c *chain) Info() source.Info        { return c.info }

func (c *chain) Read(ctx context.Context, b *source.Raw) error {
	err := source.ReadChained(ctx, b, c.next, c.current, c.Close)
	if err == nil {
		c.next += int64(b.Rows)
	}
	return err
}

func (c *chain) Decode(b *source.Raw) error { return source.DecodeChained(b, c.columns) }

// current returns the current file; it opens the next if there is none, and returns io.EOF at the
// end.
func (c *chain) current() (source.Table, error) {
	if c.table != nil {
		return c.table, nil
	}
	if c.passed == len(c.paths) {
		return nil, io.EOF
	}
	path, rows := c.paths[c.passed], c.rows[c.passed]
	t, err := c.open(path, c.options)
	if err != nil {
		return nil, err
	}
	c.table, c.noted = t, len(source.About(t).Notes)
	c.passed++
	if rows >= 0 && t.Rows() != rows {
		return nil, fault.In(path, fault.Changed)
	}
	if err := c.check(path, t); err != nil {
		return nil, err
	}
	skip := c.skip
	c.skip = 0
	return t, source.Skip(t, skip)
}

// Skip skips n rows. Where it can, it does not open files all of whose rows are skipped.
func (c *chain) Skip(n int64) error {
	if c.table != nil || c.total < 0 {
		return source.Skip(struct{ source.Table }{c}, n)
	}
	c.next += n
	for c.skip += n; c.passed < len(c.paths) && c.skip >= c.rows[c.passed]; c.passed++ {
		c.skip -= c.rows[c.passed]
	}
	return nil
}

// Close closes the current file, and keeps the notes that were added while it was read.
func (c *chain) Close() error {
	if c.table == nil {
		return nil
	}
	t := c.table
	c.table = nil
	c.info.Notes = append(slices.Clip(c.info.Notes), source.About(t).Notes[c.noted:]...)
	return t.Close()
}
