package flat

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
)

// A Field is one column of the table: a scalar, or the elements of a tensor in C order.
type Field struct {
	Name    string
	Shape   []int  // nil for a scalar
	Columns []int  // indices of the names given to Group, in the order of the elements
	Guess   string // how the shape was guessed, for a note; empty if the names give it
}

// Image is the name that a tensor gets if its elements are named pixels, or have only numbers as
// names.
const Image = "image"

// Group finds the elements of tensors among names, which may be in any order. The elements of a
// tensor are at least two names with a common prefix, numbered from 0 or 1, or names with an index
// for each dimension, also from 0 or 1 (1x1, 1x2, … as in headers, or a_1x1, … if there are several
// tensors). The fields are in the order in which their first columns occur in names. If exclude is
// not nil, it reports whether name i is known not to be an element.
//
// A single number in each name does not give a shape: if the number of elements is a square, the
// record is assumed to be a square, otherwise to have one dimension. Labels are never squares.
//
// It is an error if an element of a tensor is missing or occurs twice, or if there are more than
// limit fields; these are counted before they allocate memory.
func Group(names []string, limit int, exclude func(i int) bool) ([]Field, *fault.Error) {
	const many = 1 << 12
	tooMany := fault.New(fault.Unsupported, "more than %d columns, which is too many", limit).
		WithHint("number the elements of a record, as in pixel0, pixel1")
	type key struct {
		prefix string
		rank   int
	}
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
			e = &elements{names: names, limit: limit, prefix: k.prefix, rank: k.rank}
			groups[k], order = e, append(order, e)
			fallthrough
		default:
			if len(e.columns) == many && len(order) == 1 { // nearly all of the rest may belong to it
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
		found, bad := e.fields()
		if bad != nil {
			return nil, bad
		}
		if fields = append(fields, found...); len(fields) > limit {
			return nil, tooMany
		}
	}
	slices.SortFunc(fields, func(a, b Field) int { return cmp.Compare(slices.Min(a.Columns), slices.Min(b.Columns)) })
	nameImages(fields)
	return fields, nil
}

// nameImages gives the name Image to the tensor of pixels, or to the one without a name, unless
// another column has that name.
func nameImages(fields []Field) {
	taken := map[string]bool{}
	for _, f := range fields {
		taken[f.Name] = true
	}
	for i := range fields {
		f := &fields[i]
		switch {
		case f.Shape == nil || f.Name != "" && !isPixel(f.Name):
		case !taken[Image]:
			f.Name, taken[Image] = Image, true
		case f.Name == "":
			f.Name = "data"
		}
	}
}

// isPixel reports whether name is a common name for the elements of images.
func isPixel(name string) bool {
	return strings.EqualFold(name, "pixel") || strings.EqualFold(name, "pixels")
}

// stem returns name without its numbers, which are appended to numbers: one, or the indices of a
// name such as 3x4 or a_3x4.
func stem(name string, numbers []int32) (string, []int32) {
	prefix := strings.TrimRight(name, "0123456789x")
	rest := name[len(prefix):]
	if strings.IndexByte(rest, 'x') >= 0 && (prefix == "" || strings.HasSuffix(prefix, "_")) {
		indices := numbers
		for part := range strings.SplitSeq(rest, "x") {
			n, err := strconv.ParseUint(part, 10, 31)
			if err != nil || isPadded(part) {
				indices = nil
				break
			}
			indices = append(indices, int32(n))
		}
		if indices != nil {
			return prefix, indices
		}
	}
	prefix = strings.TrimRight(name, "0123456789")
	n, err := strconv.ParseUint(name[len(prefix):], 10, 31)
	if err != nil {
		return name, numbers
	}
	return prefix, append(numbers, int32(n))
}

// isPadded reports whether number has leading zeros.
func isPadded(number string) bool { return len(number) > 1 && number[0] == '0' }

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

// tensor returns the tensor with the elements in columns, whose names are prefix and a number.
func tensor(names []string, prefix string, columns []int) Field {
	f := Field{Name: strings.TrimRight(prefix, "_-. "), Columns: columns}
	if f.Name == "" {
		f.Name = strings.TrimSpace(prefix)
	}
	n := len(columns)
	f.GuessShape(n, fmt.Sprintf("%d columns %s…%s", n, names[columns[0]], names[columns[n-1]]))
	return f
}

// GuessShape sets the shape of a tensor of n elements by that number alone: a square if n is one,
// otherwise one dimension. elements describes them for the note.
func (f *Field) GuessShape(n int, elements string) {
	if shape, ok := Square(f.Name, n); ok {
		f.Shape, f.Guess = shape, elements+" are read as "+display.Shape(shape)+", because their number is a square"
	} else {
		f.Shape, f.Guess = []int{n}, elements+" are read as one dimension"
	}
}
