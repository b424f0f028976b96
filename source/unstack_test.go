package source

import (
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/source/idx"
)

func TestUnstack(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		dtype idx.DType
		dims  []int
		all   any
		want  []any
	}{
		"QMNIST's ints": {idx.Int32, []int{3, 2}, []int32{5, 1 << 20, 0, -1, 9, 70000}, []any{[]int32{5, 0, 9}, []int32{1 << 20, -1, 70000}}},
		"bytes":         {idx.Uint8, []int{2, 3}, []uint8{1, 2, 3, 4, 5, 6}, []any{[]uint8{1, 4}, []uint8{2, 5}, []uint8{3, 6}}},
		"doubles":       {idx.Float64, []int{2, 2}, []float64{0.5, -1, 1e300, 0}, []any{[]float64{0.5, 1e300}, []float64{-1, 0}}},
		"matrices":      {idx.Int16, []int{1, 2, 2}, []int16{1, 2, 3, 4}, []any{[]int16{1}, []int16{2}, []int16{3}, []int16{4}}},
		"one element":   {idx.Uint8, []int{3, 1}, []uint8{1, 2, 3}, []any{[]uint8{1, 2, 3}}},
		"scalars":       {idx.Uint8, []int{3}, []uint8{1, 2, 3}, []any{[]uint8{1, 2, 3}}},
		"no records":    {idx.Int32, []int{0, 2}, []int32{}, []any{[]int32{}, []int32{}}},
	}
	for name, test := range tests {
		for _, batch := range []int{1, 2, 100} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				names := []string{"label", "source", "writer", "page"}[:len(test.want)]
				inner := fromBytes(t, "labels", file(t, test.dtype, test.dims, test.all), Options{Name: "label", Classes: []string{"a", "b"}})
				table, err := Unstack(inner, names, len(names)-1)
				if err != nil {
					t.Fatal(err)
				}
				want := make([][]byte, len(test.want))
				for i, column := range table.Columns() {
					if column.Name != names[i] || column.DType != test.dtype || !column.Scalar() || column.Origin != "labels" || (column.Classes != nil) != (i == len(names)-1) {
						t.Errorf("found column %+v", column)
					}
					want[i] = little(t, test.want[i])
				}
				if table.Rows() != int64(test.dims[0]) || len(table.Columns()) != len(names) {
					t.Errorf("found %d rows, %d columns", table.Rows(), len(table.Columns()))
				}
				check(t, table, batch, 0, want...)
				if err := table.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestUnstackRefuses(t *testing.T) {
	t.Parallel()
	two, _ := pairs(t, "pair", 3)
	both, err := Join(false, scalars(t, "a", 3), scalars(t, "b", 3))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		table Table
		names int
	}{
		"too few names": {two, 1}, "too many names": {two, 3}, "no names": {two, 0}, "two columns": {both, 1},
	} {
		table, err := Unstack(test.table, slices.Repeat([]string{"x"}, test.names), 0)
		if err == nil || !strings.Contains(err.Error(), test.table.Columns()[0].Origin) {
			t.Errorf("%s: found %v, %v, expected an error that names the file", name, table, err)
		}
	}
}
