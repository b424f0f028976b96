package flat

import (
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
	tooMany := fault.New(fault.Unsupported, "more than %d columns, which is too many", limit).
		WithHint("number the elements of a record, as in pixel0, pixel1")
	g := &grouping{names: names, limit: limit}
	type key struct {
		prefix string
		rank   int
	}
	groupIndex, counts := map[key]int32{}, []int{} // index and size of the group of each key
	var keys []key
	var numbers []int32
	groupOf := make([]int32, len(names)) // the group of each name; −1 for a scalar
	for i, name := range names {
		k := key{prefix: name}
		if exclude == nil || !exclude(i) {
			k.prefix, numbers = stem(name, numbers[:0])
			k.rank = len(numbers)
		}
		if k.rank == 0 {
			groupOf[i] = -1
			g.addScalars([]int{i})
		} else {
			index, known := groupIndex[k]
			if !known {
				index = int32(len(keys))
				groupIndex[k], keys, counts = index, append(keys, k), append(counts, 0)
			}
			groupOf[i] = index
			counts[index]++
		}
		if len(g.fields)+len(keys) > limit {
			return nil, tooMany
		}
	}
	groups := g.gather(groupOf, counts)
	for i, k := range keys {
		addFields := g.addGrid
		if k.rank == 1 {
			addFields = g.addNumbered
		}
		if bad := addFields(k.prefix, groups[i]); bad != nil {
			return nil, bad
		}
		if len(g.fields) > limit {
			return nil, tooMany
		}
	}
	slices.SortStableFunc(g.fields, func(a, b Field) int { return slices.Min(a.Columns) - slices.Min(b.Columns) })
	return nameImages(g.fields), nil
}

// gather returns the elements of each group. groupOf has the group of each name, or −1; counts has
// the size of each group. The numbers are parsed a second time here, because those of a million
// names would take too much memory.
func (g *grouping) gather(groupOf []int32, counts []int) []*elements {
	groups := make([]*elements, len(counts))
	var numbers []int32
	for i, index := range groupOf {
		if index < 0 {
			continue
		}
		_, numbers = stem(g.names[i], numbers[:0])
		e := groups[index]
		if e == nil {
			e = &elements{rank: len(numbers), columns: make([]int, 0, counts[index]), numbers: make([]int32, 0, len(numbers)*counts[index])}
			groups[index] = e
		}
		e.columns, e.numbers = append(e.columns, i), append(e.numbers, numbers...)
	}
	return groups
}

// A grouping collects the fields.
type grouping struct {
	names  []string
	limit  int     // of the number of fields
	fields []Field // at most limit+1
}

func (g *grouping) add(f Field) {
	if len(g.fields) <= g.limit {
		g.fields = append(g.fields, f)
	}
}

func (g *grouping) addScalars(columns []int) {
	for _, c := range columns {
		g.add(Field{Name: g.names[c], Columns: []int{c}})
	}
}

// nameImages gives the name Image to the tensor of pixels, or to the one without a name, unless
// another column has that name.
func nameImages(fields []Field) []Field {
	taken := map[string]bool{}
	for _, f := range fields {
		taken[f.Name] = true
	}
	for i := range fields {
		f := &fields[i]
		if f.Shape == nil || f.Name != "" && !isPixel(f.Name) {
			continue
		}
		if !taken[Image] {
			f.Name, taken[Image] = Image, true
		} else if f.Name == "" {
			f.Name = "data"
		}
	}
	return fields
}

// isPixel reports whether name is a common name for the elements of images.
func isPixel(name string) bool {
	lower := strings.ToLower(name)
	return lower == "pixel" || lower == "pixels"
}

// stem returns name without its numbers, which are appended to numbers.
func stem(name string, numbers []int32) (string, []int32) {
	if prefix, numbers, ok := splitIndices(name, numbers); ok {
		return prefix, numbers
	}
	prefix := strings.TrimRight(name, "0123456789")
	n, err := strconv.ParseUint(name[len(prefix):], 10, 31)
	if err != nil {
		return name, numbers
	}
	return prefix, append(numbers, int32(n))
}

// isPadded reports whether number has leading zeros.
func isPadded(number string) bool { return len(number) > 1 && number[0] == '0' }

// addNumbered adds the fields of e, whose names are prefix and a number. The numbers may be padded
// with zeros to a common width, as in pixel0000 to pixel0783.
func (g *grouping) addNumbered(prefix string, e *elements) *fault.Error {
	number := func(c int) string { return g.names[c][len(prefix):] }
	width := 0
	if i := slices.IndexFunc(e.columns, func(c int) bool { return isPadded(number(c)) }); i >= 0 {
		width = len(number(e.columns[i]))
		padded, plain := &elements{rank: 1}, &elements{rank: 1}
		for i, c := range e.columns {
			switch text := number(c); {
			case len(text) == width || len(text) > width && text[0] != '0':
				padded.columns, padded.numbers = append(padded.columns, c), append(padded.numbers, e.numbers[i])
			case isPadded(text): // padded to another width
				g.addScalars([]int{c})
			default:
				plain.columns, plain.numbers = append(plain.columns, c), append(plain.numbers, e.numbers[i])
			}
		}
		if len(plain.columns) > 0 {
			if bad := g.addNumbered(prefix, plain); bad != nil {
				return bad
			}
		}
		e = padded
	}
	e.sort()
	last := len(e.columns) - 1
	switch {
	case last == 0:
		g.addScalars(e.columns)
	case e.complete():
		g.addTensor(prefix, e)
	case e.looksLikeTensor() || isPixel(base(prefix)):
		first := min(e.numbers[0], 1)
		return g.checkComplete(e, []int32{first}, []int{int(e.numbers[last]-first) + 1}, func(indices []int32) string { return fmt.Sprintf("%s%0*d", prefix, width, indices[0]) })
	default:
		slices.Sort(e.columns)
		if tensors, ok := g.splitByDigit(prefix, e.columns); ok && width == 0 {
			for _, t := range tensors {
				g.addTensor(t.prefix, t.elements)
			}
		} else {
			g.addScalars(e.columns)
		}
	}
	return nil
}

