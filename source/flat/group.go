package flat

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/idxport/idxport/source/idx"
)

// A Field is one column of the table: a scalar, or the elements of a tensor in C order.
type Field struct {
	Name    string
	Shape   []int  // nil for a scalar
	Columns []int  // indices into the names
	Guess   string // how the shape was found, for a note; empty if the names tell
}

// Image is the name of the column whose elements are called pixels, or have numbers alone for names.
const Image = "image"

// Group tells which of names are the elements of tensors: numbered from 0 or 1 behind a common prefix, at least two side by side, or by their
// indices along each dimension from 1 (1x1, 1x2, … as headers have them, a_1x1, … where there are several tensors).
//
// Numbers alone do not tell a shape: a square number of elements is taken for a square, any other for one dimension. Labels are never squares.
func Group(names []string) []Field {
	fields, _ := GroupUpTo(len(names), names)
	return fields
}

// GroupUpTo is Group for names that somebody else gave: ok is false, and no memory is taken for them, if they make more than most fields.
func GroupUpTo(most int, names []string) (fields []Field, ok bool) {
	for i := 0; i < len(names); {
		if len(fields) == most {
			return nil, false
		}
		f, n, grid := byIndices(names[i:])
		if !grid && !continues(names, i) {
			f, n = byNumber(names[i:])
		}
		if n == 0 {
			f, n = Field{Name: names[i]}, 1
		}
		f.Columns = make([]int, n)
		for k := range f.Columns {
			f.Columns[k] = i + k
		}
		fields = append(fields, f)
		i += n
	}
	return callImages(fields), true
}

// callImages gives the tensors of pixels and those without a name that of the image, unless another column has it.
func callImages(fields []Field) []Field {
	taken := map[string]bool{}
	for _, f := range fields {
		taken[f.Name] = true
	}
	for i := range fields {
		f := &fields[i]
		if lower := strings.ToLower(f.Name); f.Shape == nil || lower != "" && lower != "pixel" && lower != "pixels" {
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

// byNumber is the tensor whose elements names begins with, numbered from 0 or 1, and their number; 0 if there is none. Numbers of several digits may all
// be padded with zeros to one width, pixel0000 to pixel0783.
func byNumber(names []string) (Field, int) {
	first := names[0]
	if first == "" {
		return Field{}, 0
	}
	prefix, start := first[:len(first)-1], int(first[len(first)-1])-'0'
	if start != 0 && start != 1 {
		return Field{}, 0
	}
	n, width := 1, 1
	if padded := strings.TrimRight(prefix, "0"); padded != prefix && len(names) > 1 && isPadded(names[1], padded, start+1, len(first)-len(padded)) {
		prefix, width = padded, len(first)-len(padded)
	}
	for n < len(names) && isPadded(names[n], prefix, start+n, width) {
		n++
	}
	if n < 2 {
		return Field{}, 0
	}
	f := Field{Name: base(prefix)}
	f.Shape, f.Guess = square(f.Name, n, fmt.Sprintf("%d columns %s…%s", n, first, names[n-1]))
	return f, n
}

// continues tells whether names[i] is a number behind a prefix, and the name before it is the number before that: t10 behind t9 does not
// begin a tensor t1.
func continues(names []string, i int) bool {
	if i == 0 {
		return false
	}
	prefix := strings.TrimRight(names[i], "0123456789")
	n, err := strconv.Atoi(names[i][len(prefix):])
	return err == nil && n > 1 && isNumbered(names[i-1], prefix, n-1)
}

// isNumbered tells whether name is prefix and the number n.
func isNumbered(name, prefix string, n int) bool {
	number, ok := strings.CutPrefix(name, prefix)
	if !ok || number == "" || number[0] == '0' && len(number) > 1 {
		return false
	}
	found, err := strconv.ParseUint(number, 10, 31)
	return err == nil && int(found) == n
}

// isPadded tells whether name is prefix and the number n, which is padded with zeros to so many digits if they are more than one.
func isPadded(name, prefix string, n, width int) bool {
	if width == 1 {
		return isNumbered(name, prefix, n)
	}
	number, ok := strings.CutPrefix(name, prefix)
	return ok && number == fmt.Sprintf("%0*d", width, n)
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

// byIndices is the tensor whose elements names begins with, named by their indices along two or more dimensions, and their number; 0 if it is not
// complete. grid tells that the first is such a name.
func byIndices(names []string) (f Field, n int, grid bool) {
	prefix, last, ok := indices(names[0])
	if !ok {
		return Field{}, 0, false
	}
	for _, v := range last {
		if v != 1 {
			return Field{}, 0, true
		}
	}
	n = 1
	for ; n < len(names); n++ {
		p, next, ok := indices(names[n])
		if !ok || p != prefix || len(next) != len(last) {
			break
		}
		last = next
	}
	if product(last, n) != n {
		return Field{}, 0, true
	}
	at := make([]int, len(last)) // the index of the element, from 0
	for _, name := range names[:n] {
		_, found, _ := indices(name)
		for axis, v := range found {
			if v != at[axis]+1 {
				return Field{}, 0, true
			}
		}
		for axis := len(at) - 1; axis >= 0; axis-- {
			if at[axis]++; at[axis] < last[axis] {
				break
			}
			at[axis] = 0
		}
	}
	f = Field{Name: strings.TrimSuffix(prefix, "_"), Shape: last}
	if len(last) == 2 && last[0] == 1 && n > 1 { // as records of one dimension are written; images of one row hardly occur
		f.Shape, f.Guess = last[1:], fmt.Sprintf("the columns %s…%s taken for one dimension", names[0], names[n-1])
	}
	return f, n, true
}

// product is that of shape, or −1 if it is more than most.
func product(shape []int, most int) int {
	n := 1
	for _, d := range shape {
		if d < 1 || d > most/n {
			return -1
		}
		n *= d
	}
	return n
}

// indices takes name apart: 3x4 or a_3x4, at least two numbers.
func indices(name string) (prefix string, numbers []int, ok bool) {
	prefix = strings.TrimRight(name, "0123456789x")
	if prefix != "" && !strings.HasSuffix(prefix, "_") {
		return "", nil, false
	}
	rest := name[len(prefix):]
	if strings.IndexByte(rest, 'x') < 0 {
		return "", nil, false
	}
	for part := range strings.SplitSeq(rest, "x") {
		n, err := strconv.ParseUint(part, 10, 31)
		if err != nil || part[0] == '0' {
			return "", nil, false
		}
		numbers = append(numbers, int(n))
	}
	return prefix, numbers, true
}
