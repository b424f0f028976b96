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
	"math"
	"slices"

	"github.com/ulikunitz/xz/lzma"
)

// maxXZDictionary is the dictionary of the highest preset, xz -9. The library allocates what the
// header asks for.
const maxXZDictionary = 64 << 20

// An xzBlock reads the data of one block; io.EOF means that its sizes and its check are right.
type xzBlock struct {
	in         *bufio.Reader
	header     xzBlockHeader
	check      hash.Hash // nil if there is none
	checkSize  int       // bytes, known at the end
	compressed countingReader
	data       *lzma.Reader2 // over compressed
	size       int64         // uncompressed bytes so far
}

// newXZBlock reads the rest of the block header whose first byte is size; checkType is the check of
// the stream.
func newXZBlock(in *bufio.Reader, size, checkType byte) (*xzBlock, error) {
	check, err := newXZCheck(checkType)
	if err != nil {
		return nil, err
	}
	header, err := readXZBlockHeader(in, size)
	if err != nil {
		return nil, err
	}
	b := &xzBlock{in: in, header: header, check: check, compressed: countingReader{r: in, limit: math.MaxInt64}}
	b.data, err = lzma.Reader2Config{DictCap: header.dictionary}.NewReader2(&b.compressed)
	return b, err
}

func (b *xzBlock) Read(p []byte) (int, error) {
	n, err := b.data.Read(p)
	b.size += int64(n)
	if b.check != nil {
		b.check.Write(p[:n])
	}
	switch {
	case err == io.EOF && !b.data.EOS(): // an LZMA2 chunk of fewer than five bytes
		err = io.ErrUnexpectedEOF
	case err == io.EOF:
		if err = b.end(); err == nil {
			err = io.EOF
		}
	}
	return n, err
}

// end compares the sizes and the check with the data (3.1.3, 3.1.4, 3.3, 3.4).
func (b *xzBlock) end() error {
	if c := b.header.compressed; c >= 0 && c != b.compressed.offset {
		return corrupt("found a block of %d compressed bytes, expected %d, as its header says", b.compressed.offset, c)
	}
	if u := b.header.uncompressed; u >= 0 && u != b.size {
		return corrupt("found a block of %d bytes, expected %d, as its header says", b.size, u)
	}
	if err := readZeros(b.in, padding4(b.compressed.offset)); err != nil {
		return err
	}
	var want []byte
	if b.check != nil {
		want = b.check.Sum(nil)
	}
	if len(want) < sha256.Size { // a CRC, which is big-endian in the library and little-endian in .xz
		slices.Reverse(want)
	}
	sum := make([]byte, len(want))
	if _, err := io.ReadFull(b.in, sum); err != nil {
		return noEOF(err)
	}
	if !bytes.Equal(sum, want) {
		return corrupt("wrong checksum of a block")
	}
	b.checkSize = len(sum)
	return nil
}

// unpaddedSize returns the size of the block in bytes without the padding, as in the index (4.3).
func (b *xzBlock) unpaddedSize() int64 {
	return int64(b.header.size) + b.compressed.offset + int64(b.checkSize)
}

// newXZCheck returns the hash for a type of check, or nil for type 0, no check (2.1.1.2).
func newXZCheck(kind byte) (hash.Hash, error) {
	switch kind {
	case 0:
		return nil, nil
	case 1:
		return crc32.NewIEEE(), nil
	case 4:
		return crc64.New(crc64.MakeTable(crc64.ECMA)), nil
	case 10:
		return sha256.New(), nil
	}
	return nil, unsupported("xz check type %d", kind)
}

// padding4 returns the number of bytes that round n up to a multiple of four.
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

// An xzBlockHeader is the header of a block.
type xzBlockHeader struct {
	size         int   // of the header itself, in bytes
	compressed   int64 // size of the data in bytes, −1 if not given
	uncompressed int64 // size of the data in bytes, −1 if not given
	dictionary   int   // bytes to allocate
}

// readXZBlockHeader reads the rest of the block header whose first byte is size (3.1).
func readXZBlockHeader(in io.Reader, size byte) (xzBlockHeader, error) {
	h := xzBlockHeader{size: (int(size) + 1) * 4, compressed: -1, uncompressed: -1}
	raw := make([]byte, h.size)
	raw[0] = size
	if _, err := io.ReadFull(in, raw[1:]); err != nil {
		return h, noEOF(err)
	}
	body, sum := raw[:h.size-4], raw[h.size-4:]
	if crc32.ChecksumIEEE(body) != binary.LittleEndian.Uint32(sum) {
		return h, corrupt("wrong checksum of a block header")
	}
	err := h.parse(body[1], bytes.NewReader(body[2:]))
	return h, err
}

// parse reads the fields after the flags (3.1.2 to 3.1.6).
func (h *xzBlockHeader) parse(flags byte, fields *bytes.Reader) (err error) {
	if flags&0x3f != 0 { // more than one filter, or reserved bits
		return unsupported("xz filters other than a single LZMA2")
	}
	if flags&0x40 != 0 {
		if h.compressed, err = readXZInteger(fields); err != nil {
			return err
		}
	}
	if flags&0x80 != 0 {
		if h.uncompressed, err = readXZInteger(fields); err != nil {
			return err
		}
	}
	if err := h.parseFilter(fields); err != nil {
		return err
	}
	for fields.Len() > 0 {
		if b, _ := fields.ReadByte(); b != 0 {
			return unsupported("unknown fields in a block header")
		}
	}
	return nil
}

// parseFilter reads the LZMA2 filter, number 0x21 with one byte of properties: the size of the
// dictionary (5.3.1). For a smaller block, its own size suffices.
func (h *xzBlockHeader) parseFilter(fields *bytes.Reader) error {
	id, err := readXZInteger(fields)
	if err != nil {
		return err
	}
	if id != 0x21 {
		return unsupported("xz filter %#x", id)
	}
	length, err := readXZInteger(fields)
	if err != nil {
		return err
	}
	property, err := fields.ReadByte()
	if err != nil || length != 1 || property > 40 {
		return corrupt("bad properties of the LZMA2 filter")
	}
	size, err := lzma.DecodeDictCap(property)
	if err != nil {
		return err
	}
	if h.uncompressed >= 0 {
		size = min(size, h.uncompressed)
	}
	if size > maxXZDictionary {
		return unsupported("a dictionary of %d MiB (the limit is %d MiB)", size>>20, maxXZDictionary>>20)
	}
	h.dictionary = int(max(size, lzma.MinDictCap))
	return nil
}

// readXZInteger reads a multibyte integer: seven bits to a byte, the lowest first, in at most nine
// bytes (1.2).
func readXZInteger(in io.ByteReader) (int64, error) {
	var v int64
	for i := range 9 {
		b, err := in.ReadByte()
		if err != nil {
			return 0, noEOF(err)
		}
		v |= int64(b&0x7f) << (7 * i)
		if b < 0x80 {
			if b == 0 && i > 0 {
				break // not the shortest form
			}
			return v, nil
		}
	}
	return 0, corrupt("bad multibyte integer")
}
