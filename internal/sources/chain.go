package sources

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/columnar"
)

// A chain is files with the same columns, read one after another. Only the current one is open.
type chain struct {
	open    func(path string, o source.ReadOptions) (source.Table, error)
	options source.ReadOptions
	paths   []string
	rows    []int64 // of each file, if total is known
	total   int64   // sum of rows, or −1 if only reading to the end can tell
	columns []source.Column
	info    source.Info // of the first file

	table  source.Table // the current file; nil between files
	passed int          // number of files that were opened or skipped
	next   int64        // row of the chain that is read next
}

// openChain opens the files of found as one table. If they record their numbers of rows, all are
// opened to check them, and left out without rows. The first file gives types that another lacks.
func openChain(found Table, o source.ReadOptions) (source.Table, error) {
	c, parts := &chain{open: found.Format.open, options: o}, []string(nil)
	for i, path := range found.Paths {
		t, err := c.open(path, c.options)
		if errors.Is(err, columnar.ErrNoRows) {
			continue
		} else if err != nil {
			return nil, err
		}
		rows, info, applied := t.Rows(), source.About(t), struct{ Part string }{}
		_ = json.Unmarshal([]byte(info.Meta[source.KeyApplied]), &applied) // there may be none
		c.options.FirstLine = cmp.Or(c.options.FirstLine, info.FirstLine)
		parts = append(parts, applied.Part)
		if rows != 0 {
			if c.paths == nil {
				c.columns, c.options.Like, c.info = slices.Clone(t.Columns()), t.Columns(), info
				c.info.SourceRows = 0 // rows of all files
			}
			c.paths, c.rows, c.total = append(c.paths, path), append(c.rows, rows), c.total+rows
			err = c.check(path, t)
		}
		if err := errors.Join(err, t.Close()); err != nil {
			return nil, err
		}
		if rows < 0 { // the other files are checked when they are read
			c.paths, c.total = append(c.paths, found.Paths[i+1:]...), -1
			break
		}
	}
	mixed := len(slices.Compact(slices.Clone(parts))) > 1 // else all files are of one part, or of none
	for i, part := range parts {
		if mixed && part != fmt.Sprintf("%d/%d", i+1, len(parts)) {
			return nil, fault.New(fault.Malformed, "found part %q in file %d of %d, expected all parts in order",
				part, i+1, len(parts)).In(found.Paths[i]).WithHint("write those of one number: --part 1/N to N/N")
		}
	}
	if c.paths == nil { // no file has rows: the first one, or its error, is the result
		return c.open(found.Paths[0], o)
	}
	c.info.AllParts = mixed
	for i := range c.columns {
		c.columns[i].Origin = filepath.Base(found.Path)
	}
	return c, nil
}

// check requires t, if it has rows, to have the columns and classes of the first file.
func (c *chain) check(path string, t source.Table) error {
	info := source.About(t)
	same := func(key string) bool {
		return info.Meta[key] == c.info.Meta[key] || info.Meta[key] == "" && c.options.Classes != nil
	}
	if found, expected := describe(t.Columns(), info), describe(c.columns, c.info); found != expected && t.Rows() != 0 {
		return fault.New(fault.Malformed, "found the columns %s, expected %s as in %s", found, expected, c.paths[0]).
			In(path).WithHint("move this file away, choose the columns that all have with --columns, or give --dtype")
	}
	alike := func(a, b source.Column) bool {
		ok := slices.Equal(a.Classes, b.Classes) || c.options.Classes != nil && (a.Classes == nil || b.Classes == nil)
		return ok && same(source.ClassesKey(a.Name)) && (a.Name != "label" || same(source.KeyDataset))
	}
	if t.Rows() == 0 || slices.EqualFunc(t.Columns(), c.columns, alike) {
		return nil
	}
	return fault.New(fault.Malformed, "found other names of labels than in %s, or none", c.paths[0]).In(path).
		WithHint("write the files again with the same names; or, if this one has none, give them with --classes")
}

// describe lists columns with their types and shapes, and then those that are not read.
func describe(columns []source.Column, info source.Info) string {
	var list []string
	for _, c := range columns {
		list = append(list, fmt.Sprintf("%s (%s, %s)", c.Name, c.DType, text.Shape(c.Shape)))
	}
	for _, left := range info.Omitted {
		if left.Err != nil || left.Type == "text" {
			list = append(list, fmt.Sprintf("%s (%s)", left.Column, left.Type))
		}
	}
	return strings.Join(list, ", ")
}

func (c *chain) Columns() []source.Column { return c.columns }
func (c *chain) Rows() int64              { return c.total }
func (c *chain) Info() source.Info        { return c.info }

// Read reads rows of as many files as fit b, each into a part, and may close them before Decode.
func (c *chain) Read(ctx context.Context, b *source.Raw) (err error) {
	var t source.Table
	tables, _ := b.State.([]source.Table)
	tables = tables[:0]
	b.First, b.Rows = c.next, 0
	for err == nil && b.Rows < b.Cap {
		if t, err = c.current(); err != nil {
			break
		}
		part := b.Part(len(tables))
		part.Cap = b.Cap - b.Rows
		if err = t.Read(ctx, part); err == nil {
			tables, b.Rows = append(tables, t), b.Rows+part.Rows
		} else if err == io.EOF {
			err = c.Close()
		}
	}
	b.State, c.next = tables, c.next+int64(b.Rows)
	if err == io.EOF && b.Rows > 0 {
		return nil
	}
	return err
}

// Decode decodes the parts, and joins the columns of several.
func (c *chain) Decode(b *source.Raw) error {
	tables := b.State.([]source.Table)
	for i, t := range tables {
		if err := t.Decode(b.Part(i)); err != nil {
			return err
		}
	}
	b.Columns = append(b.Columns[:0], b.Part(0).Columns...)
	for k := range b.Columns {
		b.Columns[k] = slices.Clip(b.Columns[k]) // others may be behind it
		for i := range tables[1:] {
			b.Columns[k] = append(b.Columns[k], b.Part(i + 1).Columns[k]...)
		}
	}
	return nil
}

// current returns the current file, opening the next if there is none, or io.EOF at the end.
func (c *chain) current() (source.Table, error) {
	if c.table != nil {
		return c.table, nil
	} else if c.passed == len(c.paths) {
		return nil, io.EOF
	}
	path := c.paths[c.passed]
	t, err := c.open(path, c.options)
	if err != nil {
		return nil, err
	}
	c.table = t
	if c.total >= 0 && t.Rows() != c.rows[c.passed] {
		return nil, fault.ChangedIn(path)
	}
	c.passed++
	return t, c.check(path, t)
}

// Skip skips n rows. Where it can, it does not open files all of whose rows are skipped.
func (c *chain) Skip(n int64) error {
	if c.total < 0 {
		return source.Skip(struct{ source.Table }{c}, n)
	}
	for c.next = n; c.passed < len(c.paths) && n >= c.rows[c.passed]; c.passed++ {
		n -= c.rows[c.passed]
	}
	if n == 0 {
		return nil
	}
	t, err := c.current()
	if err != nil {
		return err
	}
	return source.Skip(t, n)
}

// Close closes the current file.
func (c *chain) Close() (err error) {
	if c.table != nil {
		err, c.table = c.table.Close(), nil
	}
	return err
}
