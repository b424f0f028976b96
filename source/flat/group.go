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
	Columns []int  // indices of the names, in the order of the elements
	Guess   string // how the shape was guessed, for a note; empty if the names give it
}

// Image is the name of the column whose elements are named pixels, or have only numbers as names.
const Image = "image"

// Group finds the elements of tensors among names, in any order. These are at least two names with
// a common prefix, numbered from 0 or 1, or names with their indices along each dimension, from 0
// or 1 too (1x1, 1x2, … as in headers, or a_1x1, … if there are several tensors). The fields are in
// the order of their first names. If alone is not nil, it reports whether name i is known to be no
// element.
//
// Single numbers do not give a shape: a square number of elements is assumed to be a square, and
// any other to be one dimension. Labels are never squares.
//
// It is an error if an element of a tensor is missing or occurs twice, or if there are more than
// limit fields; these are counted before they allocate memory.
func Group(names []string, limit int, alone func(i int) bool) ([]Field, *fault.Error) {
	tooMany := fault.New(fault.Unsupported, "more than %d columns, which is too many", limit).
		WithHint("number the elements of a record, as in pixel0, pixel1")
	g := &grouping{names: names, limit: limit}
	type key struct {
		prefix string
		rank   int
	}
	places, counts := map[key]int32{}, []int{} // index and size of the group of each key
	var keys []key
	var numbers []int32
	of := make([]int32, len(names)) // the group of each name; −1 for a scalar
	for i, name := range names {
		k := key{prefix: name}
		if alone == nil || !alone(i) {
			k.prefix, numbers = stem(name, numbers[:0])
			k.rank = len(numbers)
		}
		if k.rank == 0 {
			of[i] = -1
			g.scalars([]int{i})
		} else {
			place, known := places[k]
			if !known {
				place = int32(len(keys))
				places[k], keys, counts = place, append(keys, k), append(counts, 0)
			}
			of[i] = place
			counts[place]++
		}
		if len(g.fields)+len(keys) > limit {
			return nil, tooMany
		}
	}
	groups := g.gather(of, counts)
	for i, k := range keys {
		group := g.grid
		if k.rank == 1 {
			group = g.numbered
		}
		if bad := group(k.prefix, groups[i]); bad != nil {
			return nil, bad
		}
		if len(g.fields) > limit {
			return nil, tooMany
		}
	}
	slices.SortStableFunc(g.fields, func(a, b Field) int { return slices.Min(a.Columns) - slices.Min(b.Columns) })
	return nameImages(g.fields), nil
}

