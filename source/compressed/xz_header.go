package compressed

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/ulikunitz/xz/lzma"
)

// An xzBlockHeader is what a block says of itself.
type xzBlockHeader struct {
	size         int   // of the header itself, bytes
	compressed   int64 // bytes, −1 if not said
	uncompressed int64 // bytes, −1 if not said
	dictionary   int   // bytes to allocate
}

// readXZBlockHeader reads the rest of a block header, whose length its first byte tells (3.1).
func readXZBlockHeader(in io.Reader, first byte) (xzBlockHeader, error) {
	h := xzBlockHeader{size: (int(first) + 1) * 4, compressed: -1, uncompressed: -1}
	raw := make([]byte, h.size)
	raw[0] = first
	if _, err := io.ReadFull(in, raw[1:]); err != nil {
		return h, noEOF(err)
	}
	body, sum := raw[:h.size-4], raw[h.size-4:]
	if crc32.ChecksumIEEE(body) != binary.LittleEndian.Uint32(sum) {
		return h, corrupt("wrong checksum of a block header")
	}
	return h, h.parse(body[1], bytes.NewReader(body[2:]))
}

// parse reads the fields after the flags (3.1.2 to 3.1.6).
func (h *xzBlockHeader) parse(flags byte, fields *bytes.Reader) (err error) {
	if flags&0x3f != 0 { // more than one filter, or reserved bits
		return unsupported("xz filters other than a single LZMA2")
	}
	if flags&0x40 != 0 {
		if h.compressed, err = readXZSize(fields); err != nil {
			return err
		}
	}
	if flags&0x80 != 0 {
		if h.uncompressed, err = readXZSize(fields); err != nil {
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

// parseFilter reads the LZMA2 filter, number 0x21 with one byte of properties: the dictionary's size (5.3.1). A block
// smaller than that needs no more than its own size.
func (h *xzBlockHeader) parseFilter(fields *bytes.Reader) error {
	id, err := readXZSize(fields)
	if err != nil {
		return err
	}
	if id != 0x21 {
		return unsupported("xz filter %#x", id)
	}
	length, err := readXZSize(fields)
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

// readXZSize reads a multibyte integer: seven bits to a byte, the lowest first, at most nine bytes (1.2).
func readXZSize(in io.ByteReader) (int64, error) {
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
