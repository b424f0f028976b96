package parquet

import (
	"encoding/binary"
	"slices"

	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/columnar"
)

// errValuesEnd returns the error for a page with fewer values than its header says.
func errValuesEnd() error { return damaged("the values of a page end too early") }

// texts are byte arrays: value i is between the end of the one before it, plus gap, and ends[i].
type texts struct {
	data []byte
	ends []uint32
	gap  uint32
}

func (t *texts) at(i int) []byte {
	start := t.gap
	if i > 0 {
		start += t.ends[i-1]
	}
	return t.data[start:t.ends[i]]
}

// plainTexts returns n PLAIN byte arrays: each value follows its length, 4 bytes.
func plainTexts(src []byte, n int) (texts, error) {
	t := texts{src, make([]uint32, 0, min(n, len(src)/4)), 4}
	for end := 0; len(t.ends) < n; t.ends = append(t.ends, uint32(end)) {
		if len(src)-end < 4 {
			return t, errValuesEnd()
		}
		size := int64(binary.LittleEndian.Uint32(src[end:]))
		if end += 4; size > int64(len(src)-end) {
			return t, errValuesEnd()
		}
		end += int(size)
	}
	return t, nil
}

// plainDictionary is the name of RLE_DICTIONARY in data pages, and of PLAIN in dictionary pages, in
// files of older programs.
const plainDictionary format.Encoding = 2

// indexes reports whether the values are indices into the dictionary.
func (p *page) indexes() bool {
	return p.encoding == format.RLEDictionary || p.encoding == plainDictionary
}

// decodePlain decodes the values of c to PLAIN, unless they are indices into the dictionary.
func (p *page) decodePlain(c *content) (err error) {
	n, width := p.entries, p.width
	switch kind, e := p.Type.V, p.encoding; {
	case p.indexes():
		c.indices.runs, err = p.newIndices(c.values)
	case kind == format.ByteArray && e == format.Plain:
		c.texts, err = plainTexts(c.values, n)
	case kind == format.ByteArray && e == format.DeltaLengthByteArray:
		c.texts, err = deltaLengths(c.values, n)
	case kind == format.ByteArray && e == format.DeltaByteArray:
		c.texts, err = deltaTexts(c.values, n, freeSize+maxRatio*len(c.values))
	case kind == format.Boolean && e == format.Plain:
		c.values, err = truths(runs{width: 1, packed: true, bits: c.values, left: 8 * len(c.values)}, n)
	case kind == format.Boolean && e == format.RLE && len(c.values) >= 4:
		c.values, err = truths(runs{width: 1, src: c.values[4:]}, n) // the runs follow their length
	case e == format.Plain:
	case (kind == format.Int32 || kind == format.Int64) && e == format.DeltaBinaryPacked:
		c.values, err = deltaNumbers(c.values, n, width)
	case kind == format.FixedLenByteArray && e == format.DeltaByteArray:
		c.texts, err = deltaTexts(c.values, n, n*width)
		for i := 0; i < n && err == nil; i++ {
			if found := len(c.texts.at(i)); found != width {
				err = damaged("found a value of %d bytes, expected %d", found, width)
			}
		}
		c.values = c.texts.data
	case kind != format.Boolean && width > 0 && e == format.ByteStreamSplit:
		c.values = join(c.values, width)
	case kind == format.Boolean && e == format.RLE:
		err = errValuesEnd()
	default:
		return unsupported("", "write the file with other encodings",
			"found values of the encoding %s, which is not supported for %s", e, kind)
	}
	if err == nil && width > 0 && !p.indexes() && len(c.values) < n*width {
		err = errValuesEnd()
	}
	return err
}

// truths returns n values of r, which are 0 or 1, as bytes.
func truths(r runs, n int) ([]byte, error) {
	data := make([]byte, n)
	for i := range data {
		v, err := r.one()
		if err != nil {
			return nil, errValuesEnd()
		}
		data[i] = byte(v)
	}
	return data, nil
}

// join decodes BYTE_STREAM_SPLIT: the first bytes of all values, then the second bytes, and so on.
func join(src []byte, width int) []byte {
	n := len(src) / width
	data := make([]byte, n*width)
	for k := range width {
		for i, b := range src[k*n:][:n] {
			data[i*width+k] = b
		}
	}
	return data
}

// decode calls f with n values of c, the first of which has the index from.
func (p *page) decode(c *content, dst []byte, from, n int, f func(columnar.Values) error) (err error) {
	var v columnar.Values
	encoded := p.indexes()
	switch width := p.width; {
	case p.empty():
	case encoded && width == 0:
		indices, err := p.indices(c.indices.at(from), n)
		if err != nil {
			return err
		}
		v.Value = func(i int) []byte { return p.dictionary.texts.at(int(indices[i])) }
	case width == 0:
		v.Value = func(i int) []byte { return c.texts.at(from + i) }
	case encoded:
		v.Number = p.dictionary.number
		v.Data, err = p.indexed(dst, c.indices.at(from), n)
	default:
		if v.Data = c.values[from*width:][:n*width]; p.dtype != 0 {
			v.Number = p.stored
		}
	}
	if err != nil {
		return err
	}
	return f(v)
}

