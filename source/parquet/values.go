package parquet

import (
	"cmp"
	"slices"

	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/columnar"
)

// errEnd is the error for a page with fewer values, levels or indices than its header says.
var errEnd = columnar.Damaged("the values or levels of a page end too early")

// plainTexts returns n PLAIN byte arrays: each value follows its length, 4 bytes.
func plainTexts(src []byte, n int) ([][]byte, error) {
	texts, c := make([][]byte, 0, min(n, len(src)/4)), cursor{data: src}
	for len(texts) < n && c.err == nil {
		texts = append(texts, c.take(word(c.take(4))))
	}
	if c.err != nil {
		return nil, errEnd
	}
	return texts, nil
}

// plainDictionary is what older programs call RLE_DICTIONARY in data pages, PLAIN in dictionaries.
const plainDictionary format.Encoding = 2

// indexes reports whether the values are indices into the dictionary, as truth values always are.
func (p *page) indexes() bool {
	return p.encoding == format.RLEDictionary || p.encoding == plainDictionary || p.Type.V == format.Boolean
}

// decodeValues decodes the values of the page to c: to PLAIN, unless they are indices.
func (p *page) decodeValues(c *content, src []byte) (err error) {
	n, e := p.entries, p.encoding
	switch kind := p.Type.V; {
	case kind == format.Boolean && e == format.Plain:
		c.indices = runs{width: 1, packed: true, bits: src, left: 8 * len(src)}
	case kind == format.Boolean && e == format.RLE: // the runs follow their length
		c.indices = runs{width: 1, src: src[min(4, len(src)):]}
	case kind != format.Boolean && p.indexes(): // the runs follow their width
		if p.dictionary == nil || len(src) == 0 || src[0] > 32 {
			return columnar.Damaged("found indices without a dictionary, or without a width of at most 32 bits")
		}
		c.indices = runs{src: src[1:], width: int(src[0])}
	case kind == format.ByteArray && e == format.Plain:
		c.texts, err = plainTexts(src, n)
	case (kind == format.Int32 || kind == format.Int64) && e == format.DeltaBinaryPacked:
		c.values, err = deltas(src, n, p.width)
	case kind != format.Boolean && p.width > 0 && e == format.ByteStreamSplit: // first bytes, second bytes, …
		c.values = make([]byte, len(src)/p.width*p.width)
		source.SwapAxes(c.values, src, p.width, len(src)/p.width, 1)
	case e == format.Plain:
		c.values = src
	default:
		return columnar.Unsupported("write the file with other encodings, such as those of pyarrow's defaults",
			"found values of the encoding %s, which is not supported for %s", e, kind)
	}
	if err != nil || p.indexes() || p.width == 0 {
		return err
	} else if len(c.values) < n*p.width {
		return errEnd
	}
	if c.values = c.values[:n*p.width]; p.dtype != 0 {
		c.number = p.stored
		p.narrow(c)
	}
	return nil
}

// narrow stores integers in fewer bytes if they fit: 785 columns may have 785 pages of a megabyte.
func (p *page) narrow(c *content) {
	for _, k := range [...]source.NumberKind{source.NumberUint8, source.NumberInt16, source.NumberInt32} {
		if p.maxRepetition > 0 || !p.stored.Integer() || k.Size() >= p.width {
			return
		}
		values := make([]byte, p.entries*k.Size())
		if bad := p.stored.Convert(values, k.DType(), c.values, p.entries); bad < 0 {
			c.values, c.number = values, k
			return
		}
	}
}

func (p *page) use(dst []byte, from, n int, f func(columnar.Values) error) (err error) {
	defer func() { err = fault.Place(err, p.column(), p.rowOf(from), p.offset) }()
	c, err := p.content()
	if err != nil {
		return err
	}
	var v columnar.Values
	switch {
	case p.empty():
	case p.indexes() && p.width == 0:
		texts := make([][]byte, n)
		r := c.at(from)
		for i := range texts {
			index, err := r.one()
			if err := cmp.Or(err, p.dictionary.check(index)); err != nil {
				return err
			}
			texts[i] = p.dictionary.texts[index]
		}
		v.Value = func(i int) []byte { return texts[i] }
	case p.width == 0:
		v.Value = func(i int) []byte { return c.texts[from+i] }
	case p.indexes():
		v.Number = p.dictionary.number
		v.Data, err = p.indexed(dst, c.at(from), n)
	default:
		size := len(c.values) / p.entries
		v.Number, v.Data = c.number, c.values[from*size:][:n*size]
	}
	if err != nil {
		return err
	}
	return f(v)
}

// A dictionary has the values to which the indices of a chunk refer.
type dictionary struct {
	n      int
	held   int64 // bytes
	texts  [][]byte
	size   int               // of an element, in bytes
	number source.NumberKind // of the elements; NoNumber: they have the type of the column, or are records
	table  []byte            // the elements, and 256 bytes so that any byte is an index
}

// newDictionary returns a dictionary of n PLAIN values. A value that does not fit the type of the
// column is an error only if it is used: if there is one, the elements are not converted yet.
func (s *stream) newDictionary(src []byte, n int) (d *dictionary, err error) {
	d = &dictionary{n: n, size: s.width, held: s.held}
	switch {
	case s.Type.V == format.ByteArray:
		d.texts, err = plainTexts(src, n)
		return d, err
	case d.size == 0 || n > len(src)/d.size:
		return nil, columnar.Damaged("found a dictionary of %d values in %d bytes", n, len(src))
	case s.dtype == 0 || s.stored.Is(s.dtype):
		d.table = append(src[:n*d.size:n*d.size], make([]byte, 256)...)
		return d, nil
	}
	d.size, d.table = s.dtype.Size(), make([]byte, n*s.dtype.Size()+256)
	if bad := s.stored.Convert(d.table, s.dtype, src, n); bad >= 0 {
		d.size, d.number, d.table = s.width, s.stored, src
	}
	return d, nil
}

// check refuses an index behind the dictionary.
func (d *dictionary) check(i int) error {
	if uint(i) >= uint(d.n) {
		return columnar.Damaged("found index %d, expected one of the dictionary's %d", i, d.n)
	}
	return nil
}

// indexed returns the elements of the next n indices of r, in dst if they need not be converted.
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
			if err := d.check(int(largest)); err != nil {
				return nil, err
			}
			r.advance(n)
		case !r.packed:
			if err := d.check(int(r.value)); err != nil {
				return nil, err
			}
			run := dst[:n*size]
			for done := copy(run, d.table[int(r.value)*size:][:size]); done < len(run); {
				done += copy(run[done:], run[:done])
			}
			r.advance(n)
		default:
			n = min(n, len(unpacked))
			r.unpack(unpacked[:n])
			if err := d.check(int(slices.Max(unpacked[:n]))); err != nil {
				return nil, err
			}
			for i, index := range unpacked[:n] {
				copy(dst[i*size:(i+1)*size], d.table[int(index)*size:])
			}
		}
		dst = dst[n*size:]
	}
	return data, nil
}
