package compressed

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math/bits"
	"sync"

	"github.com/klauspost/compress/flate"

	"github.com/idxport/idxport/internal/compressed/inflate"
	"github.com/idxport/idxport/internal/fault"
)

// gzipMagic is without the method byte, so that a damaged method is an error and not plain data.
const gzipMagic = "\x1f\x8b"

// A gzipReader reads one member after another.
type gzipReader struct {
	in     *bufio.Reader
	member inflate.Reader
	sum    uint32 // CRC-32 of the member's data so far
	size   uint32 // bytes of the data so far, modulo 2³²
}

func openGzip(in *bufio.Reader) (io.Reader, error) {
	g := &gzipReader{in: in}
	return g, g.openMember()
}

// Read skips members without data, of which there may be any number. p is not empty.
func (g *gzipReader) Read(p []byte) (n int, err error) {
	for n == 0 && err == nil {
		n, err = g.member.Read(p)
		g.sum = crc32.Update(g.sum, crc32.IEEETable, p[:n])
		g.size += uint32(n)
		if err == io.EOF {
			if err = g.checkTrailer(); err == nil {
				err = g.nextMember()
			}
		} else if errors.Is(err, fault.Malformed) {
			err = corrupt("deflate stream, %v", err)
		}
	}
	return n, err
}

func (g *gzipReader) openMember() error {
	if err := readGzipHeader(g.in); err == io.EOF {
		return io.ErrUnexpectedEOF
	} else if err != nil {
		return err
	}
	g.member.Reset(g.in)
	g.sum, g.size = 0, 0
	return nil
}

// checkTrailer reads a member's trailer: CRC-32 and size (RFC 1952, 2.3.1).
func (g *gzipReader) checkTrailer() error {
	var trailer [8]byte
	if _, err := io.ReadFull(g.in, trailer[:]); err != nil {
		return io.ErrUnexpectedEOF // or the input's error: see classify
	}
	if sum := binary.LittleEndian.Uint32(trailer[:]); sum != g.sum {
		return corrupt("found data with the checksum %08x, expected %08x", g.sum, sum)
	}
	if size := binary.LittleEndian.Uint32(trailer[4:]); size != g.size {
		return corrupt("found %d bytes of data, expected %d (modulo 2³²)", g.size, size)
	}
	return nil
}

// nextMember continues after a member's trailer. It opens the next member, or returns io.EOF at the
// end of the input or of its padding, which is zeros.
func (g *gzipReader) nextMember() error {
	head, err := g.in.Peek(len(gzipMagic))
	padded := len(head) > 0 && head[0] == 0
	for ; len(head) > 0 && head[0] == 0; head, err = g.in.Peek(1) {
		_, _ = g.in.Discard(1) // it is in the buffer
	}
	switch {
	case len(head) == 0:
		return err
	case padded, !bytes.HasPrefix([]byte(gzipMagic), head):
		return corrupt("extra data after the last member").Because(ErrExtra)
	}
	return g.openMember()
}

// Flags of a gzip header (RFC 1952, 2.3.1); bit 0, FTEXT, is ignored.
const (
	gzipHeaderCRC = 1 << 1
	gzipExtra     = 1 << 2
	gzipName      = 1 << 3
	gzipComment   = 1 << 4
	gzipReserved  = 7 << 5
)

// readGzipHeader reads a member's header, whose magic number is right, and discards it.
func readGzipHeader(in *bufio.Reader) error {
	sum := crc32.NewIEEE()
	summed := io.TeeReader(in, sum)
	var b [10]byte // magic, method, flags, time, extra flags, system
	if _, err := io.ReadFull(summed, b[:]); err != nil {
		return err
	}
	flags := b[3]
	switch {
	case b[2] != 8:
		return corrupt("found compression method %d, expected 8 (deflate)", b[2])
	case flags&gzipReserved != 0:
		return corrupt("found reserved header flags %#x", flags&gzipReserved)
	}
	if flags&gzipExtra != 0 { // a length of 2 bytes, and so many bytes
		if _, err := io.ReadFull(summed, b[:2]); err != nil {
			return err
		}
		if _, err := io.CopyN(io.Discard, summed, int64(binary.LittleEndian.Uint16(b[:]))); err != nil {
			return err
		}
	}
	for range bits.OnesCount8(flags & (gzipName | gzipComment)) { // up to a zero byte, however far away
		for err := bufio.ErrBufferFull; err != nil; {
			var text []byte
			if text, err = in.ReadSlice(0); err != nil && err != bufio.ErrBufferFull {
				return err
			}
			sum.Write(text)
		}
	}
	if flags&gzipHeaderCRC == 0 {
		return nil
	}
	found := uint16(sum.Sum32())
	if _, err := io.ReadFull(in, b[:2]); err != nil {
		return err
	}
	if expected := binary.LittleEndian.Uint16(b[:]); found != expected {
		return corrupt("found a header with the checksum %04x, expected %04x", found, expected)
	}
	return nil
}

// newGzip returns an encoder of one member.
func newGzip(level int) encoder {
	// Writers are pooled, as each has tables of several hundred KiB.
	writers := &sync.Pool{New: func() any {
		w, _ := flate.NewWriter(nil, cmp.Or(level, defaultGzipLevel)) // fails for wrong levels only
		return w
	}}
	return encoder{
		header: []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff},
		encode: func(dst, block []byte) []byte { return appendDeflated(dst, block, writers) },
		sums:   true,
		trailer: func(crc uint32, size uint64) []byte {
			lastBlock := []byte{3, 0} // BFINAL, fixed codes, end of block
			t := binary.LittleEndian.AppendUint32(lastBlock, crc)
			return binary.LittleEndian.AppendUint32(t, uint32(size))
		},
	}
}

// appendDeflated appends deflate blocks with the contents of block, none of which is the last. It
// takes a *flate.Writer from writers, which fails only where out does.
func appendDeflated(dst, block []byte, writers *sync.Pool) []byte {
	out, deflate := bytes.NewBuffer(dst), writers.Get().(*flate.Writer)
	deflate.Reset(out)
	_, _ = deflate.Write(block)
	_ = deflate.Flush() // not Close: the trailer contains the last block
	deflate.Reset(nil)  // drops the reference to dst
	writers.Put(deflate)
	return out.Bytes()
}

// combineCRC32 returns the IEEE CRC32 of A followed by B, whose CRCs are a and b; B has n bytes.
//
// A CRC is the remainder of a polynomial over GF(2). Appending n bytes multiplies it by x^(8n), and
// the remainder of a sum is the sum of the remainders; the initial and final inversions cancel out.
func combineCRC32(a, b uint32, n int64) uint32 { return multiply(a, powerOfX(8*uint64(n))) ^ b }

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
func multiply(p, q uint32) (product uint32) {
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
