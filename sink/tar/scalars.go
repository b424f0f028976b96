package tar

import (
	"encoding/json"
	"strings"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink/images"
	"github.com/idxport/idxport/source/idx"
)

// infinity is what Python's json calls it.
const infinity = "Infinity"

// A scalar is a column that goes into the .json of its row.
type scalar struct {
	column int
	dtype  idx.DType
	key    string // with the quotes, the colon, and what separates it from the one before
}

// newScalars are those of columns of s that are scalars; left are the others.
func newScalars(s *schema.Schema, columns []int) (scalars []scalar, left []int) {
	separator := "{"
	for _, i := range columns {
		c := s.Columns[i]
		if !c.Scalar() {
			left = append(left, i)
			continue
		}
		var name strings.Builder
		e := json.NewEncoder(&name)
		e.SetEscapeHTML(false)
		_ = e.Encode(c.Name) // a string into memory: cannot fail
		scalars = append(scalars, scalar{column: i, dtype: c.DType, key: separator + strings.TrimSpace(name.String()) + ":"})
		separator = ","
	}
	return scalars, left
}

// appendJSON appends the object of row i of b.
func appendJSON(dst []byte, scalars []scalar, b schema.Batch, i int) []byte {
	for _, s := range scalars {
		dst = append(dst, s.key...)
		dst = images.AppendNumber(dst, s.dtype, b.Columns[s.column], i, infinity)
	}
	return append(dst, '}')
}
