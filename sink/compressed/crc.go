package compressed

import "hash/crc32"

// combineCRC32 returns the IEEE CRC32 of A followed by B, given those of A and B, and B's length in bytes.
//
// A CRC is the remainder of a polynomial over GF(2). Putting n bytes behind A multiplies its polynomial by x^(8n), and the
// remainder of a sum is the sum of the remainders; the initial and final inversions cancel out.
func combineCRC32(a, b uint32, n int64) uint32 {
	return multiply(a, powerOfX(8*uint64(n))) ^ b
}

// Polynomials are reflected as in hash/crc32: the highest bit is the coefficient of x⁰.
const (
	one = 1 << 31
	x   = one >> 1
)

// powerOfX returns x^n modulo the IEEE polynomial, by squaring.
func powerOfX(n uint64) uint32 {
	power, square := uint32(one), uint32(x)
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			power = multiply(power, square)
		}
		square = multiply(square, square)
	}
	return power
}

// multiply returns p·q modulo the IEEE polynomial.
func multiply(p, q uint32) uint32 {
	var product uint32
	for bit := uint32(one); bit != 0; bit >>= 1 {
		if p&bit != 0 {
			product ^= q
		}
		// q·x: a carry out of x³¹ is replaced by the polynomial's lower terms
		carry := q & 1
		q = q>>1 ^ carry*crc32.IEEE
	}
	return product
}
