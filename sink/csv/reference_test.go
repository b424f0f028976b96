package csv

import (
	"bytes"
	"encoding/binary"
	stdcsv "encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// reference is what the package should write for a whole table, made by encoding/csv and strconv, a field at a time.
func reference(t *testing.T, s *schema.Schema, columns [][]byte, o Options) string {
	t.Helper()
	var out bytes.Buffer
	w := stdcsv.NewWriter(&out)
	if o.Comma != 0 {
		w.Comma = rune(o.Comma)
	}
	order := slices.Concat(matching(s, source.Column.Scalar), matching(s, func(c source.Column) bool { return !c.Scalar() }))
	if names := referenceHeader(s, order, o.Style); names != nil {
		if err := w.Write(names); err != nil {
			t.Fatal(err)
		}
	}
	var line []string
	for row := range int(s.Rows) {
		for _, i := range order {
			c := s.Columns[i]
			size := c.DType.Size()
			record := columns[i][row*c.RecordSize():][:c.RecordSize()]
			for ; len(record) > 0; record = record[size:] {
				line = append(line, referenceValue(c.DType, record[:size]))
			}
		}
		if o.Style == "matrix" && s.Columns[0].Scalar() && row+1 < int(s.Rows) {
			continue // all values are one row
		}
		if err := w.Write(line); err != nil {
			t.Fatal(err)
		}
		line = line[:0]
	}
	w.Flush()
	return out.String()
}

// matching lists the columns of s that are so.
func matching(s *schema.Schema, is func(source.Column) bool) []int {
	var found []int
	for i, c := range s.Columns {
		if is(c) {
			found = append(found, i)
		}
	}
	return found
}

// referenceHeader is the header of the columns in order, or nil.
func referenceHeader(s *schema.Schema, order []int, style string) []string {
	if style == "pjreddie" || style == "matrix" {
		return nil
	}
	tensors := matching(s, func(c source.Column) bool { return !c.Scalar() && c.Elements() > 0 })
	var names []string
	for _, i := range order {
		c := s.Columns[i]
		if c.Scalar() {
			names = append(names, c.Name)
			continue
		}
		prefix := c.Name
		if len(tensors) == 1 {
			prefix = "pixel"
		}
		switch style {
		case "kaggle1":
			for i := range c.Elements() {
				names = append(names, fmt.Sprint(prefix, i+1))
			}
		case "rowxcol":
			prefix = strings.TrimPrefix(prefix+"_", "pixel_")
			for _, index := range indices(c.Shape) {
				names = append(names, prefix+index)
			}
		default:
			for i := range c.Elements() {
				names = append(names, fmt.Sprint(prefix, i))
			}
		}
	}
	return names
}

// indices lists the indices of a shape in C order, counted from 1: "1x1", "1x2", …; what has one dimension is a row.
func indices(shape []int) []string {
	if len(shape) == 1 {
		shape = []int{1, shape[0]}
	}
	all := []string{""}
	for _, size := range shape {
		var longer []string
		for _, head := range all {
			for i := range size {
				longer = append(longer, strings.TrimPrefix(fmt.Sprintf("%sx%d", head, i+1), "x"))
			}
		}
		all = longer
	}
	return all
}

// referenceValue is the text of one element.
func referenceValue(d idx.DType, b []byte) string {
	switch d {
	case idx.Uint8:
		return fmt.Sprint(b[0])
	case idx.Int8:
		return fmt.Sprint(int8(b[0]))
	case idx.Int16:
		return fmt.Sprint(int16(binary.LittleEndian.Uint16(b)))
	case idx.Int32:
		return fmt.Sprint(int32(binary.LittleEndian.Uint32(b)))
	default:
		return referenceFloat(b)
	}
}

// referenceFloat is the text of the float in src, of 4 bytes or 8: what package strconv calls the shortest, made unlike an integer.
func referenceFloat(src []byte) string {
	v, bitSize := 0.0, 8*len(src)
	if bitSize == 32 {
		v = float64(math.Float32frombits(binary.LittleEndian.Uint32(src)))
	} else {
		v = math.Float64frombits(binary.LittleEndian.Uint64(src))
	}
	text := strconv.FormatFloat(v, 'g', -1, bitSize)
	if bitSize == 32 && math.Abs(v) == 1.0/4096 { // 0.000244140625, in the middle: strconv of Go 1.26 alone does not take the even digit
		text = strings.Replace(text, "0.00024414063", "0.00024414062", 1)
	}
	switch text {
	case "NaN":
		return text
	case "+Inf":
		return "inf"
	case "-Inf":
		return "-inf"
	}
	if _, err := strconv.ParseInt(text, 10, 64); err == nil {
		text += ".0"
	}
	return text
}
