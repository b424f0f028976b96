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
	xzMagic = "\xfd7zXZ\x00"

	// maxXZDictionary is the dictionary of the highest preset, xz -9.
	maxXZDictionary = 64 << 20
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

	// The LZMA2 chunk being decoded.
	chunk      bytes.Reader // over packed
	packed     []byte
	left       int   // bytes of data to be decoded
	incomplete error // why packed is incomplete, or nil

	data       *lzma.Reader2 // reads chunk
	dictionary int           // of data, bytes
}

// An xzBlock is the block being read.
type xzBlock struct {
	compressed, size int64 // bytes as the header says, or −1
	dictionary       int   // bytes
	headerSize       int64 // bytes
	check            hash.Hash
	readPacked, read int64 // bytes so far
}

func openXZ(in *bufio.Reader) (io.Reader, error) {
	x := &xzReader{in: in}
	return x, x.openStream()
}

// Read reads data. It skips blocks without data, of which there may be any number.
func (x *xzReader) Read(p []byte) (int, error) {
	for x.left == 0 {
		next := x.nextChunk
		if x.block == nil {
			next = x.nextBlock
		}
		if err := next(); err != nil {
			return 0, err
		}
	}
	n, err := x.data.Read(p[:min(len(p), x.left)])
	x.block.check.Write(p[:n])
	x.block.read += int64(n)
	x.left -= n
	switch {
	case err != nil && x.incomplete != nil:
		return n, x.incomplete
	case err != nil:
		return n, corrupt("LZMA2 chunk: %v", noEOF(err))
	case x.left == 0 && x.chunk.Len() > 0:
		return n, corrupt("an LZMA2 chunk has more data than its header says")
	}
	return n, nil
}

// nextBlock reads up to the first chunk of the next block, perhaps in another stream. It returns
// io.EOF after the last stream.
func (x *xzReader) nextBlock() error {
	size, err := x.in.ReadByte()
	switch {
	case err != nil:
		return noEOF(err)
	case size != 0: // 3.1.1; 0 is the index indicator, 4.1
		return x.openBlock(size)
	}
	indexSize, err := x.checkIndex()
	if err == nil {
		err = x.closeStream(indexSize)
	}
	if err == nil {
		err = x.openStream()
	}
	return err
}

