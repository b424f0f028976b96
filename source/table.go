package source

import (
	"context"
	"slices"

	"github.com/idxport/idxport/source/idx"
)

// A Column is one named sequence of records of equal type and shape.
type Column struct {
	Name  string
	DType idx.DType
	// Shape is the shape of one record, slowest dimension first (C order); empty for a scalar. A dimension may be 0.
	Shape []int
	// Origin is the base name of the file that the column comes from, or "-" for standard input.
	Origin string
	// Classes names the values of a label column: Classes[v] is the name of v, empty where v has none; nil if nothing is known.
	Classes []string
	// Label tells that the user chose the column as the label, at most one of a table. See schema.Schema.Label for what it is where nobody chose.
	Label bool
	// Listed reports that the file told the length of the records alone, as lists do, and not that one dimension is all they have.
	Listed bool `json:"-"`
}

// Elements is the number of elements of a record: the product of its shape, 1 for a scalar.
func (c Column) Elements() int {
	n := 1
	for _, d := range c.Shape {
		n *= d
	}
	return n
}

// RecordSize is the number of bytes of a record.
func (c Column) RecordSize() int { return c.Elements() * c.DType.Size() }

// Scalar reports whether records are single elements (the file had rank 1).
func (c Column) Scalar() bool { return len(c.Shape) == 0 }

// Same reports whether c and other are columns of one kind: of one name, type and shape.
func (c Column) Same(other Column) bool {
	return c.Name == other.Name && c.DType == other.DType && slices.Equal(c.Shape, other.Shape)
}

// ClassName is the name of label v, empty where it has none.
func (c Column) ClassName(v int64) string {
	if v < 0 || v >= int64(len(c.Classes)) {
		return ""
	}
	return c.Classes[v]
}

// Integer reports whether the elements are integers.
func (c Column) Integer() bool { return !c.DType.Float() }

// A Table is a number of columns of equal length, read side by side from start to end. One goroutine calls Read; Decode may be called
// from many at once, for different batches.
type Table interface {
	// Columns describes the columns. It does not change.
	Columns() []Column
	// Rows is the number of rows, or −1 if only reading to the end can tell.
	Rows() int64
	// Read fills b with the next min(b.Cap, rows that are left) rows, as they are stored, and sets b.First and b.Rows. After the last row it
	// checks that the inputs end where they should and returns io.EOF, with b.Rows = 0.
	Read(ctx context.Context, b *Raw) error
	// Decode turns what Read put into b into b.Columns: elements in C order, little-endian, the memory format of Arrow.
	Decode(b *Raw) error
	// Close releases files and goroutines. It does not wait for a read that is blocked.
	Close() error
}

// A Seeker is a table that can start later. Skip passes over the next n rows; it is called before
// the first Read, n ≤ Rows() if that is known. The function Skip is for any table.
type Seeker interface {
	Skip(n int64) error
}

// Limit tells t, if it has such a method, that its rows from n on will not be read: files that are
// fetched in advance are fetched no further.
func Limit(t Table, n int64) {
	if l, ok := t.(interface{ Limit(n int64) }); ok {
		l.Limit(n)
	}
}

// SourceRows is the number of rows of the table that t is a part of, or its own if it is whole.
func SourceRows(t Table) int64 {
	if part, ok := t.(interface{ SourceRows() int64 }); ok {
		return part.SourceRows()
	}
	return t.Rows()
}

// A Noter is a table that has something to tell the user once it was read, such as what a salvage
// took.
type Noter interface {
	Notes() []string
}

// Notes are what t has to tell, if it is a Noter.
func Notes(t Table) []string {
	if n, ok := t.(Noter); ok {
		return n.Notes()
	}
	return nil
}

// An Omission is a column of a file that is none of the table.
type Omission struct {
	Column string
	Type   string // "text", or "index" for the row numbers of a data frame
	Why    string
}

// Omitted are the columns of t's file that are none of t, if it has a method that tells them.
func Omitted(t Table) []Omission {
	if o, ok := t.(interface{ Omitted() []Omission }); ok {
		return o.Omitted()
	}
	return nil
}

// A Described table has what its file keeps about where it comes from: see package schema for the
// keys.
type Described interface {
	Meta() map[string]string
}

// Meta is what t tells of where it comes from, if it is Described.
func Meta(t Table) map[string]string {
	if d, ok := t.(Described); ok {
		return d.Meta()
	}
	return nil
}

// A Raw is a batch on its way through Read and Decode: the buffers of consecutive rows of all columns. It is reused for many batches, so
// that memory is allocated once. Its zero value, with Cap set, is ready for use. Columns is valid until the next Read into the same Raw.
type Raw struct {
	Cap     int      // the most rows Read may put in, at least 1; set by the caller
	Busy    bool     // no core is idle, so that Read should not use others than its own; set by the caller
	First   int64    // index of the first row within the table
	Rows    int      // number of rows
	Columns [][]byte // after Decode: Rows·RecordSize bytes for every column, little-endian

	Input   []byte // what Read read, where that is not a column yet; the table's own
	Scratch []byte // room to work in while decoding; its contents are not kept
	State   any    // what else Read tells Decode; the table's own

	parts []*Raw
}

// Part is the i-th inner batch of b, made on first use, with what b's caller has set: for tables made of other tables.
func (b *Raw) Part(i int) *Raw {
	for len(b.parts) <= i {
		b.parts = append(b.parts, new(Raw))
	}
	b.parts[i].Cap, b.parts[i].Busy = b.Cap, b.Busy
	return b.parts[i]
}

// Grow returns buf with length n, made anew if it is too small. The contents are not kept.
func Grow(buf []byte, n int) []byte {
	if cap(buf) < n {
		return make([]byte, n)
	}
	return buf[:n]
}
