package rows

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/internal/dataset"
	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
)

// Options are the values of flags; zero values mean that they are not given.
type Options struct {
	Rows     string
	Where    []string
	Holdout  []string
	Stratify bool
	Shuffle  bool
	Seed     int64
	Take     int64
	Part     string
}

// A Choice says which rows of a table are chosen.
type Choice struct {
	Options
	span       span
	conditions []condition
	holdouts   []holdout
	part       part
}

// Parse parses options.
func Parse(o Options) (c Choice, err error) {
	c.Options = o
	if c.span, err = parseSpan(o.Rows); err != nil {
		return c, err
	} else if c.part, err = parsePart(o.Part); err != nil {
		return c, err
	}
	for _, arg := range o.Where {
		condition, err := parseCondition(arg)
		if err != nil {
			return c, err
		}
		c.conditions = append(c.conditions, condition)
	}
	for _, arg := range o.Holdout {
		h, err := parseHoldout(arg)
		if err != nil {
			return c, err
		} else if slices.ContainsFunc(c.holdouts, func(other holdout) bool { return other.name == h.name }) {
			return c, usagef("--holdout %s is given twice", h.name)
		}
		c.holdouts = append(c.holdouts, h)
	}
	switch {
	case o.Stratify && c.holdouts == nil:
		return c, usagef("--stratify is for --holdout").WithHint("add --holdout validation=10%%")
	case o.Seed != 0 && c.holdouts == nil && !o.Shuffle:
		return c, usagef("--seed is for --holdout and --shuffle")
	}
	return c, nil
}

// Selects reports whether [Choice.Select] decides: by value, at random, or on the order.
func (c Choice) Selects() bool { return c.conditions != nil || c.holdouts != nil || c.Shuffle }

// LeavesOut reports whether rows of a table may be left out.
func (c Choice) LeavesOut() bool {
	return c.conditions != nil || c.holdouts != nil || c.Rows != "" || c.Take > 0 || c.Part != ""
}

// NeedsCount reports whether the choice depends on the number of rows.
func (c Choice) NeedsCount() bool {
	return c.Selects() || c.Take > 0 || c.Part != "" || c.span.relative()
}

// ByClass reports whether rows are selected by the names of their classes.
func (c Choice) ByClass() bool {
	return slices.ContainsFunc(c.conditions, func(c condition) bool { return c.column == schema.ClassName })
}

// Tested returns the names of the columns that conditions are about.
func (c Choice) Tested() (columns []string) {
	for _, c := range c.conditions {
		columns = append(columns, c.column)
	}
	return columns
}

// Parts returns the number of parts, and the name of the chosen one, such as 03-of-10.
func (c Choice) Parts() (n int64, name string) {
	return c.part.n, fmt.Sprintf("%0*d-of-%d", len(strconv.FormatInt(c.part.n, 10)), c.part.i, c.part.n)
}

// Check returns the error for a choice of none of the rows. A range empty as written is no mistake.
func (c Choice) Check() error {
	if c.span.first == c.span.last && !c.span.open {
		return nil
	}
	var flags []string
	if c.Rows != "" {
		flags = append(flags, "--rows "+c.Rows)
	}
	for _, where := range c.Where {
		flags = append(flags, "--where "+text.Printable(where))
	}
	return usagef("%s selects no row of any input", strings.Join(flags, " "))
}

// A Cut is the chosen part of a table.
type Cut struct {
	Table  source.Table
	First  int64  // index of its first row in the table, or in the selection if there is one
	Chosen int64  // number of rows before --part
	Rows   string // the rows of --rows, as FIRST:LAST, or ""
}

// Cut returns the chosen rows of t. selected is the selection that [Choice.Select] made, nil if it
// was not needed; scratch makes the file for rows that are shuffled.
func (c Choice) Cut(t source.Table, selected *source.Selection, scratch source.Scratch) (cut Cut, err error) {
	if c.Rows == "" && selected == nil && c.Take == 0 && c.Part == "" {
		return Cut{Table: t, Chosen: t.Rows()}, nil
	} else if t.Rows() < 0 && c.NeedsCount() {
		return Cut{}, usagef("the number of rows is needed in advance, but this input can be read only once").
			WithHint("save it to a file first")
	}
	first, last, err := c.span.resolve(t.Rows())
	if err != nil {
		return Cut{}, err
	}
	if c.Rows != "" {
		cut.Rows = fmt.Sprintf("%d:%d", first, last)
	}
	if selected == nil {
		if c.Take > 0 {
			last = first + min(c.Take, last-first)
		}
		from, to := c.part.of(first, last)
		cut.First, cut.Chosen = from, last-first
		cut.Table, err = source.Slice(t, from, to)
		return cut, err
	}
	cut.Chosen = selected.Len()
	if c.Part != "" {
		selected = selected.Part(c.part.of(0, cut.Chosen))
	}
	cut.Table, cut.First = source.Select(t, selected, scratch), selected.First
	return cut, nil
}

