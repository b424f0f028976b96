package compressed

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/internal/compressed/inflate"
)

// gzipMagic does not include the method byte, so that a damaged method is an error and not plain
// data.
const gzipMagic = "\x1f\x8b"

// A gzipReader reads one member after another.
type gzipReader struct {
	in     *bufio.Reader
	member *inflate.Reader
	sum    uint32 // CRC-32 of the member's data so far
	size   uint32 // bytes of the data so far, modulo 2³²
}

func openGzip(in *bufio.Reader) (io.Reader, error) {
	g := &gzipReader{in: in, member: inflate.NewReader(in)}
	return g, g.openMember()
}

// Read skips members without data, of which there may be any number: a caller gives up after some
// empty reads.
func (g *gzipReader) Read(p []byte) (n int, err error) {
	for n == 0 && err == nil && len(p) > 0 {
		n, err = g.read(p)
	}
	return n, err
}

func (g *gzipReader) read(p []byte) (int, error) {
	n, err := g.member.Read(p)
	g.sum = crc32.Update(g.sum, crc32.IEEETable, p[:n])
	g.size += uint32(n)
	switch {
	case errors.Is(err, fault.Malformed):
		return n, corrupt("deflate stream, %v", err)
	case err != io.EOF:
		return n, err
	}
	if err := g.checkTrailer(); err != nil {
		return n, err
	}
	return n, g.nextMember()
}

func (g *gzipReader) openMember() error {
	if err := readGzipHeader(g.in); err != nil {
		return noEOF(err)
	}
	g.member.Reset(g.in)
	g.sum, g.size = 0, 0
	return nil
}

// checkTrailer reads a member's trailer: CRC-32 and size (RFC 1952, 2.3.1).
func (g *gzipReader) checkTrailer() error {
	var trailer [8]byte
	if _, err := io.ReadFull(g.in, trailer[:]); err != nil {
		return noEOF(err)
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
// end of the input or of its padding.
func (g *gzipReader) nextMember() error {
	head, err := g.in.Peek(len(gzipMagic))
	switch {
	case len(head) == 0:
		return err
	case head[0] == 0:
		return skipZeros(g.in)
	case !bytes.HasPrefix([]byte(gzipMagic), head):
		return corrupt("extra data after the last member").Because(ErrExtra)
	}
	return g.openMember()
}

// skipZeros reads the rest of an input, which must be zero bytes, and returns io.EOF.
func skipZeros(in io.Reader) error {
	buf := make([]byte, 512)
	for {
		n, err := in.Read(buf)
		for _, b := range buf[:n] {
			if b != 0 {
				return corrupt("extra data in the padding after the last member").Because(ErrExtra)
			}
		}
		if err != nil {
			return err
		}
	}
}

// Flags of a gzip header (RFC 1952, 2.3.1); bit 0, FTEXT, is ignored.
const (
	gzipHeaderCRC = 1 << 1
	gzipExtra     = 1 << 2
	gzipName      = 1 << 3
	gzipComment   = 1 << 4
	gzipReserved  = 7 << 5
)

// A gzipHeader reads a header and computes its checksum.
type gzipHeader struct {
	in  *bufio.Reader
	sum uint32
}

// readGzipHeader reads a member's header and discards it.
func readGzipHeader(in *bufio.Reader) error {
	h := gzipHeader{in: in}
	var fixed [10]byte // magic, method, flags, time, extra flags, system
	if err := h.read(fixed[:]); err != nil {
		return err
	}
	method, flags := fixed[2], fixed[3]
	if string(fixed[:2]) != gzipMagic {
		return corrupt("found %x at the start of a member, expected %x", fixed[:2], gzipMagic)
	}
	if method != 8 {
		return corrupt("found compression method %d, expected 8 (deflate)", method)
	}
	if flags&gzipReserved != 0 {
		return corrupt("found reserved header flags %#x", flags&gzipReserved)
	}
	if flags&gzipExtra != 0 {
		if err := h.skipExtra(); err != nil {
			return err
		}
	}
	for _, text := range []byte{gzipName, gzipComment} {
		if flags&text != 0 {
			if err := h.skipText(); err != nil {
				return err
			}
		}
	}
	if flags&gzipHeaderCRC != 0 {
		return h.check()
	}
	return nil
}

func (h *gzipHeader) read(p []byte) error {
	_, err := io.ReadFull(h.in, p)
	h.sum = crc32.Update(h.sum, crc32.IEEETable, p)
	return err
}

// skipExtra reads the length of a field, up to 65,535 bytes, and the field.
func (h *gzipHeader) skipExtra() error {
	var length [2]byte
	if err := h.read(length[:]); err != nil {
		return err
	}
	return h.read(make([]byte, binary.LittleEndian.Uint16(length[:])))
}

// skipText reads up to a zero byte, however far away that is.
func (h *gzipHeader) skipText() error {
	for {
		text, err := h.in.ReadSlice(0)
		h.sum = crc32.Update(h.sum, crc32.IEEETable, text)
		if err != bufio.ErrBufferFull {
			return err
		}
	}
}

// check compares the lower 16 bits of the checksum with the field at the end of the header.
func (h *gzipHeader) check() error {
	found := uint16(h.sum)
	var field [2]byte
	if err := h.read(field[:]); err != nil {
		return err
	}
	if expected := binary.LittleEndian.Uint16(field[:]); found != expected {
		return corrupt("found a header with the checksum %04x, expected %04x", found, expected)
	}
	return nil
}

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
