package compressed

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"

	"github.com/ulikunitz/xz/lzma"
)

// maxXZDictionary is that of the highest preset, xz -9. The dictionary is allocated as large as the header asks.
const maxXZDictionary = 64 << 20

// An xzBlock is the data of one block; io.EOF means that its sizes and its check are right.
type xzBlock struct {
	in         *bufio.Reader
	header     xzBlockHeader
	check      hash.Hash
	compressed counter
	data       *lzma.Reader2 // over compressed
	size       int64         // uncompressed bytes so far
}

// newXZBlock reads the block header whose first byte is size, for a stream with that kind of check.
func newXZBlock(in *bufio.Reader, size, checkType byte) (*xzBlock, error) {
	check, err := newXZCheck(checkType)
	if err != nil {
		return nil, err
	}
	header, err := readXZBlockHeader(in, size)
	if err != nil {
		return nil, err
	}
	b := &xzBlock{in: in, header: header, check: check, compressed: counter{r: in}}
	b.data, err = lzma.Reader2Config{DictCap: header.dictionary}.NewReader2(&b.compressed)
	return b, err
}

func (b *xzBlock) Read(p []byte) (int, error) {
	n, err := b.data.Read(p)
	b.size += int64(n)
	b.check.Write(p[:n])
	switch {
	case err == io.EOF && !b.data.EOS(): // a chunk too short for its own header
		err = io.ErrUnexpectedEOF
	case err == io.EOF:
		if err = b.end(); err == nil {
			err = io.EOF
		}
	}
	return n, err
}

// end compares sizes and check with the data (3.1.3, 3.1.4, 3.3, 3.4).
func (b *xzBlock) end() error {
	if c := b.header.compressed; c >= 0 && c != b.compressed.n {
		return corrupt("a block has %d compressed bytes, its header says %d", b.compressed.n, c)
	}
	if u := b.header.uncompressed; u >= 0 && u != b.size {
		return corrupt("a block has %d bytes, its header says %d", b.size, u)
	}
	if err := readZeros(b.in, padding4(b.compressed.n)); err != nil {
		return err
	}
	sum := make([]byte, b.check.Size())
	if _, err := io.ReadFull(b.in, sum); err != nil {
		return noEOF(err)
	}
	if !bytes.Equal(sum, b.check.Sum(nil)) {
		return corrupt("wrong checksum of a block")
	}
	return nil
}

// unpaddedSize is the number of the block's bytes without the padding, as the index has it (4.3).
func (b *xzBlock) unpaddedSize() int64 {
	return int64(b.header.size) + b.compressed.n + int64(b.check.Size())
}

// newXZCheck returns the hash for a check type (2.1.1.2).
func newXZCheck(kind byte) (hash.Hash, error) {
	switch kind {
	case 0:
		return noCheck{crc32.NewIEEE()}, nil
	case 1:
		return littleEndian32{crc32.NewIEEE()}, nil
	case 4:
		return littleEndian64{crc64.New(crc64.MakeTable(crc64.ECMA))}, nil
	case 10:
		return sha256.New(), nil
	}
	return nil, unsupported("xz check type %d", kind)
}

// The standard library's sums are big-endian, those of .xz little-endian.
type (
	noCheck        struct{ hash.Hash32 }
	littleEndian32 struct{ hash.Hash32 }
	littleEndian64 struct{ hash.Hash64 }
)

func (noCheck) Size() int                    { return 0 }
func (noCheck) Write(p []byte) (int, error)  { return len(p), nil }
func (noCheck) Sum(b []byte) []byte          { return b }
func (h littleEndian32) Sum(b []byte) []byte { return binary.LittleEndian.AppendUint32(b, h.Sum32()) }
func (h littleEndian64) Sum(b []byte) []byte { return binary.LittleEndian.AppendUint64(b, h.Sum64()) }

// A counter counts the bytes read from r.
type counter struct {
	r *bufio.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// padding4 is the number of bytes that fill n up to a multiple of four.
func padding4(n int64) int { return int(-n & 3) }

// readZeros reads n bytes, at most 3, which must be zero.
func readZeros(in io.Reader, n int) error {
	var pad [3]byte
	if _, err := io.ReadFull(in, pad[:n]); err != nil {
		return noEOF(err)
	}
	if pad != [3]byte{} {
		return corrupt("padding that is not zero")
	}
	return nil
}
