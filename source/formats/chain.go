package formats

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
)

// A chain is several files of the same columns as one table, one after another. Only the one that is being read is open. It is for partitioned folders, and
// for formats whose files do not tell how many rows they have; those of Arrow and Parquet, which do, have the one of source/columnar.
type chain struct {
	open    func(path string, o source.ReadOptions) (source.Table, error)
	options source.ReadOptions
	paths   []string // of the files that come after the one that is read
	table   source.Table
	columns []source.Column
	notes   []string
	omitted []source.Omission
	meta    map[string]string
	rows    int64 // −1: only reading to the end can tell
	next    int64 // row
	used    int64 // rows of the file that is read, which were skipped
	ended   bool  // the last file too
}

// openChain opens the files at paths as one table, called name. What they cannot tell is taken to be as in the first.
func openChain(open func(string, source.ReadOptions) (source.Table, error), paths []string, name string, o source.ReadOptions) (*chain, error) {
	first, err := open(paths[0], o)
	if err != nil {
		return nil, err
	}
	c := &chain{open: open, options: o, paths: paths[1:], table: first, columns: slices.Clone(first.Columns()),
		notes: source.Notes(first), omitted: source.Omitted(first), meta: source.Meta(first), rows: -1}
	c.options.Like = first.Columns()
	for i := range c.columns {
		c.columns[i].Origin = filepath.Base(name)
	}
	return c, nil
}

// Columns are those of the first file.
func (c *chain) Columns() []source.Column { return c.columns }

// Rows is the number of rows of all files, or −1.
func (c *chain) Rows() int64 { return c.rows }

// Omitted are those of the first file.
func (c *chain) Omitted() []source.Omission { return c.omitted }

// Meta is that of the first file.
func (c *chain) Meta() map[string]string { return c.meta }

// Notes tell what was assumed of the first file.
func (c *chain) Notes() []string { return c.notes }

// Close closes the file that is open.
func (c *chain) Close() error { return c.table.Close() }

// Read reads rows of as many files as it takes.
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
	was := c.table
	c.table, c.paths, c.used = t, c.paths[1:], 0
	if err := was.Close(); err != nil {
		return err
	}
	if !slices.EqualFunc(t.Columns(), c.columns, source.Column.Same) {
		return fault.New(fault.Usage, "found the columns %s, expected %s as in the files before it", described(t.Columns()), described(c.columns)).In(path).
			WithHint("files of one folder must have the same columns; --dtype says of which type values are")
	}
	return nil
}

// described are the names, types and shapes of columns.
func described(columns []source.Column) (text []string) {
	for _, c := range columns {
		text = append(text, fmt.Sprintf("%s %s%v", c.Name, c.DType, c.Shape))
	}
	return text
}

// Skip passes over n rows; io.EOF if there are fewer. Of a file that does not tell where its rows begin, it holds no more than one of them.
func (c *chain) Skip(n int64) error {
	for n > 0 {
		step := int64(1)
		if rows := c.table.Rows(); rows >= 0 {
			step = min(n, rows-c.used)
		}
		err := io.EOF
		if step > 0 {
			err = source.Skip(c.table, step)
		}
		switch {
		case err == nil:
			c.used, c.next, n = c.used+step, c.next+step, n-step
		case err != io.EOF || c.ended:
			return err
		default:
			if err := c.advance(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Decode decodes the rows of each file, and joins them.
func (c *chain) Decode(b *source.Raw) error { return source.DecodeChained(b, c.columns) }
