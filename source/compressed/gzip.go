package compressed

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/idxport/idxport/source/compressed/inflate"
)

// gzipMagic leaves the method byte out, so that a damaged one is an error and not plain data.
const gzipMagic = "\x1f\x8b"

// A gzipReader reads members one after the other.
type gzipReader struct {
	in     *bufio.Reader
	member *inflate.Reader
	sum    uint32 // CRC-32 of the member's data so far
	size   uint32 // bytes of it, modulo 2³²
}

func openGzip(in *bufio.Reader) (io.Reader, error) {
	g := &gzipReader{in: in, member: inflate.NewReader(in)}
	return g, g.begin()
}

func (g *gzipReader) Read(p []byte) (int, error) {
	n, err := g.member.Read(p)
	g.sum = crc32.Update(g.sum, crc32.IEEETable, p[:n])
	g.size += uint32(n)
	if err != io.EOF {
		return n, err
	}
	if err := g.end(); err != nil {
		return n, err
	}
	return n, g.next()
}

// begin reads a member's header.
func (g *gzipReader) begin() error {
	if err := readGzipHeader(g.in); err != nil {
		return noEOF(err)
	}
	g.member.Reset(g.in)
	g.sum, g.size = 0, 0
	return nil
}

// end reads a member's trailer: CRC-32 and size (2.3.1).
func (g *gzipReader) end() error {
	var trailer [8]byte
	if _, err := io.ReadFull(g.in, trailer[:]); err != nil {
		return noEOF(err)
	}
	if sum := binary.LittleEndian.Uint32(trailer[:]); sum != g.sum {
		return fmt.Errorf("%w: found data with the checksum %08x, expected %08x", ErrCorrupt, g.sum, sum)
	}
	if size := binary.LittleEndian.Uint32(trailer[4:]); size != g.size {
		return fmt.Errorf("%w: found %d bytes of data, expected %d (modulo 2³²)", ErrCorrupt, g.size, size)
	}
	return nil
}

// next goes on after a member's trailer: to another member, or to io.EOF at the end of the input or of its padding.
func (g *gzipReader) next() error {
	head, err := g.in.Peek(len(gzipMagic))
	switch {
	case len(head) == 0:
		return err
	case head[0] == 0:
		return skipZeros(g.in)
	case !bytes.HasPrefix([]byte(gzipMagic), head):
		return fmt.Errorf("%w: junk after the last member", ErrCorrupt)
	}
	return g.begin()
}

// skipZeros reads to the end of in, which must hold only zeros; then it returns io.EOF.
func skipZeros(in *bufio.Reader) error {
	for {
		b, err := in.ReadByte()
		if err != nil {
			return err
		}
		if b != 0 {
			return fmt.Errorf("%w: junk in the padding after the last member", ErrCorrupt)
		}
	}
}
