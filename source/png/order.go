package png

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
)

// stem is name without its extension, which has four bytes.
func stem(name []byte) []byte { return name[:len(name)-len(".png")] }

// maxDigits is how many digits an int64 always holds.
const maxDigits = 18

// numberOf is the number that a file's name is. ok is false for other names.
func numberOf(name []byte) (n int64, ok bool) {
	digits := stem(name)
	if len(digits) == 0 || len(digits) > maxDigits {
		return 0, false
	}
	for _, c := range digits {
		c -= '0'
		if c > 9 {
			return 0, false
		}
		n = 10*n + int64(c)
	}
	return n, true
}

// sort puts the files into the order of the rows: by number if each has its own, else by folder and name.
func (t *Table) sort() {
	l := &t.list
	if t.sortByNumber() {
		first, _ := numberOf(l.name(l.files[0]))
		last, _ := numberOf(l.name(l.files[len(l.files)-1]))
		switch missing := last - first + 1 - int64(len(l.files)); {
		case missing > 0:
			t.note("rows are in the order of the numbers in the files' names, %d to %d; %d of them are missing", first, last, missing)
		case first > 0:
			t.note("rows are in the order of the numbers in the files' names, %d to %d", first, last)
		}
		return
	}
	slices.SortFunc(l.files, func(a, b file) int {
		return cmp.Or(cmp.Compare(a.folder, b.folder), bytes.Compare(l.name(a), l.name(b)))
	})
	if len(l.folders) > 1 {
		t.note("rows are in the order of the class folders, and by name within each, as the files' names are not all different numbers")
	} else {
		t.note("rows are in the order of the files' names, which are not all different numbers")
	}
}

// sortByNumber sorts the files by number, if each has its own.
func (t *Table) sortByNumber() bool {
	l := &t.list
	for _, f := range l.files {
		if _, ok := numberOf(l.name(f)); !ok {
			return false
		}
	}
	number := func(f file) int64 {
		n, _ := numberOf(l.name(f))
		return n
	}
	slices.SortFunc(l.files, func(a, b file) int { return cmp.Compare(number(a), number(b)) })
	for i, f := range l.files[1:] {
		if number(f) == number(l.files[i]) {
			return false
		}
	}
	return true
}

// labelOf is the label that a folder's name is: a number of at most int32. ok is false for other names.
func labelOf(name string) (int32, bool) {
	if name == "" || name[0] < '0' || name[0] > '9' {
		return 0, false
	}
	n, err := strconv.ParseInt(name, 10, 32)
	return int32(n), err == nil
}
