package source

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source/idx"
)

// TestReshape takes tables of one column for arrays of other dimensions: the elements stay in their order, in batches of any size.
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

// TestReshapeOfAnUnknownEnd: elements that are left over are no record, and no silence.
func TestReshapeOfAnUnknownEnd(t *testing.T) {
	t.Parallel()
	in := plain{fromBytes(t, "x", file(t, idx.Uint8, []int{25}, bytesUpTo(25)), Options{Name: "x"}), true}
	out, err := Reshape(in, []int{-1, 2, 3}, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readAll(out, 3); !errors.Is(err, fault.Usage) {
		t.Errorf("found %v, expected wrong usage", err)
	}
}

// TestReshapeBesideOthers: of a table of several columns, the tensors of as many elements take the shape, and rows stay.
func TestReshapeBesideOthers(t *testing.T) {
	t.Parallel()
	column := func(name string, dims ...int) Table {
		n := 1
		for _, d := range dims {
			n *= d
		}
		return fromBytes(t, name, file(t, idx.Uint8, dims, bytesUpTo(n)), Options{Name: name})
	}
	in, err := Join(false, column("image", 4, 6), column("label", 4, 6), column("y", 4), column("other", 4, 5))
	if err != nil {
		t.Fatal(err)
	}
	out, err := Reshape(in, []int{-1, 2, 3}, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]int{{2, 3}, {6}, {}, {5}}
	for i, c := range out.Columns() {
		if !slices.Equal(c.Shape, want[i]) {
			t.Errorf("%s: found %v, expected %v", c.Name, c.Shape, want[i])
		}
	}
	for _, dims := range [][]int{{-1, 7}, {2, 12}, {24}} {
		if _, err := Reshape(in, dims, 1<<20); !errors.Is(err, fault.Usage) {
			t.Errorf("%v: found %v, expected wrong usage", dims, err)
		}
	}
}
