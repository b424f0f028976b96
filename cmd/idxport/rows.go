package main

import (
	"fmt"
	"math"
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

// parseShape reads dimensions such as -1x28x28, the value of a flag.
func parseShape(flag, s string) ([]int, error) {
	var dims []int
	elements := int64(1)
	for _, text := range strings.Split(strings.NewReplacer("×", "x", ",", "x").Replace(s), "x") {
		d, err := strconv.Atoi(text)
		if err == nil && flag == "shape" && d < 1 || err != nil || d < -1 {
			e := usagef("--%s %q: %q is no dimension", flag, s, text)
			if flag == "shape" {
				return nil, e.WithHint("for example --shape 28x28, the shape of one record")
			}
			return nil, e.WithHint("for example --reshape -1x28x28, where -1 is what is left")
		}
		dims = append(dims, d)
		if flag == "shape" {
			if int64(d) > math.MaxInt32/elements {
				return nil, usagef("--shape %q: found more than %d elements, expected the shape of one record", s, math.MaxInt32)
			}
			elements *= int64(d)
		}
	}
	return dims, nil
}
