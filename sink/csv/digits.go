package csv

import (
	"encoding/binary"
	"math/bits"
)

// zeros8 are eight characters 0, or what eight digits lack to be characters.
const zeros8 = 0x30_30_30_30_30_30_30_30

// spreadDigits are 17 digits, the first of which is not 0, as text. The first character of a word is the lowest.
type spreadDigits struct {
	first        byte
	middle, last uint64
}

// spread puts zeros behind u, which has size digits.
func spread(u uint64, size int) spreadDigits {
	u *= powerOf10(17 - size)
	head, last := u/1e8, u%1e8
	first, middle := head/1e8, head%1e8
	d := spreadDigits{'0' + byte(first), eightDigits(middle), zeros8}
	if last > 0 { // never of a float of 32 bits
		d.last = eightDigits(last)
	}
	return d
}

// count is the number of digits without the zeros at the end, at least 1.
func (d spreadDigits) count() int {
	if d.last != zeros8 {
		return 17 - bits.LeadingZeros64(d.last^zeros8)/8
	}
	return 9 - bits.LeadingZeros64(d.middle^zeros8)/8
}

// put stores the first n digits with a point before digit point, which is at most 6; 0 means no point. More may be overwritten: 10 bytes in
// all, or 18 if n is more than 9.
func (d spreadDigits) put(dst []byte, point, n int) {
	if point == 0 {
		dst[0] = d.first
		binary.LittleEndian.PutUint64(dst[1:], d.middle)
		if n > 9 {
			binary.LittleEndian.PutUint64(dst[9:], d.last)
		}
		return
	}
	shift := uint(8*point) & 63
	before := uint64(1)<<shift - 1
	start := uint64(d.first) | d.middle<<8
	binary.LittleEndian.PutUint64(dst[2:], d.middle)
	behind := start << 8 &^ (before<<8 | 0xff)
	binary.LittleEndian.PutUint64(dst, start&before|'.'<<shift|behind)
	if n > 9 {
		binary.LittleEndian.PutUint64(dst[10:], d.last)
	}
}

// eightDigits is the text of u < 10^8: halves, quarters and digits are split off in all parts of a word at once.
func eightDigits(u uint64) uint64 {
	u = u/1e4 | u%1e4<<32
	hundreds := u * 10486 >> 20 & 0x7f_0000007f
	u = hundreds | (u-100*hundreds)<<16
	tens := u * 103 >> 10 & 0x000f_000f_000f_000f
	return tens | (u-10*tens)<<8 | zeros8
}

// digitCount is the number of digits of u, which is below 10^17 and not 0.
func digitCount(u uint64) int {
	n := bits.Len64(u) * 1233 >> 12 // about log10
	if u >= powerOf10(n) {
		n++
	}
	return n
}

// powerOf10 is 10^n.
func powerOf10(n int) uint64 {
	return [32]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17}[n&31]
}
