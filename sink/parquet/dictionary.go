package parquet

import (
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/sink/layout"
	"github.com/idxport/idxport/source/idx"
)

// identityPays tells whether a chunk of rows rows is smaller with the identity dictionary than in PLAIN pages. Only elements that must be
// widened can gain: 1 byte instead of 4 from 342 elements on, 2 bytes instead of 4 from 131,073 on.
func identityPays(l layout.Leaf, rows int) bool {
	size := l.Element.Size()
	if size != 1 && size != 2 {
		return false
	}
	n := rows * l.Count
	return n*size+4*identityEntries(l.Element) < 4*n
}

// identityEntries is the number of values that d, of 8 or 16 bits, has.
func identityEntries(d idx.DType) int { return 1 << (8 * d.Size()) }

// identityDictionary is the PLAIN values of all elements of d, in the order of their bits taken as an unsigned number.
func identityDictionary(d idx.DType) []byte {
	size := d.Size()
	elements := make([]byte, 0, size*identityEntries(d))
	for i := range identityEntries(d) {
		elements = append(elements, byte(i))
		if size == 2 {
			elements = append(elements, byte(i>>8))
		}
	}
	return widen(elements, d, format.Int32)
}
