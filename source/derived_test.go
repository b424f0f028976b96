package source

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
)

// transposed is the reference: out[r][j][i][k] = in[r][i][j][k], one element of size bytes at a
// time.
func transposed(in []byte, records, n1, n2, rest, size int) []byte {
	out := make([]byte, 0, len(in))
	for r := range records {
		for j := range n2 {
			for i := range n1 {
				for k := range rest {
					at := (((r*n1+i)*n2+j)*rest + k) * size
					out = append(out, in[at:at+size]...)
				}
			}
		}
	}
	return out
}

// TestSwapAxes compares with single cells, around the limits of tiles.
func TestSwapAxes(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 2, 3, 4, 8} {
		for _, n1 := range []int{0, 1, 31, 32, 67} {
			for _, n2 := range []int{0, 1, 7, 150} {
				src := bytesUpTo(n1 * n2 * size)
				found := make([]byte, len(src))
				if SwapAxes(found, src, n1, n2, size); !bytes.Equal(found, transposed(src, 1, n1, n2, 1, size)) {
					t.Errorf("%d×%d cells of %d bytes: found another matrix", n1, n2, size)
				}
			}
		}
	}
}

func TestTranspose(t *testing.T) {
	t.Parallel()
	shapes := [][]int{{3, 3}, {2, 5}, {5, 2}, {1, 4}, {4, 1}, {1, 1}, {2, 3, 4}, {3, 3, 3}, {2, 3, 2, 2}, {0, 3},
		{3, 0}, {2, 3, 0}, {2, 515}}
	check := func(t *testing.T, d idx.DType, shape []int, axis int) {
		t.Parallel()
		const records = 5
		c := Column{DType: d, Shape: shape}
		raw := file(t, d, append([]int{records}, shape...), bytesUpTo(records*c.RecordSize()))
		plain := must.Get(readAll(fromBytes(t, "image", raw, Options{Name: "image"}), records))(t)
		planes, rest := Column{Shape: shape[:axis]}.Elements(), Column{Shape: shape[axis+2:]}.Elements()
		want := transposed(plain.columns[0], records*planes, shape[axis], shape[axis+1], rest, d.Size())
		turned := slices.Clone(shape)
		slices.Reverse(turned[axis : axis+2])
		for _, batch := range []int{1, 2, 100} {
			out := Transpose(fromBytes(t, "image", raw, Options{Name: "image"}), 0, axis)
			if found := out.Columns()[0].Shape; !slices.Equal(found, turned) {
				t.Errorf("found shape %v, expected %v", found, turned)
			}
			if c, err := readAll(out, batch); err != nil || c.rows != records || !bytes.Equal(c.columns[0], want) {
				t.Errorf("%d at a time: found %d rows, % x, %v, expected % x", batch, c.rows, c.columns[0], err, want)
			}
		}
	}
	for _, d := range idx.DTypes() {
		for _, shape := range shapes {
			for axis := range len(shape) - 1 {
				t.Run(fmt.Sprint(d, shape, axis), func(t *testing.T) { check(t, d, shape, axis) })
			}
		}
	}
}

// Only the requested column changes, and joined columns stay aligned.
func TestTransformsLeaveOtherColumnsAlone(t *testing.T) {
	t.Parallel()
	pixels := []uint8{0, 1, 2, 3, 4, 5, 250, 251, 252, 253, 254, 255}
	joined := must.Get(Join(false,
		fromBytes(t, "label", file(t, idx.Uint8, []int{2}, []uint8{7, 9}), Options{Name: "label"}),
		fromBytes(t, "image", file(t, idx.Uint8, []int{2, 2, 3}, pixels), Options{Name: "image"})))(t)
	out := Transpose(joined, 1, 0)
	c, err := readAll(out, 1)
	want := []byte{0, 3, 1, 4, 2, 5, 250, 253, 251, 254, 252, 255}
	if err != nil || !bytes.Equal(c.columns[0], []byte{7, 9}) || !bytes.Equal(c.columns[1], want) {
		t.Errorf("found % d, %v, expected labels 7, 9 and % d", c.columns, err, want)
	}
	if before, after := joined.Columns()[1].Shape, out.Columns()[1].Shape; !slices.Equal(before, []int{2, 3}) ||
		!slices.Equal(after, []int{3, 2}) {
		t.Errorf("found shapes %v before and %v after", before, after)
	}
}

