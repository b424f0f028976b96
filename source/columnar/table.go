package columnar

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"io"
	"slices"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// A File gives the entries of the leaves of a table. A row has one entry of a leaf or, if the leaf
// is a list, one for each element; an empty list counts as one entry.
type File interface {
	// Next returns the next entries of a leaf, at least one. If all of them are among the next skip
	// entries, they need not be read. After the last entry Next returns io.EOF.
	Next(leaf int, skip int64) (*Chunk, error)
	Close() error
}

// A Chunk holds consecutive entries of a leaf: the values of a page, or an array of a record batch.
// They are decoded when they are needed, by whichever goroutine needs them.
type Chunk struct {
	Entries int64
	// Use calls f with n entries, of which from is the first. They are valid until f returns. They
	// may be in dst, which has room for them or is nil. Many goroutines may call Use at once.
	Use func(dst []byte, from, n int, f func(Values) error) error
}

// Values are decoded entries.
type Values struct {
	Data   []byte             // entries of a fixed size
	Number source.NumberKind  // of Data; NoNumber: Data has the elements or records of the column
	Value  func(i int) []byte // if not nil, entry i, of any size; Data is not used then
}

// At returns entry i of n.
func (v *Values) At(i, n int) []byte {
	if v.Value != nil {
		return v.Value(i)
	}
	size := len(v.Data) / n
	return v.Data[i*size:][:size]
}

// ReadAt fills p with the bytes of r at offset. It is an error if r became shorter.
func ReadAt(r io.ReaderAt, p []byte, offset int64) (int, error) {
	n, err := r.ReadAt(p, offset)
	if n == len(p) {
		return n, nil
	} else if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = CutShort("the file became shorter while it was read").At(offset)
	}
	return n, err
}

// Footer returns the footer of the file in r, and its offset, at least head. The file of size bytes
// ends with the footer, of up to most bytes, its length, which has 4 bytes, and magic.
func Footer(r io.ReaderAt, size int64, magic string, head, most int64) (footer []byte, at int64, err error) {
	tail := make([]byte, min(size, int64(4+len(magic))))
	at = size - int64(len(tail))
	if _, err := ReadAt(r, tail, at); err != nil {
		return nil, at, err
	} else if !bytes.HasSuffix(tail, []byte(magic)) || at < head {
		return nil, at, CutShort("found %q, expected a footer and %q: the file is cut short", tail, magic).At(at)
	}
	n := int64(binary.LittleEndian.Uint32(tail))
	if most = min(most, at-head); n > most {
		return nil, at, Damaged("found a footer of %d bytes, expected at most %d", n, most).At(at)
	}
	footer, at = make([]byte, n), at-n
	_, err = ReadAt(r, footer, at)
	return footer, at, err
}

// A leaf is where the table stands in a leaf of the file.
type leaf struct {
	perRow int64 // entries
	chunk  *Chunk
	used   int64 // entries of chunk
}

// A piece is the part of a chunk that belongs to a batch.
type piece struct {
	*Chunk
	from, n int
}

// A table is a source.Table of the columns of a file.
type table struct {
	path    string
	file    File
	columns []Column
	public  []source.Column
	info    source.Info
	leaves  []leaf // of all columns, in order
	next    int64  // row
}

// NewTable returns the table of the columns that were found in the file at path. A column class
// with the names of the labels is no column of the table: it is compared with them.
func NewTable(path string, file File, found *Resolved) source.Table {
	t := &table{path: path, file: file, columns: found.Columns, info: found.Info}
	for _, c := range t.columns {
		t.public = append(t.public, c.Column)
		t.leaves = append(t.leaves, slices.Repeat([]leaf{{perRow: c.Entries}}, len(c.Fields))...)
	}
	label, class := source.Index(t.public, found.names), source.Index(t.public, schema.ClassName)
	if label >= 0 && class >= 0 && label != class && t.public[class].Classes != nil {
		left := source.Omission{Column: schema.ClassName, Type: "text", Why: "it holds the class names"}
		t.info.Omitted = append(t.info.Omitted, left)
		return source.CheckedClasses(t, path, label, class)
	}
	return t
}

