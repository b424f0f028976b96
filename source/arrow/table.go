package arrow

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/columnar"
	"github.com/idxport/idxport/source/idx"
)

// A Table is a source.Table: the columns of an Arrow file or stream.
type Table struct {
	columnar.Base
	columns []*column
	rows    int64 // −1: unknown

	feed  *feed  // nil when the table is closed
	batch *batch // the record batch that is being read, or nil
	used  int64  // rows of it that were read
	next  int64  // row of the table
}

// OpenFiles opens the files at paths, whose columns must be the same, as one table called name.
func OpenFiles(paths []string, name string, o source.ReadOptions) (source.Table, error) {
	return columnar.OpenFiles(Open, paths, name, o)
}

// Open opens the Arrow file or stream at path. Which of the two it is, is told by its content.
func Open(path string, o source.ReadOptions) (source.Table, error) {
	f, err := source.In(o.Files).Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("is a directory, expected an Arrow file")}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	t := &Table{}
	err = guarded(path, func() (err error) {
		if info.Mode().IsRegular() {
			t.feed, err = openFeed(f, path, info.Size(), &codecs{})
		} else if t.feed, err = newStream(f, path, &codecs{}); err == nil {
			t.feed.file = f
		}
		if err != nil {
			return err
		}
		return t.start(filepath.Base(path), o)
	})
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return t, nil
}

// New reads an Arrow file or stream from r; name stands for it in errors ("-" for standard input). The caller closes r, after the table.
func New(r io.Reader, name string, o source.ReadOptions) (source.Table, error) {
	t := &Table{}
	origin := source.Stdin
	if name != source.Stdin {
		origin = filepath.Base(name)
	}
	err := guarded(name, func() (err error) {
		if t.feed, err = newStream(r, name, &codecs{}); err != nil {
			return err
		}
		return t.start(origin, o)
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// start finds the first record batch that has rows, and out of it and the schema the columns.
func (t *Table) start(origin string, o source.ReadOptions) error {
	schema := t.feed.schema
	t.rows = t.feed.rows
	if err := t.advance(nil, 0); err != nil && err != io.EOF {
		return err
	}
	columns, found, err := resolve(schema, t.batch, origin, o)
	if err != nil {
		return err
	}
	t.columns, t.Base = columns, columnar.NewBase(t.feed.path, found, schema.metadata)
	return t.checkBatch()
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

// Rows is the number of rows, or −1 for what is no plain file.
func (t *Table) Rows() int64 { return t.rows }

// Close closes the file that Open opened.
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
			if note := t.feed.note(); note != "" {
				t.AddNote(note)
			}
			return io.EOF
		}
		if err != nil {
			return fault.In(t.feed.path, err)
		}
		t.batch = b
	}
	return nil
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
