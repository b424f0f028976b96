package parquet

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go/format"
)

// plainDictionary is the name of RLE_DICTIONARY in data pages, and of PLAIN in dictionary pages, in
// files of older programs.
const plainDictionary format.Encoding = 2

// A dictionary has the values to which the indices of a chunk refer. It does not change.
type dictionary struct {
	n        int
	size     int      // bytes of an element
	table    []byte   // the elements, padded to 256 entries, so that translate can index it with any byte
	invalid  []uint64 // a bit for each entry: its value does not fit, an error only if it is used; nil if all fit
	element  *element // of encoded
	encoded  []byte   // the values as in the file, if they are byte arrays or some are invalid
	identity bool     // entry i is the number i, for all numbers of 8 or 16 bits
	starts   []uint32 // for byte arrays, instead of table: offset in encoded of the length before entry i
}

// footprint returns the number of bytes that d occupies.
func (d *dictionary) footprint() int64 {
	if d == nil {
		return 0
	}
	return int64(len(d.table) + len(d.encoded) + 8*len(d.invalid) + 4*len(d.starts))
}

// newDictionary returns a dictionary of n PLAIN values.
func newDictionary(l *leaf, src []byte, n int) (*dictionary, error) {
	d := &dictionary{n: n}
	if l.isByteArray() {
		values := &plainBytes{src}
		d.encoded, d.starts = src, make([]uint32, 0, min(n, len(src)/4)) // each entry begins with its length, 4 bytes
		for range n {
			d.starts = append(d.starts, uint32(len(src)-len(values.src)))
			if _, err := values.next(); err != nil {
				return nil, err
			}
		}
		return d, nil
	}
	e := &l.element
	if l.kind() == format.Boolean || e.width == 0 || n > len(src)/e.width {
		return nil, damaged("found a dictionary of %d values in %d bytes", n, len(src))
	}
	d.size = e.size
	d.table = make([]byte, max(n, 256)*e.size)
	for from := 0; from < n; from++ {
		i := e.fill(d.table[from*e.size:n*e.size], src[from*e.width:n*e.width])
		if i < 0 {
			break
		}
		if from += i; d.invalid == nil {
			d.invalid, d.element, d.encoded = make([]uint64, n/64+1), e, src
		}
		d.invalid[from/64] |= 1 << (from % 64)
	}
	d.identity = d.isIdentity()
	return d, nil
}

// value returns entry i of a dictionary of byte arrays, without its length.
func (d *dictionary) value(i uint32) []byte {
	start := d.starts[i]
	return d.encoded[start+4:][:binary.LittleEndian.Uint32(d.encoded[start:])]
}

func (d *dictionary) isIdentity() bool {
	if d.invalid != nil || d.size > 2 || d.n != 1<<(8*d.size) {
		return false
	}
	for i := range d.n {
		if d.size == 1 && d.table[i] != byte(i) || d.size == 2 && binary.LittleEndian.Uint16(d.table[2*i:]) != uint16(i) {
			return false
		}
	}
	return true
}

// newIndices returns the indices of p, which are encoded in src: a byte with their width in bits,
// then runs.
func newIndices(p *page, src []byte) (runs, error) {
	if p.dictionary == nil {
		return runs{}, damaged("found indices into a dictionary, but no dictionary before them")
	}
	if len(src) == 0 {
		return runs{}, nil // a page without values may omit the width; if values are read, runs.next returns an error
	}
	if src[0] > 32 {
		return runs{}, damaged("found indices of %d bits, expected at most 32", src[0])
	}
	return runs{src: src[1:], width: int(src[0])}, nil
}

// indexedValues decodes indices into a dictionary of elements.
type indexedValues struct {
	indices    runs
	dictionary *dictionary
	unpacked   []uint32
}

func (v *indexedValues) read(dst []byte) error {
	d, r := v.dictionary, &v.indices
	for done := 0; len(dst) > 0; {
		if err := r.next(); err != nil {
			return err
		}
		n := min(r.left, len(dst)/d.size)
		var err error
		switch {
		case !r.packed:
			err = d.repeat(dst[:n*d.size], r.value)
			r.advance(n)
		case r.width == 8 && d.size == 1:
			err = d.translate(dst[:n], r.bits[r.pos:r.pos+n])
			r.advance(n)
		case d.identity && r.width == 8*d.size:
			copy(dst[:n*d.size], r.bits[r.pos*d.size:])
			r.advance(n)
		default:
			n = min(n, blockValues)
			err = v.gather(dst[:n*d.size], n)
		}
		if err != nil {
			return shifted(err, done)
		}
		dst, done = dst[n*d.size:], done+n
	}
	return nil
}

// offset returns the offset of entry i in the table.
func (d *dictionary) offset(i uint32) (int, error) {
	if int64(i) >= int64(d.n) {
		return 0, damaged("found index %d, expected one of the dictionary's %d", i, d.n)
	}
	if d.invalid != nil && d.invalid[i/64]>>(i%64)&1 == 1 {
		return 0, &rangeError{0, d.element.number.Text(d.encoded[int(i)*d.element.width:][:d.element.width])}
	}
	return int(i) * d.size, nil
}

// repeat fills dst with entry i.
func (d *dictionary) repeat(dst []byte, i uint32) error {
	offset, err := d.offset(i)
	if err != nil {
		return err
	}
	n := copy(dst, d.table[offset:offset+d.size])
	for n < len(dst) {
		n += copy(dst[n:], dst[:n])
	}
	return nil
}

// translate converts 8-bit indices to 8-bit elements: the hot path of pixels.
func (d *dictionary) translate(dst, indices []byte) error {
	if d.identity {
		copy(dst, indices)
		return nil
	}
	table := (*[256]byte)(d.table)
	if d.n >= 256 && d.invalid == nil {
		for i, index := range indices {
			dst[i] = table[index]
		}
		return nil
	}
	for i, index := range indices {
		if int(index) >= d.n || d.invalid != nil {
			if _, err := d.offset(uint32(index)); err != nil {
				return shifted(err, i)
			}
		}
		dst[i] = table[index]
	}
	return nil
}

// gather unpacks n indices and fills dst with their entries.
func (v *indexedValues) gather(dst []byte, n int) error {
	if v.unpacked == nil {
		v.unpacked = make([]uint32, blockValues)
	}
	d := v.dictionary
	v.indices.unpack(v.unpacked[:n])
	for i, index := range v.unpacked[:n] {
		offset, err := d.offset(index)
		if err != nil {
			return shifted(err, i)
		}
		if d.size == 1 {
			dst[i] = d.table[offset]
		} else {
			copy(dst[i*d.size:], d.table[offset:offset+d.size])
		}
	}
	return nil
}

// shifted adds delta to the index in err if it is a *rangeError.
func shifted(err error, delta int) error {
	if m, ok := err.(*rangeError); ok {
		m.index += delta
	}
	return err
}
