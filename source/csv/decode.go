package csv

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// Decode parses the lines of b. The error names the file, the row and mostly the column.
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

// parseLine parses the line of a row of b.
func (t *Table) parseLine(b *source.Raw, line []byte, row int) error {
	rest := line
	for i := range t.parts {
		p := &t.parts[i]
		f := &t.fields[p.field]
		if f.column < 0 {
			text, behind, ok := nextField(rest, t.comma)
			if !ok {
				return t.countError(b, line, row)
			}
			if !isQuoted(text) {
				return inRow(b.First+int64(row), t.name(f.first), "put the text in quotes, and double those inside", "found %s, with a quote inside of a text that has none around it",
					shown(text))
			}
			rest = behind
			continue
		}
		size := f.dtype.Size()
		dst := b.Columns[f.column][(row*f.count+p.at)*size:][:p.count*size]
		n := 0
		if f.dtype == idx.Uint8 {
			var used int
			n, used = parseUint8s(dst, rest, t.comma)
			rest = rest[used:]
		}
		for ; n < p.count; n++ {
			text, behind, ok := nextField(rest, t.comma)
			if !ok {
				return t.countError(b, line, row)
			}
			rest = behind
			if v, ok := parseInteger(text); ok && putInteger(f.dtype, dst, n, v) {
				continue
			}
			if message, advice := put(f.dtype, dst, n, content(text)); message != "" {
				if advice == "" && f.Shape == nil && len(t.columns) > 1 {
					advice = "the rows at the start and end of the file have no such values"
				}
				return inRow(b.First+int64(row), t.name(p.first+n), advice, "%s", message)
			}
		}
	}
	if len(rest) > 0 {
		return t.countError(b, line, row)
	}
	return nil
}

// countError is the error for a line of too few fields, or too many.
func (t *Table) countError(b *source.Raw, line []byte, row int) error {
	n, rest := 0, line
	for len(rest) > 0 {
		_, behind, ok := nextField(rest, t.comma)
		if !ok {
			return inRow(b.First+int64(row), "", "", "field %d has a quote that is not closed", n+1)
		}
		rest = behind
		n++
	}
	return inRow(b.First+int64(row), "", "", "found %d fields, expected %d", n, t.count)
}

// parseUint8s parses fields of one to three digits up to 255, each with comma behind it, until dst is full or something else comes. It returns
// their number and how many bytes they had. Four zeros, of which backgrounds are made, are taken at once.
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

// putInteger stores v, which has up to nine digits, as element i of dst. It reports whether d holds it; a float32 does not hold all of them, and a zero
// may have been −0.
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
		if least, most := d.Limits(); v < least || v > most {
			return false
		}
	}
	source.PutInt(dst[d.Size()*i:], d, v)
	return true
}

// put stores the number that text says as element i of dst. If d does not hold it, or it is none, message says so, and advice what can be done.
func put(d idx.DType, dst []byte, i int, text []byte) (message, advice string) {
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
			return fmt.Sprintf("found %s, expected an integer that float64 holds", shown(text)), "leave the column out, or write it with a point, to be rounded"
		}
		binary.LittleEndian.PutUint64(dst[8*i:], math.Float64bits(n.value))
		return "", ""
	case idx.Float32:
		if !n.fits32(text) {
			return fmt.Sprintf("found %s, expected a number that float32 holds, of up to %d digits", shown(text), digits32), "--dtype float64"
		}
		single, _ := strconv.ParseFloat(string(text), 32) // which rounds once; it cannot fail where 64 bits did not
		binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(float32(single)))
		return "", ""
	}
	least, most := d.Limits()
	if math.Trunc(n.value) != n.value || math.IsInf(n.value, 0) {
		return fmt.Sprintf("found %s, expected an integer of type %s", shown(text), d), "--dtype float64 or float32"
	}
	if n.value < float64(least) || n.value > float64(most) {
		advice = "--dtype int32"
		if n.value < math.MinInt32 || n.value > math.MaxInt32 {
			advice = "--dtype float64"
		}
		return fmt.Sprintf("found %s, expected %d to %d, as %s holds", shown(text), least, most, d), advice
	}
	putInteger(d, dst, i, int64(n.value))
	return "", ""
}

// adviceComma is what to do about numbers that hasComma tells.
const adviceComma = "decimals need a point, not a comma"

// hasComma reports whether text is a number with a comma for its point.
func hasComma(text []byte) bool {
	_, ok := parseNumber(bytes.Replace(text, []byte{','}, []byte{'.'}, 1))
	return ok
}

// noNumber says what text is instead of a number.
func noNumber(text []byte) (message, advice string) {
	if len(text) == 0 {
		return "the field is empty, expected a number", "fill it, or leave such rows out"
	}
	if _, err := strconv.ParseFloat(string(text), 64); errors.Is(err, strconv.ErrRange) {
		return fmt.Sprintf("found %s, expected a number that float64 holds", shown(text)), ""
	}
	if hasComma(text) {
		return fmt.Sprintf("found %s, expected a number", shown(text)), adviceComma
	}
	return fmt.Sprintf("found %s, expected a number", shown(text)), "fill or leave out rows without a value"
}

// inRow is the error about a row, and a column unless that is empty.
func inRow(row int64, column, advice, format string, args ...any) error {
	return fault.New(fault.Malformed, format, args...).InRow(row).InColumn(column).WithHint("%s", advice)
}

// shown is text as messages quote it: at most 40 bytes of it.
func shown(text []byte) string {
	if len(text) > 40 {
		return fmt.Sprintf("%q…", text[:40])
	}
	return fmt.Sprintf("%q", text)
}
