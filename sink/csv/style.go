package csv

import (
	"strconv"
	"strings"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
)

// DefaultStyle is the style of Options that name none.
const DefaultStyle = "kaggle"

// A Style is one way to lay out a CSV file.
type Style struct {
	Name        string
	Description string // one line

	header elementName // nil: no header line
	matrix bool        // one column only, and scalars make one row of all values
}

// Styles lists the styles, the default first.
func Styles() []Style {
	return []Style{
		{Name: DefaultStyle, Description: "header label,pixel0,pixel1,… as in Kaggle's digit recogniser", header: schema.AppendElementName},
		{Name: "kaggle1", Description: "header label,pixel1,pixel2,… as in Kaggle's Fashion-MNIST", header: countFrom1},
		{Name: "rowxcol", Description: "header label,1x1,1x2,…,28x28: row and column of each pixel", header: rowByColumn},
		{Name: "pjreddie", Description: "no header, label first, as in pjreddie.com's mnist_train.csv"},
		{Name: "matrix", Description: "no header, one column only: a row per record; labels alone make one row", matrix: true},
	}
}

// findStyle returns the style called name, the default one if name is empty.
func findStyle(name string) (Style, error) {
	styles := Styles()
	if name == "" {
		return styles[0], nil
	}
	names := make([]string, len(styles))
	for i, s := range styles {
		if s.Name == name {
			return s, nil
		}
		names[i] = s.Name
	}
	return Style{}, unsupported("choose one of these styles",
		"unknown style %q, expected one of %s", name, strings.Join(names, ", "))
}

// HasHeader tells whether files of the style called name, the default one if that is empty, begin with a header.
func HasHeader(name string) bool {
	style, err := findStyle(name)
	return err == nil && style.header != nil
}

// unsupported is the error for what CSV, or a style of it, has no place for.
func unsupported(advice, format string, args ...any) error {
	return fault.New(fault.Usage, "csv: "+format, args...).WithHint("%s", advice)
}

// An elementName appends the name of element i, in C order, of a record of the tensor column c. alone says that no other column is a tensor.
type elementName func(dst []byte, c source.Column, i int, alone bool) []byte

func countFrom1(dst []byte, c source.Column, i int, alone bool) []byte {
	return schema.AppendElementName(dst, c, i+1, alone)
}

// rowByColumn names an element by its index along each dimension, from 1. What has one dimension is a row: a header of numbers alone would be read as
// a line of values.
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