// addTensor adds the tensor with the elements e, whose names are prefix and a number.
func (g *grouping) addTensor(prefix string, e *elements) {
	f := Field{Name: base(prefix), Columns: e.columns}
	n := len(e.columns)
	f.Shape, f.Guess = guessShape(f.Name, n, fmt.Sprintf("%d columns %s…%s", n, g.names[e.columns[0]], g.names[e.columns[n-1]]))
	g.add(f)
}

// A tensor has the elements whose names are prefix, which ends with a digit, and a number.
type tensor struct {
	prefix string
	*elements
}

// splitByDigit divides columns into tensors with longer prefixes: x10, x11, x12 are the elements of
// x1. ok is false if a column belongs to none of them, as with t8, t9, t10, t11, which only begin
// at another number.
func (g *grouping) splitByDigit(prefix string, columns []int) (tensors []tensor, ok bool) {
	var byDigit [10][]int
	for _, c := range columns {
		number := g.names[c][len(prefix):]
		if len(number) < 2 {
			return nil, false
		}
		byDigit[number[0]-'0'] = append(byDigit[number[0]-'0'], c)
	}
	for digit, columns := range byDigit {
		if len(columns) == 0 {
			continue
		}
		longer := prefix + strconv.Itoa(digit)
		if e := g.elementsAfter(longer, columns); e != nil {
			tensors = append(tensors, tensor{longer, e})
			continue
		}
		inner, ok := g.splitByDigit(longer, columns)
		if !ok {
			return nil, false
		}
		tensors = append(tensors, inner...)
	}
	return tensors, true
}

// elementsAfter returns columns as the elements of a tensor whose names are prefix and a number, or
// nil if the numbers do not count up from 0 or 1.
func (g *grouping) elementsAfter(prefix string, columns []int) *elements {
	e := &elements{rank: 1}
	for _, c := range columns {
		text := g.names[c][len(prefix):]
		if isPadded(text) {
			return nil
		}
		n, _ := strconv.ParseUint(text, 10, 31) // cannot fail: stem has parsed it as part of a longer number
		e.columns, e.numbers = append(e.columns, c), append(e.numbers, int32(n))
	}
	if e.sort(); !e.complete() || len(columns) < 2 {
		return nil
	}
	return e
}

// base returns prefix without the separator before the number.
func base(prefix string) string {
	if name := strings.TrimRight(prefix, "_-. "); name != "" {
		return name
	}
	return strings.TrimSpace(prefix)
}

// guessShape returns the shape of the tensor of that name, which has n elements, and how it was
// guessed. columns describes the columns of the elements.
func guessShape(name string, n int, columns string) ([]int, string) {
	if shape, ok := Square(name, n); ok {
		return shape, fmt.Sprintf("%s are read as %s, because their number is a square", columns, display.Shape(shape))
	}
	return []int{n}, columns + " are read as one dimension"
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

// addGrid adds the field of e, whose names are prefix and an index for each of two or more
// dimensions.
func (g *grouping) addGrid(prefix string, e *elements) *fault.Error {
	smallest, largest := slices.Clone(e.numbersOf(0)), slices.Clone(e.numbersOf(0))
	for i := range e.columns {
		for axis, v := range e.numbersOf(i) {
			smallest[axis], largest[axis] = min(smallest[axis], v), max(largest[axis], v)
		}
	}
	if slices.Max(smallest) > 1 || len(e.columns) == 1 && slices.Min(smallest) != slices.Max(largest) { // such as 640x480
		g.addScalars(e.columns)
		return nil
	}
	start := slices.Repeat([]int32{slices.Min(smallest)}, e.rank)
	f := Field{Name: strings.TrimSuffix(prefix, "_"), Shape: make([]int, e.rank)}
	for axis := range largest {
		f.Shape[axis] = int(largest[axis]-start[axis]) + 1
	}
	e.sort()
	if bad := g.checkComplete(e, start, f.Shape, func(indices []int32) string {
		return prefix + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(indices)), "x"), "[]")
	}); bad != nil {
		return bad
	}
	f.Columns = e.columns
	// Records of one dimension are written as one row; images of one row hardly occur.
	if n := len(e.columns); e.rank == 2 && f.Shape[0] == 1 && n > 1 {
		f.Shape, f.Guess = f.Shape[1:], fmt.Sprintf("the columns %s…%s are read as one dimension", g.names[e.columns[0]], g.names[e.columns[n-1]])
	}
	g.add(f)
	return nil
}
