package parquet

import (
	"encoding/binary"
	"math"

	"github.com/parquet-go/parquet-go/format"
)

// byteValues iterates over the values of a page of byte arrays. The result of next is valid until
// the next call.
type byteValues interface {
	next() ([]byte, error)
}

// newBytes returns the values of p, a page of BYTE_ARRAY, which are encoded in src.
func newBytes(p *page, src []byte) (byteValues, error) {
	switch p.encoding {
	case format.Plain:
		return &plainBytes{src}, nil
	case format.RLEDictionary, plainDictionary:
		indices, err := newIndices(p, src)
		if err != nil {
			return nil, err
		}
		return &indexedBytes{indices, p.dictionary}, nil
	case format.DeltaLengthByteArray:
		return newLengthBytes(src)
	case format.DeltaByteArray:
		return newDeltaBytes(src)
	default:
		return nil, unsupported("", "write the file with other encodings", "found values of the encoding %s, which is not supported for bytes", p.encoding)
	}
}

// plainBytes decodes PLAIN byte arrays: each value follows its length.
type plainBytes struct{ src []byte }

func (v *plainBytes) next() ([]byte, error) {
	if len(v.src) < 4 {
		return nil, errValuesEnd()
	}
	n := int64(binary.LittleEndian.Uint32(v.src))
	if n > int64(len(v.src)-4) {
		return nil, errValuesEnd()
	}
	value := v.src[4 : 4+n]
	v.src = v.src[4+n:]
	return value, nil
}

// indexedBytes decodes indices into a dictionary of byte arrays.
type indexedBytes struct {
	indices    runs
	dictionary *dictionary
}

func (v *indexedBytes) next() ([]byte, error) {
	i, err := v.indices.one()
	if err != nil {
		return nil, err
	}
	if int64(i) >= int64(len(v.dictionary.starts)) {
		return nil, damaged("found index %d, expected one of the dictionary's %d", i, v.dictionary.n)
	}
	return v.dictionary.value(i), nil
}

// lengthBytes decodes DELTA_LENGTH_BYTE_ARRAY: all lengths, then all values.
type lengthBytes struct {
	lengths *delta
	src     []byte
}

func newLengthBytes(src []byte) (*lengthBytes, error) {
	lengths, err := newDelta(src)
	if err != nil {
		return nil, err
	}
	rest, err := lengths.end()
	return &lengthBytes{lengths, rest}, err
}

func (v *lengthBytes) next() ([]byte, error) {
	n, err := v.lengths.next()
	if err != nil {
		return nil, err
	}
	if n < 0 || n > int64(len(v.src)) {
		return nil, errValuesEnd()
	}
	value := v.src[:n]
	v.src = v.src[n:]
	return value, nil
}

// deltaBytes decodes DELTA_BYTE_ARRAY: each value shares a prefix with the previous one. All prefix
// lengths are stored first, then the suffixes.
type deltaBytes struct {
	prefixes *delta
	suffixes *lengthBytes
	value    []byte
}

func newDeltaBytes(src []byte) (*deltaBytes, error) {
	prefixes, err := newDelta(src)
	if err != nil {
		return nil, err
	}
	rest, err := prefixes.end()
	if err != nil {
		return nil, err
	}
	suffixes, err := newLengthBytes(rest)
	return &deltaBytes{prefixes: prefixes, suffixes: suffixes}, err
}

func (v *deltaBytes) next() ([]byte, error) {
	prefix, err := v.prefixes.next()
	if err != nil {
		return nil, err
	}
	suffix, err := v.suffixes.next()
	if err != nil {
		return nil, err
	}
	if prefix < 0 || prefix > int64(len(v.value)) {
		return nil, errValuesEnd()
	}
	v.value = append(v.value[:prefix], suffix...)
	return v.value, nil
}

// delta decodes DELTA_BINARY_PACKED integers: the first one, then blocks of differences between
// neighbours. A block has its smallest difference, and then each difference minus the smallest,
// bit-packed (see Encodings.md of the Parquet format).
type delta struct {
	src        []byte // the bytes after the current miniblock
	perMini    int    // values per miniblock
	minis      int    // miniblocks per block
	left       int    // values left
	last       int64  // the previous value; before started is set, the first one
	started    bool
	minDelta   int64
	widths     []byte // of the remaining miniblocks of the block
	bits       []byte // of the current miniblock
	width      int
	pos, count int // index of the next difference in the current miniblock, and their number
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

// uvarint reads a number. If src has none, uvarint sets src to nil.
func (d *delta) uvarint() uint64 {
	v, n := binary.Uvarint(d.src)
	if n <= 0 {
		d.src = nil
		return 0
	}
	d.src = d.src[n:]
	return v
}

func (d *delta) varint() int64 { return zigzag(d.uvarint()) }

// nextMini starts the next miniblock.
func (d *delta) nextMini() error {
	if len(d.widths) == 0 {
		d.minDelta = d.varint()
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
	d.pos, d.count = 0, d.perMini
	return nil
}

func (d *delta) next() (int64, error) {
	if d.left == 0 {
		return 0, damaged("delta-encoded values end too early")
	}
	d.left--
	if !d.started {
		d.started = true
		return d.last, nil
	}
	if d.pos == d.count {
		if err := d.nextMini(); err != nil {
			return 0, err
		}
	}
	d.last += d.minDelta + int64(bitsAt(d.bits, d.pos*d.width, d.width))
	d.pos++
	return d.last, nil
}

// bitsAt returns width bits of p, at most 64, starting at bit off.
func bitsAt(p []byte, off, width int) uint64 {
	if width == 0 {
		return 0
	}
	p, shift := p[off/8:], off%8
	v := word(p) >> shift
	if shift+width > 64 {
		v |= uint64(p[8]) << (64 - shift)
	}
	return v & (math.MaxUint64 >> (64 - width))
}

// end returns the bytes after the last value. It must be called before next.
func (d *delta) end() ([]byte, error) {
	rest := *d
	for left := d.left - 1; left > 0; left -= rest.perMini {
		if err := rest.nextMini(); err != nil {
			return nil, err
		}
	}
	return rest.src, nil
}
