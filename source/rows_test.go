package source

import (
	"context"
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

// A limited file remembers where reading will end, as an object in a bucket does.
type limited struct {
	File
	end *int64
}

func (l limited) Limit(end int64) { *l.end = end }

type limitedFiles struct {
	Local
	end *int64
}

func (l limitedFiles) Open(name string) (File, error) {
	f, err := l.Local.Open(name)
	return limited{f, l.end}, err
}

// TestSliceLimitsReading: files do not fetch what is beyond the slice.
func TestSliceLimitsReading(t *testing.T) {
	t.Parallel()
	var end int64
	path := write(t, "images", file(t, idx.Uint8, []int{5, 2, 2}, bytesUpTo(20)))
	images := open(t, path, Options{Name: "image", Files: limitedFiles{end: &end}})
	both := must.Get(Join(false, images, second(t)))(t)
	must.Get(Slice(WithColumns(both, both.Columns()), 1, 3))(t)
	if end != 16+3*4 {
		t.Errorf("found the end %d, expected that of row 2, %d", end, 16+3*4)
	}
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

// A wideRows has rows of 512 KiB, and the largest number of them that was asked for at once.
type wideRows struct {
	Table
	most int
}

func (w *wideRows) Columns() []Column { return []Column{{DType: idx.Uint8, Shape: []int{512 << 10}}} }

func (w *wideRows) Read(_ context.Context, b *Raw) error {
	b.Rows, w.most = b.Cap, max(w.most, b.Cap)
	return nil
}

// TestSkipLargeRows skips rows that together are much larger than the memory it may use.
func TestSkipLargeRows(t *testing.T) {
	t.Parallel()
	table := new(wideRows)
	if err := Skip(table, 64); err != nil || table.most > 2 {
		t.Errorf("found %d rows that were read at once, error %v, expected about 1 MiB", table.most, err)
	}
}

// TestReshape reshapes tables of any size in batches: the elements keep their order and their rows.
func TestReshape(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		dims, reshape, shape []int
	}{
		"open rows":      {[]int{4, 6}, []int{-1, 2, 3}, []int{2, 3}},
		"all dimensions": {[]int{4, 6}, []int{4, 3, 2}, []int{3, 2}},
		"open record":    {[]int{4, 6}, []int{4, -1, 2}, []int{3, 2}},
		"no rows":        {[]int{0, 6}, []int{-1, 2, 3}, []int{2, 3}},
		"flat":           {[]int{4, 3, 2}, []int{-1, 6}, []int{6}},
	} {
		for _, unknown := range []bool{false, true} {
			if unknown && test.reshape[0] != -1 {
				continue
			}
			raw := bytesUpTo(6 * test.dims[0])
			in := plain{fromBytes(t, "x", file(t, idx.Uint8, test.dims, raw), Options{Name: "x"}), unknown}
			out, err := Reshape(in, test.reshape)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if out.Rows() != in.Rows() || !slices.Equal(out.Columns()[0].Shape, test.shape) {
				t.Errorf("%s: found %d rows of %v, expected %v", name, out.Rows(), out.Columns()[0].Shape, test.shape)
			}
			check(t, out, 3, 0, raw)
		}
	}
}

func TestReshapeRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		dims, reshape []int
		unknown       bool
		hint          string
	}{
		"other elements":        {dims: []int{4, 6}, reshape: []int{-1, 5}},
		"fewer rows":            {dims: []int{4, 6}, reshape: []int{-1, 12}, hint: "give each record 6 elements"},
		"rows that are cut":     {dims: []int{4, 6}, reshape: []int{8, 3}, hint: "give each record 6 elements"},
		"single numbers":        {dims: []int{24}, reshape: []int{-1, 2, 3}, hint: "give each record 1 element"},
		"the shape of a record": {dims: []int{4, 6}, reshape: []int{2, 3}, hint: "--reshape -1x2x3"},
		"no rows":               {dims: []int{0, 6}, reshape: []int{-1, 5}, hint: "give each record 6 elements"},
		"an unknown end":        {dims: []int{4, 6}, reshape: []int{4, 2, 3}, unknown: true},
		"twice what is left":    {dims: []int{4, 6}, reshape: []int{-1, -1}},
		"records of no element": {dims: []int{4, 0}, reshape: []int{3, 0}, hint: "give each record 0 elements"},
	} {
		elements := 1
		for _, d := range test.dims {
			elements *= d
		}
		in := plain{fromBytes(t, "x", file(t, idx.Uint8, test.dims, bytesUpTo(elements)), Options{Name: "x"}), test.unknown}
		_, err := Reshape(in, test.reshape)
		if !errors.Is(err, fault.Usage) || !strings.Contains(err.Error(), "the shape does not fit: ") ||
			!strings.Contains(fault.HintOf(err), test.hint) {
			t.Errorf("%s: found %v with the hint %q, expected that it does not fit and %q", name, err, fault.HintOf(err), test.hint)
		}
	}
}

// TestReshapeBesideOthers: in a table of several columns, the tensors with as many elements take
// the shape, and the others keep theirs.
func TestReshapeBesideOthers(t *testing.T) {
	t.Parallel()
	column := func(name string, dims ...int) Table {
		n := 1
		for _, d := range dims {
			n *= d
		}
		return fromBytes(t, name, file(t, idx.Uint8, dims, bytesUpTo(n)), Options{Name: name})
	}
	in := must.Get(Join(false, column("other", 4, 5), column("image", 4, 6), column("label", 4, 6), column("y", 4)))(t)
	out := must.Get(Reshape(in, []int{-1, 2, 3}))(t)
	want := [][]int{{5}, {2, 3}, {6}, {}}
	for i, c := range out.Columns() {
		if !slices.Equal(c.Shape, want[i]) {
			t.Errorf("%s: found %v, expected %v", c.Name, c.Shape, want[i])
		}
	}
	if _, err := Reshape(in, []int{-1, 7}); err == nil || err.Error() != "column other: the shape does not fit: uint8 4×5 has 20 elements, which do not make -1×7" {
		t.Errorf("found %v, expected that the first tensor does not fit", err)
	}
	if _, err := Reshape(column("y", 4), []int{-1}); err != nil {
		t.Errorf("found %v, expected no error", err)
	}
	alone := must.Get(Join(false, column("y", 4), column("z", 4)))(t)
	if _, err := Reshape(alone, []int{-1, 1}); !errors.Is(err, fault.Usage) {
		t.Errorf("found %v, expected wrong usage", err)
	}
}
