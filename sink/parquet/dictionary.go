package parquet

import (
	"encoding/binary"
	"math/bits"

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
	return widen(elements, d)
}

// maxDistinct is the most entries of a scalar column's dictionary. Indices fit a uint16.
const maxDistinct = 1 << 16

// The size of the hash table: twice the most entries.
const (
	distinctBits  = 17
	distinctSlots = 1 << distinctBits
)

// A distinct numbers the different values of a chunk in the order in which they first occur. Values are compared as bits: zeros of both signs,
// and NaNs of different payloads, are different values.
//
// It is an open hash table of 512 KiB, some five times as fast as a map.
type distinct struct {
	slots   []uint32 // 1 + index of a value, 0 if free
	keys    []uint64 // the values' bits, in the order of their indices
	indices []uint16 // of all values of the chunk
}

// number fills d with values, packed elements of size bytes. It gives up, with false, at more than maxDistinct different ones.
func (d *distinct) number(values []byte, size int) bool {
	if d.slots == nil {
		d.slots = make([]uint32, distinctSlots)
	}
	clear(d.slots)
	d.keys, d.indices = d.keys[:0], d.indices[:0]
	for at := 0; at < len(values); at += size {
		i, ok := d.index(elementBits(values[at:], size))
		if !ok {
			return false
		}
		d.indices = append(d.indices, uint16(i))
	}
	return true
}

// index is the number of the value with the bits key, a new one if it was not met before; false if there is none left.
func (d *distinct) index(key uint64) (uint32, bool) {
	const golden = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio: Fibonacci hashing
	for slot := key * golden >> (64 - distinctBits); ; slot = (slot + 1) % distinctSlots {
		n := d.slots[slot]
		if n == 0 {
			if len(d.keys) == maxDistinct {
				return 0, false
			}
			d.keys = append(d.keys, key)
			d.slots[slot] = uint32(len(d.keys))
			return uint32(len(d.keys)) - 1, true
		}
		if d.keys[n-1] == key {
			return n - 1, true
		}
	}
}

// elements is the values themselves, packed as they were.
func (d *distinct) elements(size int) []byte {
	packed := make([]byte, 0, len(d.keys)*size)
	for _, key := range d.keys {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], key)
		packed = append(packed, b[:size]...)
	}
	return packed
}

// width is the number of bits of an index: at least 1, as not all readers take 0.
func (d *distinct) width() int { return max(bits.Len(uint(len(d.keys)-1)), 1) }

// elementBits is the bits of the first element of values.
func elementBits(values []byte, size int) uint64 {
	switch size {
	case 1:
		return uint64(values[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(values))
	case 4:
		return uint64(binary.LittleEndian.Uint32(values))
	default:
		return binary.LittleEndian.Uint64(values)
	}
}
