package flat

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/fault"
)

// elements holds columns whose names are a prefix and a rank of numbers.
type elements struct {
	names   []string // of all columns
	limit   int      // of the number of fields
	prefix  string
	rank    int
	columns []int
	numbers []int32 // rank numbers for each column
}

// numbersOf returns the numbers in the name of the column e.columns[i].
func (e *elements) numbersOf(i int) []int32 { return e.numbers[i*e.rank : (i+1)*e.rank] }

// first and last return the name of the first and the last column.
func (e *elements) first() string { return e.names[e.columns[0]] }
func (e *elements) last() string  { return e.names[e.columns[len(e.columns)-1]] }

// sort sorts the columns by their numbers, which is C order; columns with equal numbers keep their
// order.
func (e *elements) sort() {
	compare := func(i, k int) int {
		return cmp.Or(slices.Compare(e.numbersOf(i), e.numbersOf(k)), e.columns[i]-e.columns[k])
	}
	sorted := true
	for i := 1; i < len(e.columns); i++ {
		sorted = sorted && compare(i-1, i) < 0
	}
	if sorted { // without memory for the order: there may be a million columns
		return
	}
	order := make([]int, len(e.columns))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, compare)
	columns, numbers := make([]int, 0, len(order)), make([]int32, 0, len(e.numbers))
	for _, i := range order {
		columns, numbers = append(columns, e.columns[i]), append(numbers, e.numbersOf(i)...)
	}
	e.columns, e.numbers = columns, numbers
}

// fields returns the tensor with the elements e, or a scalar for each column if the numbers are not
// those of a tensor.
func (e *elements) fields() ([]Field, *fault.Error) {
	e.sort()
	if e.rank > 1 {
		return e.grid()
	}
	width, ok := e.width()
	first, last := e.numbers[0], e.numbers[len(e.numbers)-1]
	switch {
	case len(e.columns) == 1 || !ok:
		return e.scalars(), nil
	case e.looksLikeTensor():
		first = min(first, 1)
		shape := []int{int(last-first) + 1}
		name := func(indices []int32) string { return fmt.Sprintf("%s%0*d", e.prefix, width, indices[0]) }
		if bad := e.checkComplete([]int32{first}, shape, name); bad != nil {
			return nil, bad
		}
		return []Field{tensor(e.names, e.prefix, e.columns)}, nil
	case width == 0:
		if tensors := e.splitByDigit(); tensors != nil {
			return tensors, nil
		}
	}
	return e.scalars(), nil
}

// scalars returns a field for each column, or for more than the limit.
func (e *elements) scalars() (fields []Field) {
	for _, c := range e.columns[:min(len(e.columns), e.limit+1)] {
		fields = append(fields, Field{Name: e.names[c], Columns: []int{c}})
	}
	return fields
}

// width returns how many digits the numbers are padded to with zeros, as in pixel0000 to pixel0783,
// or 0. ok is false if it is not the same for all.
func (e *elements) width() (width int, ok bool) {
	shortest := len(e.last())
	for _, c := range e.columns {
		number := e.names[c][len(e.prefix):]
		if shortest = min(shortest, len(number)); isPadded(number) {
			width = max(width, len(number))
		}
	}
	return width, width <= shortest
}

// looksLikeTensor reports whether the numbers, which are sorted, look like those of a tensor, even
// if some are missing: they begin with 0 and 1 or with 1 and 2, or they begin with 0 or 1, there
// are at least many of them, and they are more than half of the numbers up to the largest; or the
// names are those of pixels. Other numbers belong to separate columns, such as q1 and q3.
func (e *elements) looksLikeTensor() bool {
	const many = 32
	if isPixel(strings.TrimRight(e.prefix, "_-. ")) {
		return true
	}
	n := len(e.numbers)
	if e.numbers[0] > 1 {
		return false
	}
	i := slices.IndexFunc(e.numbers, func(v int32) bool { return v != e.numbers[0] })
	return i < 0 || e.numbers[i] == e.numbers[0]+1 || n >= many && n > int(e.numbers[n-1])/2
}

