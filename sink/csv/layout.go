package csv

import (
	"strings"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// A layout says which elements a line has, in which order, and how they are rendered.
type layout struct {
	fields []field
	comma  byte
	// flat: all rows make one line, and what ends it is not the layout's business. There is one field of one element then.
	flat    bool
	classes *schema.Classes // of the field of class names, or nil
}

// A field is a column that has elements.
type field struct {
	column   source.Column
	index    int // of the column, in a batch
	elements int // of a record, at least 1
	size     int // bytes of an element in the batch
	width    int // the most bytes of an element in the text, with its separator
	render   renderer
}

// A renderer appends the text of the elements in src, each followed by the separator. dst has room for the width of each, and slack bytes more.
type renderer func(dst, src []byte) []byte

// slack is how many bytes behind the text the renderers may overwrite: they store 8 bytes at a time.
const slack = 8

// newLayout decides the order of the fields of s, and makes the tables that rendering them needs.
func newLayout(s *schema.Schema, style Style, comma byte) (*layout, error) {
	if style.matrix && len(s.Columns) != 1 {
		return nil, unsupported("name the one file to convert, or use the style pjreddie",
			"found %d columns, expected one for the style matrix", len(s.Columns))
	}
	// A separator must be none of what numbers and quoted names are made of.
	if comma >= 0x80 || strings.IndexByte("0123456789+-.eNainf\"\r\n", comma) >= 0 {
		return nil, unsupported("use a comma, a tab or a semicolon", "%q cannot separate numbers", comma)
	}
	if s.Classes != nil && style.header == nil {
		return nil, unsupported("leave out --class-column, or use the style kaggle", "files of the style %s have no column of class names", style.Name)
	}
	l := &layout{comma: comma, classes: s.Classes}
	r := renderers{comma: comma}
	for _, scalar := range []bool{true, false} {
		for i, c := range s.Columns {
			if c.Scalar() == scalar && c.Elements() > 0 {
				l.fields = append(l.fields, field{column: c, index: i, elements: c.Elements(), size: c.DType.Size(),
					width: width(c.DType), render: r.of(c.DType)})
				if l.classes != nil && l.classes.Label == i {
					named := l.classField(c)
					if named.width > pieceSize {
						return nil, unsupported("use Parquet or Arrow", "the name of a class has %d bytes, expected less than 4 MiB", named.width)
					}
					l.fields = append(l.fields, named)
				}
			}
		}
	}
	if len(l.fields) == 0 {
		return nil, unsupported("use Parquet or Arrow, which keep empty records", "no column has elements, expected at least one")
	}
	l.flat = style.matrix && l.fields[0].column.Scalar()
	return l, nil
}

// rowSize is the most bytes of the text of a row.
func (l *layout) rowSize() int64 {
	n := int64(0)
	for _, f := range l.fields {
		n += int64(f.elements) * int64(f.width)
	}
	return n
}

// width is the most bytes of an element of type d with its separator.
func width(d idx.DType) int {
	switch d {
	case idx.Uint8:
		return len("255,")
	case idx.Int8:
		return len("-128,")
	case idx.Int16:
		return len("-32768,")
	case idx.Int32:
		return len("-2147483648,")
	case idx.Float32:
		return len("-0.000123456789,") // 9 digits are always enough for binary32; exponents from −4 on are written out
	default:
		return len("-1.2345678901234567e-308,") // 17 digits for binary64; more than the 24 of -0.00012345678901234567
	}
}

// renderers makes renderers that share their tables.
type renderers struct {
	comma  byte
	pairs  *pairTable
	shorts *shortTable
}

// of returns the renderer for elements of type d.
func (r *renderers) of(d idx.DType) renderer {
	switch d {
	case idx.Uint8:
		if r.pairs == nil {
			r.pairs = newPairTable(r.comma)
		}
		return r.pairs.appendUint8
	case idx.Float32:
		return floatText(r.comma).append32
	case idx.Float64:
		return floatText(r.comma).append64
	}
	if r.shorts == nil {
		r.shorts = newShortTable(r.comma)
	}
	switch d {
	case idx.Int8:
		return r.shorts.appendInt8
	case idx.Int16:
		return r.shorts.appendInt16
	default:
		return r.shorts.appendInt32
	}
}
