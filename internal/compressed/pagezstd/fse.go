package pagezstd

import (
	"math/bits"
	"sync"
)

// Modes of a table in a sequences section.
const (
	modePredefined = iota
	modeRLE
	modeFitted
)

// Accuracy logs of fitted tables.
const (
	minLog = 6 // with room for all codes
	maxLog = 9
)

// A table encodes codes by finite state entropy (RFC 8878, section 4.1).
type table struct {
	log     uint8
	shares  [64]int16 // of the 1<<log states, by code; −1 is one state whose code is rare
	states  [1 << maxLog]uint16
	symbols [64]symbol
}

// A symbol describes how the state changes when its code is encoded: of the state s, the lowest
// (s+bits)>>16 bits are written, and the other bits plus offset are the index of the next state.
type symbol struct {
	bits   uint32
	offset int32
}

// build makes the states of a table from its log and shares (section 4.1.1).
func (t *table) build() {
	size := 1 << t.log
	var spread [1 << maxLog]uint8
	var next [65]int // index of the next state of each code
	high := size - 1 // rare codes have the last states
	for code, share := range t.shares {
		if share < 0 {
			spread[high] = uint8(code)
			high--
			share = 1
		}
		next[code+1] = next[code] + int(share)
	}
	at, step := 0, size>>1+size>>3+3
	for code, share := range t.shares {
		for range share {
			spread[at] = uint8(code)
			at = (at + step) & (size - 1)
			for at > high {
				at = (at + step) & (size - 1)
			}
		}
	}
	for code, share := range t.shares {
		switch {
		case share == 0:
		case share == 1 || share < 0:
			t.symbols[code] = symbol{uint32(t.log)<<16 - uint32(size), int32(next[code] - 1)}
		default:
			maxBits := uint32(t.log) - uint32(bits.Len16(uint16(share-1))-1)
			t.symbols[code] = symbol{maxBits<<16 - uint32(share)<<maxBits, int32(next[code]) - int32(share)}
		}
	}
	for state := range size {
		code := spread[state]
		t.states[next[code]] = uint16(size + state)
		next[code]++
	}
}

// first returns the initial state if code is the first that is encoded.
func (t *table) first(code uint8) uint32 {
	return uint32(t.states[t.symbols[code].offset+int32(max(t.shares[code], 1))])
}

// fit sets t to the table for n codes with these counts. It appends the table's description to dst.
func (t *table) fit(dst []byte, counts *[64]uint32, n int) (_ []byte, mode byte) {
	t.log = uint8(min(max(bits.Len(uint(n))-2, minLog), maxLog))
	left := 1 << t.log
	for code, count := range counts {
		if int(count) == n {
			t.log, t.shares = 0, [64]int16{}
			t.shares[code] = 1
			t.build()
			return append(dst, byte(code)), modeRLE
		}
		t.shares[code] = 0
		if count > 0 {
			t.shares[code] = max(1, int16((int(count)<<t.log+n/2)/n))
		}
		left -= int(t.shares[code])
	}
	for left != 0 { // rounding left or overdrew states: the most frequent code gets or gives one
		frequent := 0
		for code, share := range t.shares {
			if share > t.shares[frequent] {
				frequent = code
			}
		}
		step := min(max(left, -1), 1)
		t.shares[frequent] += int16(step)
		left -= step
	}
	t.build()
	return t.appendDescription(dst), modeFitted
}

// appendDescription appends the log and the shares of a fitted table (section 4.1.1).
func (t *table) appendDescription(dst []byte) []byte {
	pending, n := uint32(0), 0
	put := func(value, width int) {
		pending |= uint32(value) << n
		for n += width; n >= 8; n -= 8 {
			dst = append(dst, byte(pending))
			pending >>= 8
		}
	}
	put(int(t.log)-5, 4)
	left, size, width := 1<<t.log+1, 1<<t.log, int(t.log)+1
	for code := 0; left > 1; {
		share := int(t.shares[code])
		code++
		// Values from 0 to left are possible. Those below short take one bit less than the others.
		value, short := share+1, 2*size-1-left
		switch {
		case value < short:
			put(value, width-1)
		case value < size:
			put(value, width)
		default:
			put(value+short, width)
		}
		for zeros := 3; share == 0 && zeros == 3; { // how many more are zero, in groups of up to 3
			for zeros = 0; zeros < 3 && t.shares[code] == 0; zeros++ {
				code++
			}
			put(zeros, 2)
		}
		left -= share
		for left < size {
			size, width = size>>1, width-1
		}
	}
	if n > 0 {
		dst = append(dst, byte(pending))
	}
	return dst
}

// A pair has the tables for both lengths of sequences.
type pair struct{ literals, matches table }

// predefined returns the tables that need no description (section 3.1.1.3.2.2).
var predefined = sync.OnceValue(func() *pair {
	p := &pair{
		literals: table{log: 6, shares: [64]int16{4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1,
			2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1}},
		matches: table{log: 6, shares: [64]int16{1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
			1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1}},
	}
	p.literals.build()
	p.matches.build()
	return p
})
