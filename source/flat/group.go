package flat

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source/idx"
)

// A Field is one column of the table: a scalar, or the elements of a tensor in C order.
type Field struct {
	Name    string
	Shape   []int  // nil for a scalar
	Columns []int  // indices of the names given to Group, in the order of the elements
	Guess   string // how the shape was guessed, for a note; empty if the names give it
}

// Image is the name of tensors whose elements are named pixels, or have only numbers as names.
const Image = "image"

// elements holds columns whose names are a prefix and a rank of numbers, in the order of the file.
type elements struct {
	names   []string // of all columns
	prefix  string
	rank    int
	columns []int
	numbers []int32 // rank numbers for each column
}

// Group finds the elements of tensors among names: those with a common prefix that are numbered
// from 0 or 1, or have an index for each dimension, also from 0 or 1 (1x1, 1x2, … or a_1x1, …). The
// fields are in the order in which their first columns occur in names. exclude, if it is not nil,
// reports whether name i is known not to be an element.
//
// It is an error if an element of a tensor is missing or occurs twice, or if there are more than
// limit fields; these are counted before they allocate memory.
func Group(names []string, limit int, exclude func(i int) bool) ([]Field, *fault.Error) {
	type key struct {
		prefix string
		rank   int
	}
	tooMany := fault.New(fault.Unsupported, "more than %d columns, which is too many", limit).
		WithHint("number the elements of a record, as in pixel0, pixel1")
	groups := map[key]*elements{}
	var order []*elements
	var fields []Field
	var numbers []int32
	for i, name := range names {
		k := key{prefix: name}
		if exclude == nil || !exclude(i) {
			k.prefix, numbers = stem(name, numbers[:0])
			k.rank = len(numbers)
		}
		e := groups[k]
		switch {
		case k.rank == 0:
			fields = append(fields, Field{Name: name, Columns: []int{i}})
		case e == nil:
			e = &elements{names: names, prefix: k.prefix, rank: k.rank}
			groups[k], order = e, append(order, e)
			fallthrough
		default:
			if len(e.columns) == 1<<12 && len(order) == 1 { // nearly all of the rest may belong to it
				e.columns = slices.Grow(e.columns, len(names)-i)
				e.numbers = slices.Grow(e.numbers, (len(names)-i)*k.rank)
			}
			e.columns, e.numbers = append(e.columns, i), append(e.numbers, numbers...)
		}
		if len(fields)+len(order) > limit {
			return nil, tooMany
		}
	}
	for _, e := range order {
		found, bad := e.fields(limit)
		if bad != nil {
			return nil, bad
		}
		if fields = append(fields, found...); len(fields) > limit {
			return nil, tooMany
		}
	}
	slices.SortFunc(fields, func(a, b Field) int { return cmp.Compare(slices.Min(a.Columns), slices.Min(b.Columns)) })
	taken := slices.ContainsFunc(fields, func(f Field) bool { return f.Shape == nil && f.Name == Image })
	for i := range fields {
		if fields[i].Shape != nil && fields[i].Name == Image && taken {
			fields[i].Name = "data"
		}
	}
	return fields, nil
}

// nameOf returns the name of the tensor whose elements are named prefix and numbers.
func nameOf(prefix string) string {
	switch name := cmp.Or(strings.TrimRight(prefix, "_-. "), strings.TrimSpace(prefix)); strings.ToLower(name) {
	case "", "pixel", "pixels":
		return Image
	default:
		return name
	}
}

// stem returns name without its numbers, which are appended to numbers: the indices of a name such
// as 3x4 or a_3x4, or else the digits at its end.
func stem(name string, numbers []int32) (string, []int32) {
	const digits = "0123456789"
	prefix := strings.TrimRight(name, digits)
	rest := name[strings.LastIndexByte(name, '_')+1:]
	if rest != "" && rest[0] != 'x' && strings.Trim(rest, digits+"x") == "" {
		prefix = name[:len(name)-len(rest)]
	}
	for part := range strings.SplitSeq(name[len(prefix):], "x") {
		n, err := strconv.ParseUint(part, 10, 31)
		if err != nil {
			return name, nil
		}
		numbers = append(numbers, int32(n))
	}
	return prefix, numbers
}

