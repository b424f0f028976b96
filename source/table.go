package source

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/idxport/idxport/source/idx"
)

// A Column describes a named sequence of records of the same type and shape.
type Column struct {
	Name  string
	DType idx.DType
	// Shape is that of one record, in C order; empty for a scalar. A dimension may be 0.
	Shape  []int
	Origin string // base name of the column's file, or "-" for standard input
	// Classes are the class names of a label column: Classes[v] is the name of label v, empty if v
	// has none. It is nil if nothing is known.
	Classes []string
	// Label means that the user chose this column as the label; at most one column of a table
	// has it set. If the user chose none, schema.Schema.Label finds the label.
	Label bool
	// Listed means that the column is stored as lists, which record only the number of elements, so
	// the records may in truth have more than one dimension.
	Listed bool `json:"-"`
}

// Elements returns the number of elements of a record: the product of its shape, 1 for a scalar.
func (c Column) Elements() int {
	n := 1
	for _, d := range c.Shape {
		n *= d
	}
	return n
}

// RecordSize returns the number of bytes of a record.
func (c Column) RecordSize() int { return c.Elements() * c.DType.Size() }

// Scalar reports whether a record is one element, without dimensions. One of shape [1] is not.
func (c Column) Scalar() bool { return len(c.Shape) == 0 }

// ClassName returns the name of label v, or "" if it has none.
func (c Column) ClassName(v int64) string {
	if v < 0 || v >= int64(len(c.Classes)) {
		return ""
	}
	return c.Classes[v]
}

// Names returns the names of columns.
func Names(columns []Column) (names []string) {
	for _, c := range columns {
		names = append(names, c.Name)
	}
	return names
}

// List returns the names of columns, with commas.
func List(columns []Column) string { return strings.Join(Names(columns), ", ") }

// Index returns the index of the column with that name, −1 if there is none.
func Index(columns []Column, name string) int {
	return slices.IndexFunc(columns, func(c Column) bool { return c.Name == name })
}

// Integer reports whether the elements are integers.
func (c Column) Integer() bool { return !c.DType.Float() }

// A Table is a number of columns of equal length, read side by side from start to end. One
// goroutine calls Read; many goroutines may call Decode at once, each for another batch.
//
// A table may also have the methods Info() Info, which [About] calls, and Skip(n int64) error,
// which [Skip] calls before the first Read, with n ≤ Rows() if that is known: it skips the next n
// rows, without reading them where it can.
type Table interface {
	// Columns returns the columns, always the same.
	Columns() []Column
	// Rows returns the number of rows, or −1 if only reading to the end can tell.
	Rows() int64
	// Read reads the next rows into b, as they are stored: b.Cap of them, or those that are left.
	// It sets b.First and b.Rows. After the last row it checks that the inputs end where they
	// should, sets b.Rows to 0 and returns io.EOF. It stops reading once ctx is done.
	Read(ctx context.Context, b *Raw) error
	// Decode converts what Read put into b to b.Columns: elements in C order, little-endian.
	Decode(b *Raw) error
	// Close releases files and goroutines. It does not wait for a blocked read.
	Close() error
}

// An Info is what is known about a table and its file beside the rows.
type Info struct {
	SourceRows  int64             // of the table that the table is a part of, or its own
	Notes       []string          // for the user, complete once the table is read
	Warnings    []string          // what the user must know, even if notes are not shown
	Decoders    []string          // packages and scalers on which the pixels of images depend
	Omitted     []Omission        // columns of the file that are not part of the table
	Unnamed     bool              // the file has no names of columns
	FirstLine   string            // of text, if it has the names of the columns, as the reader keeps lines
	Classes     bool              // texts of the file are names in ReadOptions.Classes
	AllParts    bool              // its files are all parts of --part, each of which Meta may name
	Compression string            // of the whole file, as package compressed names it; may be empty for none
	Meta        map[string]string // metadata of the file, which may say where the table came from
}

// An Omission is a column of a file that is not part of the table.
type Omission struct {
	Column string
	Type   string // in the file; "text", or "index" for the row numbers of a data frame
	Why    string
	Err    error // with which the caller fails unless the user left the column out; nil: none
}

// About returns what is known about t. Info need not set SourceRows if t is no part of another.
func About(t Table) (info Info) {
	if d, ok := t.(interface{ Info() Info }); ok {
		info = d.Info()
	}
	info.SourceRows = cmp.Or(info.SourceRows, t.Rows())
	return info
}

// A Raw holds a batch, consecutive rows of all columns, on its way through Read and Decode. It is
// used for one batch after another, so that memory is allocated once; Columns is valid until the
// next Read. The zero value with Cap set is ready to use.
type Raw struct {
	Cap     int      // largest number of rows that Read may return, at least 1; set by the caller
	First   int64    // index of the first row within the table
	Rows    int      // number of rows
	Columns [][]byte // after Decode: Rows·RecordSize bytes of each column, little-endian

	Input   []byte // for the table: data that Read leaves for Decode, if it is not a column yet
	Scratch []byte // for the table: working memory of Decode; its contents are not kept
	State   any    // for the table: anything else that Read passes to Decode

	parts []*Raw
}

// Part returns the i-th inner batch of b, with its Cap, for tables that are made of other tables.
func (b *Raw) Part(i int) *Raw {
	for len(b.parts) <= i {
		b.parts = append(b.parts, new(Raw))
	}
	b.parts[i].Cap = b.Cap
	return b.parts[i]
}

// Allocate gives b.Columns room for b.Rows rows of columns. The contents are not kept.
func (b *Raw) Allocate(columns []Column) {
	b.Columns = slices.Grow(b.Columns[:0], len(columns))[:len(columns)]
	for i, c := range columns {
		b.Columns[i] = Grow(b.Columns[i], b.Rows*c.RecordSize())
	}
}

// Grow returns buf with length n, reallocated if it is too small. The contents are not kept.
func Grow(buf []byte, n int) []byte { return slices.Grow(buf[:0], n)[:n] }
