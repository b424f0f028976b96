package arrow

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/columnar"
	"github.com/idxport/idxport/source/idx"
)

// A Table is a source.Table of the columns of an Arrow file or stream.
type Table struct {
	columnar.Base
	columns []*column
	rows    int64 // or unknown

	path string
	file io.Closer // nil if the caller of New closes its reader
	feed *feed     // nil once the table is closed

	batch *batch // the current record batch, or nil
	used  int64  // rows of it that were read
	next  int64  // row of the table that is read next
}

var _ interface {
	source.Table
	source.Seeker
} = (*Table)(nil)

// OpenFiles opens the files at paths, which must have the same columns, as one table.
func OpenFiles(paths []string, name string, o source.ReadOptions) (source.Table, error) {
	return columnar.OpenFiles(Open, paths, name, o)
}

// Open opens the Arrow file or stream at path. Errors have one of the kinds of package fault, and
// the path.
func Open(path string, o source.ReadOptions) (source.Table, error) {
	f, info, err := source.OpenFile(o.Files, path, "an Arrow file")
	if err != nil {
		return nil, err
	}
	t := &Table{path: path, file: f}
	if err := t.open(source.Base(path), o, func() *feed { return openFeed(f, info.Size()) }); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return t, nil
}

// New reads an Arrow file or stream from r. Errors call it name, which is "-" for standard input.
// The caller closes r after the table.
func New(r io.Reader, name string, o source.ReadOptions) (source.Table, error) {
	origin := source.Stdin
	if name != source.Stdin {
		origin = source.Base(name)
	}
	t := &Table{path: name}
	if err := t.open(origin, o, func() *feed { return newFeed(r, nil, 0) }); err != nil {
		return nil, err
	}
	return t, nil
}

// open resolves the columns from the schema and the first record batch that has rows.
func (t *Table) open(origin string, o source.ReadOptions, feed func() *feed) error {
	return guarded(t.path, func() {
		t.feed = feed()
		t.rows = t.feed.rows
		if t.advance() {
			t.load(nil)
		}
		columns, found, err := resolve(t.feed, t.batch, origin, o)
		check(err)
		t.columns, t.Base = columns, columnar.NewBase(t.path, found, t.feed.schema.metadata)
		t.checkBatch()
	})
}

// Rows returns the number of rows, or −1 if the input is not a regular file.
func (t *Table) Rows() int64 { return t.rows }

// Close closes the file that Open opened.
func (t *Table) Close() error {
	file := t.file
	t.feed, t.file = nil, nil
	if file == nil {
		return nil
	}
	return file.Close()
}

// advance moves on to the next batch with rows if the current one has no rows left. It returns
// false at the end.
func (t *Table) advance() bool {
	for t.batch == nil || t.used == t.batch.rows {
		t.used = 0
		if t.batch = t.feed.next(); t.batch == nil {
			if s := t.feed.stream; s != nil && s.noEndMark {
				t.AddNote(t.path + ": the stream ends without an end mark; if its writer was stopped, rows are missing")
			}
			return false
		}
		if t.batch.first = t.next; t.batch.rows > maxRows-t.next {
			panic(damaged(t.batch.offset, "found more than %d rows", int64(maxRows)))
		}
	}
	return true
}

// load checks the arrays of the current record batch. Unless the rows are read directly from the
// file, it first reads the batch into memory, into buf if its capacity is large enough.
func (t *Table) load(buf []byte) {
	if t.batch.body == nil && !t.batch.direct() {
		t.batch.load(t.feed.stream, buf)
	}
	t.checkBatch()
}

// checkBatch checks the arrays of the current record batch, if there is one.
func (t *Table) checkBatch() {
	if t.batch == nil {
		return
	}
	for _, c := range t.columns {
		if c.RecordSize() == 0 && t.batch.first+t.batch.rows > idx.MaxEmptyRecords {
			panic(damaged(t.batch.offset, "found more than %d records without elements", idx.MaxEmptyRecords).InColumn(c.Name))
		}
		for _, f := range c.fields {
			if n, _ := t.batch.node(f); n != t.batch.rows {
				panic(damaged(t.batch.offset, "found %d values in a record batch of %d rows", n, t.batch.rows).InColumn(c.Name))
			}
			if t.batch.checkNulls(f, 1); f.Kind != columnar.Dictionary {
				continue
			}
			if x := t.feed.dictionary(t.batch, f); x.number == source.NoNumber && !slices.Equal(x.names, c.Classes) {
				panic(columnar.OtherClasses(c.Name, x.names, c.Classes).At(x.offset))
			}
		}
	}
}

