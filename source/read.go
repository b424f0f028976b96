package source

import (
	"fmt"
	"math"

	"github.com/idxport/idxport/source/idx"
)

// ReadOptions say how a file of another format than IDX is read. The zero value takes what the file tells.
type ReadOptions struct {
	// Name is that of the only column, where the file does not tell it; empty: "data".
	Name string
	// MaxRecordSize is the most bytes of a record; 0 means 16 MiB.
	MaxRecordSize int64
	// DType is the type of elements where the file cannot tell: in text, and in images. 0: the default of the format, which is said in a note.
	DType idx.DType
	// Shape is the shape of a record where the file cannot tell; nil: the default of the format, which is said in a note.
	Shape []int
	// Header tells whether the first line of text names the columns; nil: that is found out, or is
	// an error where it cannot be.
	Header *bool
	// Classes are the names of labels, where a file tells names in place of labels, as class folders do. nil: such names are numbered in their order,
	// which is said in a note.
	Classes []string
	// Folders are the names of the class folders of all splits of a data set, which are then counted together, and whether they have images. nil: those that
	// are there are counted.
	Folders map[string]bool
	// Files is where the file is; nil: Local.
	Files Files
	// Like are the columns that the file is expected to have, of whose types and shapes it is then taken to be where it cannot tell.
	Like []Column
}

// MaxRecord is MaxRecordSize or its default.
func (o ReadOptions) MaxRecord() int64 {
	if o.MaxRecordSize == 0 {
		return 16 << 20
	}
	return o.MaxRecordSize
}

// An Omission is a column of a file that is none of the table.
type Omission struct {
	Column string
	Type   string // "text", or "index" for the row numbers of a data frame
	Why    string
}

// An Omitter is a table whose file has more columns than the table.
type Omitter interface {
	Omitted() []Omission
}

// Omitted are the columns of t's file that are none of t, if it is an Omitter.
func Omitted(t Table) []Omission {
	if o, ok := t.(Omitter); ok {
		return o.Omitted()
	}
	return nil
}

// A Described table has what its file keeps about where it comes from: see package schema for the keys.
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

// AdviceBytes is what to do about a column of values of size bytes of which nothing tells what they are.
func AdviceBytes(size int) string {
	shape := fmt.Sprint(size)
	if side := int(math.Sqrt(float64(size))); side*side == size {
		shape = fmt.Sprintf("%dx%d", side, side)
	}
	return fmt.Sprintf("if they are unsigned bytes, give their shape: --shape %s; if elements of another type, --dtype too; if integers of 128 bits, bfloat16 or the like, "+
		"write the file again with the column cast, in ClickHouse by toInt32 or toFloat32", shape)
}

// AdviceCast is how polars makes a file whose column is of its type to, of one in the format ("parquet", "ipc").
func AdviceCast(format, column, to string) string {
	return fmt.Sprintf("cast it first, in polars: pl.read_%s('FILE').with_columns(pl.col(%q).cast(pl.%s)).write_%s('cast.%[1]s')", format, column, to, format)
}
