package convert

import (
	"fmt"
	"strconv"
	"strings"
)

// A rowRange is a half-open range of rows as the user wrote it: negative ends count from the end. Its zero value is all rows.
type rowRange struct {
	given       bool
	first, last int64
	open        bool // no last row was given
}

// parseRows reads A:B, where either may be missing.
func parseRows(s string) (r rowRange, err error) {
	a, b, ok := strings.Cut(s, ":")
	bad := usagef("--rows %q, expected A:B", s).WithHint("for example --rows 0:1000 for the first thousand, --rows -100: for the last hundred")
	if !ok {
		return r, bad
	}
	r.given, r.open = true, b == ""
	if a != "" {
		if r.first, err = strconv.ParseInt(a, 10, 64); err != nil {
			return r, bad
		}
	}
	if b != "" {
		if r.last, err = strconv.ParseInt(b, 10, 64); err != nil {
			return r, bad
		}
	}
	return r, nil
}

// resolve turns r into rows of a table of total rows, −1 if that is unknown. As with slices in Python, what lies beyond the end is cut off.
func (r rowRange) resolve(total int64) (first, last int64, err error) {
	if total < 0 && (r.open || r.first < 0 || r.last < 0) {
		return 0, 0, usagef("--rows %s: the number of rows is not known in advance", r).WithHint("give both ends, counted from 0")
	}
	first, last = r.first, r.last
	if !r.open && first > last && (first < 0) == (last < 0) {
		return 0, 0, usagef("--rows %s is empty: it ends before it begins", r)
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
	if first > last {
		return 0, 0, usagef("--rows %s is empty in a table of %d rows", r, total)
	}
	return first, last, nil
}

func (r rowRange) String() string {
	if r.open {
		return fmt.Sprintf("%d:", r.first)
	}
	return fmt.Sprintf("%d:%d", r.first, r.last)
}

// CheckRows returns an error if s is no range of rows.
func CheckRows(s string) error {
	_, err := parseRows(s)
	return err
}
