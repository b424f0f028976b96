package csv

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// A layout is the fields of a line and how they are rendered.
type layout struct {
	fields []field
	comma  byte
	header elementNamer // nil if there is no header line
	alone  bool         // there is only one column of tensors
	// singleLine reports whether all rows, each one element, form one line, which Close ends.
	singleLine bool
	classes    *schema.Classes // the column of class names, or nil
}

// A field is a column that has elements.
type field struct {
	column   source.Column
	index    int // of the column, in a batch
	elements int // per record, at least 1
	size     int // bytes of an element in the batch
	width    int // maximum bytes of an element in the text, with its separator
	render   renderer
}

// A renderer appends the text of the elements in src, each followed by the separator. The free
// capacity of dst must be at least the width of all elements plus slack.
type renderer func(dst, src []byte) []byte

// slack is how many bytes after the text renderers may overwrite, as they store 8 bytes at a time.
const slack = 8

// newLayout returns the layout of lines for the schema s, with the lookup tables of the renderers.
func newLayout(s *schema.Schema, name string, comma byte) (*layout, error) {
	l := &layout{comma: comma, header: headerOf(name), classes: s.Classes}
	if name == matrix && len(s.Columns) != 1 {
		return nil, unsupported("select one column, as in --columns image, or use --layout pjreddie",
			"found %d columns, expected one for the layout matrix", len(s.Columns))
	}
	if s.Classes != nil && l.header == nil {
		return nil, unsupported("leave out --class-column, or use --layout kaggle",
			"files of the layout %s have no column of class names", name)
	}
	headless, label := l.header == nil && len(s.Columns) > 1, s.Label()
	l.alone = len(slices.DeleteFunc(slices.Clone(s.Columns), source.Column.Scalar)) == 1
	stem := func(name string) string { return strings.TrimRight(name, "0123456789") }
	stems := map[string]bool{} // of the names of elements
	for _, c := range s.Columns {
		if l.header != nil && !c.Scalar() && c.Elements() > 0 { // others are refused below
			stems[stem(string(l.header(nil, c, 0, l.alone)))] = true
		}
	}
	for i, c := range s.Columns {
		switch {
		case c.Scalar() && stem(c.Name) != c.Name && stems[stem(c.Name)]:
			return nil, unsupported(schema.HintName, "the column %s would be read as an element of another", c.Name)
		case c.Elements() == 0:
			return nil, unsupported("choose others with --columns, or use Parquet or Arrow, which keep empty records",
				"records of column %s have no elements, expected at least one", c.Name)
		case headless && text.NamesLabels(c.Name) && !c.Scalar():
			return nil, unsupported(schema.HintLabel, "the labels have %d numbers each, expected one for the layout %s",
				c.Elements(), name)
		case headless && c.Scalar() && i != label:
			return nil, unsupported("leave it out with --columns, or make it the label with --label-column",
				"column %s is not the label, and files of the layout %s have no names of columns", c.Name, name)
		}
	}
	renderers := renderers(comma)
	for _, scalar := range []bool{true, false} {
		for i, c := range s.Columns {
			if c.Scalar() != scalar {
				continue
			}
			render, width := renderers(c.DType)
			l.fields = append(l.fields, field{c, i, c.Elements(), c.DType.Size(), width, render})
			if l.classes == nil || l.classes.Label != i {
				continue
			}
			named := l.classField(c)
			if named.width > pieceSize {
				return nil, unsupported("use Parquet or Arrow",
					"the name of a class has %d bytes, expected less than 4 MiB", named.width)
			}
			l.fields = append(l.fields, named)
		}
	}
	l.singleLine = name == matrix && l.fields[0].column.Scalar()
	return l, nil
}

// classField returns the field of class names after label.
func (l *layout) classField(label source.Column) field {
	texts := make([][]byte, len(l.classes.Names))
	width := 0
	for i, name := range l.classes.Names {
		texts[i] = append(AppendQuoted(nil, []byte(name), l.comma), l.comma)
		width = max(width, len(texts[i]))
	}
	size := label.DType.Size()
	column := source.Column{Name: schema.ClassName, DType: label.DType}
	return field{column, l.classes.Label, 1, size, width, func(dst, src []byte) []byte {
		for i := range len(src) / size {
			dst = append(dst, texts[l.classes.Index(src, i)]...)
		}
		return dst
	}}
}

// rowSize returns the maximum number of bytes of a row's text.
func (l *layout) rowSize() (n int64) {
	for _, f := range l.fields {
		n += int64(f.elements) * int64(f.width)
	}
	return n
}

