package compressed

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"hash/crc32"
	"io"
)

const (
	xzMagic       = "\xfd7zXZ\x00"
	xzFooterMagic = "YZ"
)

// An xzReader reads the .xz container (https://tukaani.org/xz/xz-file-format.txt, whose section
// numbers are given below):
//
//	stream = header, block…, index, footer     several may follow, with zeros between
//	block  = header, LZMA2 data, padding, check
//
// The library decodes the LZMA2 data. Its own container reader allocates the dictionary that a
// header asks for, up to 4 GiB, and keeps a record of every block: here both are limited.
type xzReader struct {
	in    *bufio.Reader
	flags [2]byte   // stream flags: the kind of check
	block *xzBlock  // nil between blocks
	found *xzSummer // the blocks read so far in this stream; readIndex compares them with the index
}

func openXZ(in *bufio.Reader, _ func() bool) (io.Reader, error) {
	x := &xzReader{in: in}
	return x, x.streamHeader()
}

// Read skips blocks without data, of which there may be any number.
func (x *xzReader) Read(p []byte) (n int, err error) {
	for n == 0 && err == nil && len(p) > 0 {
		n, err = x.read(p)
	}
	return n, err
}

func (x *xzReader) read(p []byte) (int, error) {
	if x.block == nil {
		if err := x.next(); err != nil {
			return 0, err
		}
	}
	n, err := x.block.Read(p)
	if err == io.EOF {
		x.found.add(x.block.unpaddedSize(), x.block.size)
		x.block, err = nil, nil
	}
	return n, err
}

// next reads up to the data of the next block, perhaps in another stream. It returns io.EOF after
// the last stream.
func (x *xzReader) next() error {
	for {
		size, err := x.in.ReadByte()
		if err != nil {
			return noEOF(err)
		}
		if size != 0 { // 3.1.1; 0 is the index indicator, 4.1
			x.block, err = newXZBlock(x.in, size, x.flags[1])
			return err
		}
		indexSize, err := x.readIndex()
		if err != nil {
			return err
		}
		if err := x.streamFooter(indexSize); err != nil {
			return err
		}
		if err := x.streamPadding(); err != nil {
			return err
		}
		if err := x.streamHeader(); err != nil {
			return err
		}
	}
}

// streamHeader reads the magic number, the flags and their CRC32 (2.1.1).
func (x *xzReader) streamHeader() error {
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
	x.found = newXZSummer()
	return nil
}

// streamFooter reads the CRC32, the size of the index, the flags and the magic number (2.1.2).
func (x *xzReader) streamFooter(indexSize int64) error {
	var f [12]byte
	if _, err := io.ReadFull(x.in, f[:]); err != nil {
		return noEOF(err)
	}
	switch {
	case string(f[10:]) != xzFooterMagic:
		return corrupt("wrong magic number of the stream footer")
	case crc32.ChecksumIEEE(f[4:10]) != binary.LittleEndian.Uint32(f[:]):
		return corrupt("wrong checksum of the stream footer")
	case [2]byte(f[8:10]) != x.flags:
		return corrupt("stream header and footer differ")
	case (int64(binary.LittleEndian.Uint32(f[4:]))+1)*4 != indexSize:
		return corrupt("wrong size of the index in the stream footer")
	}
	return nil
}

// streamPadding skips zeros, whose number must be a multiple of four (2.2). It returns io.EOF if
// the input ends there.
func (x *xzReader) streamPadding() error {
	for n := 0; ; n++ {
		b, err := x.in.ReadByte()
		if err != nil && err != io.EOF {
			return err
		}
		if err == nil && b == 0 {
			continue
		}
		if n%4 != 0 {
			if err == io.EOF {
				return io.ErrUnexpectedEOF
			}
			return corrupt("%d zeros after a stream, not a multiple of 4", n)
		}
		if err != nil {
			return err
		}
		return x.in.UnreadByte()
	}
}

// noEOF returns io.ErrUnexpectedEOF if err is io.EOF, and otherwise err.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// An xzSummer computes the checksum of a list of blocks, which may be too long to keep: two lists
// are equal if their sums are. It uses SHA-256, so that the author of a file cannot find two lists
// with the same sum.
type xzSummer struct {
	blocks int64
	sum    hash.Hash
}

func newXZSummer() *xzSummer { return &xzSummer{sum: sha256.New()} }

// add appends a block with its sizes in bytes: compressed, without padding, and uncompressed.
func (s *xzSummer) add(unpadded, uncompressed int64) {
	s.blocks++
	var record [16]byte
	binary.LittleEndian.PutUint64(record[:], uint64(unpadded))
	binary.LittleEndian.PutUint64(record[8:], uint64(uncompressed))
	s.sum.Write(record[:])
}

// readIndex reads the rest of the index, after its indicator, compares it with the blocks, and
// returns its size in bytes.
func (x *xzReader) readIndex() (size int64, err error) {
	in := &summingReader{in: x.in, crc: crc32.Update(0, crc32.IEEETable, []byte{0}), count: 1}
	blocks, err := readXZInteger(in)
	if err != nil {
		return 0, err
	}
	if blocks != x.found.blocks {
		return 0, corrupt("found %d blocks, expected %d, as the index says", x.found.blocks, blocks)
	}
	listed := newXZSummer()
	for range blocks {
		unpadded, err := readXZInteger(in)
		if err != nil {
			return 0, err
		}
		uncompressed, err := readXZInteger(in)
		if err != nil {
			return 0, err
		}
		listed.add(unpadded, uncompressed)
	}
	if [32]byte(listed.sum.Sum(nil)) != [32]byte(x.found.sum.Sum(nil)) {
		return 0, corrupt("the index differs from the blocks")
	}
	return in.end()
}

// A summingReader reads single bytes, counts them and computes their CRC32.
type summingReader struct {
	in    *bufio.Reader
	crc   uint32
	count int64
}

func (r *summingReader) ReadByte() (byte, error) {
	b, err := r.in.ReadByte()
	if err == nil {
		r.crc = crc32.Update(r.crc, crc32.IEEETable, []byte{b})
		r.count++
	}
	return b, err
}

// end reads the padding and the CRC32, and returns the total size.
func (r *summingReader) end() (int64, error) {
	for range padding4(r.count) {
		b, err := r.ReadByte()
		if err != nil {
			return 0, noEOF(err)
		}
		if b != 0 {
			return 0, corrupt("padding that is not zero")
		}
	}
	var sum [4]byte
	if _, err := io.ReadFull(r.in, sum[:]); err != nil {
		return 0, noEOF(err)
	}
	if binary.LittleEndian.Uint32(sum[:]) != r.crc {
		return 0, corrupt("wrong checksum of the index")
	}
	return r.count + int64(len(sum)), nil
}