// gather makes the groups, of given sizes; of has the group of each name. The numbers are parsed a
// second time, because those of a million names would take too much memory.
func (g *grouping) gather(of []int32, counts []int) []*elements {
	groups := make([]*elements, len(counts))
	var numbers []int32
	for i, place := range of {
		if place < 0 {
			continue
		}
		_, numbers = stem(g.names[i], numbers[:0])
		e := groups[place]
		if e == nil {
			e = &elements{rank: len(numbers), columns: make([]int, 0, counts[place]), numbers: make([]int32, 0, len(numbers)*counts[place])}
			groups[place] = e
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

func (g *grouping) scalars(columns []int) {
	for _, c := range columns {
		g.add(Field{Name: g.names[c], Columns: []int{c}})
	}
}

// nameImages gives the name Image to the tensor of pixels or without a name, unless another column
// has it.
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
	if prefix, numbers, ok := indices(name, numbers); ok {
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

// numbered makes fields of e, whose names are prefix and a number. Numbers may be padded with zeros
// to a common width, as in pixel0000 to pixel0783.
func (g *grouping) numbered(prefix string, e *elements) *fault.Error {
	number := func(c int) string { return g.names[c][len(prefix):] }
	width := 0
	if i := slices.IndexFunc(e.columns, func(c int) bool { return isPadded(number(c)) }); i >= 0 {
		width = len(number(e.columns[i]))
		padded, plain := &elements{rank: 1}, &elements{rank: 1}
		for i, c := range e.columns {
			switch text := number(c); {
			case len(text) == width || len(text) > width && text[0] != '0':
				padded.columns, padded.numbers = append(padded.columns, c), append(padded.numbers, e.numbers[i])
			case isPadded(text): // to another width
				g.scalars([]int{c})
			default:
				plain.columns, plain.numbers = append(plain.columns, c), append(plain.numbers, e.numbers[i])
			}
		}
		if len(plain.columns) > 0 {
			if bad := g.numbered(prefix, plain); bad != nil {
				return bad
			}
		}
		e = padded
	}
	e.sort()
	last := len(e.columns) - 1
	switch {
	case last == 0:
		g.scalars(e.columns)
	case e.complete():
		g.tensor(prefix, e)
	case e.begins() || isPixel(base(prefix)):
		first := min(e.numbers[0], 1)
		return g.wrong(e, []int32{first}, []int{int(e.numbers[last]-first) + 1}, func(at []int32) string { return fmt.Sprintf("%s%0*d", prefix, width, at[0]) })
	default:
		slices.Sort(e.columns)
		if tensors, ok := g.split(prefix, e.columns); ok && width == 0 {
			for _, t := range tensors {
				g.tensor(t.prefix, t.elements)
			}
		} else {
			g.scalars(e.columns)
		}
	}
	return nil
}

// tensor adds the tensor whose elements are e, numbered after prefix.
func (g *grouping) tensor(prefix string, e *elements) {
	f := Field{Name: base(prefix), Columns: e.columns}
	n := len(e.columns)
	f.Shape, f.Guess = square(f.Name, n, fmt.Sprintf("%d columns %s…%s", n, g.names[e.columns[0]], g.names[e.columns[n-1]]))
	g.add(f)
}

// A part is a tensor whose prefix ends with a digit.
type part struct {
	prefix string
	*elements
}

// split divides columns into tensors with longer prefixes: x10, x11, x12 are the elements of x1. ok
// is false if columns are left over, as for t8, t9, t10, t11, which are numbered from another
// start.
func (g *grouping) split(prefix string, columns []int) (tensors []part, ok bool) {
	var by [10][]int
	for _, c := range columns {
		number := g.names[c][len(prefix):]
		if len(number) < 2 {
			return nil, false
		}
		by[number[0]-'0'] = append(by[number[0]-'0'], c)
	}
	for digit, columns := range by {
		if len(columns) == 0 {
			continue
		}
		longer := prefix + strconv.Itoa(digit)
		if e := g.after(longer, columns); e != nil {
			tensors = append(tensors, part{longer, e})
			continue
		}
		inner, ok := g.split(longer, columns)
		if !ok {
			return nil, false
		}
		tensors = append(tensors, inner...)
	}
	return tensors, true
}

// after returns columns as the elements of a tensor, if their names are prefix and all its numbers,
// and nil otherwise.
func (g *grouping) after(prefix string, columns []int) *elements {
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

// square returns the shape of n elements of the tensor name, and how it was guessed.
func square(name string, n int, what string) ([]int, string) {
	if shape, ok := Square(name, n); ok {
		return shape, fmt.Sprintf("%s are read as %s, because their number is a square", what, display.Shape(shape))
	}
	return []int{n}, what + " are read as one dimension"
}

// Square returns the shape of a square of n elements. ok is false if n is not a square number, or
// if the name is that of labels.
func Square(name string, n int) (shape []int, ok bool) {
	switch strings.ToLower(name) {
	case "label", "labels", "class", "target", "y":
		return nil, false
	}
	side := int(math.Round(math.Sqrt(float64(n))))
	return []int{side, side}, side*side == n
}

// grid makes fields of e, whose names are prefix and an index along each of two or more dimensions.
func (g *grouping) grid(prefix string, e *elements) *fault.Error {
	smallest, largest := slices.Clone(e.at(0)), slices.Clone(e.at(0))
	for i := range e.columns {
		for axis, v := range e.at(i) {
			smallest[axis], largest[axis] = min(smallest[axis], v), max(largest[axis], v)
		}
	}
	if slices.Max(smallest) > 1 || len(e.columns) == 1 && slices.Min(smallest) != slices.Max(largest) { // such as 640x480
		g.scalars(e.columns)
		return nil
	}
	start := slices.Repeat([]int32{slices.Min(smallest)}, e.rank)
	f := Field{Name: strings.TrimSuffix(prefix, "_"), Shape: make([]int, e.rank)}
	for axis := range largest {
		f.Shape[axis] = int(largest[axis]-start[axis]) + 1
	}
	e.sort()
	if bad := g.wrong(e, start, f.Shape, func(at []int32) string {
		return prefix + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(at)), "x"), "[]")
	}); bad != nil {
		return bad
	}
	f.Columns = e.columns
	// Records of one dimension are written like this; images of one row hardly occur.
	if n := len(e.columns); e.rank == 2 && f.Shape[0] == 1 && n > 1 {
		f.Shape, f.Guess = f.Shape[1:], fmt.Sprintf("the columns %s…%s are read as one dimension", g.names[e.columns[0]], g.names[e.columns[n-1]])
	}
	g.add(f)
	return nil
}
