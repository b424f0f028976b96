package source

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
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
					table := must.Get(Slice(inner, r[0], r[1]))(t)
					if table.Rows() != r[1]-r[0] {
						t.Errorf("found %d rows, expected %d", table.Rows(), r[1]-r[0])
					}
					if rows := About(table).SourceRows; rows != inner.Rows() {
						t.Errorf("found a source of %d rows, expected %d", rows, inner.Rows())
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
		table := must.Get(Slice(plain{scalars(t, "label", 10), true}, 8, 12))(t)
		c, err := readAll(table, batch)
		if !errors.Is(err, fault.Usage) || errors.Is(err, io.EOF) || c.rows > 2 {
			t.Errorf("found %d rows, %v, expected at most 2, then fault.Usage", c.rows, err)
		}
	}
}

// Rows after the slice are not read, so damage there is no error; damage before it is one only
// if it must be read.
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
	inner := must.Get(Slice(scalars(t, "label", 10), 2, 9))(t)
	table := must.Get(Slice(inner, 3, 5))(t)
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

// TestSkipOfSlices skips rows of a slice: before the first read, after it, and more rows than
// there are.
func TestSkipOfSlices(t *testing.T) {
	t.Parallel()
	for _, read := range []int{0, 2} {
		inner, want := pairs(t, "image", 10)
		part := must.Get(Slice(inner, 2, 9))(t)
		if read > 0 {
			b := &Raw{Cap: read}
			if err := part.Read(t.Context(), b); err != nil || b.First != 2 || b.Rows != read {
				t.Fatalf("found rows from %d on, %d of them, and %v", b.First, b.Rows, err)
			}
		}
		for _, n := range []int64{-1, int64(8 - read)} {
			if err := Skip(part, n); !errors.Is(err, fault.Usage) {
				t.Errorf("%d of %d rows: found %v, expected %v", n, 7-read, err, fault.Usage)
			}
		}
		if err := Skip(part, 3); err != nil {
			t.Fatal(err)
		}
		check(t, part, 2, int64(5+read), want[4*(5+read):4*9])
	}
	part := must.Get(Slice(plain{Table: scalars(t, "label", 3)}, 0, 3))(t)
	if err := part.Read(t.Context(), &Raw{Cap: 1}); err != nil {
		t.Fatal(err)
	}
	if err := part.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Skip(part, 2); err == nil {
		t.Error("rows of a closed table were passed over")
	}
}

// TestReshape reshapes tables of one column: the elements keep their order, in batches of any
// size.
func TestReshape(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		dims, reshape []int
		rows          int64
		shape         []int
	}{
		"the same records":      {[]int{4, 6}, []int{-1, 2, 3}, 4, []int{2, 3}},
		"all dimensions":        {[]int{4, 6}, []int{4, 3, 2}, 4, []int{3, 2}},
		"several rows make one": {[]int{24}, []int{-1, 2, 3}, 4, []int{2, 3}},
		"rows of vectors":       {[]int{8, 3}, []int{-1, 2, 3}, 4, []int{2, 3}},
		"one record":            {[]int{24}, []int{1, 24}, 1, []int{24}},
		"what is left":          {[]int{8, 3}, []int{2, -1}, 2, []int{12}},
	} {
		for _, unknown := range []bool{false, true} {
			if unknown && test.reshape[0] != -1 {
				continue
			}
			for batch := 1; batch <= 5; batch++ {
				for skip := range test.rows {
					in := plain{fromBytes(t, "x", file(t, idx.Uint8, test.dims, bytesUpTo(24)), Options{Name: "x"}), unknown}
					out, err := Reshape(in, test.reshape, 1<<20)
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					if !unknown && out.Rows() != test.rows || unknown && out.Rows() != -1 || !slices.Equal(out.Columns()[0].Shape, test.shape) {
						t.Errorf("%s: found %d rows of %v, expected %d of %v", name, out.Rows(), out.Columns()[0].Shape, test.rows, test.shape)
					}
					if err := Skip(out, skip); err != nil {
						t.Fatal(err)
					}
					check(t, out, batch, skip, bytesUpTo(24)[skip*24/test.rows:])
				}
			}
		}
	}
}

func TestReshapeRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		dims, reshape []int
		unknown       bool
		limit         int64
	}{
		"other elements":        {dims: []int{4, 6}, reshape: []int{-1, 5}},
		"records that are cut":  {dims: []int{4, 6}, reshape: []int{8, 3}},
		"an unknown end":        {dims: []int{4, 6}, reshape: []int{4, 2, 3}, unknown: true},
		"twice what is left":    {dims: []int{4, 6}, reshape: []int{-1, -1}},
		"too large":             {dims: []int{24}, reshape: []int{-1, 24}, limit: 23},
		"too many rows":         {dims: []int{4, 6}, reshape: []int{5, 6}},
		"records of no element": {dims: []int{4, 0}, reshape: []int{3, 0}},
	} {
		in := plain{fromBytes(t, "x", file(t, idx.Uint8, test.dims, bytesUpTo(24)[:24*min(1, test.dims[len(test.dims)-1])]), Options{Name: "x"}), test.unknown}
		if test.limit == 0 {
			test.limit = 1 << 20
		}
		if _, err := Reshape(in, test.reshape, test.limit); err == nil || !strings.HasPrefix(err.Error(), "the shape does not fit: ") {
			t.Errorf("%s: found %v, expected that it does not fit", name, err)
		}
	}
}

// TestReshapeOfAnUnknownEnd: left-over elements are an error.
func TestReshapeOfAnUnknownEnd(t *testing.T) {
	t.Parallel()
	in := plain{fromBytes(t, "x", file(t, idx.Uint8, []int{25}, bytesUpTo(25)), Options{Name: "x"}), true}
	out := must.Get(Reshape(in, []int{-1, 2, 3}, 1<<20))(t)
	if _, err := readAll(out, 3); !errors.Is(err, fault.Usage) {
		t.Errorf("found %v, expected wrong usage", err)
	}
}

// TestReshapeBesideOthers: in a table of several columns, the tensors with as many elements take
// the shape, and the rows stay.
func TestReshapeBesideOthers(t *testing.T) {
	t.Parallel()
	column := func(name string, dims ...int) Table {
		n := 1
		for _, d := range dims {
			n *= d
		}
		return fromBytes(t, name, file(t, idx.Uint8, dims, bytesUpTo(n)), Options{Name: name})
	}
	in := must.Get(Join(false, column("image", 4, 6), column("label", 4, 6), column("y", 4), column("other", 4, 5)))(t)
	out := must.Get(Reshape(in, []int{-1, 2, 3}, 1<<20))(t)
	want := [][]int{{2, 3}, {6}, {}, {5}}
	for i, c := range out.Columns() {
		if !slices.Equal(c.Shape, want[i]) {
			t.Errorf("%s: found %v, expected %v", c.Name, c.Shape, want[i])
		}
	}
	for _, test := range []struct {
		dims []int
		hint string
	}{
		{[]int{-1, 7}, ""}, {[]int{4, 7}, ""},
		{[]int{2, 3}, "the first dimension is the number of rows: --reshape -1x2x3"},
		{[]int{6}, "the first dimension is the number of rows: --reshape -1x6"},
		{[]int{3, 2, 3}, "the first dimension is the number of rows: --reshape -1x2x3"},
	} {
		if _, err := Reshape(in, test.dims, 1<<20); !errors.Is(err, fault.Usage) || fault.HintOf(err) != test.hint {
			t.Errorf("%v: found %v with the hint %q, expected wrong usage with %q", test.dims, err, fault.HintOf(err), test.hint)
		}
	}
}
