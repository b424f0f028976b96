package schema

import (
	"strconv"

	"github.com/idxport/idxport/source"
)

// AppendElementName appends the name of element i, in C order, of a record of the tensor column c where each element is a column of its own: pixel0,
// pixel1, … as Kaggle has them, or c's name and the number if other columns are tensors too. alone says that none is.
func AppendElementName(dst []byte, c source.Column, i int, alone bool) []byte {
	prefix := c.Name
	if alone {
		prefix = "pixel"
	}
	return strconv.AppendInt(append(dst, prefix...), int64(i), 10)
}
