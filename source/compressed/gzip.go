package compressed

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"runtime"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source/compressed/inflate"
)

// gzipMagic leaves the method byte out, so that a damaged one is an error and not plain data.
const gzipMagic = "\x1f\x8b"

// A gzipReader reads members one after the other.
type gzipReader struct {
	in     *inflate.Lookahead
	member *inflate.Reader
	sum    uint32 // CRC-32 of the member's data so far
	size   uint32 // bytes of it, modulo 2³²
}

// maxCores is how many may decode one input.
const maxCores = 4

func openGzip(r *bufio.Reader, wanted func() bool) (io.Reader, error) {
	in := inflate.NewLookahead(r, min(runtime.GOMAXPROCS(0), maxCores)-1, wanted)
	g := &gzipReader{in: in, member: inflate.NewReader(in)}
	return g, g.begin()
}

// Read reads on through members without data, of which there may be any number: a caller gives up after some reads of nothing.
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
	if err := g.end(); err != nil {
		return n, err
	}
	return n, g.next()
}

// unread is how far the input was read ahead of what was decoded.
func (g *gzipReader) unread() int { return g.in.Unread() }

// Close ends the decoding that is under way.
func (g *gzipReader) Close() error {
	g.in.Close()
	return nil
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
		return corrupt("found data with the checksum %08x, expected %08x", g.sum, sum)
	}
	if size := binary.LittleEndian.Uint32(trailer[4:]); size != g.size {
		return corrupt("found %d bytes of data, expected %d (modulo 2³²)", g.size, size)
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
		return corrupt("junk after the last member")
	}
	return g.begin()
}

// skipZeros reads to the end of in, which must hold only zeros; then it returns io.EOF.
func skipZeros(in io.Reader) error {
	buf := make([]byte, 512)
	for {
		n, err := in.Read(buf)
		for _, b := range buf[:n] {
			if b != 0 {
				return corrupt("junk in the padding after the last member")
			}
		}
		if err != nil {
			return err
		}
	}
}
