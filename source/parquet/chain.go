package parquet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/columnar"
)

// A chain is several files of one schema, one after another. Only the one that is being read is open.
type chain struct {
	paths   []string
	rows    []int64 // of each
	options source.ReadOptions
	columns []source.Column
	notes   []string
	omitted []source.Omission
	meta    map[string]string

	at   int    // index of the file that is read next
	open *table // nil between files
	skip int64  // rows to be skipped of the next file
	next int64  // row
}

// OpenFiles opens the files at paths, whose columns must be the same, as one table: their rows in the order of paths. name stands for it as the columns'
// origin. Files without rows are passed over.
func OpenFiles(paths []string, name string, o source.ReadOptions) (source.Table, error) {
	c := &chain{options: o}
	for _, path := range paths {
		t, err := open(path, o)
		if errors.Is(err, columnar.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := errors.Join(c.add(path, t), t.Close()); err != nil {
			return nil, err
		}
	}
	if len(c.paths) == 0 { // the first tells why, or has columns but no rows
		if len(paths) == 0 {
			return nil, unsupported("", "", "found no Parquet file").In(name)
		}
		return Open(paths[0], o)
	}
	for i := range c.columns {
		c.columns[i].Origin = filepath.Base(name)
	}
	return c, nil
}

// add takes in the file at path, which was opened as t.
func (c *chain) add(path string, t *table) error {
	if t.Rows() == 0 {
		return nil
	}
	columns := t.Columns()
	if len(c.paths) == 0 {
		c.columns, c.meta, c.notes, c.omitted = columns, t.Meta(), t.Notes(), t.Omitted()
	} else if message := difference(c.columns, columns); message != "" {
		return damaged("%s as in %s", message, c.paths[0]).In(path).WithHint("files of one folder or list must have the same columns")
	}
	c.paths, c.rows = append(c.paths, path), append(c.rows, t.Rows())
	return nil
}

// difference says how found differs from expected, or is empty.
func difference(expected, found []source.Column) string {
	if len(expected) != len(found) {
		return fmt.Sprintf("found %d columns, expected %d", len(found), len(expected))
	}
	for i, e := range expected {
		f := found[i]
		if !e.Same(f) {
			return fmt.Sprintf("found the column %s of %s and shape %v, expected %s of %s and shape %v", f.Name, f.DType, f.Shape, e.Name, e.DType, e.Shape)
		}
	}
	return ""
}

// Columns are those of every file.
func (c *chain) Columns() []source.Column { return c.columns }

// Rows is the number of rows of all files.
func (c *chain) Rows() int64 {
	n := int64(0)
	for _, rows := range c.rows {
		n += rows
	}
	return n
}

// Notes tell what was assumed of the first file.
func (c *chain) Notes() []string { return slices.Clone(c.notes) }

// Omitted are those of the first file.
func (c *chain) Omitted() []source.Omission { return c.omitted }

// Meta is that of the first file.
func (c *chain) Meta() map[string]string { return c.meta }

// Read reads rows of as many files as it takes.
func (c *chain) Read(ctx context.Context, b *source.Raw) error {
	err := source.ReadChained(ctx, b, c.next, c.current, c.close)
	if err == nil {
		c.next += int64(b.Rows)
	}
	return err
}

// current is the file that is read, which is opened if none is; io.EOF after the last.
func (c *chain) current() (source.Table, error) {
	if c.open != nil {
		return c.open, nil
	}
	if c.at == len(c.paths) {
		return nil, io.EOF
	}
	path := c.paths[c.at]
	t, err := open(path, c.options)
	if err != nil {
		return nil, err
	}
	c.open = t
	if message := difference(c.columns, t.Columns()); message != "" || t.Rows() != c.rows[c.at] {
		return nil, damaged("the file has changed since it was opened").In(path)
	}
	skip := c.skip
	c.skip = 0
	c.at++
	return t, t.Skip(skip)
}

func (c *chain) close() error {
	if c.open == nil {
		return nil
	}
	t := c.open
	c.open = nil
	return t.Close()
}

// Decode decodes the rows of each file, and joins them.
func (c *chain) Decode(b *source.Raw) error { return source.DecodeChained(b, c.columns) }

// Skip passes over n rows; files that lie within them are not opened.
func (c *chain) Skip(n int64) error {
	c.next += n
	if c.open == nil {
		n += c.skip
		for c.at < len(c.paths) && n >= c.rows[c.at] {
			n -= c.rows[c.at]
			c.at++
		}
		c.skip = n
		return nil
	}
	left := c.open.Rows() - c.open.next
	if n < left {
		return c.open.Skip(n)
	}
	if err := c.close(); err != nil {
		return err
	}
	c.next -= n - left
	return c.Skip(n - left)
}

// Close closes the file that is open.
func (c *chain) Close() error { return c.close() }
