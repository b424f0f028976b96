package flat

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
)

// A Field is one column of the table: a scalar, or the elements of a tensor in C order.
type Field struct {
	Name    string
	Shape   []int  // nil for a scalar
	Columns []int  // indices of the names given to Group, in the order of the elements
	Guess   string // how the shape was guessed, for a note; empty if the names give it
	bad     *fault.Error
}

// Image is the name of tensors whose elements are named pixels, or have only numbers as names.
const Image = "image"

// A stem is a name without its numbers, of which there are rank.
type stem struct {
	prefix string
	rank   int
}

// A group is the columns of a stem, or a column without numbers.
type group struct {
	stem
	names   []string // of all columns
	columns []int
	has     [4]bool // has[n] reports whether all numbers of some name are n
	last    []int   // the largest numbers
}

// Group finds the elements of tensors among names: those with a common prefix that are numbered
// from 0 or 1, or have an index for each dimension, also from 0 or 1 (1x1, 1x2, … or a_1x1, …).
// exclude reports whether name i is known not to be an element, known whether something other than
// names tells the shape of n elements from name i on. wants gets all names, of fields and columns.
// More than limit fields are an error, before they allocate memory, and so is a wanted tensor whose
// elements are not side by side in C order. Other such tensors are a field for each element.
func Group(names []string, limit int, exclude func(i int) bool, known func(i, n int) bool,
	wants func([]string) func(string) bool) ([]Field, *fault.Error) {
	tooMany := fault.New(fault.Unsupported, "more than %d columns, which is too many", limit).
		WithHint("number the elements of a record, as in pixel0, pixel1")
	groups, order, numbers := map[stem]*group{}, []*group(nil), []int(nil)
	for i, name := range names {
		var of stem
		if !exclude(i) {
			of, numbers = parse(name, numbers[:0])
		}
		g := groups[of]
		if g == nil || of.rank == 0 {
			g = &group{stem: of, names: names, last: make([]int, of.rank)}
			groups[of], order = g, append(order, g)
		}
		g.columns = append(g.columns, i)
		for axis := range g.last {
			g.last[axis] = max(g.last[axis], numbers[axis])
		}
		if of.rank > 0 && numbers[0] < len(g.has) && slices.Min(numbers) == slices.Max(numbers) {
			g.has[numbers[0]] = true
		}
		if len(order) > limit {
			return nil, tooMany
		}
	}
	var fields []Field
	for _, g := range order {
		if fields = append(fields, g.fields(limit, known)...); len(fields) > limit {
			return nil, cmp.Or(fields[limit].bad, tooMany)
		}
	}
	slices.SortFunc(fields, func(a, b Field) int { return a.Columns[0] - b.Columns[0] })
	named := slices.ContainsFunc(fields, func(f Field) bool { return f.Shape == nil && f.Name == Image })
	found := make([]string, len(fields))
	for i, f := range fields {
		if found[i] = f.Name; f.Shape != nil && f.Name == Image && named {
			found[i], fields[i].Name = "data", "data"
		}
	}
	wanted := wants(slices.Concat(found, names))
	for i, f := range fields {
		if f.bad != nil && wanted(f.Name) {
			return nil, f.bad
		} else if f.bad != nil {
			fields[i] = Field{Name: names[f.Columns[0]], Columns: f.Columns}
		}
	}
	return fields, nil
}

// NameOf returns the name of the tensor whose elements are named prefix and numbers.
func NameOf(prefix string) string {
	name := cmp.Or(strings.TrimRight(prefix, "_-. "), strings.TrimSpace(prefix))
	if slices.Contains([]string{"", "pixel", "pixels"}, strings.ToLower(name)) {
		return Image
	}
	return name
}

var gridName = text.Pattern(`^(X\d+x\d+|(?i:p(x|ix|ixel)?_?\d+[_x]\d+([_x]\d+)?|r(ow)?_?\d+_?c(ol)?_?\d+))$`)
var itemName = text.Pattern(`^[pP]_?\d+_\d+(_\d+)?$`) // no grid, if alone
var unnamed = text.Pattern(`^(_c|[fX]|(?i:col|column|pixel)_?)?0+$|^((?i:col|column|pixel)_?|(?i:[cvx])|Var|\.{3})1$`)

// parse returns the stem of a name, and appends its numbers: 3 and 4 of a_3x4, or those at its end.
func parse(name string, numbers []int) (stem, []int) {
	const digits = "0123456789"
	if gridName().MatchString(name) {
		name = strings.Join(strings.FieldsFunc(name, func(r rune) bool { return r > '9' }), "x")
	}
	prefix := strings.TrimRight(name, digits)
	rest := name[strings.LastIndexByte(name, '_')+1:]
	if rest != "" && rest[0] != 'x' && strings.Trim(rest, digits+"x") == "" {
		prefix = name[:len(name)-len(rest)]
	}
	for part := range strings.SplitSeq(name[len(prefix):], "x") {
		n, err := strconv.ParseUint(part, 10, 31)
		if err != nil {
			return stem{}, nil
		}
		numbers = append(numbers, int(n))
	}
	return stem{prefix, len(numbers)}, numbers
}