// openStream reads the magic number, the flags and their CRC32 (2.1.1).
func (x *xzReader) openStream() error {
	h, err := x.take(12)
	if n := min(len(h), len(xzMagic)); string(h[:n]) != xzMagic[:n] {
		return corrupt("extra data after the last stream").Because(ErrExtra)
	}
	if err != nil {
		return err
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

// closeStream reads the footer (2.1.2: a CRC32, the size of the index, the flags and the magic
// number) and the padding: zeros, whose number must be a multiple of four (2.2). It returns io.EOF
// if the input ends there.
func (x *xzReader) closeStream(indexSize int64) error {
	f, err := x.take(12)
	switch {
	case err != nil:
		return err
	case string(f[10:]) != "YZ":
		return corrupt("wrong magic number of the stream footer")
	case crc32.ChecksumIEEE(f[4:10]) != binary.LittleEndian.Uint32(f):
		return corrupt("wrong checksum of the stream footer")
	case [2]byte(f[8:10]) != x.flags:
		return corrupt("stream header and footer differ")
	case (int64(binary.LittleEndian.Uint32(f[4:]))+1)*4 != indexSize:
		return corrupt("wrong size of the index in the stream footer")
	}
	zeros := 0
	b, err := x.in.ReadByte()
	for ; b == 0 && err == nil; b, err = x.in.ReadByte() {
		zeros++
	}
	switch {
	case err == nil && zeros%4 != 0:
		return corrupt("%d zeros after a stream, not a multiple of 4", zeros)
	case err == nil:
		return x.in.UnreadByte()
	case zeros%4 != 0:
		return noEOF(err)
	}
	return err
}

// checkIndex compares the rest of the index (4.2 to 4.6) with the blocks, and returns the size of
// the index in bytes.
func (x *xzReader) checkIndex() (int64, error) {
	begin := binary.AppendUvarint([]byte{0}, uint64(x.blocks))
	found, err := x.take(len(begin) - 1)
	if err != nil {
		return 0, err
	}
	if !bytes.Equal(found, begin[1:]) {
		return 0, corrupt("found %d blocks, but the index has another number", x.blocks)
	}
	listed, sum := sha256.New(), crc32.NewIEEE()
	sum.Write(begin)
	if _, err := io.CopyN(io.MultiWriter(listed, sum), x.in, x.recordSize); err != nil {
		return 0, noEOF(err)
	}
	size := int64(len(begin)) + x.recordSize
	padding := int(-size & 3) // to a multiple of four
	end, err := x.take(padding + crc32.Size)
	if err != nil {
		return 0, err
	}
	sum.Write(end[:padding])
	if !bytes.Equal(listed.Sum(nil), x.records.Sum(nil)) || !allZero(end[:padding]) {
		return 0, corrupt("the index differs from the blocks")
	}
	if binary.LittleEndian.Uint32(end[padding:]) != sum.Sum32() {
		return 0, corrupt("wrong checksum of the index")
	}
	return size + int64(len(end)), nil
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
	body, sum := header[:len(header)-crc32.Size], header[len(header)-crc32.Size:]
	if crc32.ChecksumIEEE(body) != binary.LittleEndian.Uint32(sum) {
		return corrupt("wrong checksum of a block header")
	}
	x.block = &xzBlock{headerSize: int64(len(header)), check: check}
	return x.block.parse(body[1], body[2:])
}

// parse reads the fields after the flags of a block header (3.1.2 to 3.1.6).
func (b *xzBlock) parse(flags byte, fields []byte) error {
	if flags&0x3f != 0 { // more than one filter, or reserved bits
		return unsupported("xz filters other than a single LZMA2")
	}
	bad := false
	integer := func() int64 { // seven bits to a byte, the lowest first, in at most nine bytes (1.2)
		v, n := binary.Uvarint(fields)
		if n <= 0 || n > 9 || n > 1 && fields[n-1] == 0 { // the last one: not the shortest form
			bad = true
			return 0
		}
		fields = fields[n:]
		return int64(v)
	}
	b.compressed, b.size = -1, -1
	if flags&0x40 != 0 {
		b.compressed = integer()
	}
	if flags&0x80 != 0 {
		b.size = integer()
	}
	if filter := integer(); !bad && filter != 0x21 { // LZMA2, 5.3.1
		return unsupported("xz filter %#x", filter)
	}
	if bad || len(fields) < 2 || fields[0] != 1 { // one byte of properties
		return corrupt("bad sizes or properties in a block header")
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

// nextChunk reads the next LZMA2 chunk, or the end of the block. The first byte is its kind:
//
//	0            no chunk: the end
//	1, 2         uncompressed; 1 resets the dictionary; then the size of the data − 1 (2 bytes)
//	0x80 − 0xff  LZMA; from 0xe0 on, it resets the dictionary; the lowest 5 bits are the highest
//	             of the size of the data − 1, whose other 2 bytes follow, then the size of the
//	             chunk − 1 (2 bytes, big-endian) and, from 0xc0 on, a byte of properties
//
// If the input ends in the chunk, what precedes the end is decoded before that is reported.
func (x *xzReader) nextChunk() error {
	kind, err := x.in.ReadByte()
	if err != nil {
		return noEOF(err)
	}
	b, rest := x.block, 2
	first := b.readPacked == 0
	b.readPacked++
	switch {
	case kind == 0:
		return x.closeBlock()
	case first && kind != 1 && kind < 0xe0, kind > 2 && kind < 0x80:
		return corrupt("an LZMA2 chunk of the kind %#x", kind)
	case kind >= 0xc0:
		rest = 5
	case kind >= 0x80:
		rest = 4
	}
	sizes, err := x.take(rest)
	if err != nil {
		return err
	}
	x.left = int(binary.BigEndian.Uint16(sizes)) + 1
	size := x.left
	if kind >= 0x80 {
		x.left += int(kind&0x1f) << 16
		size = int(binary.BigEndian.Uint16(sizes[2:])) + 1
	}
	if b.size >= 0 && b.read+int64(x.left) > b.size {
		return corrupt("found a block of more than %d bytes, as its header says", b.size)
	}
	b.readPacked += int64(rest + size)
	x.packed = slices.Grow(append(append(x.packed[:0], kind), sizes...), size)
	n, err := io.ReadFull(x.in, x.packed[len(x.packed):][:size])
	x.packed, x.incomplete = x.packed[:len(x.packed)+n], noEOF(err)
	x.chunk.Reset(x.packed)
	if first && x.dictionary < b.dictionary {
		// The first chunk resets the dictionary, so a new one can take the place of the old one.
		x.data, x.dictionary = nil, b.dictionary
		x.data, err = lzma.Reader2Config{DictCap: x.dictionary}.NewReader2(&x.chunk)
		return err
	}
	return nil
}

// closeBlock compares the sizes and the check with the data (3.1.3, 3.1.4, 3.3, 3.4), and appends
// the block to the records of the index (4.3).
func (x *xzReader) closeBlock() error {
	b := x.block
	if b.compressed >= 0 && b.compressed != b.readPacked || b.size >= 0 && b.size != b.read {
		return corrupt("found a block of %d bytes in %d, expected %d in %d, as its header says (−1: any)",
			b.read, b.readPacked, b.size, b.compressed)
	}
	want := b.check.Sum(nil)
	if x.flags[1] == 0 {
		want = nil
	} else if len(want) < sha256.Size { // a CRC, big-endian in the library and little-endian in .xz
		slices.Reverse(want)
	}
	padding := int(-b.readPacked & 3)
	end, err := x.take(padding + len(want))
	if err != nil {
		return err
	}
	if !allZero(end[:padding]) || !bytes.Equal(end[padding:], want) {
		return corrupt("wrong checksum or padding of a block")
	}
	record := binary.AppendUvarint(nil, uint64(b.headerSize+b.readPacked+int64(len(want))))
	record = binary.AppendUvarint(record, uint64(b.read))
	x.records.Write(record)
	x.blocks, x.recordSize, x.block = x.blocks+1, x.recordSize+int64(len(record)), nil
	return nil
}

// newXZCheck returns the hash for a type of check (2.1.1.2); for 0, no check, any.
func newXZCheck(kind byte) (hash.Hash, error) {
	switch kind {
	case 0, 1:
		return crc32.NewIEEE(), nil
	case 4:
		return crc64.New(crc64.MakeTable(crc64.ECMA)), nil
	case 10:
		return sha256.New(), nil
	}
	return nil, unsupported("xz check type %d", kind)
}

// take reads the next n bytes; if there are fewer, it returns these and an error.
func (x *xzReader) take(n int) ([]byte, error) {
	p := make([]byte, n)
	n, err := io.ReadFull(x.in, p)
	return p[:n], noEOF(err)
}

func allZero(p []byte) bool { return len(bytes.Trim(p, "\x00")) == 0 }
