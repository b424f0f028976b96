package csv

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// Decode parses the rows of b. Errors name the file, the row and usually the column.
func (t *Table) Decode(b *source.Raw) error {
	if len(b.Columns) != len(t.columns) {
		b.Columns = make([][]byte, len(t.columns))
	}
	for i, c := range t.columns {
		b.Columns[i] = source.Grow(b.Columns[i], b.Rows*c.RecordSize())
	}
	text := b.Input
	for row := range b.Rows {
		n := bytes.IndexByte(text, '\n')
		if err := t.parseRow(b, text[:n], row); err != nil {
			return fault.In(t.path, err)
		}
		text = text[n+1:]
	}
	return nil
}

// parseRow parses the fields of text, each of which ends with a separator, as a row of b.
func (t *Table) parseRow(b *source.Raw, text []byte, row int) error {
	rest := text
	for i := range t.parts {
		p := &t.parts[i]
		f := &t.fileColumns[p.fileColumn]
		n, size := 0, f.dtype.Size()
		var dst []byte
		if f.column >= 0 {
			dst = b.Columns[f.column][(row*f.count+p.element)*size:]
		}
		if f.dtype == idx.Uint8 && !f.list && f.texts == nil {
			var used int
			n, used = parseUint8s(dst[:p.count], rest, t.dialect.comma)
			rest = rest[used:]
		}
		for ; n < p.count; n++ {
			end := bytes.IndexByte(rest, t.dialect.comma)
			if end < 0 {
				return t.countError(b.First+int64(row), text)
			}
			field := bytes.TrimSpace(rest[:end])
			rest = rest[end+1:]
			var err error
			switch {
			case f.column < 0:
			case f.list:
				err = t.parseList(dst, field, b.First+int64(row), f)
			default:
				err = t.parseField(dst[n*size:], field, b.First+int64(row), p.first+n, f)
			}
			if err != nil {
				return err
			}
		}
	}
	if len(rest) > 0 {
		return t.countError(b.First+int64(row), text)
	}
	return nil
}

// parseList parses the numbers of a field, separated by spaces, as a record at the start of dst.
func (t *Table) parseList(dst, field []byte, row int64, f *fileColumn) error {
	n, used, size := 0, 0, f.dtype.Size()
	if f.dtype == idx.Uint8 {
		n, used = parseUint8s(dst[:f.count], field, ' ')
	}
	for number := range bytes.FieldsSeq(field[used:]) {
		if n < f.count {
			if err := t.parseField(dst[n*size:], number, row, f.first, f); err != nil {
				return err
			}
		}
		n++
	}
	if n != f.count {
		return t.inRow(row, t.name(f.first), "", "found %s, expected %d", display.Count(n, "number"), f.count)
	}
	return nil
}

// parseField parses the number in text, field i of a row, as the element at the start of dst.
func (t *Table) parseField(dst, text []byte, row int64, i int, f *fileColumn) error {
	if f.texts != nil {
		if err := f.texts.Put(dst, t.dialect.original(text)); err != nil {
			return err.InColumn(t.name(i)).InRow(row)
		}
		return nil
	}
	expected, hint := put(f.dtype, dst, text)
	switch {
	case expected == "":
		return nil
	case len(text) == 0:
		return t.inRow(row, t.name(i), "fill it, or remove such rows", "the field is empty, expected a number")
	case hint == hintType && f.Shape == nil && t.hasTensors(): // --dtype is the type of the tensors
		hint = "the type was guessed from the first and last rows; correct the value, or remove the row"
	}
	return t.inRow(row, t.name(i), hint, "found %s, expected %s", t.dialect.shown(text), expected)
}

// countError returns the error for a row with too few or too many fields.
func (t *Table) countError(row int64, text []byte) error {
	return t.inRow(row, "", "", "found %s, expected %d", display.Count(t.dialect.count(text), "field"), t.count)
}

// parseUint8s parses fields of one to three digits, up to 255, each followed by comma, until dst is
// full, a field has another form, or fewer than four bytes are left. It returns the number of
// parsed fields and of their bytes. Four zeros, which are common in backgrounds, are parsed at
// once.
func parseUint8s(dst, src []byte, comma byte) (n, used int) {
	zeros := uint64('0') | uint64(comma)<<8
	zeros |= zeros << 16
	zeros |= zeros << 32
	i := 0
	for n < len(dst) && i+4 <= len(src) {
		if n+4 <= len(dst) && i+8 <= len(src) && binary.LittleEndian.Uint64(src[i:]) == zeros {
			binary.LittleEndian.PutUint32(dst[n:], 0)
			n, i = n+4, i+8
			continue
		}
		four := src[i : i+4 : i+4]
		a, b, c := four[0]-'0', four[1]-'0', four[2]-'0'
		switch {
		case a > 9:
			return n, i
		case four[1] == comma:
			dst[n] = a
			i += 2
		case b > 9:
			return n, i
		case four[2] == comma:
			dst[n] = 10*a + b
			i += 3
		case c > 9 || four[3] != comma:
			return n, i
		default:
			v := 100*int(a) + 10*int(b) + int(c)
			if v > math.MaxUint8 {
				return n, i
			}
			dst[n] = byte(v)
			i += 4
		}
		n++
	}
	return n, i
}

// hintComma is the hint for numbers with a decimal comma.
const hintComma = "decimals need a point, not a comma"

// hintSeparate is the hint for lines that seem to have one field.
const hintSeparate = "separate the fields by commas, tabs or semicolons"
