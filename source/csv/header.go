package csv

import (
	"bytes"
	"io"
	"math"
	"slices"

	"github.com/idxport/idxport/fault"
)

// A first line of words is a header, and one of numbers is a row, but for one that counts 0, 1, 2,
// … or 1, 2, …: that is what pandas writes for columns without names, and may be a row all the
// same. The first rows tell what it is, or nobody does.

// hasHeader reports whether line, the first, is a header. The line is still to be read. behind is
// what countOrder tells.
func (t *Table) hasHeader(line []byte, behind bool, said *bool) (bool, error) {
	switch {
	case said != nil && *said:
		return true, nil
	case said != nil:
		return false, t.checkRow(line)
	case isHeader(line, t.comma):
		return true, nil
	case t.counted == nil:
		return false, nil
	case behind: // a row has no empty field
		t.note("the first line counts the fields behind an empty one, as pandas does where they have no names, and is taken for a header")
		return true, nil
	}
	if !slices.IsSorted(t.counted) && t.count <= fewFields {
		return false, nil
	}
	return t.weigh(line)
}

// fewFields is how many fields a row may have that holds all of 0, 1, 2, … in another order by
// chance. So many numbers are in the same order as texts.
const fewFields = 10

// checkRow demands that line is a row: it has no words.
func (t *Table) checkRow(line []byte) (err error) {
	eachField(line, t.comma, func(i int, text []byte) bool {
		if _, ok := parseNumber(text); !ok && len(text) > 0 && !isMissing(text) {
			err = fault.New(fault.Malformed, "field %d of the first line is %s, expected a number, as the line is said to be a row", i+1, shown(text)).
				WithHint("leave out --header no")
		}
		return err == nil
	})
	return err
}

// countOrder tells where the fields of line stand that have the numbers 0, 1, 2, … or 1, 2, 3, …,
// all up to the number of fields, in any order; nil if these are not what they have. The first
// field may be empty, behind which the others count: that is the name of a column of row numbers.
func countOrder(line []byte, comma byte, count int) (order []int, behind bool) {
	// Nothing is allocated for lines that the sum of their numbers rules out, as nearly all.
	least, shift, sum, numbers := count, 0, 0.0, true
	eachField(line, comma, func(i int, text []byte) bool {
		if i == 0 && len(text) == 0 {
			shift = 1
			return true
		}
		n, ok := parseNumber(text)
		numbers = ok && n.value >= 0 && n.value <= float64(count) && n.value == math.Trunc(n.value)
		if numbers {
			least, sum = min(least, int(n.value)), sum+n.value
		}
		return numbers
	})
	n := float64(count - shift)
	if !numbers || least > 1 || n == 0 || sum != n*(n-1)/2+n*float64(least) {
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
		place := int(n.value) - least + shift
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

// decisive is how many fields of a line that counts must be out of all proportion to their columns.
const decisive = 8

// weigh decides whether line, which counts, is a header, by the rows behind it.
func (t *Table) weigh(line []byte) (bool, error) {
	numbers := make([]float64, 0, t.count)
	eachField(line, t.comma, func(_ int, text []byte) bool {
		n, _ := parseNumber(text)
		numbers = append(numbers, n.value)
		return true
	})
	r, err := t.lookBehind(numbers)
	if err != nil {
		return false, err
	}
	beyond, beyondBytes := 0, false
	for i, v := range numbers {
		if v > 2*max(0, r.most[i]) && !math.IsInf(r.most[i], -1) {
			beyond++
		}
		beyondBytes = beyondBytes || v > math.MaxUint8
	}
	reason := ""
	switch {
	case r.rows > 0 && !r.quoted && bytes.Count(line, []byte{'"'}) == 2*t.count:
		reason = "is in quotes, as the rows are not"
	case r.rows > 0 && r.goesOn && t.count > 1 || t.count == 1 && numbers[0] == 1: // pandas counts from 0
		t.note("the first line counts the fields, and is taken for a row; --header yes says otherwise")
		return false, nil
	case r.rows > 0 && r.bytes && beyondBytes:
		reason = "goes beyond the bytes, 0 to 255, that the rows hold"
	case beyond >= decisive:
		reason = "goes far beyond what its columns hold"
	default:
		return false, fault.New(fault.Malformed, "the first line, %s, counts the fields, and the rows do not tell whether it is a header or a row", shown(line)).
			WithHint("say which it is: --header yes, or --header no")
	}
	t.note("the first line counts the fields and %s, and is taken for a header; --header no says otherwise", reason)
	return true, nil
}

// Behind is what the first rows behind a line have.
type behind struct {
	rows   int
	most   []float64 // of each column; −∞ if it has no number
	bytes  bool      // all numbers are integers from 0 to 255
	quoted bool      // there are quotes
	goesOn bool      // the rows go on counting where the line ends
}

// lookBehind looks at the rows behind the line of numbers, which is still to be read, as far as
// they are in the sample.
func (t *Table) lookBehind(numbers []float64) (*behind, error) {
	line, err := t.in.next(math.MaxInt)
	if err != nil {
		return nil, err
	}
	t.in.keep = len(line)
	row, err := t.in.next(t.limit) // it is to be in the sample
	if err != nil && err != io.EOF {
		return nil, t.readError(err)
	}
	t.in.at -= len(row)
	r := &behind{most: make([]float64, len(numbers)), bytes: true, goesOn: true}
	for i := range r.most {
		r.most[i] = math.Inf(-1)
	}
	text, whole := t.in.sample()
	r.rows = eachLine(text, whole, func(row int, line []byte) {
		r.quoted = r.quoted || bytes.IndexByte(line, '"') >= 0
		eachField(line, t.comma, func(i int, text []byte) bool {
			n, ok := parseNumber(text)
			if i >= len(numbers) || !ok {
				r.goesOn = false
				return i < len(numbers)
			}
			r.most[i] = max(r.most[i], nanIsZero(n.value))
			r.bytes = r.bytes && n.value >= 0 && n.value <= math.MaxUint8 && n.value == math.Trunc(n.value)
			r.goesOn = r.goesOn && n.value == numbers[i]+float64((row+1)*len(numbers))
			return true
		})
	})
	t.in.at -= t.in.keep
	t.in.keep = 0
	return r, nil
}