// fields returns the tensor with the elements e; or, if the numbers are not those of a tensor, a
// scalar for each column, or for more than limit.
//
// Numbers are those of a tensor, even if some are missing, if they begin with 0 and 1 or with 1 and
// 2, or if the names are those of pixels; indices are, if they begin with 0x0 or 1x1. Others, such
// as q1 and q3, or 640x480, are names of separate columns.
func (e *elements) fields(limit int) (fields []Field, bad *fault.Error) {
	shape, columns, fails := e.order()
	first, several := columns[0] >= 0, len(columns) > 1
	isPixels := e.prefix != "" && nameOf(e.prefix) == Image && len(e.columns) > 1
	switch isTensor := first && (e.rank > 1 || several && columns[1] >= 0) || isPixels; {
	case isTensor && fails != "":
		return nil, fault.New(fault.Malformed, "%d columns %s…%s %s, expected all elements of a record",
			len(e.columns), e.names[e.columns[0]], e.names[e.columns[len(e.columns)-1]], fails).
			WithHint("number the columns of a record without gaps or repeats; " +
				"if a column is not an element of the record, give it a name that does not end with a number")
	case isTensor && e.rank == 1:
		return []Field{e.vector(e.prefix, columns)}, nil
	case isTensor:
		f := Field{Name: cmp.Or(strings.TrimSuffix(e.prefix, "_"), Image), Shape: shape, Columns: columns}
		if e.rank == 2 && shape[0] == 1 && several { // images of one row hardly occur
			f.Shape, f.Guess = shape[1:], "one row of columns, "+e.names[columns[0]]+"…, is read as one dimension"
		}
		return []Field{f}, nil
	case e.rank == 1:
		fields = e.splitByDigit()
	}
	if fields == nil {
		for _, c := range e.columns[:min(len(e.columns), limit+1)] {
			fields = append(fields, Field{Name: e.names[c], Columns: []int{c}})
		}
	}
	return fields, nil
}

// order returns the shape up to the largest numbers; the columns in C order, −1 for one that is
// missing; and what is wrong if some are missing or occur twice. Every dimension starts at 0, or at
// 1 if no number is 0. If many columns are missing, only the first elements are returned.
func (e *elements) order() (shape, columns []int, fails string) {
	start, shape := 1, make([]int, e.rank)
	for i, v := range e.numbers {
		start, shape[i%e.rank] = min(start, int(v)), max(shape[i%e.rank], int(v))
	}
	for axis := range shape {
		shape[axis] -= start - 1
	}
	n := int64(len(e.columns)) + 1
	if all, ok := idx.Product(1, shape); ok {
		n = min(n, all)
	}
	columns = slices.Repeat([]int{-1}, int(n))
	for i, c := range e.columns {
		at := int64(0)
		for axis, v := range e.numbers[i*e.rank : (i+1)*e.rank] {
			if at = at*int64(shape[axis]) + int64(v) - int64(start); at >= n {
				break
			}
		}
		if at < n && columns[at] >= 0 {
			return shape, columns, "with " + e.names[c] + " twice"
		} else if at < n {
			columns[at] = c
		}
	}
	if at := slices.Index(columns, -1); at >= 0 {
		for axis := e.rank - 1; axis >= 0; axis-- {
			fails = "x" + strconv.Itoa(at%shape[axis]+start) + fails
			at /= shape[axis]
		}
		fails = "without " + e.prefix + fails[1:]
	}
	return shape, columns, fails
}

// vector returns the tensor with the elements in columns, whose names are prefix and a number.
func (e *elements) vector(prefix string, columns []int) Field {
	f := Field{Name: nameOf(prefix), Columns: columns}
	n := len(columns)
	f.GuessShape(n, fmt.Sprintf("%d columns %s…%s", n, e.names[columns[0]], e.names[columns[n-1]]))
	return f
}

// splitByDigit divides the columns into tensors with longer prefixes: x10, x11, x12 are the
// elements of x1. It returns nil if a column belongs to none of them, as with t8, t9, t10, t11,
// which only begin at another number.
func (e *elements) splitByDigit() (vectors []Field) {
	left := map[string]int{}
	for _, c := range e.columns {
		left[e.names[c]] = c
	}
	byNumber := func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) }
	for _, name := range slices.SortedFunc(maps.Keys(left), byNumber) {
		if _, ok := left[name]; !ok {
			continue
		}
		prefix, number := name[:len(name)-1], int(name[len(name)-1]-'0')
		var columns []int
		for c, ok := left[name]; ok; c, ok = left[prefix+strconv.Itoa(number)] {
			columns = append(columns, c)
			delete(left, e.names[c])
			number++
		}
		if number-len(columns) > 1 || len(columns) < 2 || len(prefix) == len(e.prefix) {
			return nil
		}
		vectors = append(vectors, e.vector(prefix, columns))
	}
	return vectors
}

// Square returns the shape of a square of n elements. ok is false if n is not a square number, or
// if name is a usual name of labels.
func Square(name string, n int) (shape []int, ok bool) {
	switch strings.ToLower(name) {
	case "label", "labels", "class", "target", "y":
		return nil, false
	}
	side := int(math.Round(math.Sqrt(float64(n))))
	return []int{side, side}, side*side == n
}

// GuessShape sets the shape of a tensor of n elements by that number alone: a square if n is one,
// otherwise one dimension. elements describes them for the note.
func (f *Field) GuessShape(n int, elements string) {
	f.Shape, f.Guess = []int{n}, elements+" are read as one dimension"
	if shape, ok := Square(f.Name, n); ok {
		f.Shape, f.Guess = shape, elements+" are read as "+display.Shape(shape)+", because their number is a square"
	}
}
