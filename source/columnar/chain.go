package columnar

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
)

// A Base has the methods of a table that describe its columns and its file. Tables embed it.
type Base struct {
	columns []source.Column
	info    source.Info
}

// NewBase returns the Base of the file at path; found is the result of Resolve, and meta the
// metadata of the schema.
func NewBase(path string, found *Table, meta map[string]string) Base {
	b := Base{info: source.Info{Omitted: found.Omitted, Meta: meta}}
	for _, c := range found.Columns {
		b.columns = append(b.columns, c.Column)
	}
	for _, note := range found.Notes {
		b.AddNote(path + ": " + note)
	}
	return b
}

// AddNote adds a note, unless there is an equal one.
func (b *Base) AddNote(note string) {
	if !slices.Contains(b.info.Notes, note) {
		b.info.Notes = append(b.info.Notes, note)
	}
}

// Columns returns the columns of the table. The caller must not change them.
func (b *Base) Columns() []source.Column { return b.columns }

// Info returns the metadata of the schema, the columns of the file that are not in the table, and
// what was assumed or found while the file was opened and read.
func (b *Base) Info() source.Info {
	info := b.info
	info.Notes = slices.Clone(info.Notes)
	return info
}

// An Opener opens the file at path.
type Opener func(path string, o source.ReadOptions) (source.Table, error)

// A chain is a table of several files, one after another. Only the current one is open.
type chain struct {
	Base
	open    Opener
	paths   []string
	rows    []int64 // of each file
	options source.ReadOptions

	table    source.Table // the current file, with the index nextFile−1; nil between files
	noted    int          // number of notes that table had when it was opened
	nextFile int          // index of the file that is opened next
	skip     int64        // rows to skip at the start of that file
	next     int64        // row of the chain that is read next
}

// OpenFiles opens the files at paths, which must have the same columns, as one table with their
// rows in the order of paths. The origin of its columns is name. Files without rows are left out.
// The error for different columns has the kind fault.Malformed.
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
	columns, rows := t.Columns(), t.Rows()
	switch {
	case rows == 0:
		return nil
	case len(c.paths) == 0:
		c.Base = Base{slices.Clone(columns), source.About(t)}
		c.info.SourceRows = 0 // those of all files
		c.options.Like = columns
	default:
		if message := difference(c.columns, columns); message != "" {
			return fault.New(fault.Malformed, "%s as in %s", message, c.paths[0]).In(path).WithHint("move the files with other columns away")
		}
	}
	c.paths, c.rows = append(c.paths, path), append(c.rows, rows)
	return nil
}

// difference returns a message about how found differs from expected, or "".
func difference(expected, found []source.Column) string {
	if len(expected) != len(found) {
		return fmt.Sprintf("found %s, expected %d", display.Count(len(found), "column"), len(expected))
	}
	for i, e := range expected {
		f := found[i]
		if !e.Same(f) {
			return fmt.Sprintf("found the column %s (%s, %s), expected %s (%s, %s)", f.Name, f.DType, display.Shape(f.Shape), e.Name, e.DType, display.Shape(e.Shape))
		}
	}
	return ""
}

// before returns the number of rows of the first n files.
func (c *chain) before(n int) (rows int64) {
	for _, r := range c.rows[:n] {
		rows += r
	}
	return rows
}

// Rows returns the number of rows of all files.
func (c *chain) Rows() int64 { return c.before(len(c.rows)) }

// Read reads the next rows, from as many files as necessary.
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
	path := c.paths[c.nextFile]
	t, err := c.open(path, c.options)
	if err != nil {
		return nil, err
	}
	c.table, c.noted = t, len(source.About(t).Notes)
	if difference(c.columns, t.Columns()) != "" || t.Rows() != c.rows[c.nextFile] {
		return nil, fault.New(fault.Malformed, "the file has changed since it was opened").In(path)
	}
	skip := c.skip
	c.skip = 0
	c.nextFile++
	return t, source.Skip(t, skip)
}

// Close closes the current file, and keeps the notes that were added while it was read.
func (c *chain) Close() error {
	if c.table == nil {
		return nil
	}
	t := c.table
	c.table = nil
	for _, note := range source.About(t).Notes[c.noted:] {
		c.AddNote(note)
	}
	return t.Close()
}

// Decode decodes the rows of each file and joins them.
func (c *chain) Decode(b *source.Raw) error { return source.DecodeChained(b, c.columns) }

// Skip skips n rows. It does not open files all of whose rows are skipped.
func (c *chain) Skip(n int64) error {
	c.next += n
	if c.table != nil {
		left := c.before(c.nextFile) - (c.next - n)
		if n < left {
			return source.Skip(c.table, n)
		}
		if err := c.Close(); err != nil {
			return err
		}
		n -= left
	}
	n += c.skip
	for c.nextFile < len(c.paths) && n >= c.rows[c.nextFile] {
		n -= c.rows[c.nextFile]
		c.nextFile++
	}
	c.skip = n
	return nil
}
