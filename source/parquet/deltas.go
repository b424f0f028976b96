package parquet

import (
	"encoding/binary"
	"math"
)

// deltas decodes n integers of DELTA_BINARY_PACKED, and returns the bytes after them: the first
// integer, then blocks of differences between neighbours. A block has its smallest difference, and
// then each difference minus the smallest, bit-packed in miniblocks (see Encodings.md of the
// Parquet format). The decoder of parquet-go is not used, as it returns any values for pages that
// are cut short.
func deltas(src []byte, n int) (values []int64, rest []byte, err error) {
	c := cursor{data: src}
	block, minis, count, last := c.uvarint(), c.uvarint(), c.uvarint(), zigzag(c.uvarint())
	if c.err != nil || count != uint64(n) || minis == 0 || block == 0 || block > math.MaxInt32 ||
		block%minis != 0 || block/minis%8 != 0 {
		return nil, nil, damaged("the header of delta-encoded values is damaged, or is not that of %d values", n)
	}
	perMini := int(block / minis)
	values = append(make([]int64, 0, n), last)
	for len(values) < n && c.err == nil {
		least, widths := zigzag(c.uvarint()), c.take(minis)
		for i := 0; i < len(widths) && len(values) < n && c.err == nil; i++ {
			width := int(widths[i])
			packed := c.take(uint64(perMini) / 8 * uint64(width))
			if width > 64 {
				c.fail(errShort)
			}
			for j := 0; j < perMini && len(values) < n && c.err == nil; j++ {
				last += least + int64(bitsAt(packed, j*width, width))
				values = append(values, last)
			}
		}
	}
	if c.err != nil {
		return nil, nil, errEnd
	}
	return values, c.data, nil
}

// zigzag returns the signed integer that v encodes: 0, 1, 2, 3 encode 0, −1, 1, −2.
func zigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// bitsAt returns width bits of p, at most 64, starting at bit off.
func bitsAt(p []byte, off, width int) uint64 {
	if width == 0 {
		return 0
	}
	p, shift := p[off/8:], off%8
	v := word(p) >> shift
	if shift+width > 64 {
		v |= uint64(p[8]) << (64 - shift)
	}
	return v & (math.MaxUint64 >> (64 - width))
}

// deltaNumbers returns n integers of DELTA_BINARY_PACKED as PLAIN values of width bytes, 4 or 8.
func deltaNumbers(src []byte, n, width int) ([]byte, error) {
	values, _, err := deltas(src, n)
	data := make([]byte, 0, len(values)*width+8)
	for _, v := range values {
		data = binary.LittleEndian.AppendUint64(data, uint64(v))
		data = data[:len(data)-8+width]
	}
	return data, err
}

// deltaTexts returns n byte arrays of DELTA_LENGTH_BYTE_ARRAY: all lengths, then all values.
func deltaTexts(src []byte, n int) (texts [][]byte, err error) {
	lengths, rest, err := deltas(src, n)
	c := cursor{data: rest}
	for _, size := range lengths {
		texts = append(texts, c.take(uint64(size)))
	}
	if c.err != nil {
		err = errEnd
	}
	return texts, err
}
