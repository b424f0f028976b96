package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source/idx"
)

func TestSlice(t *testing.T) {
	t.Parallel()
	ranges := [][2]int64{{0, 10}, {0, 0}, {10, 10}, {0, 1}, {9, 10}, {3, 7}, {4, 5}, {5, 5}}
	for _, r := range ranges {
		for _, hidden := range []bool{false, true} {
			for _, batch := range []int{1, 2, 4, 100} {
				t.Run(fmt.Sprintf("%d:%d, by reading %v, %d at a time", r[0], r[1], hidden, batch), func(t *testing.T) {
					t.Parallel()
					in, all := pairs(t, "pair", 10)
					inner := Table(in)
					if hidden {
						inner = plain{in, true}
					}
					table, err := Slice(inner, r[0], r[1])
					if err != nil {
						t.Fatal(err)
					}
					if table.Rows() != r[1]-r[0] {
						t.Errorf("found %d rows, expected %d", table.Rows(), r[1]-r[0])
					}
					if part := table.(interface{ SourceRows() int64 }); part.SourceRows() != inner.Rows() {
						t.Errorf("found a source of %d rows, expected %d", part.SourceRows(), inner.Rows())
					}
					if r[0] == r[1] {
						all = nil
					} else {
						all = all[4*r[0] : 4*r[1]]
					}
					check(t, table, batch, r[0], all)
				})
			}
		}
	}
}

func TestSliceRefusesRowsThatAreNotThere(t *testing.T) {
	t.Parallel()
	for _, r := range [][2]int64{{-1, 3}, {4, 3}, {0, 11}, {11, 12}} {
		if _, err := Slice(scalars(t, "label", 10), r[0], r[1]); !errors.Is(err, fault.Usage) {
			t.Errorf("%v: found %v, expected fault.Usage", r, err)
		}
	}
	for _, batch := range []int{1, 4, 100} {
		table, err := Slice(plain{scalars(t, "label", 10), true}, 8, 12)
		if err != nil {
			t.Fatal(err)
		}
		c, err := readAll(table, batch)
		if !errors.Is(err, fault.Usage) || errors.Is(err, io.EOF) || c.rows > 2 {
			t.Errorf("found %d rows, %v, expected at most 2, then fault.Usage", c.rows, err)
		}
	}
}

// Rows after the slice are not read, so damage there does no harm; damage before it does only if it must be read.
func TestSliceDoesNotCheckTheRest(t *testing.T) {
	t.Parallel()
	cut := fromBytes(t, "cut", file(t, idx.Uint8, []int{10}, bytesUpTo(6)), Options{Name: "x"})
	table, err := Slice(cut, 2, 5)
	if err != nil {
		t.Fatal(err)
	}
	check(t, table, 2, 2, []byte{2, 3, 4})

	cut = fromBytes(t, "cut", file(t, idx.Uint8, []int{10}, bytesUpTo(6)), Options{Name: "x"})
	if table, err = Slice(cut, 7, 9); err != nil {
		t.Fatal(err)
	}
	if _, err := readAll(table, 2); !errors.Is(err, fault.Truncated) {
		t.Errorf("found %v, expected a truncated file", err)
	}
}

func TestSliceOfSlice(t *testing.T) {
	t.Parallel()
	inner, err := Slice(scalars(t, "label", 10), 2, 9)
	if err != nil {
		t.Fatal(err)
	}
	table, err := Slice(inner, 3, 5)
	if err != nil {
		t.Fatal(err)
	}
	check(t, table, 4, 5, []byte{5, 6}) // rows keep their indices in the innermost table
}

func TestSkip(t *testing.T) {
	t.Parallel()
	images, want := pairs(t, "image", 10)
	for name, table := range map[string]Table{"seeker": images, "reader": plain{Table: func() Table { t, _ := pairs(t, "image", 10); return t }()}} {
		if err := Skip(table, 0); err != nil {
			t.Fatal(name, err)
		}
		if err := Skip(table, 7); err != nil {
			t.Fatal(name, err)
		}
		check(t, table, 2, 7, want[4*7:])
	}
	if err := Skip(plain{Table: scalars(t, "label", 3)}, 4); err == nil {
		t.Error("4 of 3 rows were skipped")
	}
	if err := Skip(scalars(t, "label", 3), 4); err == nil || !strings.HasPrefix(err.Error(), "label.idx: ") {
		t.Errorf("found %v, expected an error with the path", err)
	}
}

// A table of rows larger than the block that Skip reads by.
func TestSkipOfLargeRows(t *testing.T) {
	t.Parallel()
	const row = 3 << 20
	data := bytesUpTo(3 * row)
	table := plain{Table: fromBytes(t, "large", file(t, idx.Uint8, []int{3, row}, data), Options{})}
	if err := Skip(table, 2); err != nil {
		t.Fatal(err)
	}
	b := &Raw{Cap: 1}
	if err := table.Read(context.Background(), b); err != nil || b.First != 2 || string(b.Columns[0]) != string(data[2*row:]) {
		t.Errorf("found row %d, %v, expected row 2", b.First, err)
	}
}
