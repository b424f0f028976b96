package csv

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// Decode parses the lines of b. Errors name the file, the row and usually the column.
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
		if err := t.parseLine(b, text[:n], row); err != nil {
			return fault.In(t.path, err)
		}
		text = text[n+1:]
	}
	return nil
}

func (t *Table) parseLine(b *source.Raw, line []byte, row int) error {
	rest := line
	for i := range t.parts {
		p := &t.parts[i]
		f := &t.fileColumns[p.fileColumn]
		if f.column < 0 {
			text, after, ok := nextField(rest, t.comma)
			if !ok {
				return t.countError(b, line, row)
			}
			if !validQuotes(text) {
				return t.inRow(b.First+int64(row), t.name(f.first), "put the text in quotes, and write each quote in it twice", "found %s, with a quote inside an unquoted text",
					shown(text))
			}
			rest = after
			continue
		}
		size := f.dtype.Size()
		dst := b.Columns[f.column][(row*f.count+p.element)*size:][:p.count*size]
		n := 0
		if f.dtype == idx.Uint8 {
			var used int
			n, used = parseUint8s(dst, rest, t.comma)
			rest = rest[used:]
		}
		for ; n < p.count; n++ {
			text, after, ok := nextField(rest, t.comma)
			if !ok {
				return t.countError(b, line, row)
			}
			rest = after
			if v, ok := parseInteger(text); ok && putInteger(f.dtype, dst, n, v) {
				continue
			}
			if message, hint := put(f.dtype, dst, n, content(text)); message != "" {
				return t.inRow(b.First+int64(row), t.name(p.first+n), t.advise(f, hint), "%s", message)
			}
		}
	}
	if len(rest) > 0 {
		return t.countError(b, line, row)
	}
	return nil
}

// advise returns the hint for a value that the type of f does not hold; hint comes from put.
func (t *Table) advise(f *fileColumn, hint string) string {
	tensors := slices.ContainsFunc(t.fileColumns, func(f fileColumn) bool { return f.Shape != nil })
	switch {
	case hint == "":
		return "correct the value, or remove the row"
	case !strings.HasPrefix(hint, "--dtype"):
		return hint
	case tensors && f.Shape == nil: // --dtype is the type of the tensors
		return "the type was guessed from the first and last rows; correct the value, or remove the row"
	}
	return "choose a type that holds all values: " + hint
}

// countError returns the error for a line with too few or too many fields.
func (t *Table) countError(b *source.Raw, line []byte, row int) error {
	n, rest := 0, line
	for len(rest) > 0 {
		_, after, ok := nextField(rest, t.comma)
		if !ok {
			return t.inRow(b.First+int64(row), "", "", "field %d has a quote that is not closed", n+1)
		}
		rest = after
		n++
	}
	return t.inRow(b.First+int64(row), "", "", "found %s, expected %d", display.Count(n, "field"), t.count)
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

// putInteger stores v, which has up to ten digits, as element i of dst, and reports whether it did.
// It does not if d cannot hold v, or if v is 0 and d a float type: the text may have been −0.
func putInteger(d idx.DType, dst []byte, i int, v int64) bool {
	switch d {
	case idx.Float32:
		if v == 0 || int64(float32(v)) != v {
			return false
		}
	case idx.Float64:
		if v == 0 {
			return false
		}
	default:
		if smallest, largest := d.Limits(); v < smallest || v > largest {
			return false
		}
	}
	source.PutInt(dst[d.Size()*i:], d, v)
	return true
}

// put stores the number in text as element i of dst. If d cannot hold the number, or if text is not
// a number, put returns the message and the hint of an error.
func put(d idx.DType, dst []byte, i int, text []byte) (message, hint string) {
	if d == idx.Float32 {
		if v, ok := parseShort32(text); ok {
			binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(v))
			return "", ""
		}
	}
	n, ok := parseNumber(text)
	if !ok {
		return noNumber(text)
	}
	switch d {
	case idx.Float64:
		if !n.fits64(text) {
			return fmt.Sprintf("found %s, expected an integer that float64 holds exactly", shown(text)), "remove the column; or write the number with a decimal point, and it is rounded"
		}
		binary.LittleEndian.PutUint64(dst[8*i:], math.Float64bits(n.value))
		return "", ""
	case idx.Float32:
		if !n.fits32(text) {
			return fmt.Sprintf("found %s, expected a number that float32 holds, of up to %d digits", shown(text), maxDigits32), "--dtype float64"
		}
		single, _ := strconv.ParseFloat(string(text), 32) // rounds only once; cannot fail, as fits32 is true
		binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(float32(single)))
		return "", ""
	}
	smallest, largest := d.Limits()
	if math.Trunc(n.value) != n.value || math.IsInf(n.value, 0) {
		return fmt.Sprintf("found %s, expected an integer of type %s", shown(text), d), "--dtype float64"
	}
	if n.value < float64(smallest) || n.value > float64(largest) {
		hint = "--dtype int32"
		if n.value < math.MinInt32 || n.value > math.MaxInt32 {
			hint = "--dtype float64"
		}
		return fmt.Sprintf("found %s, expected %d to %d for %s", shown(text), smallest, largest, d), hint
	}
	putInteger(d, dst, i, int64(n.value))
	return "", ""
}

// hintComma is the hint for numbers with a decimal comma.
const hintComma = "decimals need a point, not a comma"

// hintSeparate is the hint for lines that seem to have one field.
const hintSeparate = "separate the fields by commas, tabs or semicolons"

func decimalComma(text []byte) bool {
	_, ok := parseNumber(bytes.Replace(text, []byte{','}, []byte{'.'}, 1))
	return ok
}

// noNumber returns the message and the hint for text that is not a number.
func noNumber(text []byte) (message, hint string) {
	if len(text) == 0 {
		return "the field is empty, expected a number", "fill it, or remove such rows"
	}
	if _, err := strconv.ParseFloat(string(text), 64); errors.Is(err, strconv.ErrRange) {
		return fmt.Sprintf("found %s, expected a number that float64 holds", shown(text)), ""
	}
	if decimalComma(text) {
		return fmt.Sprintf("found %s, expected a number", shown(text)), hintComma
	}
	return fmt.Sprintf("found %s, expected a number", shown(text)), "correct the value; if it stands for a missing one, fill it, or remove the row"
}

// inRow returns the error for a row and, unless column is empty, a column. It also names the line,
// which is what editors show; no line feeds in quotes are expected before it.
func (t *Table) inRow(row int64, column, hint, format string, args ...any) error {
	return fault.New(fault.Malformed, format+" (line %d)", append(args, t.before+row+1)...).InRow(row).InColumn(column).WithHint("%s", hint)
}

// shown quotes up to 40 bytes of text for a message.
func shown(text []byte) string {
	if len(text) > 40 {
		return fmt.Sprintf("%q…", text[:40])
	}
	return fmt.Sprintf("%q", text)
}