// splitByDigit divides the columns into tensors with longer prefixes: x10, x11, x12 are the
// elements of x1. It returns nil if a column belongs to none of them, as with t8, t9, t10, t11,
// which only begin at another number.
func (e *elements) splitByDigit() (tensors []Field) {
	left := map[string]int{}
	for _, c := range e.columns {
		left[e.names[c]] = c
	}
	for _, c := range e.columns {
		name := e.names[c]
		if _, ok := left[name]; !ok {
			continue
		}
		prefix, number := name[:len(name)-1], int(name[len(name)-1]-'0')
		var columns []int
		for c, ok := left[name]; ok && number-len(columns) <= 1; c, ok = left[prefix+strconv.Itoa(number)] {
			columns = append(columns, c)
			delete(left, e.names[c])
			number++
		}
		if len(columns) < 2 || len(prefix) == len(e.prefix) {
			return nil
		}
		tensors = append(tensors, tensor(e.names, prefix, columns))
	}
	return tensors
}

// grid returns the field of elements with an index for each of two or more dimensions.
func (e *elements) grid() ([]Field, *fault.Error) {
	smallest, largest := slices.Clone(e.numbersOf(0)), slices.Clone(e.numbersOf(0))
	for i := range e.columns {
		for axis, v := range e.numbersOf(i) {
			smallest[axis], largest[axis] = min(smallest[axis], v), max(largest[axis], v)
		}
	}
	if slices.Max(smallest) > 1 || len(e.columns) == 1 && slices.Min(smallest) != slices.Max(largest) {
		return e.scalars(), nil // such as 640x480
	}
	start := slices.Repeat([]int32{slices.Min(smallest)}, e.rank)
	f := Field{Name: strings.TrimSuffix(e.prefix, "_"), Shape: make([]int, e.rank), Columns: e.columns}
	for axis := range largest {
		f.Shape[axis] = int(largest[axis]-start[axis]) + 1
	}
	if bad := e.checkComplete(start, f.Shape, func(indices []int32) string {
		return e.prefix + strings.Trim(strings.ReplaceAll(fmt.Sprint(indices), " ", "x"), "[]")
	}); bad != nil {
		return nil, bad
	}
	// Records of one dimension are written as one row; images of one row hardly occur.
	if e.rank == 2 && f.Shape[0] == 1 && len(e.columns) > 1 {
		f.Shape = f.Shape[1:]
		f.Guess = fmt.Sprintf("the columns %s…%s are read as one dimension", e.first(), e.last())
	}
	return []Field{f}, nil
}

// checkComplete returns an error if e does not have every element of a tensor of the given shape
// exactly once. The first element has the indices start; name returns the name of the element with
// the given indices.
func (e *elements) checkComplete(start []int32, shape []int, name func(indices []int32) string) *fault.Error {
	const hint = "number the columns of a record without gaps or repeats; " +
		"if a column is not an element of the record, give it a name that does not end with a number"
	for i := 1; i < len(e.columns); i++ {
		if slices.Equal(e.numbersOf(i-1), e.numbersOf(i)) {
			return fault.New(fault.Malformed, "columns %d and %d both named %s, expected each element of a record once",
				e.columns[i-1]+1, e.columns[i]+1, e.names[e.columns[i]]).WithHint(hint)
		}
	}
	missing := func(indices []int32) *fault.Error {
		return fault.New(fault.Malformed, "%d columns %s…%s without %s, expected all elements of a record",
			len(e.columns), e.first(), e.last(), name(indices)).WithHint(hint)
	}
	indices := slices.Clone(start)
	for i, c := range e.columns {
		if !slices.Equal(e.numbersOf(i), indices) {
			return missing(indices).WithHint("the gap is before %s, in column %d: %s", e.names[c], c+1, hint)
		}
		for axis := len(indices) - 1; axis >= 0; axis-- {
			if indices[axis]++; int(indices[axis]-start[axis]) < shape[axis] || axis == 0 {
				break
			}
			indices[axis] = start[axis]
		}
	}
	if int(indices[0]-start[0]) < shape[0] { // the last row ends early
		return missing(indices)
	}
	return nil
}
