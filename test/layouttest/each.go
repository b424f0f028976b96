package layouttest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// Each calls check with a table of random rows for every layout in names, every data type, many
// shapes and every number of rows. Each table has two tensors and a scalar between them.
func Each(t *testing.T, names []string, rows []int, check func(t *testing.T, layoutName string, written Table)) {
	for _, layoutName := range names {
		for _, d := range idx.DTypes() {
			for _, shape := range [][]int{nil, {5}, {1, 1}, {7, 9}, {2, 3, 5}, {3, 0}} {
				if layoutName == "columns" && slices.Contains(shape, 0) { // refused
					continue
				}
				for _, n := range rows {
					t.Run(fmt.Sprintf("%s %v %v %d rows", layoutName, d, shape, n), func(t *testing.T) {
						t.Parallel()
						check(t, layoutName, Random(n,
							source.Column{Name: "x", DType: d, Shape: shape},
							source.Column{Name: "label", DType: d},
							source.Column{Name: "y", DType: d, Shape: shape}))
					})
				}
			}
		}
	}
}
