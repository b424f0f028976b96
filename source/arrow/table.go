package arrow

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
	"github.com/idxport/idxport/source/idx"
)

// A Table is a source.Table: the columns of an Arrow file or stream, or of several, one after another.
type Table struct {
	columns []*column
	public  []source.Column
	meta    map[string]string
	notes   []string
	omitted []source.Omission
	rows    int64 // −1: unknown
	codecs  *codecs
	files   source.Files

	feed   *feed    // nil when the table is closed
	paths  []string // of the files that come after it
	schema *fileSchema
	batch  *batch // the record batch that is being read, or nil
	used   int64  // rows of it that were read
	next   int64  // row of the table
}

// Open opens the Arrow file or stream at path. Which of the two it is, is told by its content.
func Open(path string, o source.ReadOptions) (source.Table, error) {
	return OpenFiles([]string{path}, filepath.Base(path), o)
}

// OpenFiles opens files of the same columns as one table, one after another. name stands for all of them, as the origin of the columns.
func OpenFiles(paths []string, name string, o source.ReadOptions) (source.Table, error) {
	if len(paths) == 0 {
		return nil, fault.In(name, fs.ErrNotExist)
	}
	t := &Table{codecs: &codecs{}, files: source.In(o.Files), paths: paths[1:]}
	var err error
	if t.feed, err = t.open(paths[0]); err != nil {
		return nil, err
	}
	if err := t.start(name, o); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// New reads an Arrow file or stream from r; name stands for it in errors ("-" for standard input). The caller closes r, after the table.
func New(r io.Reader, name string, o source.ReadOptions) (source.Table, error) {
	t := &Table{codecs: &codecs{}}
	err := guarded(name, func() (err error) {
		t.feed, err = newStream(r, name, t.codecs)
		return err
	})
	if err != nil {
		return nil, err
	}
	origin := source.Stdin
	if name != source.Stdin {
		origin = filepath.Base(name)
	}
	if err := t.start(origin, o); err != nil {
		return nil, err
	}
	return t, nil
}

// open opens one file.
func (t *Table) open(path string) (d *feed, err error) {
	f, err := t.files.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("is a directory, expected an Arrow file")}
	}
	if err == nil {
		err = guarded(path, func() (err error) {
			if info.Mode().IsRegular() {
				d, err = openFeed(f, path, info.Size(), t.codecs)
			} else if d, err = newStream(f, path, t.codecs); err == nil {
				d.file = f
			}
			return err
		})
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return d, nil
}

// start finds the first record batch that has rows, and out of it and the schema the columns; and counts the rows.
func (t *Table) start(origin string, o source.ReadOptions) error {
	t.schema, t.meta, t.rows = t.feed.schema, t.feed.schema.metadata, t.feed.rows
	path := t.feed.path
	if err := t.countOthers(); err != nil {
		return err
	}
	return guarded(path, func() error {
		err := t.advance(nil, 0)
		if err != nil && err != io.EOF {
			return err
		}
		columns, found, err := resolve(t.schema, t.batch, origin, o)
		if err != nil {
			return err
		}
		t.columns, t.omitted = columns, found.Omitted
		for _, c := range t.columns {
			t.public = append(t.public, c.Column.Column)
		}
		for _, n := range found.Notes {
			t.notes = append(t.notes, path+": "+n)
		}
		return t.checkBatch()
	})
}

// countOthers opens the files after the first, to compare their schemas and to count their rows.
func (t *Table) countOthers() error {
	for _, path := range t.paths {
		d, err := t.open(path)
		if err != nil {
			return err
		}
		if d.rows < 0 || t.rows < 0 {
			t.rows = unknown
		} else {
			t.rows += d.rows
		}
		if err := errors.Join(t.compare(d), d.close()); err != nil {
			return err
		}
	}
	return nil
}

// compare demands that d has the columns of the first file.
func (t *Table) compare(d *feed) error {
	first, other := t.schema.fields, d.schema.fields
	for i := range max(len(first), len(other)) {
		if i >= len(first) || i >= len(other) || !first[i].equal(&other[i]) {
			return unsupported("", "give files of the same columns, or convert them one by one",
				"found %s, expected %s as in the first file", describe(other, i), describe(first, i)).In(d.path)
		}
	}
	return nil
}

