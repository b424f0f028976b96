package layout

import (
	"encoding/binary"
	"math/bits"
)

// nestedRepetition is the repetition levels of a record of shape: 0 for the first element, and for every other the number of the dimension, from 1 for the
// outermost, whose index it moves on. A 2×3 record has 0 2 2 1 2 2.
//
// They are run-length runs, or, if that takes fewer bytes, bit-packed ones: a 32×32×3 image has two runs
// of 2 bytes for each of its 1,024 pixels, or 768 bytes of bits.
func nestedRepetition(shape []int) []byte {
	runs := levelRuns(shape, 0)
	n := 1
	for _, size := range shape {
		n *= size
	}
	packed := n &^ 7 // bit-packed runs are whole groups of 8: what is left follows in run-length runs
	width := bits.Len(uint(len(shape)))
	if packed == 0 || packed/8*width >= len(runs) {
		return runs
	}
	levels := packLevels(shape, packed, width)
	return append(levels, levelRuns(shape, packed)...)
}

// levelAt is the repetition level of element i of a record of shape.
func levelAt(shape []int, i int) byte {
	if i == 0 {
		return 0
	}
	level := len(shape)
	for ; i%shape[level-1] == 0; level-- {
		i /= shape[level-1]
	}
	return byte(level)
}

// levelRuns is the levels of the elements from from on as run-length runs.
func levelRuns(shape []int, from int) []byte {
	n := 1
	for _, size := range shape {
		n *= size
	}
	last := shape[len(shape)-1]
	var dst []byte
	level, length := byte(0), 0
	add := func(l byte, n int) {
		if l != level && length > 0 {
			dst = appendRun(dst, length, level)
			length = 0
		}
		level, length = l, length+n
	}
	for i := from; i < n; {
		next := min(i/last*last+last, n) // where the innermost list ends
		add(levelAt(shape, i), 1)
		if i++; i < next {
			add(byte(len(shape)), next-i)
			i = next
		}
	}
	if length == 0 {
		return nil
	}
	return appendRun(dst, length, level)
}

// packLevels is the levels of the first n elements, a multiple of 8, as one bit-packed run: the number of groups of 8 with the lowest bit 1, and
// the levels from the lowest bit of each byte up.
func packLevels(shape []int, n, width int) []byte {
	dst := binary.AppendUvarint(nil, uint64(n/8)<<1|1)
	for i := 0; i < n; i += 8 {
		group := uint64(0)
		for k := range 8 {
			group |= uint64(levelAt(shape, i+k)) << (k * width)
		}
		dst = append(dst, binary.LittleEndian.AppendUint64(nil, group)[:width]...)
	}
	return dst
}
