package compressed

import (
	"encoding/binary"
	"hash/crc32"
	"sync"

	"github.com/klauspost/compress/flate"
)

// A gzipEncoder deflates blocks with pooled writers, each of which has tables of several hundred
// KiB.
type gzipEncoder struct {
	level int
	pool  sync.Pool // of *flate.Writer
}

func newGzip(level int) encoder {
	if level == 0 {
		level = defaultGzipLevel
	}
	return &gzipEncoder{level: level}
}

func (g *gzipEncoder) encode(dst, block []byte) (Block, error) {
	out := appender(dst[:0])
	deflate, ok := g.pool.Get().(*flate.Writer)
	if ok {
		deflate.Reset(&out)
	} else {
		var err error
		if deflate, err = flate.NewWriter(&out, g.level); err != nil {
			return Block{}, err
		}
	}
	if _, err := deflate.Write(block); err != nil {
		return Block{}, err
	}
	if err := deflate.Flush(); err != nil { // not Close: the trailer contains the last block
		return Block{}, err
	}
	deflate.Reset(nil) // drops the reference to dst
	g.pool.Put(deflate)
	return Block{data: out, size: len(block), crc: crc32.ChecksumIEEE(block)}, nil
}

func (*gzipEncoder) header() []byte {
	return []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff}
}

func (*gzipEncoder) trailer(crc uint32, size uint64) ([]byte, error) {
	lastBlock := []byte{3, 0} // BFINAL, fixed codes, end of block
	t := binary.LittleEndian.AppendUint32(lastBlock, crc)
	return binary.LittleEndian.AppendUint32(t, uint32(size)), nil
}

// An appender is a slice used as an io.Writer.
type appender []byte

func (a *appender) Write(p []byte) (int, error) {
	*a = append(*a, p...)
	return len(p), nil
}

// combineCRC32 returns the IEEE CRC32 of A followed by B, given the CRCs of both and B's length n
// in bytes.
//
// A CRC is the remainder of a polynomial over GF(2). Appending n bytes to A multiplies its
// polynomial by x^(8n), and the remainder of a sum is the sum of the remainders; the initial and
// final inversions cancel out.
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
