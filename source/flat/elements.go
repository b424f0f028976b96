package flat

import (
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/idxport/idxport/fault"
)

// elements holds columns, by their indices, and the numbers in the name of each.
type elements struct {
	rank    int
	columns []int
	numbers []int32 // rank numbers for each column
}

// numbersOf returns the numbers in the name of the column e.columns[i].
func (e *elements) numbersOf(i int) []int32 { return e.numbers[i*e.rank : (i+1)*e.rank] }

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
	c := slices.Compare(e.numbersOf(i), e.numbersOf(k))
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

// many is the minimum count of numbers that are taken for a tensor with gaps, if they are more than
// half of the numbers up to the largest.
const many = 32

// looksLikeTensor reports whether the numbers, which are sorted, look like those of a tensor: they
// begin with 0 and 1 or with 1 and 2, or they begin with 0 or 1, there are at least many of them,
// and they are more than half of the numbers up to the largest. Other numbers belong to the names
// of separate columns, such as q1 and q3.
func (e *elements) looksLikeTensor() bool {
	n := len(e.numbers)
	if e.numbers[0] > 1 {
		return false
	}
	i := slices.IndexFunc(e.numbers, func(v int32) bool { return v != e.numbers[0] })
	return i < 0 || e.numbers[i] == e.numbers[0]+1 || n >= many && n > int(e.numbers[n-1])/2
}

// splitIndices splits a name such as 3x4 or a_3x4. It appends the numbers, at least two, to dst.
func splitIndices(name string, dst []int32) (prefix string, numbers []int32, ok bool) {
	prefix = strings.TrimRight(name, "0123456789x")
	if prefix != "" && !strings.HasSuffix(prefix, "_") {
		return "", nil, false
	}
	rest := name[len(prefix):]
	if strings.IndexByte(rest, 'x') < 0 {
		return "", nil, false
	}
	numbers = dst
	for part := range strings.SplitSeq(rest, "x") {
		n, err := strconv.ParseUint(part, 10, 31)
		if err != nil || isPadded(part) {
			return "", nil, false
		}
		numbers = append(numbers, int32(n))
	}
	return prefix, numbers, true
}

// checkComplete returns an error if e, which is sorted, does not have every element of a tensor of
// the given shape exactly once. The first element has the indices start; name returns the name of
// the element with the given indices.
func (g *grouping) checkComplete(e *elements, start []int32, shape []int, name func(indices []int32) string) *fault.Error {
	const hint = "number the columns of a record without gaps or repeats; if a column is not an element of the record, give it a name that does not end with a number"
	for i := 1; i < len(e.columns); i++ {
		if slices.Equal(e.numbersOf(i-1), e.numbersOf(i)) {
			return fault.New(fault.Malformed, "columns %d and %d both named %s, expected each element of a record once",
				e.columns[i-1]+1, e.columns[i]+1, g.names[e.columns[i]]).WithHint(hint)
		}
	}
	missing := func(indices []int32) *fault.Error {
		return fault.New(fault.Malformed, "%d columns %s…%s without %s, expected all elements of a record",
			len(e.columns), g.names[e.columns[0]], g.names[e.columns[len(e.columns)-1]], name(indices))
	}
	indices := slices.Clone(start)
	for i, c := range e.columns {
		if !slices.Equal(e.numbersOf(i), indices) {
			return missing(indices).WithHint("the gap is before %s, in column %d: %s", g.names[c], c+1, hint)
		}
		for axis := len(indices) - 1; axis >= 0; axis-- {
			if indices[axis]++; int(indices[axis]-start[axis]) < shape[axis] {
				break
			}
			if axis > 0 {
				indices[axis] = start[axis]
			}
		}
	}
	if int(indices[0]-start[0]) < shape[0] { // the last row ends early
		return missing(indices).WithHint(hint)
	}
	return nil
}
