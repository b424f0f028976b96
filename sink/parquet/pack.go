package parquet

import (
	"encoding/binary"

	"github.com/idxport/idxport/source/idx"
)

// widen is the PLAIN values of packed elements of d: INT32 for those of 8 and 16 bits, sign-extended if d is signed. All others are
// PLAIN values already and returned as they are.
func widen(elements []byte, d idx.DType) []byte {
	var wide []byte
	switch d {
	case idx.Uint8:
		wide = make([]byte, 0, 4*len(elements))
		for _, e := range elements {
			wide = append(wide, e, 0, 0, 0)
		}
	case idx.Int8:
		wide = make([]byte, 0, 4*len(elements))
		for _, e := range elements {
			wide = binary.LittleEndian.AppendUint32(wide, uint32(int8(e)))
		}
	case idx.Int16:
		wide = make([]byte, 0, 2*len(elements))
		for i := 0; i < len(elements); i += 2 {
			wide = binary.LittleEndian.AppendUint32(wide, uint32(int16(binary.LittleEndian.Uint16(elements[i:]))))
		}
	default:
		return elements
	}
	return wide
}

// appendPackedHeader appends what stands before dictionary indices: their width in bits, and the header of one bit-packed run of groups
// groups of 8 indices, the lowest bit 1.
func appendPackedHeader(dst []byte, width, groups int) []byte {
	dst = append(dst, byte(width))
	return binary.AppendUvarint(dst, uint64(groups)<<1|1)
}

// appendPacked appends indices of width bits, 1 to 16, from the lowest bit of each byte up, and fills the last group of 8 with zeros.
func appendPacked(dst []byte, indices []uint16, width int) []byte {
	groups := (len(indices) + 7) / 8
	end := len(dst) + groups*width
	var word uint64 // bits that are not yet a byte, the first ones lowest
	held := 0       // how many
	for _, index := range indices {
		word |= uint64(index) << held
		for held += width; held >= 8; held -= 8 {
			dst = append(dst, byte(word))
			word >>= 8
		}
	}
	if held > 0 {
		dst = append(dst, byte(word))
	}
	return append(dst, make([]byte, end-len(dst))...)
}