// describe is field i as messages have it.
func describe(fields []field, i int) string {
	if i >= len(fields) {
		return fmt.Sprintf("%d columns", len(fields))
	}
	return fmt.Sprintf("column %d %s of type %v", i, fields[i].name, &fields[i])
}

// guarded is f with its error, or a panic, as one about the file at path.
func guarded(path string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = damaged(unknown, "reading failed: %v", p).In(path)
		}
	}()
	if err = f(); err == io.EOF {
		return err
	}
	return fault.In(path, err)
}

// Columns are those of the table.
func (t *Table) Columns() []source.Column { return t.public }

// Rows is the number of rows, or −1 for what is no plain file.
func (t *Table) Rows() int64 { return t.rows }

// Meta is the metadata of the schema, of the first file.
func (t *Table) Meta() map[string]string { return maps.Clone(t.meta) }

// Notes tell what was assumed.
func (t *Table) Notes() []string { return slices.Clone(t.notes) }

// Omitted are the columns of the file that cannot be columns of IDX.
func (t *Table) Omitted() []source.Omission { return t.omitted }

// Close closes the files that Open or OpenFiles opened.
func (t *Table) Close() error {
	if t.feed == nil {
		return nil
	}
	d := t.feed
	t.feed = nil
	return d.close()
}

// advance moves on to the next record batch that has rows, and loads it, into buf if it has no more than most rows. io.EOF is the end, and no batch.
func (t *Table) advance(buf []byte, most int64) error {
	if err := t.seek(); err != nil {
		return err
	}
	if t.batch.rows > most {
		buf = nil
	}
	return t.load(buf)
}

// seek moves on to the next record batch that has rows.
func (t *Table) seek() error {
	for t.batch == nil || t.used == t.batch.rows {
		t.batch, t.used = nil, 0
		b, err := t.feed.nextBatch()
		if err == io.EOF {
			if note := t.feed.note(); note != "" && !slices.Contains(t.notes, note) {
				t.notes = append(t.notes, note)
			}
			if len(t.paths) == 0 {
				return io.EOF
			}
			err = t.nextFile()
			if err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return fault.In(t.feed.path, err)
		}
		t.batch = b
	}
	return nil
}

// nextFile ends the file that was read, and opens the next.
func (t *Table) nextFile() error {
	d, err := t.open(t.paths[0])
	if err != nil {
		return fault.In(t.paths[0], err)
	}
	old := t.feed
	t.feed, t.paths = d, t.paths[1:]
	return errors.Join(t.compare(d), old.close())
}

// load brings the record batch into memory, if it must be, and checks its arrays.
func (t *Table) load(buf []byte) error {
	if err := t.feed.load(t.batch, buf); err != nil {
		return fault.In(t.feed.path, err)
	}
	return t.checkBatch()
}

// checkBatch checks the arrays of the record batch.
func (t *Table) checkBatch() error {
	if t.batch == nil {
		return nil
	}
	for _, c := range t.columns {
		if c.RecordSize() == 0 && t.next+t.batch.rows > idx.MaxEmptyRecords {
			return fault.In(t.feed.path, damaged(t.batch.offset, "found more than %d records without elements", idx.MaxEmptyRecords).InColumn(c.Name))
		}
		err := c.check(t.batch)
		if r, ok := c.reader.(*encoded); ok && err == nil {
			err = r.check(t.batch)
		}
		if err != nil {
			return fault.In(t.feed.path, err)
		}
	}
	return nil
}

// Skip passes over n rows: whole record batches of plain files are not read.
func (t *Table) Skip(n int64) error {
	if t.feed == nil {
		return fs.ErrClosed
	}
	return guarded(t.feed.path, func() error {
		for n > 0 {
			if err := t.seek(); err == io.EOF {
				return fault.New(fault.Usage, "no such rows: skip %d rows behind the last", n)
			} else if err != nil {
				return err
			}
			step := min(n, t.batch.rows-t.used)
			t.used += step
			t.next += step
			n -= step
		}
		if t.batch != nil && t.used < t.batch.rows {
			return t.load(nil)
		}
		return nil
	})
}

var _ interface {
	source.Table
	source.Seeker
	source.Noter
	source.Described
} = (*Table)(nil)

// Read reads what the next rows are made of.
func (t *Table) Read(ctx context.Context, b *source.Raw) error {
	b.Rows = 0
	if t.feed == nil {
		return fs.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return guarded(t.feed.path, func() error { return t.read(b) })
}