// Skip skips n rows. From a regular file it reads only what it needs.
func (t *Table) Skip(n int64) error {
	if t.feed == nil {
		return fs.ErrClosed
	}
	return guarded(t.path, func() {
		for n > 0 {
			if !t.advance() {
				panic(fault.New(fault.Usage, "no such rows: skip %d rows after the last", n))
			}
			n -= t.take(n)
		}
		if t.batch != nil && t.used < t.batch.rows {
			t.load(nil)
		}
	})
}

// take marks up to limit rows of the current record batch as read, and returns their number.
func (t *Table) take(limit int64) int64 {
	n := min(limit, t.batch.rows-t.used)
	t.used += n
	t.next += n
	return n
}

// Read fills b with the next rows, from as many record batches as necessary.
func (t *Table) Read(ctx context.Context, b *source.Raw) error {
	b.Rows = 0
	if t.feed == nil {
		return fs.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	err := guarded(t.path, func() { t.read(b) })
	if err == nil && b.Rows == 0 {
		return io.EOF
	}
	return err
}

// read gathers the rows itself, except for the last ones if their record batch is in memory: Decode
// gathers those, on many goroutines. So b keeps at most one record batch in memory.
func (t *Table) read(b *source.Raw) {
	left := int64(b.Cap)
	if t.rows != unknown {
		left = min(left, t.rows-t.next)
	}
	g := t.gatherer(b, int(left))
	b.First = t.next
	for left > 0 || b.First == t.next { // after the last row too: reading on checks the end
		if t.batch == nil || t.used == t.batch.rows {
			g.gather(t.columns)
			if t.advance() {
				whole := t.batch.rows <= left // so only b needs the body
				if !whole {
					t.load(nil)
				} else if t.load(b.Input); t.batch.body != nil {
					b.Input = t.batch.body
				}
			} else if t.rows == unknown || t.next == t.rows {
				break
			}
		}
		demand(t.batch != nil && left != 0, unknown, "", "the record batches no longer have the %d rows that were counted: the file changed while it was read", t.rows)
		g.batch, g.from = t.batch, t.used
		g.n = t.take(left)
		left -= g.n
	}
	b.Rows = int(t.next - b.First)
	for i, c := range t.columns {
		b.Columns[i] = b.Columns[i][:b.Rows*c.RecordSize()]
	}
	if g.batch != nil && g.batch.direct() {
		g.gather(t.columns)
	}
}

// gatherer empties and returns the gatherer of b, and gives the columns of b room for n rows.
func (t *Table) gatherer(b *source.Raw, n int) *gatherer {
	g, ok := b.State.(*gatherer)
	if !ok {
		g = &gatherer{arrays: make([][]array, len(t.columns))}
		for i, c := range t.columns {
			g.arrays[i] = make([]array, max(len(c.fields), len(c.fields[0].children)))
		}
		b.State = g
	}
	if len(b.Columns) != len(t.columns) {
		b.Columns = make([][]byte, len(t.columns))
	}
	g.batch = nil
	for i, c := range t.columns {
		b.Columns[i] = source.Grow(b.Columns[i], n*c.RecordSize())
		for k := range g.arrays[i] {
			a := &g.arrays[i][k]
			a.data, a.ends = a.data[:0], a.ends[:0]
		}
		if c.direct {
			g.arrays[i][0].data = b.Columns[i][:0]
		}
	}
	return g
}

// Decode gathers the rows that Read has left to it, and converts all of b to records.
func (t *Table) Decode(b *source.Raw) error {
	g, ok := b.State.(*gatherer)
	if !ok || b.Rows == 0 {
		return nil
	}
	return guarded(t.path, func() {
		g.gather(t.columns)
		for i, c := range t.columns {
			c.convert(b.Columns[i], g.arrays[i], b)
		}
	})
}
