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

// A part is what one record batch gives to a batch of the table.
type part struct {
	batch   *batch
	from, n int64  // rows of the record batch
	at      int    // the first of them in the batch of the table
	fetched bool   // what the rows are made of was read
	works   []work // of every column
}

// A state is what Read tells Decode.
type state struct{ parts []part }

// add makes room for another part, reusing that of earlier ones.
func (s *state) add(columns int) *part {
	if len(s.parts) < cap(s.parts) {
		s.parts = s.parts[:len(s.parts)+1]
	} else {
		s.parts = append(s.parts, part{})
	}
	p := &s.parts[len(s.parts)-1]
	if p.works == nil {
		p.works = make([]work, columns)
	}
	return p
}

// read gathers rows of as many record batches as it takes.
//
// Rows that stand uncompressed in a plain file are read here, each column to its place. Of other record batches Decode makes the rows, on many
// goroutines, but only if no more than one is in memory for it.
func (t *Table) read(b *source.Raw) error {
	s, ok := b.State.(*state)
	if !ok {
		s = &state{}
		b.State = s
	}
	s.parts = s.parts[:0]
	want := int64(b.Cap)
	if t.rows >= 0 {
		want = min(want, t.rows-t.next)
	}
	if len(b.Columns) != len(t.columns) {
		b.Columns = make([][]byte, len(t.columns))
	}
	for i, c := range t.columns {
		b.Columns[i] = source.Grow(b.Columns[i], int(want)*c.RecordSize())
	}
	b.First = t.next
	rows := int64(0)
	for rows < want || rows == 0 { // after the last row too: reading on is how the end is checked
		p, err := t.take(b, s, want-rows)
		if err == io.EOF && (t.rows < 0 || t.next+rows == t.rows) {
			break
		}
		if err == io.EOF || err == nil && p.n == 0 {
			return fault.In(t.feed.path, damaged(unknown, "found other rows than the %d that were counted: it changed while it was read", t.rows))
		}
		if err != nil {
			return err
		}
		p.at = int(rows)
		rows += p.n
		if p.batch.direct() || len(s.parts) > 1 {
			if err := t.fetch(b, p); err != nil {
				return err
			}
		}
	}
	if rows == 0 {
		return io.EOF
	}
	b.Rows = int(rows)
	for i, c := range t.columns {
		b.Columns[i] = b.Columns[i][:b.Rows*c.RecordSize()]
	}
	t.next += rows
	return nil
}

// take adds to s up to most rows of the record batch that is being read, or of the next.
func (t *Table) take(b *source.Raw, s *state, most int64) (*part, error) {
	if t.batch == nil || t.used == t.batch.rows {
		var buf []byte
		if len(s.parts) == 0 {
			buf = b.Input
		} else if first := &s.parts[0]; !first.fetched {
			if err := t.fetch(b, first); err != nil {
				return nil, err
			}
		}
		if err := t.advance(buf, most); err != nil {
			return nil, err
		}
		if t.batch.rows <= most && len(s.parts) == 0 && t.batch.body != nil {
			b.Input = t.batch.body
		}
	}
	if t.used == 0 {
		t.batch.once = t.batch.rows <= most
	}
	p := s.add(len(t.columns))
	p.batch, p.from, p.n, p.fetched = t.batch, t.used, min(most, t.batch.rows-t.used), false
	t.used += p.n
	return p, nil
}

// records is the room for the records of p in column i.
func (t *Table) records(b *source.Raw, p *part, i int) []byte {
	size := t.columns[i].RecordSize()
	return b.Columns[i][p.at*size : (p.at+int(p.n))*size]
}

// fetch reads what the rows of p are made of.
func (t *Table) fetch(b *source.Raw, p *part) error {
	for i, c := range t.columns {
		if err := c.reader.fetch(p.batch, p.from, p.n, &p.works[i], t.records(b, p, i)); err != nil {
			return fault.In(p.batch.path, err)
		}
	}
	p.fetched = true
	return nil
}

// Decode makes the records of what Read has put into b.
func (t *Table) Decode(b *source.Raw) error {
	s, ok := b.State.(*state)
	if !ok || len(s.parts) == 0 {
		return nil
	}
	return guarded(s.parts[0].batch.path, func() error {
		for k := range s.parts {
			p := &s.parts[k]
			if !p.fetched {
				if err := t.fetch(b, p); err != nil {
					return err
				}
			}
			for i, c := range t.columns {
				if err := c.reader.finish(p.batch, p.from, p.n, &p.works[i], t.records(b, p, i)); err != nil {
					return fault.In(p.batch.path, err)
				}
			}
			p.batch = nil // its memory is free once all its rows are made
		}
		s.parts = s.parts[:0]
		return nil
	})
}
