package source

import (
	"cmp"
	"slices"

	"github.com/idxport/idxport/source/idx"
)

// ReadOptions say how to read a file that is not IDX. The zero value uses what the file says.
type ReadOptions struct {
	Files Files  // where the input is; nil: Local
	Name  string // of the only column, if the file does not give it; empty: "data"
	Array string // name of the array to read from a file of several arrays

	Columns []string // names of the columns to read; nil: all. Others are not looked at.
	Like    []Column // the expected columns, whose types and shapes are used if the file records none

	MaxRecordSize int64 // bytes of the largest accepted record; 0: idx.DefaultMaxRecordSize
	// DType is the element type for files that do not record one, such as CSV and images, and for
	// integers of a type that IDX does not have. Shape is the shape of a record for files that do
	// not record one. If they are zero, the format has a default, which a note mentions.
	DType idx.DType
	Shape []int

	Resize  [2]int // width and height to which images are scaled, or zeros
	Grey    bool   // make images grey
	Workers int    // goroutines that decode images; 0: one per processor

	// Header points to whether the first line of text has the names of the columns. If it is nil,
	// this is detected, and a file for which it cannot be detected is an error.
	Header    *bool
	FirstLine string // Info.FirstLine of the first of several files with the same columns
	// Label is the name of the column that is the label or, in text without names, its place in a
	// line: "first", "last" or "none". Without a place, it is the first if the others are an image.
	Label string
	// Classes are the class names for files that have names in place of labels. nil: such names are
	// errors in tables, and class folders are numbered in the order of names, with a warning.
	Classes []string
	// Folders maps the class folders of all splits to whether they have images: they are numbered
	// together, unless a split has schema.ClassesFile. nil: those of the input are all.
	Folders map[string]bool
	Alone   string // if Folders has splits that are not read, but must not change numbers: the folder of all
	Beside  string // a file, from the folder, that may have labels of all splits, or ""
}

// Wants returns a function that reports whether a column is to be read, by name. names are those of
// all columns: if one of o.Columns is not among them, all are wanted, so an error can list them.
func (o ReadOptions) Wants(names []string) func(name string) bool {
	if o.Columns == nil || slices.ContainsFunc(o.Columns, func(c string) bool { return !slices.Contains(names, c) }) {
		return func(string) bool { return true }
	}
	return func(name string) bool { return slices.Contains(o.Columns, name) }
}

// MaxRecord returns MaxRecordSize or its default.
func (o ReadOptions) MaxRecord() int64 { return cmp.Or(o.MaxRecordSize, idx.DefaultMaxRecordSize) }