// A dictionary has the values to which the indices of a chunk refer.
type dictionary struct {
	n      int
	held   size
	texts  texts             // byte arrays
	size   int               // or bytes of an element
	number source.NumberKind // of the elements; NoNumber: they have the type of the column, or are records
	table  []byte            // the elements, padded to 256 entries so that any byte is an index
}

// newDictionary returns a dictionary of n PLAIN values. A value that does not fit the type of the
// column is an error only if it is used: if there is one, the elements are not converted yet.
func (l *leaf) newDictionary(src []byte, n int) (d *dictionary, err error) {
	d = &dictionary{n: n, size: l.element}
	width := l.width
	if l.Type.V == format.ByteArray {
		d.texts, err = plainTexts(src, n)
		return d, err
	}
	if l.Type.V == format.Boolean || width == 0 || n > len(src)/width {
		return nil, damaged("found a dictionary of %d values in %d bytes", n, len(src))
	}
	d.table = make([]byte, max(n, 256)*d.size)
	if number := l.stored; l.dtype == 0 || number.Is(l.dtype) {
		copy(d.table, src[:n*width])
	} else if bad, _ := number.Convert(d.table, l.dtype, src, n); bad >= 0 {
		d.number, d.size, d.table = number, width, src
		return d, nil
	}
	return d, nil
}

// newIndices returns the runs of indices in src: a byte with their width in bits, then runs.
func (p *page) newIndices(src []byte) (runs, error) {
	switch {
	case p.dictionary == nil:
		return runs{}, damaged("found indices into a dictionary, but no dictionary before them")
	case len(src) == 0:
		return runs{}, errValuesEnd()
	case src[0] > 32:
		return runs{}, damaged("found indices of %d bits, expected at most 32", src[0])
	}
	return runs{src: src[1:], width: int(src[0])}, nil
}

// errIndex returns the error for an index behind the dictionary.
func (d *dictionary) errIndex(i uint32) error {
	return damaged("found index %d, expected one of the dictionary's %d", i, d.n)
}

// indices returns the next n indices of r.
func (p *page) indices(r runs, n int) ([]uint32, error) {
	all := make([]uint32, n)
	for left := all; len(left) > 0; {
		if err := r.next(); err != nil {
			return nil, err
		}
		k := min(r.left, len(left))
		r.unpack(left[:k])
		if largest := slices.Max(left[:k]); int64(largest) >= int64(p.dictionary.n) {
			return nil, p.dictionary.errIndex(largest)
		}
		left = left[k:]
	}
	return all, nil
}

// indexed returns the elements that the next n indices of r refer to. They are in dst, unless it is
// nil or the elements are to be converted.
func (p *page) indexed(dst []byte, r runs, n int) ([]byte, error) {
	d, size := p.dictionary, p.dictionary.size
	if dst == nil || d.number != source.NoNumber {
		dst = make([]byte, n*size)
	}
	data := dst[:n*size]
	var unpacked [512]uint32
	for dst := data; len(dst) > 0; {
		if err := r.next(); err != nil {
			return nil, err
		}
		n := min(r.left, len(dst)/size)
		switch {
		case r.packed && r.width == 8 && size == 1: // the hot path of pixels
			largest, table := byte(0), (*[256]byte)(d.table)
			for i, index := range r.bits[r.pos : r.pos+n] {
				dst[i], largest = table[index], max(largest, index)
			}
			if r.advance(n); int(largest) >= d.n {
				return nil, d.errIndex(uint32(largest))
			}
		case !r.packed:
			if int64(r.value) >= int64(d.n) {
				return nil, d.errIndex(r.value)
			}
			repeat(dst[:n*size], d.table[int(r.value)*size:][:size])
			r.advance(n)
		default:
			n = min(n, len(unpacked))
			r.unpack(unpacked[:n])
			if largest := slices.Max(unpacked[:n]); int64(largest) >= int64(d.n) {
				return nil, d.errIndex(largest)
			}
			for i, index := range unpacked[:n] {
				copy(dst[i*size:(i+1)*size], d.table[int(index)*size:])
			}
		}
		dst = dst[n*size:]
	}
	return data, nil
}

// repeat fills dst with copies of value.
func repeat(dst, value []byte) {
	for n := copy(dst, value); n < len(dst); {
		n += copy(dst[n:], dst[:n])
	}
}
