package csv

import (
	"encoding/binary"
	"math/big"
	"math/bits"
)

// A decimal is digits · 10^exponent. digits is below 10^17, and may end in zeros.
type decimal struct {
	digits   uint64
	exponent int
}

// A power is 10^k as a 128-bit number, high·2^64 + low, with its highest bit set, rounded up.
type power struct{ high, low uint64 }

// A shortener finds the shortest of the decimals that a reader takes for a number, and the nearest of these. This is Schubfach, of Raffaello
// Giulietti's "The Schubfach way to render doubles"; Java's Double.toString is the same. strconv finds the same decimals, as the tests
// demand; but for ±2⁻¹² in 32 bits, which lies in the middle of two, and where the even one is taken here.
type shortener struct {
	least  int // the k of powers[0]
	powers []power
}

// The powers that numbers of 32 and of 64 bits need.
const (
	leastPower32, mostPower32 = -31, 45
	leastPower64, mostPower64 = -292, 324
)

// newShortener computes the powers from 10^least to 10^most; for 64 bits that takes 0.5 ms.
func newShortener(least, most int) *shortener {
	s := &shortener{least: least}
	one := big.NewInt(1)
	for k := least; k <= most; k++ {
		magnitude := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(k, -k))), nil)
		shift := 127 - log2Pow10(k) // makes 128 bits of it
		numerator, denominator := magnitude, one
		if k < 0 {
			numerator, denominator = one, magnitude
		}
		if shift > 0 {
			numerator = new(big.Int).Lsh(numerator, uint(shift))
		} else {
			denominator = new(big.Int).Lsh(denominator, uint(-shift))
		}
		quotient, rest := new(big.Int).QuoRem(numerator, denominator, new(big.Int))
		if rest.Sign() > 0 {
			quotient.Add(quotient, one)
		}
		var text [16]byte
		quotient.FillBytes(text[:])
		s.powers = append(s.powers, power{binary.BigEndian.Uint64(text[:]), binary.BigEndian.Uint64(text[8:])})
	}
	return s
}

// log10Pow2 is ⌊log10(2^e)⌋, log10ThreeQuarters ⌊log10(¾·2^e)⌋ and log2Pow10 ⌊log2(10^e)⌋, for all exponents of doubles.
func log10Pow2(e int) int          { return (e * 1262611) >> 22 }
func log10ThreeQuarters(e int) int { return (e*1262611 - 524031) >> 22 }
func log2Pow10(e int) int          { return (e * 1741647) >> 19 }

// of32 is for the positive finite number with these bits.
func (s *shortener) of32(value uint32) decimal {
	const fraction = 23
	c, q := uint64(value&(1<<fraction-1)), int(value>>fraction)
	near := c == 0 && q > 1 // the number below is half as far as that above
	if q > 0 {
		c |= 1 << fraction
	} else {
		q = 1
	}
	q -= 127 + fraction
	k, h := scale(q, near)
	g := s.powers[-k-s.least]
	if g.low != 0 { // rounded up to 64 bits
		g.high++
	}
	low, middle, high := quarters(c, near)
	return choose(c, k, scale32(g.high, low<<h), scale32(g.high, middle<<h), scale32(g.high, high<<h))
}

// of64 is for the positive finite number with these bits.
func (s *shortener) of64(value uint64) decimal {
	const fraction = 52
	c, q := value&(1<<fraction-1), int(value>>fraction)
	near := c == 0 && q > 1
	if q > 0 {
		c |= 1 << fraction
	} else {
		q = 1
	}
	q -= 1023 + fraction
	k, h := scale(q, near)
	g := s.powers[-k-s.least]
	low, middle, high := quarters(c, near)
	return choose(c, k, scale64(g, low<<h), scale64(g, middle<<h), scale64(g, high<<h))
}

// quarters are the number and the borders of what a reader takes for it, in quarters of its last bit.
func quarters(c uint64, near bool) (low, middle, high uint64) {
	low = 4*c - 2
	if near {
		low++
	}
	return low, 4 * c, 4*c + 2
}

// scale32 is g·c, without the 64 bits behind the point, rounded to odd: its last bit is set if what it lacks is more than the error of g.
func scale32(g, c uint64) uint64 {
	high, low := bits.Mul64(g, c)
	if low>>32 > 1 {
		high |= 1
	}
	return high
}

// scale64 is the same with the 128 bits of g.
func scale64(g power, c uint64) uint64 {
	x, _ := bits.Mul64(g.low, c)
	high, low := bits.Mul64(g.high, c)
	low, carry := bits.Add64(low, x, 0)
	high += carry
	if low > 1 {
		high |= 1
	}
	return high
}

// scale is the exponent k of the decimals that are tried for a number of binary exponent q, and the shift that goes with 10^−k.
func scale(q int, near bool) (k int, h uint) {
	k = log10Pow2(q)
	if near {
		k = log10ThreeQuarters(q)
	}
	return k, uint(q+log2Pow10(-k)+1) & 63
}

// choose is the decimal for the number c, which lies at middle between the borders low and high, in quarters of 10^k.
func choose(c uint64, k int, low, middle, high uint64) decimal {
	if c&1 != 0 { // a reader that rounds to even takes the borders for the neighbours
		low++
		high--
	}
	s := middle / 4
	if s >= 10 { // one digit less
		t := s / 10
		below, above := low <= 40*t, 40*t+40 <= high
		if below != above {
			if above {
				t++
			}
			return decimal{t, k + 1}
		}
	}
	below, above := low <= 4*s, 4*s+4 <= high
	up := above
	if below == above { // the nearer one, the even one of two
		up = middle > 4*s+2 || middle == 4*s+2 && s&1 != 0
	}
	if up {
		s++
	}
	return decimal{s, k}
}
