package csv

import (
	"bytes"
	"cmp"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/idxport/idxport/fault"
)

// skipPreamble consumes all that may precede the data: a byte order mark, Excel's line "sep=;",
// empty lines, and comments, which begin with #. It keeps the last comment for firstLine.
func (t *Table) skipPreamble() error {
	const limit = 1 << 20 // bytes
	line := t.in.peek(limit)
	if bytes.HasPrefix(line, []byte(byteOrderMark)) {
		t.in.pos += len(byteOrderMark)
		line = line[len(byteOrderMark):]
	}
	text := bytes.Trim(trimEnd(line), `"`)
	if n := len("sep="); len(text) == n+1 && strings.EqualFold(string(text[:n]), "sep=") && strings.IndexByte(separators, text[n]) >= 0 {
		t.comma = text[n]
		t.in.pos += len(line)
		t.before++
	}
	for before := 0; before <= limit; before += len(line) {
		line = t.in.peek(limit)
		switch {
		case len(line) == 0:
			return nil
		case line[0] == '#':
			t.skipped++
			t.in.keep = len(line)
		case len(trimEnd(line)) > 0:
			return nil
		case t.in.keep > 0: // an empty line after a comment
			t.in.keep += len(line)
		}
		t.in.pos += len(line)
		t.before++
	}
	return fault.New(fault.Unsupported, "more than %d bytes of comments and empty lines before the data", limit).
		WithHint("remove them: grep -v -e '^#' -e '^$' %s >rows.csv", t.word)
}

// firstLine returns the first line, a header or a row. It returns the comment before it instead if
// both have the same number of fields, as numpy.savetxt writes them, or if no line follows.
func (t *Table) firstLine(limit int) ([]byte, error) {
	line, err := t.in.next(limit)
	kept := t.in.keep
	t.in.keep = 0
	if kept == 0 || err != nil && err != io.EOF {
		return line, err
	}
	from := t.in.pos - len(line) - kept
	if t.comma == 0 && findSeparator(trimEnd(line)) == ' ' { // in the comment, spaces may also separate words of one name
		t.comma = ' '
	}
	if comment, _, _ := bytes.Cut(t.in.buf[from:], []byte{'\n'}); err == nil && !t.isHeaderOf(trimEnd(comment), trimEnd(line)) {
		return line, nil
	}
	t.skipped--
	t.before -= int64(bytes.Count(t.in.buf[from:][:kept], []byte{'\n'}))
	t.in.pos = from
	return t.in.next(limit)
}

// isHeaderOf reports whether comment has a name for each field of line, and line is no header.
func (t *Table) isHeaderOf(comment, line []byte) bool {
	comma := cmp.Or(t.comma, findSeparator(comment))
	comment = bytes.TrimPrefix(comment, []byte("# "))
	count := func(line []byte) int { return eachField(line, comma, func(int, []byte) bool { return true }) }
	return bytes.Count(comment, []byte{'"'})%2 == 0 && count(comment) == count(line) && !isHeader(line, comma)
}

// A first line with words is a header, and one of numbers is a row, except that 0, 1, 2, … or 1, 2,
// … may be either: pandas writes them for columns without names. The first rows decide; if they
// cannot, the user must.

// hasHeader reports whether line, the first one, is a header. The line is not consumed. shifted
// comes from findNumbering; chosen is the choice of the user, or nil.
func (t *Table) hasHeader(line []byte, shifted bool, chosen *bool) (bool, error) {
	switch {
	case chosen != nil && *chosen:
		return true, nil
	case chosen != nil:
		return false, t.checkRow(line)
	case isHeader(line, t.comma):
		return true, nil
	case t.numbering == nil:
		return false, nil
	case shifted: // a row has no empty field
		t.note("the first line, %s, is read as a header: an empty name and then 0, 1, 2, …, as pandas writes for columns without names", shown(line))
		return true, nil
	}
	if !slices.IsSorted(t.numbering) && t.count <= fewFields {
		return false, nil
	}
	return t.decideByRows(line)
}

// fewFields is the largest number of fields of a row that may hold 0, 1, 2, … in another order by
// chance. A header 0, 1, 10, 2, …, whose names were sorted as text, has more fields.
const fewFields = 10

// checkRow requires line to be a row: it has no words.
func (t *Table) checkRow(line []byte) (err error) {
	eachField(line, t.comma, func(i int, text []byte) bool {
		if _, ok := parseNumber(text); !ok && len(text) > 0 && !isMissing(text) {
			err = fault.New(fault.Malformed, "field %d of the first line is %s, expected a number because of --header no", i+1, shown(text)).
				WithHint("write text as numbers; if the line has the names of the columns, leave out --header no")
		}
		return err == nil
	})
	return err
}

