package pagezstd

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"sync"
)

// Lengths in bytes.
const (
	minRun   = 6 // of a run that becomes a sequence; shorter ones take less space as literals
	minMatch = 3 // of a match in the format
)

// A splitter divides a block into literals and sequences.
type splitter struct {
	literals  []byte
	sequences []sequence
	// How many sequences have each code.
	literalsCounts, matchCounts [64]uint32

	// Bit i%64 of equal[i/64] is set if byte i of the block equals the byte after it.
	equal [maxBlock/64 + 2]uint64
}

// split divides p, which has at most maxBlock bytes. Each run of at least minRun equal bytes
// becomes a literal, its first byte, and a match of the rest.
func (s *splitter) split(p []byte) {
	s.compare(p)
	s.literalsCounts, s.matchCounts = [64]uint32{}, [64]uint32{}
	s.sequences = s.sequences[:0]
	s.literals = slices.Grow(s.literals[:0], len(p)+wide)
	codes, literals := lengthCodes(), s.literals[:cap(s.literals)]
	n, from := 0, 0 // literals, and bytes of p, before the next sequence
	for at := 0; at < len(p); {
		equal := s.window(at)
		runs := equal & (equal >> 1)
		runs &= runs >> 2
		runs &= runs >> 1 // now a bit is set if it begins minRun-1 set bits of equal
		if runs == 0 {
			at += 64 - (minRun - 2)
			continue
		}
		first := bits.TrailingZeros64(runs)
		last := at + first + bits.TrailingZeros64(^(equal >> first))
		first += at
		if last == at+64 {
			last = s.end(last)
		}
		length := first + 1 - from
		if from+wide <= len(p) && length <= wide { // this is faster than copy
			*(*[wide]byte)(literals[n:]) = *(*[wide]byte)(p[from:])
		} else {
			copy(literals[n:], p[from:first+1])
		}
		q := codes.sequence(length, last-first-minMatch)
		s.sequences = append(s.sequences, q)
		s.literalsCounts[q.literalsCode()]++
		s.matchCounts[q.matchCode()]++
		n += length
		at, from = last+1, last+1
	}
	n += copy(literals[n:], p[from:])
	s.literals = literals[:n]
}

// single makes p one sequence: the given number of literals, and a match of the rest.
func (s *splitter) single(p []byte, literals int) {
	s.literals = append(s.literals[:0], p[:literals]...)
	s.literalsCounts, s.matchCounts = [64]uint32{}, [64]uint32{}
	q := lengthCodes().sequence(literals, len(p)-literals-minMatch)
	s.sequences = append(s.sequences[:0], q)
	s.literalsCounts[q.literalsCode()]++
	s.matchCounts[q.matchCode()]++
}

// wide is the number of literals that are copied at once.
const wide = 16

// window returns the bits of equal from bit i on.
func (s *splitter) window(i int) uint64 {
	k, shift := i>>6, i&63
	return s.equal[k]>>shift | s.equal[k+1]<<1<<(63-shift)
}

// end returns the index of the last byte of the run that contains byte i.
func (s *splitter) end(i int) int {
	for {
		n := bits.TrailingZeros64(^s.window(i))
		i += n
		if n < 64 {
			return i
		}
	}
}

// compare sets the bits of equal for p, and 64 more to 0.
func (s *splitter) compare(p []byte) {
	k := 0
	for ; len(p) > 64; k++ {
		b := (*[65]byte)(p)
		s.equal[k] = pairs(b[0:9]) | pairs(b[8:17])<<8 | pairs(b[16:25])<<16 | pairs(b[24:33])<<24 |
			pairs(b[32:41])<<32 | pairs(b[40:49])<<40 | pairs(b[48:57])<<48 | pairs(b[56:65])<<56
		p = p[64:]
	}
	s.equal[k], s.equal[k+1] = 0, 0
	for i := 1; i < len(p); i++ {
		if p[i-1] == p[i] {
			s.equal[k] |= 1 << (i - 1)
		}
	}
}

// pairs returns a byte whose bit i is set if byte i of p equals the byte after it; p has nine.
func pairs(p []byte) uint64 {
	const low = 0x7f7f7f7f_7f7f7f7f
	x := binary.LittleEndian.Uint64(p) ^ binary.LittleEndian.Uint64(p[1:])
	zeros := ^(x&low + low | x | low) // the highest bit of each byte that is zero
	return zeros >> 7 * 0x01020408_10204080 >> 56
}

// A sequence is a number of literals and the match that follows them. From its lowest bit, it has
// the additional bits of both lengths, in 32 bits; the number of these bits, in 8 bits; and the
// codes of the literals length and of the match length, in 8 bits each.
type sequence uint64

const (
	countShift, literalsShift, matchShift = 32, 40, 48
	extraMask                             = 1<<countShift - 1
	codeMask                              = 63
)

func (s sequence) extra() uint64       { return uint64(s & extraMask) }
func (s sequence) extraCount() uint8   { return uint8(s >> countShift) }
func (s sequence) literalsCode() uint8 { return uint8(s>>literalsShift) & codeMask }
func (s sequence) matchCode() uint8    { return uint8(s>>matchShift) & codeMask }

// codes has the codes and extra bits of lengths below 128: of literals, of matches minus minMatch.
type codes struct{ literals, matches [128]sequence }

// lengthCodes returns the codes of section 3.1.1.3.2.1.1: each code stands for 1<<n lengths, where
// n is its number of additional bits.
var lengthCodes = sync.OnceValue(func() *codes {
	fill := func(lengths *[128]sequence, shift int, counts []uint64) {
		length := 0
		for code, count := range counts {
			for extra := range uint64(1) << count {
				lengths[length] = sequence(uint64(code)<<shift | count<<countShift | extra)
				length++
			}
		}
	}
	var c codes
	fill(&c.literals, literalsShift, []uint64{16: 1, 1, 1, 1, 2, 2, 3, 3, 4, 6})
	fill(&c.matches, matchShift, []uint64{32: 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5})
	return &c
})

// sequence returns the sequence of a number of literals and a match of minMatch+match bytes.
func (c *codes) sequence(literals, match int) sequence {
	if literals < 128 && match < 128 {
		return join(c.literals[literals], c.matches[match])
	}
	return join(code(c.literals[:], literals, 19, literalsShift), code(c.matches[:], match, 36, matchShift))
}

// join returns the sequence of two codes.
func join(literals, match sequence) sequence {
	return literals + match&^extraMask + match&extraMask<<(literals.extraCount()&31)
}

// code returns the code of a length below 1<<17; that of a match is given minus minMatch. If it is
// not in the table, all its bits after the first one are additional bits.
func code(table []sequence, length int, base uint64, shift int) sequence {
	if length < len(table) {
		return table[length]
	}
	count := uint64(bits.Len(uint(length)) - 1)
	return sequence((base+count)<<shift | count<<countShift | uint64(length)&(1<<count-1))
}
