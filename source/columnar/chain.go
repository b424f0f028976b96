package columnar

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
)

// A Base is what a table of a file, or of several, says beside its rows.
type Base struct {
	columns []source.Column
	notes   []string
	omitted []source.Omission
	meta    map[string]string
}

// NewBase is what was found in the file at path, whose metadata is meta.
func NewBase(path string, found *Table, meta map[string]string) Base {
	b := Base{omitted: found.Omitted, meta: meta}
	for _, c := range found.Columns {
		b.columns = append(b.columns, c.Column)
	}
	for _, note := range found.Notes {
		b.AddNote(path + ": " + note)
	}
	return b
}

// AddNote adds a note that there is not yet.
func (b *Base) AddNote(note string) {
	if !slices.Contains(b.notes, note) {
		b.notes = append(b.notes, note)
	}
}

// Columns are those of the file that can be columns of IDX.
func (b *Base) Columns() []source.Column { return b.columns }

// Notes tell what was assumed.
func (b *Base) Notes() []string { return slices.Clone(b.notes) }

// Omitted are the columns of the file that cannot be columns of IDX.
func (b *Base) Omitted() []source.Omission { return b.omitted }

// Meta is the metadata of the file's schema.
func (b *Base) Meta() map[string]string { return maps.Clone(b.meta) }

// An Opener opens a file.
type Opener func(path string, o source.ReadOptions) (source.Table, error)

// A chain is several files of the same columns, one after another. Only the one that is being read
// is open.
type chain struct {
	Base
	open    Opener
	paths   []string
	rows    []int64 // of each
	options source.ReadOptions

	table source.Table // of the file before at; nil between files
	told  int          // notes of it that are known
	at    int          // index of the file that is read next
	skip  int64        // rows to be skipped of it
	next  int64        // row
}

// OpenFiles opens the files at paths, whose columns must be the same, as one table: their rows in
// the order of paths. name stands for it as the columns' origin. Files without rows are passed over.
func OpenFiles(open Opener, paths []string, name string, o source.ReadOptions) (source.Table, error) {
	if len(paths) == 0 {
		return nil, fault.In(name, fs.ErrNotExist)
	}
	c := &chain{open: open, options: o}
	for _, path := range paths {
		t, err := open(path, c.options)
		if errors.Is(err, ErrNoRows) {
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
		return open(paths[0], o)
	}
	for i := range c.columns {
		c.columns[i].Origin = filepath.Base(name)
	}
	return c, nil
}

// add takes in the file at path, which was opened as t.
func (c *chain) add(path string, t source.Table) error {
	columns, rows := t.Columns(), t.Rows()
	switch {
	case rows == 0:
		return nil
	case rows < 0:
		return unsupported("", "copy it to a file first", "found no regular file among several").In(path)
	case len(c.paths) == 0:
		c.Base = Base{slices.Clone(columns), source.Notes(t), source.Omitted(t), source.Meta(t)}
		c.options.Like = columns
	default:
		if message := difference(c.columns, columns); message != "" {
			return fault.New(fault.Malformed, "%s as in %s", message, c.paths[0]).In(path).WithHint("files of one folder or list must have the same columns")
		}
	}
	c.paths, c.rows = append(c.paths, path), append(c.rows, rows)
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

// before is the number of rows of the first n files.
func (c *chain) before(n int) (rows int64) {
	for _, r := range c.rows[:n] {
		rows += r
	}
	return rows
}

// Rows is the number of rows of all files.
func (c *chain) Rows() int64 { return c.before(len(c.rows)) }

// Read reads rows of as many files as it takes.
func (c *chain) Read(ctx context.Context, b *source.Raw) error {
	err := source.ReadChained(ctx, b, c.next, c.current, c.Close)
	if err == nil {
		c.next += int64(b.Rows)
	}
	return err
}

// current is the file that is read, which is opened if none is; io.EOF after the last.
func (c *chain) current() (source.Table, error) {
	if c.table != nil {
		return c.table, nil
	}
	if c.at == len(c.paths) {
		return nil, io.EOF
	}
	path := c.paths[c.at]
	t, err := c.open(path, c.options)
	if err != nil {
		return nil, err
	}
	c.table, c.told = t, len(source.Notes(t))
	if difference(c.columns, t.Columns()) != "" || t.Rows() != c.rows[c.at] {
		return nil, fault.New(fault.Malformed, "the file has changed since it was opened").In(path)
	}
	skip := c.skip
	c.skip = 0
	c.at++
	return t, source.Skip(t, skip)
}

// Close closes the file that is open, and takes over what it noted while it was read.
func (c *chain) Close() error {
	if c.table == nil {
		return nil
	}
	t := c.table
	c.table = nil
	for _, note := range source.Notes(t)[c.told:] {
		c.AddNote(note)
	}
	return t.Close()
}

// Decode decodes the rows of each file, and joins them.
func (c *chain) Decode(b *source.Raw) error { return source.DecodeChained(b, c.columns) }

// Skip passes over n rows; files that lie within them are not opened.
func (c *chain) Skip(n int64) error {
	c.next += n
	if c.table != nil {
		left := c.before(c.at) - (c.next - n)
		if n < left {
			return source.Skip(c.table, n)
		}
		if err := c.Close(); err != nil {
			return err
		}
		n -= left
	}
	n += c.skip
	for c.at < len(c.paths) && n >= c.rows[c.at] {
		n -= c.rows[c.at]
		c.at++
	}
	c.skip = n
	return nil
}
