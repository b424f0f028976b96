package parquet

import (
	"bytes"
	"encoding/binary"
	"math"
)

// runs reads levels and indices: the hybrid of run-length runs and bit-packed runs (see Encodings.md of the Parquet format). Runs are not
// expanded: a run may stand for more values than there is memory.
type runs struct {
	src   []byte // what follows the current run
	width int    // bits of a value, at most 32
	left  int    // values left of the current run

	packed bool
	value  uint32 // of a run-length run
	bits   []byte // of a bit-packed run
	at     int    // next value within bits
}

// next makes sure that a value is left of the current run.
func (r *runs) next() error {
	for r.left == 0 {
		head, n := binary.Uvarint(r.src)
		if n <= 0 || head>>1 > math.MaxInt32 {
			return damaged("the runs of levels or indices end too early")
		}
		r.src = r.src[n:]
		count := int64(head >> 1)
		if r.packed = head&1 == 1; !r.packed {
			if err := r.repeated(int(count)); err != nil {
				return err
			}
			continue
		}
		size, left := count*int64(r.width), 8*count // a group of 8 values has width bytes
		if size > int64(len(r.src)) {               // some writers leave out the end of the last group
			size = int64(len(r.src))
			left = size * 8 / int64(r.width)
			if left == 0 {
				return damaged("the runs of levels or indices end too early")
			}
		}
		r.left, r.at = int(min(left, math.MaxInt32)), 0 // a page has no more values
		r.bits, r.src = r.src[:size], r.src[size:]
	}
	return nil
}

// repeated starts a run of count times one value.
func (r *runs) repeated(count int) error {
	size := (r.width + 7) / 8
	if len(r.src) < size {
		return damaged("the runs of levels or indices end too early")
	}
	r.value = 0
	for i, b := range r.src[:size] {
		r.value |= uint32(b) << (8 * i)
	}
	r.src, r.left = r.src[size:], count
	return nil
}

// take passes over n values of the current run.
func (r *runs) take(n int) {
	r.left -= n
	r.at += n
}

// unpack fills dst with the next values of the current run, which is bit-packed and has as many.
func (r *runs) unpack(dst []uint32) {
	mask := uint32(1)<<r.width - 1
	for i := range dst {
		bit := (r.at + i) * r.width
		dst[i] = uint32(word(r.bits[bit/8:])>>(bit%8)) & mask
	}
	r.take(len(dst))
}

// word is the first 8 bytes of p as a number, those that are not there being 0.
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

// match compares the next n levels with pattern, over and over from its entry at on. It tells how many agree: n, or fewer if one does not.
func (r *runs) match(pattern []byte, at, n int) (int, error) {
	done := 0
	var unpacked [256]uint32
	var levels [256]byte
	for done < n {
		if err := r.next(); err != nil {
			return done, err
		}
		m := min(r.left, n-done, len(pattern)-at)
		expected, equal := pattern[at:at+m], true
		if !r.packed {
			if equal = bytes.Count(expected, []byte{byte(r.value)}) == m; !equal {
				return done + differs(expected, byte(r.value)), nil
			}
			r.take(m)
		} else {
			m = min(m, len(unpacked))
			r.unpack(unpacked[:m])
			for i, v := range unpacked[:m] {
				levels[i] = byte(v)
			}
			if !bytes.Equal(levels[:m], expected[:m]) {
				for i := range m {
					if levels[i] != expected[i] {
						return done + i, nil
					}
				}
			}
		}
		done += m
		if at += m; at == len(pattern) {
			at = 0
		}
	}
	return done, nil
}

// matchRows is match for a pattern whose rows have row entries each. Where a row is whole runs, the rows that have the same bytes are passed over by
// comparing those, which takes next to no time for the many runs of lists in lists.
func (r *runs) matchRows(pattern []byte, row, at, n int) (int, error) {
	if at%row > 0 || n < 2*row || r.left > 0 {
		return r.match(pattern, at, n)
	}
	before := r.src
	done, err := r.match(pattern, at, row)
	if err != nil || done < row {
		return done, err
	}
	if r.left == 0 {
		encoded := before[:len(before)-len(r.src)]
		for done+row <= n && bytes.HasPrefix(r.src, encoded) {
			r.src = r.src[len(encoded):]
			done += row
		}
	}
	more, err := r.match(pattern, at%row, n-done)
	return done + more, err
}

// differs is the index of the first of levels that is not v.
func differs(levels []byte, v byte) int {
	for i, l := range levels {
		if l != v {
			return i
		}
	}
	return len(levels)
}

// constant tells how many of the next n levels are v before one is not, and which that is.
func (r *runs) constant(v byte, n int) (done int, other byte, err error) {
	var unpacked [256]uint32
	for done < n {
		if err := r.next(); err != nil {
			return done, 0, err
		}
		m := min(r.left, n-done)
		if !r.packed {
			if r.value != uint32(v) {
				return done, byte(r.value), nil
			}
			r.take(m)
		} else {
			m = min(m, len(unpacked))
			r.unpack(unpacked[:m])
			for i, l := range unpacked[:m] {
				if l != uint32(v) {
					return done + i, byte(l), nil
				}
			}
		}
		done += m
	}
	return done, v, nil
}

// one is the next value.
func (r *runs) one() (uint32, error) {
	if err := r.next(); err != nil {
		return 0, err
	}
	if !r.packed {
		r.take(1)
		return r.value, nil
	}
	var v [1]uint32
	r.unpack(v[:])
	return v[0], nil
}
