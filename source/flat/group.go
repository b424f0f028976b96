package flat

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source/idx"
)

// A Field is one column of the table: a scalar, or the elements of a tensor in C order.
type Field struct {
	Name    string
	Shape   []int  // nil for a scalar
	Columns []int  // indices into the names, in the order of the elements
	Guess   string // how the shape was found, for a note; empty if the names tell
}

// Image is the name of the column whose elements are called pixels, or have numbers alone for names.
const Image = "image"

// Group tells which of names are the elements of tensors, whatever the order of the names: at least
// two that are numbered from 0 or 1 behind a common prefix, or those that have their indices along
// each dimension (1x1, 1x2, … as headers have them, a_1x1, … where there are several tensors), from
// 0 or 1 too. The fields are in the order of the first name of each. alone reports whether name i
// is known to be no element; nil: none is.
//
// Numbers alone do not tell a shape: a square number of elements is taken for a square, any other for one dimension. Labels are never squares.
//
// It is an error if an element of a tensor is missing or there twice, and if there are more than
// most fields, before they take memory.
func Group(names []string, most int, alone func(i int) bool) ([]Field, *fault.Error) {
	tooMany := fault.New(fault.Unsupported, "more than %d columns, which is too many", most).
		WithHint("number the elements of one record, as in pixel0, pixel1")
	g := &grouping{names: names, most: most}
	type key struct {
		prefix string
		rank   int
	}
	places, counts := map[key]int32{}, []int{} // of the groups of names with the same key
	var keys []key
	var numbers []int32
	of := make([]int32, len(names)) // the group of each; −1: it is a scalar
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
		if len(g.fields)+len(keys) > most {
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
		if len(g.fields) > most {
			return nil, tooMany
		}
	}
	slices.SortStableFunc(g.fields, func(a, b Field) int { return slices.Min(a.Columns) - slices.Min(b.Columns) })
	return callImages(g.fields), nil
}

// gather makes the groups that of tells for each name, of as many names as counts tells. The numbers
// are read a second time, as there is no room to spare for those of a million names.
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

// A grouping gathers the fields.
type grouping struct {
	names  []string
	most   int     // fields
	fields []Field // no more than one beyond most
}

func (g *grouping) add(f Field) {
	if len(g.fields) <= g.most {
		g.fields = append(g.fields, f)
	}
}

// scalars makes a field of each of columns.
func (g *grouping) scalars(columns []int) {
	for _, c := range columns {
		g.add(Field{Name: g.names[c], Columns: []int{c}})
	}
}

// callImages gives the tensors of pixels and those without a name that of the image, unless another column has it.
func callImages(fields []Field) []Field {
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

// isPixel reports whether name is what the elements of images are called.
func isPixel(name string) bool {
	lower := strings.ToLower(name)
	return lower == "pixel" || lower == "pixels"
}

// stem is what name has before its numbers, which are appended to numbers.
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

// isPadded reports whether number begins with a zero that it does not need.
func isPadded(number string) bool { return len(number) > 1 && number[0] == '0' }

// numbered makes fields of e, whose names are prefix and a number. Numbers may be padded with zeros
// to one width, pixel0000 to pixel0783.
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

// tensor adds the tensor of which e are all elements, numbered behind prefix.
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

// split divides columns into tensors whose prefixes are longer than prefix: x10, x11, x12 are the
// elements of x1. ok is false if some are left, such as of t8, t9, t10, t11, which are numbered
// from elsewhere.
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
		if e := g.behind(longer, columns); e != nil {
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

// behind are all elements of a tensor, if columns are that: those whose names are prefix and a number.
func (g *grouping) behind(prefix string, columns []int) *elements {
	e := &elements{rank: 1}
	for _, c := range columns {
		text := g.names[c][len(prefix):]
		if isPadded(text) {
			return nil
		}
		n, _ := strconv.ParseUint(text, 10, 31) // stem has read it, and more
		e.columns, e.numbers = append(e.columns, c), append(e.numbers, int32(n))
	}
	if e.sort(); !e.complete() || len(columns) < 2 {
		return nil
	}
	return e
}

// base is prefix without what separates it from the number.
func base(prefix string) string {
	if name := strings.TrimRight(prefix, "_-. "); name != "" {
		return name
	}
	return strings.TrimSpace(prefix)
}

// square is the shape of n elements of the tensor called name, and how it was found.
func square(name string, n int, what string) ([]int, string) {
	if shape, ok := Square(name, n); ok {
		return shape, fmt.Sprintf("%s taken for %s, as their number is a square", what, idx.ShapeText(shape))
	}
	return []int{n}, what + " taken for one dimension"
}

// Square is the shape of a square of n elements; ok is false if their number is none, or if the name is one of labels.
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
	least, most := slices.Clone(e.at(0)), slices.Clone(e.at(0))
	for i := range e.columns {
		for axis, v := range e.at(i) {
			least[axis], most[axis] = min(least[axis], v), max(most[axis], v)
		}
	}
	if slices.Max(least) > 1 || len(e.columns) == 1 && slices.Min(least) != slices.Max(most) { // such as 640x480
		g.scalars(e.columns)
		return nil
	}
	start := slices.Repeat([]int32{slices.Min(least)}, e.rank)
	f := Field{Name: strings.TrimSuffix(prefix, "_"), Shape: make([]int, e.rank)}
	for axis := range most {
		f.Shape[axis] = int(most[axis]-start[axis]) + 1
	}
	e.sort()
	if bad := g.wrong(e, start, f.Shape, func(at []int32) string {
		return prefix + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(at)), "x"), "[]")
	}); bad != nil {
		return bad
	}
	f.Columns = e.columns
	// Records of one dimension are written so; images of one row hardly occur.
	if n := len(e.columns); e.rank == 2 && f.Shape[0] == 1 && n > 1 {
		f.Shape, f.Guess = f.Shape[1:], fmt.Sprintf("the columns %s…%s taken for one dimension", g.names[e.columns[0]], g.names[e.columns[n-1]])
	}
	g.add(f)
	return nil
}