// renderers returns a function that returns the renderer for a data type, and the maximum number of
// bytes of an element with its separator. The renderers share their tables.
func renderers(comma byte) func(idx.DType) (render renderer, width int) {
	pairs := sync.OnceValue(func() *pairTable { return newPairTable(comma) })
	shorts := sync.OnceValue(func() *shortTable { return newShortTable(comma) })
	floats := floatText(comma)
	return func(d idx.DType) (renderer, int) {
		switch d {
		case idx.Uint8:
			return pairs().appendUint8, len("255,")
		case idx.Int8:
			return shorts().appendInt8, len("-128,")
		case idx.Int16:
			return shorts().appendInt16, len("-32768,")
		case idx.Int32:
			return shorts().appendInt32, len("-2147483648,")
		case idx.Float32: // at most 9 digits; exponents from −4 on are written without e
			return func(dst, src []byte) []byte { return floats.append(dst, src, 32) }, len("-0.000123456789,")
		default: // at most 17 digits; -0.00012345678901234567 is shorter
			return func(dst, src []byte) []byte { return floats.append(dst, src, 64) }, len("-1.2345678901234567e-308,")
		}
	}
}

// Layouts returns the layouts, the default first.
func Layouts() []sink.Layout {
	return []sink.Layout{
		{Name: "kaggle", Title: "header label,pixel0,pixel1,… as in Kaggle's digit recogniser"},
		{Name: "kaggle1", Title: "header label,pixel1,pixel2,… as in Kaggle's Fashion-MNIST"},
		{Name: "rowxcol", Title: "header label,1x1,1x2,…,28x28: row and column of each pixel"},
		{Name: "pjreddie", Title: "no header, label first, as in pjreddie.com's mnist_train.csv"},
		{Name: matrix, Title: "no header; only for one column: a line per record, or labels in one line"},
	}
}

// matrix is the layout of one column only, whose scalars become one row of all values.
const matrix = "matrix"

// HasHeader reports whether files of the layout, by default the first one, begin with a header.
func HasHeader(layout string) bool { return headerOf(layout) != nil }

// headerOf returns what names the elements in the header of the layout, nil if that has none.
func headerOf(layout string) elementNamer {
	switch layout {
	case "", "kaggle":
		return schema.AppendElementName
	case "kaggle1":
		return func(dst []byte, c source.Column, i int, alone bool) []byte {
			return schema.AppendElementName(dst, c, i+1, alone)
		}
	case "rowxcol":
		return rowByColumn
	}
	return nil
}

// unsupported returns the error for a table or an option that CSV, or a layout of it, lacks.
func unsupported(advice, format string, args ...any) error {
	return fault.New(fault.Usage, "csv: "+format, args...).WithHint("%s", advice)
}

// An elementNamer appends the name of element i, in C order, of a record of the tensor column c.
// alone reports whether c is the only tensor column.
type elementNamer func(dst []byte, c source.Column, i int, alone bool) []byte

// rowByColumn names an element by its index along each dimension, from 1. Records of one dimension
// are rows, as readers would take a header of plain numbers for a line of values.
func rowByColumn(dst []byte, c source.Column, i int, alone bool) []byte {
	if !alone {
		dst = append(append(dst, c.Name...), '_')
	}
	if len(c.Shape) == 1 {
		dst = append(dst, "1x"...)
	}
	stride := c.Elements()
	for axis, size := range c.Shape {
		if axis > 0 {
			dst = append(dst, 'x')
		}
		stride /= size
		dst = strconv.AppendInt(dst, int64(i/stride+1), 10)
		i %= stride
	}
	return dst
}

// headerPiece is about the maximum number of bytes of the header that are in memory at a time: huge
// records have headers of many megabytes.
const headerPiece = 64 << 10

// writeHeader writes the header line in pieces.
func (l *layout) writeHeader(write func([]byte) error) error {
	line, scratch := make([]byte, 0, headerPiece), []byte(nil)
	for _, f := range l.fields {
		for i := range f.elements {
			scratch = append(scratch[:0], f.column.Name...)
			if !f.column.Scalar() {
				scratch = l.header(scratch[:0], f.column, i, l.alone)
			}
			line = append(AppendQuoted(line, scratch, l.comma), l.comma)
			if len(line) < headerPiece {
				continue
			}
			// Keep the separator, which becomes the end of the line if this was the last name.
			if err := write(line[:len(line)-1]); err != nil {
				return err
			}
			line = append(line[:0], l.comma)
		}
	}
	line[len(line)-1] = '\n'
	return write(line)
}

// AppendQuoted appends a field of text. It is quoted if RFC 4180, section 2, demands it, or if it
// is empty or begins with a space: a reader would take it for a missing value, or trim it.
func AppendQuoted(dst, name []byte, comma byte) []byte {
	special := func(r rune) bool { return r == '"' || r == '\r' || r == '\n' || r == rune(comma) }
	if len(name) > 0 && name[0] != ' ' && !bytes.ContainsFunc(name, special) {
		return append(dst, name...)
	}
	doubled := bytes.ReplaceAll(name, []byte(`"`), []byte(`""`))
	return append(append(append(dst, '"'), doubled...), '"')
}