func (t *table) Columns() []source.Column { return t.public }
func (t *table) Rows() int64              { return t.info.SourceRows }
func (t *table) Info() source.Info        { return t.info }
func (t *table) Close() error             { return t.file.Close() }

// Skip skips n rows. It does not decode them, and reads chunks only if other rows are in them.
func (t *table) Skip(n int64) error {
	for i := range t.leaves {
		rows, err := t.take(i, n, nil)
		if err == nil && rows < n {
			err = fault.New(fault.Usage, "no such rows: skip %d rows after the last", n-rows)
		}
		if err != nil {
			return fault.In(t.path, err)
		}
	}
	t.next += n
	return nil
}

// Read finds the chunks of the next rows. After the last row, it requires all leaves to end.
func (t *table) Read(ctx context.Context, b *source.Raw) error {
	pieces := make([][]piece, len(t.leaves))
	b.State, b.First, b.Rows = pieces, t.next, 0
	want, known := int64(b.Cap), t.Rows()
	for i := range t.leaves {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows, err := t.take(i, max(want, 1), &pieces[i]) // one more at the end finds those that have not ended
		if early := rows < want && t.next+rows < known; err == nil && (early || i > 0 && rows != want) {
			err = fault.New(fault.Malformed, "found columns of different lengths: row %d is not in all of them",
				t.next+min(rows, want))
		}
		if err != nil {
			// An error in the pieces is the cause: a list of another length moves all after it.
			return fault.In(t.path, cmp.Or(use(pieces[i], nil, 0, func([]byte, int, Values) error { return nil }), err))
		}
		want = rows
	}
	b.Rows = int(want)
	if t.next += want; want == 0 {
		return io.EOF
	}
	empty := slices.IndexFunc(t.columns, func(c Column) bool { return c.Elements() == 0 })
	if rows := max(t.next, known); empty >= 0 && rows > idx.MaxEmptyRecords {
		return fault.New(fault.Malformed, "found %d records without elements, expected at most %d",
			rows, idx.MaxEmptyRecords).In(t.path).InColumn(t.columns[empty].Name)
	}
	return nil
}

// take passes up to n rows of leaf i, and counts them. It adds them to pieces, unless that is nil.
func (t *table) take(i int, n int64, pieces *[]piece) (rows int64, err error) {
	defer fault.Recovered(&err)
	l := &t.leaves[i]
	left, unread := n*l.perRow, int64(0)
	for left > 0 {
		if pieces == nil {
			unread = left
		}
		if l.chunk == nil || l.used == l.chunk.Entries {
			l.chunk, err = t.file.Next(i, unread)
			l.used = 0
		}
		if err == io.EOF {
			break
		} else if err != nil {
			return 0, err
		}
		k := min(left, l.chunk.Entries-l.used)
		if pieces != nil {
			*pieces = append(*pieces, piece{l.chunk, int(l.used), int(k)})
		}
		l.used, left = l.used+k, left-k
	}
	if part := left % l.perRow; part != 0 {
		return 0, fault.New(fault.Malformed, "the last list has %d elements, expected %d as in the first row",
			l.perRow-part, l.perRow)
	}
	return n - left/l.perRow, nil
}

// use calls f with the n entries of each of pieces, and their part of dst, of size bytes for each.
func use(pieces []piece, dst []byte, size int, f func(to []byte, n int, v Values) error) (err error) {
	defer fault.Recovered(&err)
	for _, p := range pieces {
		to := dst[:p.n*size]
		if err := p.Use(to, p.from, p.n, func(v Values) error { return f(to, p.n, v) }); err != nil {
			return err
		}
		dst = dst[len(to):]
	}
	return nil
}

// Decode decodes the chunks and makes the records.
func (t *table) Decode(b *source.Raw) error {
	pieces := b.State.([][]piece)
	b.Allocate(t.public)
	for i := range t.columns {
		c := &t.columns[i]
		if err := c.fill(b.Columns[i], pieces[:len(c.Fields)], b); err != nil {
			return fault.In(t.path, err)
		}
		pieces = pieces[len(c.Fields):]
	}
	return nil
}
