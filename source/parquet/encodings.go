package parquet

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"github.com/idxport/idxport/source/columnar"
)

// runs reads levels and indices, a hybrid of run-length runs and bit-packed runs (see Encodings.md
// of the Parquet format). It does not expand runs: a run may encode more values than fit in memory.
type runs struct {
	src   []byte // the bytes after the current run
	width int    // bits of a value, at most 32
	left  int    // values left in the current run

	packed bool
	value  uint32 // of a run-length run
	bits   []byte // of a bit-packed run
	pos    int    // number of values already read from bits
}

// next ensures that the current run has another value.
func (r *runs) next() error {
	for r.left == 0 {
		head, n := binary.Uvarint(r.src)
		count, size, rest := int64(head>>1), int64(r.width+7)/8, r.src[max(0, n):]
		if r.packed = head&1 == 1; r.packed { // groups of 8 values, of width bytes each
			count, size = 8*count, count*int64(r.width)
			if have := int64(len(rest)); size > have { // some writers omit the end of the last group
				count, size = have*8/int64(r.width), have
			}
		}
		if n <= 0 || head>>1 > math.MaxInt32 || size > int64(len(rest)) {
			return errEnd
		}
		r.bits, r.src, r.pos = rest[:size], rest[size:], 0
		r.left, r.value = int(min(count, math.MaxInt32)), uint32(word(r.bits)) // no page has more values
	}
	return nil
}

// advance skips n values of the current run.
func (r *runs) advance(n int) { r.left, r.pos = r.left-n, r.pos+n }

// unpack fills dst with values of the current run, which has enough left.
func (r *runs) unpack(dst []uint32) {
	mask := uint32(1)<<r.width - 1
	for i := range dst {
		if dst[i] = r.value; r.packed {
			bit := (r.pos + i) * r.width
			dst[i] = uint32(word(r.bits[bit/8:])>>(bit%8)) & mask
		}
	}
	r.advance(len(dst))
}

// word returns the first 8 bytes of p as a number; missing bytes are 0.
func word(p []byte) uint64 {
	if len(p) >= 8 {
		return binary.LittleEndian.Uint64(p)
	}
	var v [8]byte
	copy(v[:], p)
	return binary.LittleEndian.Uint64(v[:])
}

// one returns the next value; absent levels are 0.
func (r *runs) one() (int, error) {
	if r.width == 0 {
		return 0, nil
	} else if err := r.next(); err != nil {
		return 0, err
	}
	var v [1]uint32
	r.unpack(v[:])
	return int(v[0]), nil
}

// match compares the next n levels with the endlessly repeated pattern, starting at pattern[pos].
// It returns how many match before the first mismatch and, if there is one, the level found there.
func (r *runs) match(pattern []byte, pos, n int) (matched int, mismatch byte, err error) {
	var unpacked [256]uint32
	for ; matched < n; pos %= len(pattern) {
		if err := r.next(); err != nil {
			return matched, 0, err
		}
		m := min(r.left, n-matched, len(pattern)-pos)
		expected := pattern[pos : pos+m]
		if !r.packed {
			mismatch = byte(r.value)
			if bytes.Count(expected, []byte{mismatch}) < len(expected) {
				return matched + slices.IndexFunc(expected, func(l byte) bool { return l != mismatch }), mismatch, nil
			}
			r.advance(m)
		} else {
			m = min(m, len(unpacked))
			r.unpack(unpacked[:m])
			for i, v := range unpacked[:m] {
				if byte(v) != expected[i] {
					return matched + i, byte(v), nil
				}
			}
		}
		matched, pos = matched+m, pos+m
	}
	return matched, 0, nil
}

// matchRows is match for rows of perRow entries each. Where a row consists of whole runs, it skips
// the following rows with the same encoded bytes, which is much faster for nested lists.
func (r *runs) matchRows(pattern []byte, perRow, pos, n int) (matched int, err error) {
	if pos == 0 && n >= 2*perRow && r.left == 0 {
		before := r.src
		if matched, _, err = r.match(pattern, 0, perRow); matched < perRow { // also for an error
			return matched, err
		}
		encoded := before[:len(before)-len(r.src)]
		for r.left == 0 && matched+perRow <= n && bytes.HasPrefix(r.src, encoded) {
			r.src, matched = r.src[len(encoded):], matched+perRow
		}
	}
	more, _, err := r.match(pattern, pos, n-matched)
	return matched + more, err
}

// deltas decodes n integers of DELTA_BINARY_PACKED as PLAIN values of width bytes, 4 or 8. They are
// stored as the first, then blocks of differences between neighbours. A block has its smallest
// difference, and then each difference minus the smallest, bit-packed in miniblocks. The decoder of
// parquet-go is not used, as it returns any values for pages that are cut short.
func deltas(src []byte, n, width int) (data []byte, err error) {
	c := cursor{data: src}
	block, minis, count, last := c.uvarint(), c.uvarint(), c.uvarint(), zigzag(c.uvarint())
	if c.err != nil || count != uint64(n) || minis == 0 || block == 0 || block > math.MaxInt32 ||
		block%minis != 0 || block/minis%8 != 0 {
		return nil, columnar.Damaged("the header of delta-encoded values is damaged, or is not that of %d values", n)
	}
	perMini, size := int(block/minis), n*width
	data = binary.LittleEndian.AppendUint64(make([]byte, 0, size+8), uint64(last))[:width]
	for len(data) < size && c.err == nil {
		least := zigzag(c.uvarint())
		for _, bits := range c.take(minis) {
			if len(data) == size { // miniblocks without values have no bytes
				break
			}
			packed := c.take(uint64(perMini) / 8 * uint64(bits))
			if bits > 64 {
				c.fail(errShort)
			}
			for i := 0; i < perMini && len(data) < size && c.err == nil; i++ {
				last += least + int64(bitsAt(packed, i*int(bits), int(bits)))
				data = binary.LittleEndian.AppendUint64(data, uint64(last))[:len(data)+width]
			}
		}
	}
	if c.err != nil {
		return nil, errEnd
	}
	return data, nil
}

// zigzag returns the signed integer that v encodes: 0, 1, 2, 3 encode 0, −1, 1, −2.
func zigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// bitsAt returns width bits of p, at most 64, starting at bit off.
func bitsAt(p []byte, off, width int) uint64 {
	p, shift := p[off/8:], off%8
	v := word(p) >> shift
	if shift+width > 64 {
		v |= uint64(p[8]) << (64 - shift)
	}
	return v & (math.MaxUint64 >> (64 - width))
}
