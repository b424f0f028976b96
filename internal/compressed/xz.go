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
	"slices"

	"github.com/ulikunitz/xz/lzma"
)

const (
	xzMagic       = "\xfd7zXZ\x00"
	xzFooterMagic = "YZ"

	// maxXZDictionary is the dictionary of the highest preset, xz -9.
	maxXZDictionary = 64 << 20

	// lzma2Filter is the only filter that is decoded (5.3.1).
	lzma2Filter = 0x21
)

// An xzReader reads the .xz container (https://tukaani.org/xz/xz-file-format.txt, whose section
// numbers are given below):
//
//	stream = header, block…, index, footer     several may follow, with zeros between
//	block  = header, LZMA2 chunk…, 0, padding, check
//
// The library decodes the chunks. Its own reader of the container accepts files that end between
// blocks, allocates any dictionary that a header asks for, once for each block, and keeps a record
// of every block. This one decodes all blocks with one dictionary.
type xzReader struct {
	in    *bufio.Reader
	flags [2]byte // stream flags: the kind of check

	// The blocks of the stream so far. Their records in the index may be too many to keep, so they
	// are compared by their SHA-256.
	blocks     int64
	records    hash.Hash
	recordSize int64 // bytes

	block *xzBlock // nil between blocks
	chunk xzChunk
	data  *lzma.Reader2 // reads chunk
	limit int           // size of the dictionary of data
}

// An xzBlock is the block being read.
type xzBlock struct {
	headerSize             int64 // bytes
	compressed, size       int64 // bytes as the header says, or −1
	dictionary             int   // bytes
	check                  hash.Hash
	foundPacked, foundSize int64 // bytes so far
}

// An xzChunk is the compressed bytes of the LZMA2 chunk being decoded.
type xzChunk struct {
	bytes.Reader
	buf  []byte
	left int   // bytes of data to be decoded
	err  error // why the chunk is incomplete
}

func openXZ(in *bufio.Reader) (io.Reader, error) {
	x := &xzReader{in: in}
	return x, x.openStream()
}

// Read reads data. It skips blocks without data, of which there may be any number.
func (x *xzReader) Read(p []byte) (int, error) {
	for x.chunk.left == 0 {
		next := x.nextChunk
		if x.block == nil {
			next = x.nextBlock
		}
		if err := next(); err != nil {
			return 0, err
		}
	}
	n, err := x.data.Read(p[:min(len(p), x.chunk.left)])
	x.block.check.Write(p[:n])
	x.block.foundSize += int64(n)
	x.chunk.left -= n
	switch {
	case err != nil && x.chunk.err != nil:
		return n, x.chunk.err
	case err != nil:
		return n, corrupt("LZMA2 chunk: %v", noEOF(err))
	case x.chunk.left == 0 && x.chunk.Len() > 0:
		return n, corrupt("an LZMA2 chunk has more data than its header says")
	}
	return n, nil
}

// nextBlock reads up to the data of the next block, perhaps in another stream. It returns io.EOF
// after the last stream.
func (x *xzReader) nextBlock() error {
	size, err := x.in.ReadByte()
	if err != nil {
		return noEOF(err)
	}
	if size != 0 { // 3.1.1; 0 is the index indicator, 4.1
		return x.openBlock(size)
	}
	if err := x.closeStream(); err != nil {
		return err
	}
	return x.openStream()
}

// openStream reads the magic number, the flags and their CRC32 (2.1.1).
func (x *xzReader) openStream() error {
	var h [12]byte
	n, err := io.ReadFull(x.in, h[:])
	if n := min(n, len(xzMagic)); string(h[:n]) != xzMagic[:n] {
		return corrupt("extra data after the last stream").Because(ErrExtra)
	}
	if err != nil {
		return noEOF(err)
	}
	x.flags = [2]byte(h[6:8])
	if crc32.ChecksumIEEE(x.flags[:]) != binary.LittleEndian.Uint32(h[8:]) {
		return corrupt("wrong checksum of the stream header")
	}
	if x.flags[0] != 0 || x.flags[1] > 0xf {
		return unsupported("unknown xz stream flags %x", x.flags)
	}
	x.blocks, x.records, x.recordSize = 0, sha256.New(), 0
	return nil
}

// closeStream reads the index after its indicator, the footer, and the padding. It returns io.EOF
// if the input ends there.
func (x *xzReader) closeStream() error {
	indexSize, err := x.checkIndex()
	if err != nil {
		return err
	}
	f, err := x.take(12) // 2.1.2: a CRC32, the size of the index, the flags and the magic number
	switch {
	case err != nil:
		return err
	case string(f[10:]) != xzFooterMagic:
		return corrupt("wrong magic number of the stream footer")
	case crc32.ChecksumIEEE(f[4:10]) != binary.LittleEndian.Uint32(f):
		return corrupt("wrong checksum of the stream footer")
	case [2]byte(f[8:10]) != x.flags:
		return corrupt("stream header and footer differ")
	case (int64(binary.LittleEndian.Uint32(f[4:]))+1)*4 != indexSize:
		return corrupt("wrong size of the index in the stream footer")
	}
	return x.skipPadding()
}

