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
	switch {
	case c.err != nil || minis == 0 || block == 0 || block > math.MaxInt32 || block%minis != 0 || block/minis%8 != 0:
		return nil, nil, damaged("the header of delta-encoded values is damaged")
	case count != uint64(n):
		return nil, nil, damaged("found %d delta-encoded values, expected %d", count, n)
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
		return nil, nil, errValuesEnd()
	}
	return values, src[c.pos:], nil
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
	data := make([]byte, 0, len(values)*width)
	for _, v := range values {
		if width == 4 {
			data = binary.LittleEndian.AppendUint32(data, uint32(v))
		} else {
			data = binary.LittleEndian.AppendUint64(data, uint64(v))
		}
	}
	return data, err
}

// deltaLengths returns n byte arrays of DELTA_LENGTH_BYTE_ARRAY: all lengths, then all values.
func deltaLengths(src []byte, n int) (t texts, err error) {
	lengths, rest, err := deltas(src, n)
	t.data = rest
	for _, size := range lengths {
		end := int64(len(t.data) - len(rest))
		if size < 0 || size > int64(len(rest)) {
			return t, errValuesEnd()
		}
		rest = rest[size:]
		t.ends = append(t.ends, uint32(end+size))
	}
	return t, err
}

// deltaTexts returns n byte arrays of DELTA_BYTE_ARRAY, of at most limit bytes together: each
// shares a prefix with the previous one. The lengths of the prefixes are stored first, then the
// suffixes.
func deltaTexts(src []byte, n, limit int) (t texts, err error) {
	prefixes, rest, err := deltas(src, n)
	if err != nil {
		return t, err
	}
	suffixes, err := deltaLengths(rest, n)
	if err != nil {
		return t, err
	}
	start := 0 // of the previous value
	for i, prefix := range prefixes {
		end, suffix := len(t.data), suffixes.at(i)
		if prefix < 0 || prefix > int64(end-start) {
			return t, errValuesEnd()
		}
		if end+int(prefix)+len(suffix) > limit {
			return t, damaged("found values of more than %d bytes in %d bytes", limit, len(src))
		}
		t.data = append(append(t.data, t.data[start:start+int(prefix)]...), suffix...)
		t.ends, start = append(t.ends, uint32(len(t.data))), end
	}
	return t, nil
}
