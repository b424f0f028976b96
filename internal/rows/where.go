package rows

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/idxport/idxport/internal/dataset"
	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// A condition is a parsed --where argument: the value of the column must be one of values or, if
// negated is set, none of them. Values are numbers and ranges or, as rowTest decides, class names.
type condition struct {
	text, column, values string
	negated              bool
}

// parseCondition parses COLUMN=VALUES or COLUMN!=VALUES.
func parseCondition(arg string) (condition, error) {
	column, values, ok := strings.Cut(arg, "=")
	c := condition{text: arg, values: values}
	c.column, c.negated = strings.CutSuffix(column, "!")
	if !ok || c.column == "" || values == "" || strings.TrimRight(c.column, "<>") != c.column {
		return c, usagef("--where %q, expected COLUMN=VALUES or COLUMN!=VALUES", arg).
			WithHint("for example --where label=0,1 or --where label=3-7 or --where class=Sneaker")
	}
	return c, nil
}

// A rowTest is a condition on a column of a table.
type rowTest struct {
	name    string
	column  int // its index in the table that is read
	dtype   idx.DType
	ranges  [][2]float64 // all elements of IDX files are numbers that a float64 holds exactly
	negated bool
}

func (t rowTest) passes(b *source.Raw, row int) bool {
	v := source.Float(t.dtype, b.Columns[t.column], row)
	return t.negated != slices.ContainsFunc(t.ranges, func(r [2]float64) bool { return r[0] <= v && v <= r[1] })
}

// rowTest returns the condition as a test of the rows of t.
func (c condition) rowTest(t source.Table) (test rowTest, err error) {
	columns := t.Columns()
	i, byName := source.Index(columns, c.column), false
	if i < 0 && c.column == schema.ClassName {
		i, byName = schema.Of(t).Label(), true
	}
	if i < 0 {
		hint, missing := text.DidYouMean(c.column, source.Names(columns)), c.column
		if byName {
			hint, missing = "choose the label with --label-column", dataset.Label.String()
		}
		for _, o := range source.About(t).Omitted {
			if o.Column == missing && o.Err != nil {
				return test, o.Err
			}
		}
		return test, usagef("--where %s: no such column, found only %s", c.text,
			source.List(columns)).Because(fault.NotFound).WithHint("%s", hint)
	}
	column, values := columns[i], text.List(c.values)
	test = rowTest{name: column.Name, dtype: column.DType, negated: c.negated}
	switch {
	case byName && !slices.ContainsFunc(column.Classes, func(name string) bool { return name != "" }):
		return test, usagef("--where %s: the classes of column %q have no names", c.text, column.Name).
			WithHint("give the names with --classes FILE --label-column %s, or --dataset NAME", text.Quote(column.Name))
	case byName && slices.Contains(column.Classes, c.values): // a name may have a comma
		values = []string{c.values}
	case !byName && column.Elements() != 1:
		hint := "name a column of single numbers"
		if len(column.Shape) == 1 {
			hint = schema.HintLabel
		}
		return test, usagef("--where %s: the records of %s have the shape %s, expected single numbers",
			c.text, c.column, text.Shape(column.Shape)).WithHint("%s", hint)
	}
	for _, value := range values {
		found, err := c.classRanges(value, column)
		if !byName && (err != nil || valueRange().MatchString(value)) {
			found, err = c.numberRange(value, column)
		}
		if err != nil {
			return test, err
		}
		test.ranges = append(test.ranges, found...)
	}
	return test, nil
}

// valueRange matches a number, or two with a dash between them.
var valueRange = text.Pattern(`^` + numberPattern + `(?:-` + numberPattern + `)?$`)

const numberPattern = `(-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)`

// numberRange parses a number, or a range of numbers, of a column.
func (c condition) numberRange(value string, column source.Column) (found [][2]float64, err error) {
	m := valueRange().FindStringSubmatch(strings.TrimSpace(value))
	if m == nil {
		e := usagef("--where %s: found %q, expected a number, or a range such as 3-7", c.text, value)
		if once := strings.Replace(c.text, "==", "=", 1); once != c.text {
			e.Hint = "write = once: --where " + text.Quote(once)
		}
		return found, e
	}
	first, last := parseNumber(m[1], column.DType), parseNumber(cmp.Or(m[2], m[1]), column.DType)
	if first > last {
		return nil, usagef("--where %s: the range %s ends before it begins", c.text, value)
	}
	return [][2]float64{{first, last}}, nil
}

// classRanges returns the labels of a class of the column, as ranges: several may have one name.
func (c condition) classRanges(name string, column source.Column) (found [][2]float64, err error) {
	for label, other := range column.Classes {
		if norm.NFC.String(other) == norm.NFC.String(name) && name != "" { // macOS has another form
			found = append(found, [2]float64{float64(label), float64(label)})
		}
	}
	if found == nil {
		known := slices.Compact(slices.DeleteFunc(slices.Clone(column.Classes), func(s string) bool { return s == "" }))
		return nil, usagef("unknown class %q, expected one of %s", name, strings.Join(known, ", ")).
			WithHint("%s", text.DidYouMean(name, known))
	}
	return found, nil
}

// parseNumber returns the number that text, matched by valueRange, has in a column of type d.
func parseNumber(text string, d idx.DType) float64 {
	bits := 64
	if d == idx.Float32 {
		bits = 32
	}
	v, _ := strconv.ParseFloat(text, bits) // infinite if it is too large
	return v
}
