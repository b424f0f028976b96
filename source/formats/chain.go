package formats

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

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
	columns []source.Column
	info    source.Info // of the first file, and the notes that the others add while they are read

	table    source.Table // the current file, with the index nextFile−1; nil between files
	noted    int          // number of notes that table had when it was opened
	nextFile int          // index of the file that is opened next
	next     int64        // row of the chain that is read next
	skip     int64        // rows to skip at the start of the file that is opened next
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
			err = c.add(path, t)
		}
		if err := errors.Join(err, t.Close()); err != nil {
			return nil, err
		}
		for _, path := range paths[i+1:] {
			if rows < 0 { // the others are checked when they are read
				c.paths, c.rows = append(c.paths, path), append(c.rows, -1)
			}
		}
		if rows < 0 {
			break
		}
	}
	if len(c.paths) == 0 { // no file has rows: the first one, or its error, is the result
		return open(paths[0], o)
	}
	for i := range c.columns {
		c.columns[i].Origin = filepath.Base(name)
	}
	return c, nil
}

// add adds the file at path, which was opened as t.
func (c *chain) add(path string, t source.Table) error {
	if len(c.paths) == 0 {
		c.columns, c.info = slices.Clone(t.Columns()), source.About(t)
		c.info.SourceRows = 0 // those of all files
		c.options.Like = t.Columns()
	}
	c.paths, c.rows = append(c.paths, path), append(c.rows, t.Rows())
	return c.check(path, t)
}

// check requires the file at path to have the columns of the first one.
func (c *chain) check(path string, t source.Table) error {
	found, message := t.Columns(), ""
	if len(found) != len(c.columns) {
		message = fmt.Sprintf("found %s, expected %d", display.Count(len(found), "column"), len(c.columns))
	}
	for i := 0; i < len(found) && message == ""; i++ {
		if f, e := found[i], c.columns[i]; !e.Same(f) {
			message = fmt.Sprintf("found the column %s (%s, %s), expected %s (%s, %s)",
				f.Name, f.DType, display.Shape(f.Shape), e.Name, e.DType, display.Shape(e.Shape))
		}
	}
	if message == "" {
		return nil
	}
	return fault.New(fault.Malformed, "%s as in %s", message, c.paths[0]).In(path).
		WithHint("move the files with other columns away, or give the type of the values with --dtype")
}

// Columns returns the columns of the first file.
func (c *chain) Columns() []source.Column { return c.columns }

// Info describes the first file, with the notes of all that have been read.
func (c *chain) Info() source.Info {
	info := c.info
	info.Notes = slices.Clone(info.Notes)
	return info
}

// Rows returns the number of rows of all files, or −1.
func (c *chain) Rows() (n int64) {
	for _, rows := range c.rows {
		if n += rows; rows < 0 {
			return -1
		}
	}
	return n
}

// Read reads rows from as many files as it needs.
func (c *chain) Read(ctx context.Context, b *source.Raw) error {
	err := source.ReadChained(ctx, b, c.next, c.current, c.Close)
	if err == nil {
		c.next += int64(b.Rows)
	}
	return err
}

// current returns the current file; it opens the next if there is none, and returns io.EOF at the
// end.
func (c *chain) current() (source.Table, error) {
	if c.table != nil {
		return c.table, nil
	}
	if c.nextFile == len(c.paths) {
		return nil, io.EOF
	}
	path, rows := c.paths[c.nextFile], c.rows[c.nextFile]
	t, err := c.open(path, c.options)
	if err != nil {
		return nil, err
	}
	c.table, c.noted = t, len(source.About(t).Notes)
	c.nextFile++
	if t.Rows() != rows {
		return nil, fault.New(fault.Malformed, "the file has changed since it was opened").In(path)
	}
	if err := c.check(path, t); err != nil {
		return nil, err
	}
	skip := c.skip
	c.skip = 0
	return t, source.Skip(t, skip)
}

// Skip skips n rows. It does not open files all of whose rows are skipped. If the files do not
// record their numbers of rows, it reads them.
func (c *chain) Skip(n int64) error {
	if c.Rows() < 0 {
		return source.Skip(struct{ source.Table }{c}, n)
	}
	end := int64(0) // of the current file
	for _, rows := range c.rows[:c.nextFile] {
		end += rows
	}
	if c.next += n; c.table != nil {
		left := end - (c.next - n)
		if n < left {
			return source.Skip(c.table, n)
		}
		if err := c.Close(); err != nil {
			return err
		}
		n -= left
	}
	for n += c.skip; c.nextFile < len(c.paths) && n >= c.rows[c.nextFile]; c.nextFile++ {
		n -= c.rows[c.nextFile]
	}
	c.skip = n
	return nil
}

// Close closes the current file, and keeps the notes that were added while it was read.
func (c *chain) Close() error {
	if c.table == nil {
		return nil
	}
	t := c.table
	c.table = nil
	for _, note := range source.About(t).Notes[c.noted:] {
		if !slices.Contains(c.info.Notes, note) {
			c.info.Notes = append(c.info.Notes, note)
		}
	}
	return t.Close()
}

// Decode decodes the rows of each file and joins them.
func (c *chain) Decode(b *source.Raw) error { return source.DecodeChained(b, c.columns) }
