package parquet

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"sync"
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
		if n <= 0 || head>>1 > math.MaxInt32 {
			return damaged("the runs of levels or indices end too early")
		}
		r.src = r.src[n:]
		count := int64(head >> 1)
		if r.packed = head&1 == 1; !r.packed {
			size := (r.width + 7) / 8
			if len(r.src) < size {
				return damaged("the runs of levels or indices end too early")
			}
			r.value = 0
			for i, b := range r.src[:size] {
				r.value |= uint32(b) << (8 * i)
			}
			r.src, r.left = r.src[size:], int(count)
			continue
		}
		size, left := count*int64(r.width), 8*count // a group of 8 values has width bytes
		if size > int64(len(r.src)) {               // some writers omit the end of the last group
			size = int64(len(r.src))
			left = size * 8 / int64(r.width)
			if left == 0 {
				return damaged("the runs of levels or indices end too early")
			}
		}
		r.left, r.pos = int(min(left, math.MaxInt32)), 0 // no page has more than MaxInt32 values
		r.bits, r.src = r.src[:size], r.src[size:]
	}
	return nil
}

// advance skips n values of the current run.
func (r *runs) advance(n int) {
	r.left -= n
	r.pos += n
}

// A position finds values of runs by their index. It remembers where the last ones began, as those
// that follow are often next. It may be used by many goroutines.
type position struct {
	runs // at the first value
	mu   sync.Mutex
	last runs
	from int // index of the next value of last
}

// at returns the runs from the value with index i on. If they end before, its methods fail.
func (p *position) at(i int) runs {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last.src == nil || i < p.from {
		p.last, p.from = p.runs, 0
	}
	for p.from < i && p.last.next() == nil {
		n := min(i-p.from, p.last.left)
		p.last.advance(n)
		p.from += n
	}
	return p.last
}

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
	var v uint64
	for i, b := range p {
		v |= uint64(b) << (8 * i)
	}
	return v
}

// match compares the next n levels with the endlessly repeated pattern, starting at pattern[pos].
// It returns how many match before the first mismatch and, if there is one, the level found there.
func (r *runs) match(pattern []byte, pos, n int) (matched int, mismatch byte, err error) {
	var unpacked [256]uint32
	for matched < n {
		if err := r.next(); err != nil {
			return matched, 0, err
		}
		m, expected := min(r.left, n-matched), pattern
		if len(pattern) > 1 {
			m = min(m, len(pattern)-pos)
			expected = pattern[pos : pos+m]
		}
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
				if byte(v) != expected[min(i, len(expected)-1)] {
					return matched + i, byte(v), nil
				}
			}
		}
		matched += m
		if pos += m; pos >= len(pattern) {
			pos = 0
		}
	}
	return matched, 0, nil
}

// matchRows is match for rows of rowLen entries each. Where a row consists of whole runs, it skips
// the following rows with the same encoded bytes, which is much faster for the many runs of nested
// lists.
func (r *runs) matchRows(pattern []byte, rowLen, pos, n int) (matched int, err error) {
	if pos%rowLen > 0 || n < 2*rowLen || r.left > 0 {
		matched, _, err = r.match(pattern, pos, n)
		return matched, err
	}
	before := r.src
	matched, _, err = r.match(pattern, pos, rowLen)
	if err != nil || matched < rowLen {
		return matched, err
	}
	if r.left == 0 {
		encoded := before[:len(before)-len(r.src)]
		for matched+rowLen <= n && bytes.HasPrefix(r.src, encoded) {
			r.src = r.src[len(encoded):]
			matched += rowLen
		}
	}
	more, _, err := r.match(pattern, 0, n-matched)
	return matched + more, err
}

// one returns the next value; absent levels are 0.
func (r *runs) one() (uint32, error) {
	if r.width == 0 {
		return 0, nil
	}
	if err := r.next(); err != nil {
		return 0, err
	}
	var v [1]uint32
	r.unpack(v[:])
	return v[0], nil
}