// findNumbering returns the index of the field for each of the numbers 0, 1, 2, … or 1, 2, 3, …, if
// these are the fields of line, in any order. Otherwise it returns nil. The first field may be
// empty, as the name of a column of row numbers; shifted reports whether it is.
func findNumbering(line []byte, comma byte, count int) (order []int, shifted bool) {
	// The sum of the numbers rules out nearly all lines before anything is allocated.
	smallest, shift, sum, numbers := count, 0, 0.0, true
	eachField(line, comma, func(i int, text []byte) bool {
		if i == 0 && len(text) == 0 {
			shift = 1
			return true
		}
		n, ok := parseNumber(text)
		numbers = ok && n.value >= 0 && n.value <= float64(count) && n.value == math.Trunc(n.value)
		if numbers {
			smallest, sum = min(smallest, int(n.value)), sum+n.value
		}
		return numbers
	})
	n := float64(count - shift)
	if !numbers || smallest > 1 || n == 0 || sum != n*(n-1)/2+n*float64(smallest) {
		return nil, false
	}
	order = make([]int, count)
	for i := range order[shift:] {
		order[shift+i] = -1
	}
	eachField(line, comma, func(i int, text []byte) bool {
		if i < shift {
			return true
		}
		n, _ := parseNumber(text)
		place := int(n.value) - smallest + shift
		numbers = place < count && order[place] < 0
		if numbers {
			order[place] = i
		}
		return numbers
	})
	if !numbers {
		return nil, false
	}
	return order, shift > 0
}

// decisive is how many numbers in the first line must far exceed their columns to make it a header.
const decisive = 8

// decideByRows compares line, which findNumbering accepted, with the next rows: is it a header?
func (t *Table) decideByRows(line []byte) (bool, error) {
	numbers := make([]float64, 0, t.count)
	eachField(line, t.comma, func(_ int, text []byte) bool {
		n, _ := parseNumber(text)
		numbers = append(numbers, n.value)
		return true
	})
	r, err := t.examineNext(numbers)
	if err != nil {
		return false, err
	}
	beyond, beyondBytes := 0, false
	for i, v := range numbers {
		if v > 2*max(0, r.max[i]) && !math.IsInf(r.max[i], -1) {
			beyond++
		}
		beyondBytes = beyondBytes || v > math.MaxUint8
	}
	reason := ""
	switch {
	case r.rows > 0 && !r.quoted && bytes.Count(line, []byte{'"'}) == 2*t.count:
		reason = "it is in quotes, unlike the rows"
	case t.count == 1 && numbers[0] == 1: // pandas counts from 0
		t.note("the first line, %s, is read as a row of values; --header yes overrides this", shown(line))
		return false, nil
	case r.rows > 0 && r.continues && t.count > 1:
		t.note("the first line, %s, is read as a row of values, because the next rows continue its numbers; --header yes overrides this", shown(line))
		return false, nil
	case r.rows > 0 && r.uint8s && beyondBytes:
		reason = "it has a number above 255, unlike the rows"
	case beyond >= decisive:
		reason = "its numbers are far larger than the values in the rows"
	default:
		return false, fault.New(fault.Malformed, "the first line is %s, which may be column names or a row of values", shown(line)).
			WithHint("say which it is: --header yes, or --header no")
	}
	t.note("the first line, %s, is read as a header, because %s; --header no overrides this", shown(line), reason)
	return true, nil
}

// nextRows describes the first rows after a line of numbers.
type nextRows struct {
	rows      int
	max       []float64 // of each column; −∞ if it has no number
	uint8s    bool      // all numbers are integers from 0 to 255
	quoted    bool      // some row has quotes
	continues bool      // the numbers of the rows continue those of the line
}

// examineNext examines the rows of the sample after the first line, which has the given numbers.
// That line is not consumed.
func (t *Table) examineNext(numbers []float64) (*nextRows, error) {
	line, err := t.in.next(math.MaxInt)
	if err != nil {
		return nil, err
	}
	t.in.keep = len(line)
	row, err := t.in.next(t.limit) // read only to have it in the sample
	if err != nil && err != io.EOF {
		return nil, t.readError(err)
	}
	t.in.pos -= len(row)
	r := &nextRows{max: make([]float64, len(numbers)), uint8s: true, continues: true}
	for i := range r.max {
		r.max[i] = math.Inf(-1)
	}
	text, whole := t.in.sample()
	r.rows = eachLine(text, whole, func(row int, line []byte) {
		r.quoted = r.quoted || bytes.IndexByte(line, '"') >= 0
		eachField(line, t.comma, func(i int, text []byte) bool {
			n, ok := parseNumber(text)
			if i >= len(numbers) || !ok {
				r.continues = false
				return i < len(numbers)
			}
			r.max[i] = max(r.max[i], nanIsZero(n.value))
			r.uint8s = r.uint8s && n.value >= 0 && n.value <= math.MaxUint8 && n.value == math.Trunc(n.value)
			r.continues = r.continues && n.value == numbers[i]+float64((row+1)*len(numbers))
			return true
		})
	})
	t.in.pos -= t.in.keep
	t.in.keep = 0
	return r, nil
}