// fields returns the tensor with the elements g, or a scalar for each of up to limit+1 columns.
// Numbers are those of a tensor if 0 and 1, or 1 and 2, are among them, or if the names are those
// of pixels; indices are, if 0x0 or 1x1 is. Others, such as q1 and q3, or 640x480, are scalars.
func (g *group) fields(limit int, known func(i, n int) bool) (fields []Field) {
	f, start, n, first := Field{}, max(0, slices.Index(g.has[:2], true)), len(g.columns), g.columns[0]
	if Labelled(n+1) && n > 255 && g.rank == 1 && g.has[2] && g.last[0] == n+1 {
		start = 2 // R and polars count columns from 1, and the first one, the label, got a name
	}
	isPixels := g.prefix != "" && NameOf(g.prefix) == Image && n > 1
	isItems := g.rank > 1 && slices.Min(g.last) == start && itemName().MatchString(g.names[first]) && !known(first, n)
	if !isItems && (g.has[start] && (g.rank > 1 || g.has[start+1] || n == 1 && known(first, 1)) || isPixels) {
		if f = g.tensor(start, known); f.bad == nil && f.Columns != nil {
			return []Field{f}
		}
	}
	for _, c := range g.columns[:min(len(g.columns), limit+1)] {
		fields = append(fields, Field{Name: cmp.Or(f.Name, g.names[c]), Shape: f.Shape, Columns: []int{c}, bad: f.bad})
	}
	return fields
}

// tensor returns the tensor with the elements g, whose numbers begin at start. The error has the
// first column that is not the next element in C order. A vector without one of them is none.
func (g *group) tensor(start int, known func(i, n int) bool) Field {
	const hintOrder = "if names such as 0.1 are values, read the file without a header; name what is no element " +
		"without a number, and put all elements of a record side by side, in order; in pandas: import re; " +
		`df = df[sorted(df, key=lambda c: (re.sub("[0-9]", "", c), [int(n) for n in re.findall("[0-9]+", c)]))]`
	first, end := g.columns[0], g.columns[len(g.columns)-1]
	next, last, numbers := slices.Repeat([]int{start}, g.rank), g.last, []int(nil)
	f := Field{Name: cmp.Or(strings.TrimSuffix(g.prefix, "_"), Image), Shape: last, Columns: g.columns}
	if g.rank == 1 {
		f.Name = NameOf(g.prefix)
	}
	for i := first; i <= end || next[0] <= last[0]; i++ {
		of, name := stem{}, "no column"
		if i < len(g.names) {
			name = "column " + g.names[i]
			of, numbers = parse(g.names[i], numbers[:0])
		}
		if _, ours := slices.BinarySearch(g.columns, i); !ours || !slices.Equal(numbers, next) {
			hint, isOther := hintOrder, of == g.stem && slices.Equal(numbers, next) // of another type
			if isOther && g.rank == 1 && NameOf(g.prefix) != Image {
				return Field{}
			} else if isOther {
				name, hint = name+", of another type,", "cast it to the type of the others"
			}
			want := strings.Trim(strings.ReplaceAll(fmt.Sprint(next), " ", "x"), "[]")
			f.bad = fault.New(fault.Malformed, "%s where %s%s is expected", name, g.prefix, want).WithHint("%s", hint)
			return f
		}
		axis := g.rank - 1
		for ; axis > 0 && next[axis] == last[axis]; axis-- {
			next[axis] = start
		}
		next[axis]++
	}
	if n := len(g.columns); g.rank == 1 {
		f.GuessShape(n, fmt.Sprintf("%d columns %s…%s", n, g.names[first], g.names[end]))
		if Labelled(n) && n > 64 && unnamed().MatchString(g.names[first]) &&
			!slices.ContainsFunc(g.names, text.NamesLabels) && !known(first, n) {
			f.bad = fault.New(fault.Malformed, "%d columns %s…, which may be a label and an image", n, g.names[first]).
				WithHint("rename them: label, pixel0 … pixel%d; or, if they are one vector, add --shape %d", n-2, n)
		}
		before := g.names[max(first-1, 0)] // pandas, DuckDB and polars number its duplicates
		if before != "" && slices.Contains([]string{before + ".", before + "_", before + "_duplicated_"}, g.prefix) {
			f.bad = fault.New(fault.Malformed, "columns %s, %s…, which may be one tensor", before, g.names[first]).
				WithHint("rename them: %s0 … %[1]s%d; or, if %[1]s is no element, give it another name", before, n)
		}
	}
	for axis := range last {
		last[axis] -= start - 1
	}
	if g.rank == 2 && last[0] == 1 && end > first { // images of one row hardly occur
		f.Shape, f.Guess = last[1:], "one row of columns, "+g.names[first]+"…, is read as one dimension"
	}
	return f
}

// Square returns the shape of a square of n elements, more than one, if name is not one of labels.
func Square(name string, n int) (shape []int, ok bool) {
	side := int(math.Round(math.Sqrt(float64(n))))
	return []int{side, side}, n > 1 && side*side == n && !text.NamesLabels(name)
}

// Labelled reports whether n elements may be a label and a square image, grey or in colours.
func Labelled(n int) bool {
	_, grey := Square("", n-1)
	_, coloured := Square("", n/3)
	return grey || coloured && n%3 == 1 && n > 3*8*8 && n != 26*26
}

// GuessShape sets the shape of a tensor of n elements by that number alone: a square if n is one,
// otherwise one dimension. elements describes them for the note.
func (f *Field) GuessShape(n int, elements string) {
	f.Shape, f.Guess = []int{n}, elements+" are read as one dimension"
	if shape, ok := Square(f.Name, n); ok {
		f.Shape, f.Guess = shape, elements+" are read as "+text.Shape(shape)+", because their number is a square"
	}
}