// checkIndex compares the rest of the index (4.2 to 4.6) with the blocks, and returns the size of
// the index in bytes.
func (x *xzReader) checkIndex() (int64, error) {
	want := binary.AppendUvarint([]byte{0}, uint64(x.blocks))
	crc := crc32.NewIEEE()
	crc.Write(want)
	found, err := x.take(len(want) - 1)
	if err != nil {
		return 0, err
	}
	if !bytes.Equal(found, want[1:]) {
		return 0, corrupt("found %d blocks, but the index has another number", x.blocks)
	}
	listed := sha256.New()
	if _, err := io.CopyN(io.MultiWriter(listed, crc), x.in, x.recordSize); err != nil {
		return 0, noEOF(err)
	}
	if !bytes.Equal(listed.Sum(nil), x.records.Sum(nil)) {
		return 0, corrupt("the index differs from the blocks")
	}
	size := int64(len(want)) + x.recordSize
	padding := padding4(size)
	end, err := x.take(padding + 4)
	if err != nil {
		return 0, err
	}
	crc.Write(end[:padding])
	switch {
	case !allZero(end[:padding]):
		return 0, corrupt("padding that is not zero")
	case binary.LittleEndian.Uint32(end[padding:]) != crc.Sum32():
		return 0, corrupt("wrong checksum of the index")
	}
	return size + int64(len(end)), nil
}

// skipPadding skips zeros, whose number must be a multiple of four (2.2). It returns io.EOF if the
// input ends there.
func (x *xzReader) skipPadding() error {
	for n := 0; ; n++ {
		b, err := x.in.ReadByte()
		switch {
		case err != nil && err != io.EOF:
			return err
		case err == nil && b == 0:
			continue
		case n%4 != 0 && err == io.EOF:
			return io.ErrUnexpectedEOF
		case n%4 != 0:
			return corrupt("%d zeros after a stream, not a multiple of 4", n)
		case err == io.EOF:
			return err
		}
		return x.in.UnreadByte()
	}
}

// openBlock reads the rest of a block header, whose first byte is size (3.1).
func (x *xzReader) openBlock(size byte) error {
	check, err := newXZCheck(x.flags[1])
	if err != nil {
		return err
	}
	rest, err := x.take(int(size)*4 + 3)
	if err != nil {
		return err
	}
	header := append([]byte{size}, rest...)
	body, sum := header[:len(header)-4], header[len(header)-4:]
	if crc32.ChecksumIEEE(body) != binary.LittleEndian.Uint32(sum) {
		return corrupt("wrong checksum of a block header")
	}
	b := &xzBlock{headerSize: int64(len(header)), check: check}
	if err := b.parse(body[1], body[2:]); err != nil {
		return err
	}
	x.block = b
	return nil
}

// parse reads the fields after the flags of a block header (3.1.2 to 3.1.6).
func (b *xzBlock) parse(flags byte, fields []byte) (err error) {
	if flags&0x3f != 0 { // more than one filter, or reserved bits
		return unsupported("xz filters other than a single LZMA2")
	}
	b.compressed, b.size = -1, -1
	if flags&0x40 != 0 {
		if b.compressed, fields, err = cutXZInteger(fields); err != nil {
			return err
		}
	}
	if flags&0x80 != 0 {
		if b.size, fields, err = cutXZInteger(fields); err != nil {
			return err
		}
	}
	filter, fields, err := cutXZInteger(fields)
	if err != nil {
		return err
	}
	if filter != lzma2Filter {
		return unsupported("xz filter %#x", filter)
	}
	if len(fields) < 2 || fields[0] != 1 { // one byte of properties: the size of the dictionary
		return corrupt("bad properties of the LZMA2 filter")
	}
	dictionary, err := lzma.DecodeDictCap(fields[1])
	if err != nil {
		return corrupt("bad properties of the LZMA2 filter")
	}
	if !allZero(fields[2:]) {
		return unsupported("unknown fields in a block header")
	}
	if b.size >= 0 {
		dictionary = min(dictionary, b.size) // no match reaches further
	}
	if dictionary > maxXZDictionary {
		return unsupported("a dictionary of %d MiB (the limit is %d MiB)", dictionary>>20, maxXZDictionary>>20)
	}
	b.dictionary = int(max(dictionary, lzma.MinDictCap))
	return nil
}

// cutXZInteger reads a multibyte integer: seven bits to a byte, the lowest first, in at most nine
// bytes (1.2).
func cutXZInteger(b []byte) (v int64, rest []byte, err error) {
	u, n := binary.Uvarint(b)
	if n <= 0 || n > 9 || n > 1 && b[n-1] == 0 { // the last one: not the shortest form
		return 0, nil, corrupt("bad multibyte integer in a block header")
	}
	return int64(u), b[n:], nil
}

