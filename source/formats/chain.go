package formats

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
)

// A chain is several files with the same columns, read one after another. Only the current one is
// open. It is used for formats whose files do not record their number of rows; source/columnar has
// one for Arrow and Parquet.
type chain struct {
	open    func(path string, o source.ReadOptions) (source.Table, error)
	options source.ReadOptions
	paths   []string // of the files after the current one
	table   source.Table
	columns []source.Column
	info    source.Info // of the first file
	next    int64       // row
	ended   bool        // the last file has been read
}

// openChain opens the files at paths as one table, called name. Types and shapes that a file does
// not record are assumed to be those of the first file.
func openChain(open func(string, source.ReadOptions) (source.Table, error), paths []string, name string, o source.ReadOptions) (*chain, error) {
	first, err := open(paths[0], o)
	if err != nil {
		return nil, err
	}
	c := &chain{open: open, options: o, paths: paths[1:], table: first, columns: slices.Clone(first.Columns()),
		info: source.About(first)}
	c.info.SourceRows = -1
	c.options.Like = first.Columns()
	for i := range c.columns {
		c.columns[i].Origin = filepath.Base(name)
	}
	return c, nil
}

// Columns and Info are those of the first file.
func (c *chain) Columns() []source.Column { return c.columns }
func (c *chain) Info() source.Info        { return c.info }

// Rows returns −1: only reading to the end can tell.
func (c *chain) Rows() int64 { return -1 }

// Close closes the current file.
func (c *chain) Close() error { return c.table.Close() }

// Read reads rows from as many files as it needs.
func (c *chain) Read(ctx context.Context, b *source.Raw) error {
	err := source.ReadChained(ctx, b, c.next, c.current, c.advance)
	if err == nil {
		c.next += int64(b.Rows)
	}
	return err
}

func (c *chain) current() (source.Table, error) {
	if c.ended {
		return nil, io.EOF
	}
	return c.table, nil
}

// advance opens the next file. The last stays open.
func (c *chain) advance() error {
	if len(c.paths) == 0 {
		c.ended = true
		return nil
	}
	path := c.paths[0]
	t, err := c.open(path, c.options)
	if err != nil {
		return err
	}
	previous := c.table
	c.table, c.paths = t, c.paths[1:]
	_ = previous.Close() // read-only: an error does not matter
	if !slices.EqualFunc(t.Columns(), c.columns, source.Column.Same) {
		return fault.New(fault.Usage, "found the columns %s, expected %s as in the previous files", described(t.Columns()), described(c.columns)).In(path).
			WithHint("move the files with other columns away, or give the type of the values with --dtype")
	}
	return nil
}

// described returns the names, types and shapes of columns.
func described(columns []source.Column) string {
	var list []string
	for _, c := range columns {
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s %s", c.Name, c.DType, display.Shape(c.Shape))))
	}
	return strings.Join(list, ", ")
}

// Decode decodes the rows of each file and joins them.
func (c *chain) Decode(b *source.Raw) error { return source.DecodeChained(b, c.columns) }
