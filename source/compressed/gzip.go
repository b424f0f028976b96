package compressed

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
)

// gzipMagic leaves the method byte out, so that a damaged one is an error and not plain data.
const gzipMagic = "\x1f\x8b"

// A gzipReader reads members one after the other. The library could do that too, but takes padding for a bad header.
type gzipReader struct {
	in     *bufio.Reader
	member gzip.Reader
}

func openGzip(in *bufio.Reader) (io.Reader, error) {
	g := &gzipReader{in: in}
	return g, g.begin()
}

func (g *gzipReader) Read(p []byte) (int, error) {
	n, err := g.member.Read(p)
	if err == io.EOF {
		err = g.next()
	}
	return n, err
}

// begin reads a member's header.
func (g *gzipReader) begin() error {
	err := g.member.Reset(g.in)
	g.member.Multistream(false)
	return noEOF(err)
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
