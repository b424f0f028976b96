package parquet

import (
	"encoding/binary"
	"fmt"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// An element is how the values of a leaf become what its column holds.
type element struct {
	width  int  // bytes of a value as PLAIN pages hold it, little-endian
	size   int  // bytes of what it becomes
	same   bool // the values' bytes are the column's
	number source.Number
	dtype  idx.DType
}

// bytesElement is for values of n bytes that are taken as they are.
func bytesElement(n int) element { return element{width: n, size: n, same: true} }

// numberElement is for the numbers in PLAIN pages that become d.
func numberElement(n source.Number, d idx.DType) element {
	return element{width: n.Size(), size: d.Size(), same: n.Is(d), number: n, dtype: d}
}

// fill converts src into dst. It returns the index of the first value that does not fit, or −1.
func (e *element) fill(dst, src []byte) int {
	if e.same {
		copy(dst, src)
		return -1
	}
	bad, _ := e.number.Convert(dst, e.dtype, src, 0, len(src)/e.width)
	return bad
}

// into is fill with a *misfit for the first value that does not fit.
func (e *element) into(dst, src []byte) error {
	if i := e.fill(dst, src); i >= 0 {
		return &misfit{i, e.show(src[i*e.width:])}
	}
	return nil
}

// show is the integer that src begins with, for an error.
func (e *element) show(src []byte) string {
	if e.number == source.NumberUint64 {
		return fmt.Sprint(binary.LittleEndian.Uint64(src))
	}
	return fmt.Sprint(e.number.Int(src))
}
