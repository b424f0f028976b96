package parquet

import (
	"io"
	"slices"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
)

// TestNestedLevels reads the levels of nested lists with parquet-go: those of a record are the dimensions whose index moves on.
func TestNestedLevels(t *testing.T) {
	t.Parallel()
	tests := []struct {
		shape []int
		want  []int // repetition levels of a record
	}{
		{[]int{2, 3}, []int{0, 2, 2, 1, 2, 2}},
		{[]int{3, 1}, []int{0, 1, 1}},
		{[]int{3, 3}, []int{0, 2, 2, 1, 2, 2, 1, 2, 2}},
		{[]int{2, 2, 3}, []int{0, 3, 3, 2, 3, 3, 1, 3, 3, 2, 3, 3}},
		{[]int{4}, []int{0, 1, 1, 1}},
	}
	for _, test := range tests {
		written := layouttest.Random(101, source.Column{Name: "x", DType: idx.Float32, Shape: test.shape})
		file := write(t, written, Options{Layout: "nested"}, 40)
		f := open(t, file)
		depth := len(test.shape)
		if leaf := f.Schema().Columns(); len(leaf) != 1 || len(leaf[0]) != 1+2*depth {
			t.Errorf("%v: found the paths %v", test.shape, leaf)
		}
		var levels []int
		pages := f.RowGroups()[0].ColumnChunks()[0].Pages()
		for {
			page, err := pages.ReadPage()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			values := make([]pq.Value, page.NumValues())
			_, _ = page.Values().ReadValues(values) // ends with io.EOF
			for _, v := range values {
				levels = append(levels, v.RepetitionLevel())
				if v.DefinitionLevel() != 2*depth {
					t.Fatalf("%v: found the definition level %d, expected %d", test.shape, v.DefinitionLevel(), 2*depth)
				}
			}
		}
		if want := slices.Repeat(test.want, written.Rows); !slices.Equal(levels, want) {
			t.Errorf("%v: found other repetition levels than %v in each of %d rows", test.shape, test.want, written.Rows)
		}
		_ = pages.Close()
	}
}
