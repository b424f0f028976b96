package flat

import (
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/idxport/idxport/fault"
)

// elements are columns with the numbers in their names.
type elements struct {
	rank    int
	columns []int
	numbers []int32 // rank numbers for each column
}

func (e *elements) at(i int) []int32 { return e.numbers[i*e.rank : (i+1)*e.rank] }

// sort sorts the columns by their numbers, which is C order; columns with equal numbers keep their
// order.
func (e *elements) sort() {
	if !sort.IsSorted(e) {
		sort.Sort(e)
	}
}

// Len, Less and Swap sort in place, because there may be a million columns.
func (e *elements) Len() int { return len(e.columns) }

func (e *elements) Less(i, k int) bool {
	c := slices.Compare(e.at(i), e.at(k))
	return c < 0 || c == 0 && e.columns[i] < e.columns[k]
}

func (e *elements) Swap(i, k int) {
	e.columns[i], e.columns[k] = e.columns[k], e.columns[i]
	for axis := range e.rank {
		e.numbers[i*e.rank+axis], e.numbers[k*e.rank+axis] = e.numbers[k*e.rank+axis], e.numbers[i*e.rank+axis]
	}
}

// complete reports whether the numbers, one for each column, count up from 0 or 1.
func (e *elements) complete() bool {
	for i, n := range e.numbers {
		if int(n) != int(e.numbers[0])+i {
			return false
		}
	}
	return e.numbers[0] <= 1
}

// many is the count of numbers from which on, if most numbers up to the largest exist, the others
// are considered missing.
const many = 32

// begins reports whether the numbers look like those of a tensor: they begin with 0 and 1 or with 1
// and 2, or there are many and most of those up to the largest. Other numbers belong to names of
// separate columns, such as q1 and q3.
func (e *elements) begins() bool {
	n := len(e.numbers)
	if e.numbers[0] > 1 {
		return false
	}
	i := slices.IndexFunc(e.numbers, func(v int32) bool { return v != e.numbers[0] })
	return i < 0 || e.numbers[i] == e.numbers[0]+1 || n >= many && n > int(e.numbers[n-1])/2
}

// indices splits a name such as 3x4 or a_3x4. The numbers, at least two, are appended to to.
func indices(name string, to []int32) (prefix string, numbers []int32, ok bool) {
	prefix = strings.TrimRight(name, "0123456789x")
	if prefix != "" && !strings.HasSuffix(prefix, "_") {
		return "", nil, false
	}
	rest := name[len(prefix):]
	if strings.IndexByte(rest, 'x') < 0 {
		return "", nil, false
	}
	numbers = to
	for part := range strings.SplitSeq(rest, "x") {
		n, err := strconv.ParseUint(part, 10, 31)
		if err != nil || isPadded(part) {
			return "", nil, false
		}
		numbers = append(numbers, int32(n))
	}
	return prefix, numbers, true
}

// wrong returns the first reason why e, sorted, does not have every element of a tensor of that
// shape exactly once; nil if it has. The first element has the indices start; name returns the name
// of the element with given indices.
func (g *grouping) wrong(e *elements, start []int32, shape []int, name func(at []int32) string) *fault.Error {
	const hint = "number the columns of a record without gaps or repeats; if a column is not an element of the record, give it a name that does not end with a number"
	for i := 1; i < len(e.columns); i++ {
		if slices.Equal(e.at(i-1), e.at(i)) {
			return fault.New(fault.Malformed, "columns %d and %d both named %s, expected each element of a record once",
				e.columns[i-1]+1, e.columns[i]+1, g.names[e.columns[i]]).WithHint(hint)
		}
	}
	without := func(at []int32) *fault.Error {
		return fault.New(fault.Malformed, "%d columns %s…%s without %s, expected all elements of a record",
			len(e.columns), g.names[e.columns[0]], g.names[e.columns[len(e.columns)-1]], name(at))
	}
	at := slices.Clone(start)
	for i, c := range e.columns {
		if !slices.Equal(e.at(i), at) {
			return without(at).WithHint("the gap is before %s, in column %d: %s", g.names[c], c+1, hint)
		}
		for axis := len(at) - 1; axis >= 0; axis-- {
			if at[axis]++; int(at[axis]-start[axis]) < shape[axis] {
				break
			}
			if axis > 0 {
				at[axis] = start[axis]
			}
		}
	}
	if int(at[0]-start[0]) < shape[0] { // the last row ends early
		return without(at).WithHint(hint)
	}
	return nil
}
