package layout

import (
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
)

// maxColumns is the maximum number of elements of a record in the layout "columns": a 64×64 image.
// Every column costs its reader time and memory before the first value, and both formats describe
// all columns again in every row group or batch.
const maxColumns = 4096

// columns is the layout "columns": a primitive column for each element of a record. Prepare
// transposes a batch once for all columns.
func (l Layout) columns(c source.Column) ([]Column, error) {
	n, size := c.Elements(), c.DType.Size()
	if n == 0 || n > maxColumns {
		return nil, l.refuse("choose others with --columns, or use the layout list, with one column for all elements",
			"a record of column %s has %d elements, expected 1 to %d", c.Name, n, maxColumns)
	}
	metadata := fieldMetadata(c)
	made := make([]Column, n)
	for i := range made {
		name := string(schema.AppendElementName(nil, c, i, l.alone))
		made[i] = primitive(name, c.DType, metadata, func(transposed []byte, rows int) []byte {
			return transposed[i*rows*size : (i+1)*rows*size : (i+1)*rows*size]
		})
		made[i].Prepare = func(data []byte, rows int) []byte {
			transposed := make([]byte, len(data))
			source.SwapAxes(transposed, data, rows, n, size)
			return transposed
		}
		made[i].Allocates, made[i].Leaves[0].Allocates = size, true
	}
	return made, nil
}