// A span is a half-open range of rows as the user wrote it: a negative bound counts from the end of
// the table. No range, with an empty text, is open.
type span struct {
	text        string
	first, last int64
	open        bool // there is no last row: the range extends to the end
}

// parseSpan parses A:B, where either number may be missing; "" means that there is no range.
func parseSpan(s string) (span, error) {
	a, b, ok := strings.Cut(s, ":")
	first, firstErr := strconv.ParseInt(cmp.Or(a, "0"), 10, 64)
	last, lastErr := strconv.ParseInt(cmp.Or(b, "0"), 10, 64)
	if s != "" && !ok || firstErr != nil || lastErr != nil {
		e := usagef("--rows %q, expected A:B", s)
		if !ok && firstErr == nil && first >= 0 {
			return span{}, e.WithHint(
				"--rows %d:%d is this row alone, --rows :%[1]d the rows before it", first, first+1)
		}
		return span{}, e.WithHint("for example --rows 0:1000 for the first thousand, --rows '-9:' for the last nine")
	}
	return span{text: s, first: first, last: last, open: b == ""}, nil
}

// relative reports whether r depends on the number of rows.
func (r span) relative() bool { return r.text != "" && (r.open || r.first < 0 || r.last < 0) }

// resolve returns the rows that r selects from a table of total rows; total may be −1, for unknown,
// unless r is relative. As with Python's slices, rows beyond the end are ignored if it is known.
func (r span) resolve(total int64) (first, last int64, err error) {
	first, last = r.first, r.last
	if !r.open && first > last && (first < 0) == (last < 0) {
		return 0, 0, usagef("--rows %s is empty: it ends before it begins", r.text)
	}
	if r.open {
		last = total
	}
	if first < 0 {
		first = max(0, first+total)
	}
	if last < 0 {
		last = max(0, last+total)
	}
	if total >= 0 {
		first, last = min(first, total), min(last, total)
	}
	return first, max(first, last), nil
}

// A part is the i-th of n ranges, which together are all rows.
type part struct{ i, n int64 }

// parsePart parses I/N; "" means the only part.
func parsePart(s string) (part, error) {
	index, count, _ := strings.Cut(cmp.Or(s, "1/1"), "/")
	i, badIndex := strconv.ParseUint(index, 10, 31)
	n, badCount := strconv.ParseUint(count, 10, 31)
	if badIndex != nil || badCount != nil || i < 1 || i > n {
		return part{}, usagef("--part %q, expected I/N, with numbers from 1 to N", s).
			WithHint("for example --part 3/8 for the third of eight, or --part $((INDEX + 1))/8 for an index from 0")
	}
	return part{int64(i), int64(n)}, nil
}

// of returns the part of the rows first to last−1. Parts are as numpy.array_split makes them: the
// first ones have one row more than the others if the rows cannot be divided equally.
func (p part) of(first, last int64) (from, to int64) {
	each, more := (last-first)/p.n, (last-first)%p.n
	start := func(i int64) int64 { return first + i*each + min(i, more) }
	return start(p.i - 1), start(p.i)
}

// A holdout is a parsed --holdout argument: a number of rows, or a percentage of them.
type holdout struct {
	text, name string
	rows       *big.Rat // a number of rows, or a percentage if percent is set
	percent    bool
}

// holdoutArgument matches NAME=ROWS or NAME=PERCENT%.
var holdoutArgument = text.Pattern(`^([A-Za-z][A-Za-z0-9_-]*)=(?:([0-9]{1,18})|(100|[0-9]{1,2}(?:\.[0-9]{1,9})?)%)$`)

// parseHoldout parses NAME=ROWS or NAME=PERCENT%.
func parseHoldout(arg string) (holdout, error) {
	m := holdoutArgument().FindStringSubmatch(arg)
	if m == nil {
		return holdout{}, usagef("--holdout %q, expected NAME=ROWS or NAME=PERCENT%%, where NAME begins with a "+
			"letter, and consists of letters, digits, _ and -", arg).
			WithHint("for example --holdout validation=5000 or --holdout validation=10%%")
	}
	role := dataset.ParseName(m[1] + "-column").Role // of a file in a folder of arrays
	if split, _, sure := dataset.CutSplit(m[1]); role != dataset.Data || sure && !strings.EqualFold(split, m[1]) {
		return holdout{}, usagef("--holdout %s: files of this name would be read as images, labels or another split",
			arg).WithHint("choose another name, such as validation")
	}
	h := holdout{text: arg, name: m[1], rows: new(big.Rat), percent: m[3] != ""}
	h.rows.SetString(m[2] + m[3])
	return h, nil
}

// count returns how many rows of total to hold out. A percentage is rounded to rows, halves up.
func (h holdout) count(total int64) int64 {
	n := new(big.Rat).Set(h.rows)
	if h.percent {
		n.Mul(n, big.NewRat(total, 100))
		n.Add(n, big.NewRat(1, 2))
	}
	return new(big.Int).Quo(n.Num(), n.Denom()).Int64()
}

// usagef returns an error about options that are wrong or do not fit the table.
func usagef(format string, args ...any) *fault.Error { return fault.New(fault.Usage, format, args...) }