// nextChunk reads the next LZMA2 chunk, or the end of the block. Its first byte tells its kind:
//
//	0            no chunk: the end
//	1, 2         uncompressed; 1 resets the dictionary; then the size of the data − 1 (2 bytes)
//	0x80 − 0xff  LZMA; from 0xe0 on, it resets the dictionary, and from 0xc0 on, a byte of
//	             properties follows the sizes − 1: that of the data, of which the lowest 5 bits
//	             are the highest, and that of the chunk (2 bytes each, big-endian)
func (x *xzReader) nextChunk() error {
	kind, err := x.in.ReadByte()
	if err != nil {
		return noEOF(err)
	}
	b, c := x.block, &x.chunk
	b.foundPacked++
	header, first := 2, b.foundPacked == 1
	switch {
	case kind == 0:
		return x.closeBlock()
	case first && kind != 1 && kind < 0xe0, kind > 2 && kind < 0x80:
		return corrupt("an LZMA2 chunk of the kind %#x", kind)
	case kind >= 0xc0:
		header = 5
	case kind >= 0x80:
		header = 4
	}
	sizes, err := x.take(header)
	if err != nil {
		return err
	}
	c.left = int(binary.BigEndian.Uint16(sizes)) + 1
	packed := c.left
	if kind >= 0x80 {
		c.left += int(kind&0x1f) << 16
		packed = int(binary.BigEndian.Uint16(sizes[2:])) + 1
	}
	c.buf = append(append(c.buf[:0], kind), sizes...)
	b.foundPacked += int64(header + packed)
	if b.size >= 0 && b.foundSize+int64(c.left) > b.size {
		return corrupt("found a block of more than %d bytes, as its header says", b.size)
	}
	// If the input ends here, what precedes the end is decoded before that is reported.
	c.buf = slices.Grow(c.buf, packed)
	n, err := io.ReadFull(x.in, c.buf[len(c.buf):][:packed])
	c.err = noEOF(err)
	c.buf = c.buf[:len(c.buf)+n]
	c.Reset(c.buf)
	return x.start(first)
}

// start prepares the decoder for a chunk. For the first chunk of a block, which resets the
// dictionary, the decoder of the previous block is used again if its dictionary is large enough.
func (x *xzReader) start(first bool) (err error) {
	if !first || x.limit >= x.block.dictionary {
		return nil
	}
	x.data, x.limit = nil, x.block.dictionary // the old one is garbage before the new one is made
	x.data, err = lzma.Reader2Config{DictCap: x.limit}.NewReader2(&x.chunk.Reader)
	return err
}

// closeBlock compares the sizes and the check with the data (3.1.3, 3.1.4, 3.3, 3.4), and appends
// the block to the records of the index (4.3).
func (x *xzReader) closeBlock() error {
	b := x.block
	if b.compressed >= 0 && b.compressed != b.foundPacked {
		return corrupt("found a block of %d compressed bytes, expected %d, as its header says", b.foundPacked, b.compressed)
	}
	if b.size >= 0 && b.size != b.foundSize {
		return corrupt("found a block of %d bytes, expected %d, as its header says", b.foundSize, b.size)
	}
	want := b.check.Sum(nil)
	if len(want) < sha256.Size { // a CRC, which is big-endian in the library and little-endian in .xz
		slices.Reverse(want)
	}
	padding := padding4(b.foundPacked)
	end, err := x.take(padding + len(want))
	switch {
	case err != nil:
		return err
	case !allZero(end[:padding]):
		return corrupt("padding that is not zero")
	case !bytes.Equal(end[padding:], want):
		return corrupt("wrong checksum of a block")
	}
	record := binary.AppendUvarint(nil, uint64(b.headerSize+b.foundPacked+int64(len(want))))
	record = binary.AppendUvarint(record, uint64(b.foundSize))
	x.records.Write(record)
	x.blocks++
	x.recordSize += int64(len(record))
	x.block = nil
	return nil
}

// newXZCheck returns the hash for a type of check (2.1.1.2).
func newXZCheck(kind byte) (hash.Hash, error) {
	switch kind {
	case 0:
		return noCheck{crc32.NewIEEE()}, nil
	case 1:
		return crc32.NewIEEE(), nil
	case 4:
		return crc64.New(crc64.MakeTable(crc64.ECMA)), nil
	case 10:
		return sha256.New(), nil
	}
	return nil, unsupported("xz check type %d", kind)
}

// noCheck is a hash of no bytes.
type noCheck struct{ hash.Hash }

func (noCheck) Write(p []byte) (int, error) { return len(p), nil }
func (noCheck) Sum(b []byte) []byte         { return b }

// take reads the next n bytes.
func (x *xzReader) take(n int) ([]byte, error) {
	p := make([]byte, n)
	_, err := io.ReadFull(x.in, p)
	return p, noEOF(err)
}

// padding4 returns the number of bytes that round n up to a multiple of four.
func padding4(n int64) int { return int(-n & 3) }

func allZero(p []byte) bool { return len(bytes.Trim(p, "\x00")) == 0 }