func TestUnstack(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		dtype idx.DType
		dims  []int
		all   any
		want  []any
	}{
		"QMNIST's ints": {idx.Int32, []int{3, 2}, []int32{5, 1 << 20, 0, -1, 9, 70000},
			[]any{[]int32{5, 0, 9}, []int32{1 << 20, -1, 70000}}},
		"bytes": {idx.Uint8, []int{2, 3}, []uint8{1, 2, 3, 4, 5, 6},
			[]any{[]uint8{1, 4}, []uint8{2, 5}, []uint8{3, 6}}},
		"scalars":    {idx.Uint8, []int{3}, []uint8{1, 2, 3}, []any{[]uint8{1, 2, 3}}},
		"no records": {idx.Int32, []int{0, 2}, []int32{}, []any{[]int32{}, []int32{}}},
	} {
		for _, batch := range []int{1, 2, 100} {
			names := []string{"label", "source", "writer", "page"}[:len(test.want)]
			inner := fromBytes(t, "labels", file(t, test.dtype, test.dims, test.all),
				Options{Name: "label", Classes: []string{"a", "b"}})
			table := Unstack(inner, names)
			want := make([][]byte, len(test.want))
			for i, column := range table.Columns() {
				if column.Name != names[i] || column.DType != test.dtype || !column.Scalar() ||
					column.Origin != "labels" || (column.Classes != nil) != (i == 0) {
					t.Errorf("%s: found column %+v", name, column)
				}
				want[i] = little(t, test.want[i])
			}
			if table.Rows() != int64(test.dims[0]) || len(table.Columns()) != len(names) {
				t.Errorf("%s: found %d rows, %d columns", name, table.Rows(), len(table.Columns()))
			}
			check(t, table, batch, 0, want...)
			must.Do(t, table.Close())
		}
	}
}

// A full table has every optional method of tables.
type full struct{ Table }

func (f *full) Skip(n int64) error { return Skip(f.Table, n) }
func (f *full) Info() Info {
	return Info{100, []string{"a note"}, []string{"a warning"}, []string{"a decoder"}, []Omission{{Column: "class"}},
		true, "names", true, true, "gzip", map[string]string{"key": "value"}}
}

// TestDerivedForwards calls every optional method through a derived table.
func TestDerivedForwards(t *testing.T) {
	t.Parallel()
	inner := &full{Table: second(t)}
	table := WithColumns(inner, inner.Columns())
	if info := About(table); !reflect.DeepEqual(info, inner.Info()) {
		t.Errorf("found %+v, expected %+v", info, inner.Info())
	}
	must.Do(t, Skip(table, 3))
	check(t, table, 10, 3, []byte{3, 4})
}

func TestViewsOfUnknownRows(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 3} {
		known, unknown := scalars(t, "x", n), plain{scalars(t, "x", n), true}
		some := must.Get(Slice(unknown, 0, int64(n)))(t)
		for table, want := range map[Table][2]int64{
			WithColumns(known, known.Columns()): {int64(n), int64(n)}, WithColumns(unknown, known.Columns()): {-1, -1},
			WithColumns(some, known.Columns()): {int64(n), -1}, WithRows(unknown, 9): {9, 9},
		} {
			if found := [2]int64{table.Rows(), About(table).SourceRows}; found != want {
				t.Errorf("of %d: found rows, and those of the source, %d, expected %d", n, found, want)
			}
		}
	}
}

// TestJoinForwards: a joined table has every optional method but metadata.
func TestJoinForwards(t *testing.T) {
	t.Parallel()
	one := &full{Table: fromBytes(t, "image", file(t, idx.Uint8, []int{5}, bytesUpTo(5)), Options{Name: "image"})}
	table := must.Get(Join(false, one, second(t)))(t)
	if notes := About(table).Notes; !slices.Equal(notes, []string{"a note"}) {
		t.Errorf("found notes %q", notes)
	}
	must.Do(t, Skip(table, 3))
	if c, err := readAll(table, 10); err != nil || c.first != 3 || !bytes.Equal(c.columns[1], []byte{3, 4}) {
		t.Errorf("found rows from %d: % x, %v, expected rows 3 and 4", c.first, c.columns, err)
	}
}
