package layout

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// Default is the name of the layout that is used where none is named.
const Default = "list"

// A Layout is one way to represent tensor columns. Its zero value is no layout: see Get.
type Layout struct {
	Name  string
	Title string // what it is, for help texts
	// tensor represents one column of rank 2 or more. A layout that cannot returns a *sink.Error. Column.Source is set by the caller.
	tensor func(c source.Column) ([]Column, error)
}

// layouts is the table of all layouts, in the order in which they are listed.
func layouts() []Layout {
	return []Layout{
		{Name: "list", Title: "fixed-size lists over the whole record", tensor: list},
		{Name: "fixed-binary", Title: "records as fixed-size bytes, little-endian", tensor: fixedBinary},
	}
}

// Names lists the layouts.
func Names() []string {
	var names []string
	for _, l := range layouts() {
		names = append(names, l.Name)
	}
	return names
}

// Get finds a layout by its name; the empty name is Default's. The error for an unknown name lists the known ones.
func Get(name string) (Layout, error) {
	if name == "" {
		name = Default
	}
	for _, l := range layouts() {
		if l.Name == name {
			return l, nil
		}
	}
	return Layout{}, fmt.Errorf("unknown layout %q, expected one of %s", name, strings.Join(Names(), ", "))
}

// A Column is one column of an output.
type Column struct {
	Source int // index in the schema's columns of the one it is made of
	Field  arrow.Field
	// Data wraps data, rows records of the source column, as an array of Field's type.
	Data func(data []byte, rows int) arrow.ArrayData
	// Elements are the nodes of the column in a Parquet schema, depth first; Leaves are those of them that hold values, in the same order.
	Elements []format.SchemaElement
	Leaves   []Leaf
}

// A Leaf is one Parquet column: what its pages hold, which is the same for every row but for the values.
type Leaf struct {
	Path []string    // names of the nodes that lead to it, the root's left out
	Type format.Type // physical type of the values

	// Element is the data type of what Values returns. Those narrower than Type are widened by the page writer, or serve it as indices
	// of a dictionary. It is 0 where Values returns what PLAIN pages of Type hold.
	Element idx.DType
	// Scalar tells that a row is one value of a few bytes. Page writers gather them over many batches and tell their minimum and maximum.
	Scalar bool

	Entries       int  // level entries of a row, at least 1
	Count         int  // values of a row: Entries, or 0 where nothing is defined
	MaxRepetition byte // if 0, pages have no repetition levels
	MaxDefinition byte // if 0, pages have no definition levels

	Repetition []byte // repetition levels of a row: run-length runs of one-byte levels
	Definition byte   // definition level of every entry

	// Values returns the values of rows records of the source column, packed and little-endian: data itself, wherever that is what they are.
	Values func(data []byte, rows int) []byte
}

// Columns represents all columns of s, in their order. The error is a *sink.Error if the layout cannot hold one of them.
func (l Layout) Columns(s *schema.Schema) ([]Column, error) {
	var all []Column
	for i, c := range s.Columns {
		columns, err := l.column(c)
		if err != nil {
			return nil, err
		}
		for _, column := range columns {
			column.Source = i
			all = append(all, column)
		}
	}
	return all, nil
}

func (l Layout) column(c source.Column) ([]Column, error) {
	if c.Scalar() {
		return []Column{scalar(c)}, nil
	}
	return l.tensor(c)
}

// Schema is the Arrow schema of columns, which represent s, with the metadata of s.
func Schema(s *schema.Schema, columns []Column) *arrow.Schema {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = c.Field
	}
	metadata := s.Metadata()
	return arrow.NewSchema(fields, &metadata)
}

// tooLarge is the error for a record with more elements or bytes than a layout can count.
func tooLarge(layout string, c source.Column, n int, unit string) error {
	return &sink.Error{
		Format:  "layout " + layout,
		Message: fmt.Sprintf("a record of column %s has %d %s, expected at most 2147483647", c.Name, n, unit),
		Err:     sink.ErrUnsupported,
	}
}

// identity is Leaf.Values where a batch's bytes are the values.
func identity(data []byte, _ int) []byte { return data }
