package parquet

import (
	"encoding/binary"
	"math"
)

// delta reads DELTA_BINARY_PACKED integers: the first one, then blocks of differences from one to the next, bit-packed after the block's least difference was
// taken away (see Encodings.md of the Parquet format).
type delta struct {
	src      []byte // what follows the current miniblock
	perMini  int    // values of a miniblock
	minis    int    // miniblocks of a block
	left     int    // values left, the current one included
	last     int64  // the value that comes next, if the first has not been taken
	started  bool
	least    int64
	widths   []byte // of the block's miniblocks that are left
	bits     []byte // of the current miniblock
	width    int
	at, have int // differences taken of the current miniblock, and those there are
}

func newDelta(src []byte) (*delta, error) {
	d := &delta{src: src}
	block, minis, count := d.uvarint(), d.uvarint(), d.uvarint()
	d.last = d.varint()
	if d.src == nil || minis == 0 || block > math.MaxInt32 || block%minis != 0 || (block/minis)%8 != 0 || block == 0 || count > math.MaxInt32 {
		return nil, damaged("the header of delta-encoded values is damaged")
	}
	d.perMini, d.minis, d.left = int(block/minis), int(minis), int(count)
	return d, nil
}

// uvarint is the next number; src is nil once there is none.
func (d *delta) uvarint() uint64 {
	v, n := binary.Uvarint(d.src)
	if n <= 0 {
		d.src = nil
		return 0
	}
	d.src = d.src[n:]
	return v
}

func (d *delta) varint() int64 {
	v := d.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// mini starts the next miniblock.
func (d *delta) mini() error {
	if len(d.widths) == 0 {
		d.least = d.varint()
		if d.src == nil || len(d.src) < d.minis {
			return damaged("delta-encoded values end too early")
		}
		d.widths, d.src = d.src[:d.minis], d.src[d.minis:]
	}
	d.width, d.widths = int(d.widths[0]), d.widths[1:]
	size := int64(d.perMini) / 8 * int64(d.width)
	if d.width > 64 || size > int64(len(d.src)) {
		return damaged("delta-encoded values end too early")
	}
	d.bits, d.src = d.src[:size:size], d.src[size:]
	d.at, d.have = 0, d.perMini
	return nil
}

// next is the next value.
func (d *delta) next() (int64, error) {
	if d.left == 0 {
		return 0, damaged("delta-encoded values end too early")
	}
	d.left--
	if !d.started {
		d.started = true
		return d.last, nil
	}
	if d.at == d.have {
		if err := d.mini(); err != nil {
			return 0, err
		}
	}
	d.last += d.least + int64(bitsAt(d.bits, d.at*d.width, d.width))
	d.at++
	return d.last, nil
}

// bitsAt is the number of width bits, up to 64, that begins at bit at.
func bitsAt(p []byte, at, width int) uint64 {
	if width == 0 {
		return 0
	}
	p, shift := p[at/8:], at%8
	v := word(p) >> shift
	if shift+width > 64 {
		v |= uint64(p[8]) << (64 - shift)
	}
	return v & (math.MaxUint64 >> (64 - width))
}

// end is what follows the values. None of them may have been taken.
func (d *delta) end() ([]byte, error) {
	rest := *d
	for left := d.left - 1; left > 0; left -= rest.perMini {
		if err := rest.mini(); err != nil {
			return nil, err
		}
	}
	return rest.src, nil
}
