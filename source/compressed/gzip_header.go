package compressed

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/idxport/idxport/source/compressed/inflate"
)

// Flags of a gzip header (RFC 1952, 2.3.1); bit 0, FTEXT, means nothing here.
const (
	gzipHeaderCRC = 1 << 1
	gzipExtra     = 1 << 2
	gzipName      = 1 << 3
	gzipComment   = 1 << 4
	gzipReserved  = 7 << 5
)

// A gzipHeader reads a header's bytes and sums them up.
type gzipHeader struct {
	in  *inflate.Lookahead
	sum uint32
}

// readGzipHeader reads a member's header and keeps nothing of it.
func readGzipHeader(in *inflate.Lookahead) error {
	h := gzipHeader{in: in}
	var fixed [10]byte // magic, method, flags, time, extra flags, system
	if err := h.read(fixed[:]); err != nil {
		return err
	}
	method, flags := fixed[2], fixed[3]
	if string(fixed[:2]) != gzipMagic {
		return corrupt("found %x at the start of a member, expected %x", fixed[:2], gzipMagic)
	}
	if method != 8 {
		return corrupt("found compression method %d, expected 8 (deflate)", method)
	}
	if flags&gzipReserved != 0 {
		return corrupt("found reserved header flags %#x", flags&gzipReserved)
	}
	if flags&gzipExtra != 0 {
		if err := h.skipExtra(); err != nil {
			return err
		}
	}
	for _, text := range []byte{gzipName, gzipComment} {
		if flags&text != 0 {
			if err := h.skipText(); err != nil {
				return err
			}
		}
	}
	if flags&gzipHeaderCRC != 0 {
		return h.check()
	}
	return nil
}

func (h *gzipHeader) read(p []byte) error {
	_, err := io.ReadFull(h.in, p)
	h.sum = crc32.Update(h.sum, crc32.IEEETable, p)
	return err
}

// skipExtra reads a field of up to 65,535 bytes after its length.
func (h *gzipHeader) skipExtra() error {
	var length [2]byte
	if err := h.read(length[:]); err != nil {
		return err
	}
	return h.read(make([]byte, binary.LittleEndian.Uint16(length[:])))
}

// skipText reads up to a zero, however far that is.
func (h *gzipHeader) skipText() error {
	for {
		if _, err := h.in.Peek(1); err != nil {
			return err
		}
		text, err := h.in.Peek(h.in.Buffered())
		if err != nil {
			return err
		}
		end := bytes.IndexByte(text, 0) + 1
		if end > 0 {
			text = text[:end]
		}
		h.sum = crc32.Update(h.sum, crc32.IEEETable, text)
		if _, err := h.in.Discard(len(text)); err != nil || end > 0 {
			return err
		}
	}
}

// check compares the sum with the field that ends the header, its lower 16 bits.
func (h *gzipHeader) check() error {
	found := uint16(h.sum)
	var field [2]byte
	if err := h.read(field[:]); err != nil {
		return err
	}
	if expected := binary.LittleEndian.Uint16(field[:]); found != expected {
		return corrupt("found a header with the checksum %04x, expected %04x", found, expected)
	}
	return nil
}
