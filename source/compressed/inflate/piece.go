package inflate

import (
	"encoding/binary"
	"sync/atomic"
)

// A piece is a part of the stream that is decoded before the data that precedes it is known. It
// begins with the first block found after from, and ends between two blocks.
type piece struct {
	decoder
	from, to int // bits of the segment: the search begins at bit from; blocks that begin at bit to or after it belong to the next piece

	// start is the bit where the first block begins, or -1. It may be read once found is closed.
	start int
	found chan struct{}

	// end is the bit where the last block ends, and units are the decoded blocks. They may be
	// read once done is closed.
	end   int
	units []byte
	done  chan struct{}

	unwanted atomic.Bool // stops the decoding at the next block
}

// newPiece returns a piece with room for about the given number of units. Eight units for each
// compressed byte are enough for images, which have two to six. A piece with more units ends
// early, or is useless if it is a single block.
func newPiece(units int) *piece {
	p := new(piece)
	p.out = make([]byte, 2*(maxDistance+units+outputSlack))
	p.shift = 1
	p.limit = 2 * (maxDistance + units)
	putMarkers(p.out)
	return p
}

// prepare makes p a piece between two bits of a segment.
func (p *piece) prepare(from, to int) {
	p.from, p.to = from, to
	p.start, p.end, p.units = -1, 0, nil
	p.found, p.done = make(chan struct{}), make(chan struct{})
	p.unwanted.Store(false)
}

// run decodes the piece of data, once a helper is free. Any error makes the piece shorter or
// useless.
func (p *piece) run(data []byte, helpers chan struct{}) {
	defer close(p.done)
	helpers <- struct{}{}
	defer func() { <-helpers }()
	p.search(data)
	if p.start >= 0 {
		p.decode(data)
	}
}

// search sets start.
func (p *piece) search(data []byte) {
	defer close(p.found)
	defer func() {
		if recover() != nil {
			p.start = -1
		}
	}()
	if !p.unwanted.Load() {
		p.start = p.find(data, p.from, p.to)
	}
}

// decode sets end and units to the whole blocks before any error.
func (p *piece) decode(data []byte) {
	defer func() { recover() }()
	const first = 2 * maxDistance
	p.startAt(data, p.start)
	p.written = first
	for p.written <= p.limit {
		if p.state == atHeader {
			p.end, p.units = p.bit(), p.out[first:p.written]
			if p.end >= p.to || p.unwanted.Load() {
				return
			}
		}
		if err := p.step(); err != nil || p.final {
			return
		}
	}
}

// usable reports whether the piece is long enough: the data after it may copy from its last 32 KiB.
func (p *piece) usable() bool { return len(p.units) >= 2*maxDistance }

// A unit is a byte of data, or, if it was copied from before the piece, marker plus the index of
// the byte in the 32 KiB there. Symbols take two bytes, little-endian.
const marker = 1 << 15

// fourMarkers are the marker bits of four units.
const fourMarkers = marker | marker<<16 | marker<<32 | marker<<48

// putMarkers writes the units for the 32 KiB before a piece.
func putMarkers(out []byte) {
	for i := range maxDistance {
		binary.LittleEndian.PutUint16(out[2*i:], uint16(marker|i))
	}
}

// meanings has the byte of every unit; units between 256 and marker do not occur.
type meanings [2 * marker]byte

// setBytes sets the meanings of the units without a marker.
func (m *meanings) setBytes() {
	for i := range 256 {
		m[i] = byte(i)
	}
}

// markers returns the meanings of the units with a marker: the 32 KiB before the piece.
func (m *meanings) markers() []byte { return m[marker:] }

// resolve writes the bytes of units to dst, until one of them ends, and returns their number.
//
// Most groups of 16 units have no marker: packing their bytes takes half the time of looking up
// each of them.
func (m *meanings) resolve(dst, units []byte) int {
	n := min(len(dst), len(units)/2)
	dst, units = dst[:n], units[:2*n]
	for len(dst) >= 16 && len(units) >= 32 {
		d, s := dst[:16:16], units[:32:32]
		v0, v1 := binary.LittleEndian.Uint64(s), binary.LittleEndian.Uint64(s[8:])
		v2, v3 := binary.LittleEndian.Uint64(s[16:]), binary.LittleEndian.Uint64(s[24:])
		if (v0|v1|v2|v3)&fourMarkers == 0 {
			binary.LittleEndian.PutUint64(d, pack(v0)|pack(v1)<<32)
			binary.LittleEndian.PutUint64(d[8:], pack(v2)|pack(v3)<<32)
		} else {
			m.four(d, v0)
			m.four(d[4:], v1)
			m.four(d[8:], v2)
			m.four(d[12:], v3)
		}
		dst, units = dst[16:], units[32:]
	}
	for i := range dst {
		dst[i] = m[binary.LittleEndian.Uint16(units[2*i:])]
	}
	return n
}

// pack returns the bytes of four units without markers.
func pack(v uint64) uint64 {
	v |= v >> 8
	return v&0xffff | v>>16&0xffff0000
}

// four translates the four units of v.
func (m *meanings) four(dst []byte, v uint64) {
	_ = dst[3]
	dst[0], dst[1], dst[2], dst[3] = m[uint16(v)], m[uint16(v>>16)], m[uint16(v>>32)], m[v>>48]
}
