package columnar

import (
	"context"
	"io"
	"io/fs"
	"slices"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// A File gives the entries of the leaves of a table. A row has one entry of a leaf or, if the leaf
// is a list, one for each element; an empty list counts as one entry.
type File interface {
	// Rows returns the number of rows, or −1 if only reading to the end can tell.
	Rows() int64
	// Next returns the next entries of a leaf. If all of them are among the next skip entries, they
	// need not be read. After the last entry Next returns io.EOF.
	Next(leaf int, skip int64) (*Chunk, error)
	Close() error
}

// A Chunk holds consecutive entries of a leaf: the values of a page, or an array of a record batch.
// They are decoded when they are needed, by whichever goroutine needs them.
type Chunk struct {
	Entries int64
	// Use calls f with n entries, the first of which is entry from of the chunk. The values are
	// valid until f returns. Elements may be decoded into dst, which has room for them or is nil.
	// Many goroutines may call Use at once.
	Use func(dst []byte, from, n int, f func(Values) error) error
	// Data, if not nil, has the entries, as in Values, until the next call of Next for the leaf.
	// Read copies what it needs of them, and Use is nil.
	Data   []byte
	Number source.NumberKind
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

// Recovered, deferred, turns a panic into an error: decoders of other packages may panic on damaged
// data.
func Recovered(err *error) {
	switch p := recover().(type) {
	case nil:
	case *fault.Error:
		*err = p
	default:
		*err = fault.New(fault.Malformed, "the data cannot be decoded: %v", p).
			WithHint("the file is damaged, or its writer has a defect: download or write it again")
	}
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
	copied  []byte // of Chunk.Data
}

// A Table is a source.Table of the columns of a file.
type Table struct {
	path    string
	file    File
	columns []Column
	public  []source.Column
	info    source.Info
	leaves  []leaf // of all columns, in order
	next    int64  // row
	closed  bool
}

var _ interface {
	source.Table
	source.Seeker
} = (*Table)(nil)

// NewTable returns the table of the columns that were found in the file at path, whose schema has
// the metadata meta.
func NewTable(path string, file File, found *Resolved, meta map[string]string) *Table {
	t := &Table{path: path, file: file, columns: found.Columns}
	t.info = source.Info{Omitted: found.Omitted, Decoders: found.Decoders, Meta: meta}
	for i := range t.columns {
		c := &t.columns[i]
		t.public = append(t.public, c.Column)
		t.info.Classes = t.info.Classes || c.texts != nil && c.texts.Names != nil
		for range c.Fields {
			t.leaves = append(t.leaves, leaf{perRow: c.Entries()})
		}
	}
	for i, left := range found.Omitted {
		found.Omitted[i].Err = fault.In(path, left.Err)
	}
	for _, note := range found.Notes {
		t.AddNote(note)
	}
	return t
}

// Columns returns the columns of the table. The caller must not change them.
func (t *Table) Columns() []source.Column { return t.public }

// Rows returns the number of rows, or −1.
func (t *Table) Rows() int64 { return t.file.Rows() }

// Info returns the metadata of the schema, the columns of the file that are not in the table, and
// what was assumed or found while the file was opened and read.
func (t *Table) Info() source.Info {
	info := t.info
	info.Notes = slices.Clone(info.Notes)
	return info
}

// AddNote adds a note about the file, unless there is an equal one.
func (t *Table) AddNote(note string) {
	if note = t.path + ": " + note; !slices.Contains(t.info.Notes, note) {
		t.info.Notes = append(t.info.Notes, note)
	}
}

// Close closes the file.
func (t *Table) Close() error {
	if t.closed {
		return nil
	}
	t.closed = true
	return t.file.Close()
}

// advance ensures that leaf i has a chunk with entries left. The next skip entries are not needed.
func (t *Table) advance(i int, skip int64) (err error) {
	defer Recovered(&err)
	for l := &t.leaves[i]; l.chunk == nil || l.used == l.chunk.Entries; {
		if l.chunk, err = t.file.Next(i, skip); err != nil {
			l.chunk = nil
			return err
		}
		l.used = 0
	}
	return nil
}

// Skip skips n rows. It does not decode them, and reads chunks only if other rows are in them.
func (t *Table) Skip(n int64) error {
	if t.closed {
		return fs.ErrClosed
	}
	for i := range t.leaves {
		l := &t.leaves[i]
		for left := n * l.perRow; left > 0; {
			err := t.advance(i, left)
			if err == io.EOF {
				err = fault.New(fault.Usage, "no such rows: skip %d rows after the last", (left+l.perRow-1)/l.perRow)
			}
			if err != nil {
				return fault.In(t.path, err)
			}
			k := min(left, l.chunk.Entries-l.used)
			l.used, left = l.used+k, left-k
		}
	}
	t.next += n
	return nil
}

// Read finds the chunks of the next rows. After the last row, it requires all leaves to end.
func (t *Table) Read(ctx context.Context, b *source.Raw) error {
	pieces, _ := b.State.([][]piece)
	if len(pieces) != len(t.leaves) {
		pieces = make([][]piece, len(t.leaves))
	}
	b.State, b.First, b.Rows = pieces, t.next, 0
	if t.closed {
		return fs.ErrClosed
	}
	want, known := int64(max(b.Cap, 1)), t.Rows()
	for i := range t.leaves {
		if err := ctx.Err(); err != nil {
			return err
		}
		var rows int64
		var err error
		pieces[i], rows, err = t.take(i, want, pieces[i])
		if err == nil && rows == 0 && i > 0 { // the others have ended, too
			if err = t.advance(i, 0); err == nil {
				rows = -1
			} else if err == io.EOF {
				err = nil
			}
		}
		if err == nil && rows < want && (i > 0 || t.next+rows < known) {
			err = fault.New(fault.Malformed, "found columns of different lengths: row %d is not in all of them",
				t.next+max(0, rows))
		}
		if err != nil {
			return fault.In(t.path, t.earlier(pieces[i], err))
		}
		want = rows
	}
	b.Rows = int(want)
	if t.next += want; want == 0 {
		return io.EOF
	}
	return nil
}

// take returns the pieces of up to n rows of leaf i, in memory that it may reuse, and the number of
// rows.
func (t *Table) take(i int, n int64, reused []piece) (pieces []piece, rows int64, err error) {
	l := &t.leaves[i]
	for i := range reused {
		reused[i].Chunk = nil // of earlier rows
	}
	pieces = reused[:0]
	left := n * l.perRow
	for left > 0 {
		if err := t.advance(i, 0); err == io.EOF {
			break
		} else if err != nil {
			return pieces, 0, err
		}
		k := min(left, l.chunk.Entries-l.used)
		var copied []byte
		if len(pieces) < cap(pieces) {
			copied = pieces[:len(pieces)+1][len(pieces)].copied
		}
		size := int64(len(l.chunk.Data)) / l.chunk.Entries
		copied = append(copied[:0], l.chunk.Data[l.used*size:][:k*size]...)
		pieces = append(pieces, piece{l.chunk, int(l.used), int(k), copied})
		l.used, left = l.used+k, left-k
	}
	if part := left % l.perRow; part != 0 {
		return pieces, 0, fault.New(fault.Malformed, "the last list has %d elements, expected %d as in the first row",
			l.perRow-part, l.perRow)
	}
	return pieces, n - left/l.perRow, nil
}

// earlier returns the first error in pieces, or err if they have none. A list of another length
// moves all rows after it, so that err may only be a consequence.
func (t *Table) earlier(pieces []piece, err error) error {
	if k := fault.KindOf(err); k != fault.Malformed && k != fault.Unsupported {
		return err
	}
	for _, p := range pieces {
		if found := p.use(nil, func(Values) error { return nil }); found != nil {
			return found
		}
	}
	return err
}

// use calls f with the values of p.
func (p *piece) use(dst []byte, f func(Values) error) (err error) {
	defer Recovered(&err)
	if p.Use == nil {
		return f(Values{Data: p.copied, Number: p.Number})
	}
	return p.Use(dst, p.from, p.n, f)
}

// Decode decodes the chunks and makes the records.
func (t *Table) Decode(b *source.Raw) error {
	pieces, ok := b.State.([][]piece)
	if !ok || b.Rows == 0 {
		return nil
	}
	if len(b.Columns) != len(t.columns) {
		b.Columns = make([][]byte, len(t.columns))
	}
	for i := range t.columns {
		c := &t.columns[i]
		b.Columns[i] = source.Grow(b.Columns[i], b.Rows*c.RecordSize())
		if err := c.fill(b.Columns[i], pieces[:len(c.Fields)], b); err != nil {
			return fault.In(t.path, err)
		}
		pieces = pieces[len(c.Fields):]
	}
	return nil
}

// fill makes the records of c for the rows of b; leaves are the pieces of the fields of c.
func (c *Column) fill(dst []byte, leaves [][]piece, b *source.Raw) error {
	switch {
	case c.Form != Numbers:
		return c.records(dst, leaves[0], b)
	case len(leaves) == 1:
		return c.numbers(dst, leaves[0], b.First)
	}
	b.Scratch = source.Grow(b.Scratch, len(dst))
	elements, n := make([][]byte, len(leaves)), b.Rows*c.DType.Size()
	for k := range leaves {
		elements[k] = b.Scratch[k*n : (k+1)*n]
		if err := c.numbers(elements[k], leaves[k], b.First); err != nil {
			return err
		}
	}
	Interleave(dst, elements, b.Rows, c.DType.Size())
	return nil
}

// numbers fills dst with the elements of pieces, which begin at a row.
func (c *Column) numbers(dst []byte, pieces []piece, row int64) error {
	size, done := c.DType.Size(), 0
	if c.RecordSize() == 0 {
		size = 0 // only the lengths of the lists are checked
	}
	for _, p := range pieces {
		to := dst[done*size:][:p.n*size]
		err := p.use(to, func(v Values) error {
			switch {
			case size == 0:
			case v.Number == source.NoNumber || v.Number.Is(c.DType):
				if &to[0] != &v.Data[0] {
					copy(to, v.Data)
				}
			default:
				if bad, _ := v.Number.Convert(to, c.DType, v.Data, p.n); bad >= 0 {
					value := v.Number.Text(v.Data[bad*v.Number.Size():])
					return c.outOfRange(value).InRow(row + int64(done+bad)/c.Entries())
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		done += p.n
	}
	return nil
}

// outOfRange returns the error for a value that the type of c does not hold.
func (c *Column) outOfRange(value string) *fault.Error {
	e := fault.New(fault.Malformed, "found %s, expected a value of the type %v", value, c.DType).InColumn(c.Name)
	if c.replaced == "" {
		return e.WithHint("%s", source.HintDType)
	}
	return e.WithHint("idxport uses the types of IDX, whose widest integer is int32: " +
		"give the type that fits with --dtype, or convert the column first")
}

// records makes records from the bytes or image files in pieces.
func (c *Column) records(dst []byte, pieces []piece, b *source.Raw) error {
	size, row := c.RecordSize(), b.First
	for _, p := range pieces {
		err := p.use(nil, func(v Values) (err error) {
			for i := range p.n {
				record := dst[:size:size]
				dst = dst[size:]
				if err := c.record(record, v.At(i, p.n), b); err != nil {
					return err.InColumn(c.Name).InRow(row)
				}
				row++
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// record makes a record from a value.
func (c *Column) record(record, value []byte, b *source.Raw) *fault.Error {
	if c.Form == Texts {
		return c.texts.Put(record, string(value))
	}
	if c.Form == Images {
		var err error
		if b.Scratch, err = c.Image(record, value, b.Scratch); err != nil {
			return fault.Wrap(fault.Malformed, err)
		}
		return nil
	}
	if len(value) != len(record) {
		return fault.New(fault.Unsupported, "found %d bytes, expected the %d of shape %s of %s",
			len(value), len(record), display.Shape(c.Shape), c.DType).
			WithHint("all records must have one shape, as in an IDX file")
	}
	copy(record, value)
	return nil
}

// A Leaf is a field, or a member of one, whose entries are read.
type Leaf struct {
	Field  int
	Member string // "": the field itself
}

// Leaves returns the leaves that c is made of, one for each of its fields.
func (c *Column) Leaves() []Leaf {
	var leaves []Leaf
	for _, f := range c.Fields {
		leaves = append(leaves, Leaf{f, c.member})
	}
	return leaves
}

// Entries returns the number of entries that a leaf of c has in a row.
func (c *Column) Entries() int64 { return max(1, c.perRow) }

// CheckEmpty refuses more rows without elements than IDX can have.
func (r *Resolved) CheckEmpty(rows int64) error {
	for _, c := range r.Columns {
		if c.Elements() == 0 && rows > idx.MaxEmptyRecords {
			return fault.New(fault.Malformed, "found %d records without elements, expected at most %d",
				rows, idx.MaxEmptyRecords).InColumn(c.Name)
		}
	}
	return nil
}
