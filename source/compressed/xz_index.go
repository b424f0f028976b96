package compressed

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"hash/crc32"
	"io"
)

// An xzSummer stands for a list of blocks that may be too long to keep: two lists are equal if their sums are. SHA-256,
// because the file's author must not be able to find two lists with the same sum.
type xzSummer struct {
	blocks int64
	sum    hash.Hash
}

func newXZSummer() *xzSummer { return &xzSummer{sum: sha256.New()} }

// add appends a block: its compressed size without padding, and its uncompressed size, both in bytes.
func (s *xzSummer) add(unpadded, uncompressed int64) {
	s.blocks++
	var record [16]byte
	binary.LittleEndian.PutUint64(record[:], uint64(unpadded))
	binary.LittleEndian.PutUint64(record[8:], uint64(uncompressed))
	s.sum.Write(record[:])
}

// readIndex reads the index, whose indicator has been read, compares it with the blocks, and returns its size in bytes (4).
func (x *xzReader) readIndex() (size int64, err error) {
	in := &summingReader{in: x.in, crc: crc32.Update(0, crc32.IEEETable, []byte{0}), n: 1}
	blocks, err := readXZSize(in)
	if err != nil {
		return 0, err
	}
	if blocks != x.index.blocks {
		return 0, corrupt("%d blocks, the index says %d", x.index.blocks, blocks)
	}
	listed := newXZSummer()
	for range blocks {
		unpadded, err := readXZSize(in)
		if err != nil {
			return 0, err
		}
		uncompressed, err := readXZSize(in)
		if err != nil {
			return 0, err
		}
		listed.add(unpadded, uncompressed)
	}
	if [32]byte(listed.sum.Sum(nil)) != [32]byte(x.index.sum.Sum(nil)) {
		return 0, corrupt("the index differs from the blocks")
	}
	return in.end()
}

// A summingReader reads single bytes, counting them and forming their CRC32.
type summingReader struct {
	in interface {
		io.Reader
		io.ByteReader
	}
	crc uint32
	n   int64
}

func (r *summingReader) ReadByte() (byte, error) {
	b, err := r.in.ReadByte()
	if err == nil {
		r.crc = crc32.Update(r.crc, crc32.IEEETable, []byte{b})
		r.n++
	}
	return b, err
}

// end reads padding and CRC32, and returns the size of all together.
func (r *summingReader) end() (int64, error) {
	for range padding4(r.n) {
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
	return r.n + int64(len(sum)), nil
}
