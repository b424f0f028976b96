package parquet

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// An element describes the conversion of a leaf's values to the elements of a column.
type element struct {
	width  int  // bytes of a value in PLAIN pages, or 1 for booleans
	size   int  // bytes of an element
	same   bool // values and elements have the same bytes
	number source.NumberKind
	dtype  idx.DType
}

// bytesElement is for values of n bytes that are not converted.
func bytesElement(n int) element { return element{width: n, size: n, same: true} }

// numberElement is for numbers that PLAIN pages store as n and that are converted to d.
func numberElement(n source.NumberKind, d idx.DType) element {
	return element{width: n.Size(), size: d.Size(), same: n.Is(d), number: n, dtype: d}
}

// fill converts src into dst. It returns the index of the first value that does not fit, or −1.
func (e *element) fill(dst, src []byte) int {
	if e.same {
		copy(dst, src)
		return -1
	}
	bad, _ := e.number.Convert(dst, e.dtype, src, 0, len(src)/e.width)
	return bad
}

// fillChecked is fill, but returns a *rangeError for the first value that does not fit.
func (e *element) fillChecked(dst, src []byte) error {
	if i := e.fill(dst, src); i >= 0 {
		return &rangeError{i, e.number.Text(src[i*e.width:])}
	}
	return nil
}

// fixedValues iterates over the values of a page whose values have a fixed size.
type fixedValues interface {
	// read converts the next values and fills dst with them. For a value that does not fit it
	// returns a *rangeError.
	read(dst []byte) error
}

// errValuesEnd returns the error for a page with fewer values than its header says.
func errValuesEnd() error { return damaged("the values of a page end too early") }

// plainValues decodes PLAIN values of a fixed size.
type plainValues struct {
	element *element
	src     []byte
}

func (v *plainValues) read(dst []byte) error {
	n := len(dst) / v.element.size * v.element.width
	if n > len(v.src) {
		return errValuesEnd()
	}
	src := v.src[:n]
	v.src = v.src[n:]
	return v.element.fillChecked(dst, src)
}

// blockValues is the maximum number of values that are decoded, and then converted, at a time.
const blockValues = 512

// decodedValues decodes values of other encodings to PLAIN, and then converts them.
type decodedValues struct {
	element *element
	decode  func(raw []byte) error // fills raw with PLAIN values, or a byte for each boolean
	raw     []byte
}

func (v *decodedValues) read(dst []byte) error {
	e := v.element
	for done := 0; len(dst) > 0; {
		n := min(len(dst)/e.size, max(1, blockValues/max(1, e.width/8)))
		if len(v.raw) < n*e.width {
			v.raw = make([]byte, n*e.width)
		}
		raw := v.raw[:n*e.width]
		if err := v.decode(raw); err != nil {
			return err
		}
		if err := e.fillChecked(dst[:n*e.size], raw); err != nil {
			return shifted(err, done)
		}
		dst, done = dst[n*e.size:], done+n
	}
	return nil
}

// newFixed returns the values of the page p, which are encoded in src. kind is their physical type.
func newFixed(e *element, kind format.Type, p *page, src []byte) (fixedValues, error) {
	switch encoding := p.encoding; {
	case encoding == format.RLEDictionary || encoding == plainDictionary:
		indices, err := newIndices(p, src)
		if err != nil {
			return nil, err
		}
		return &indexedValues{indices: indices, dictionary: p.dictionary}, nil
	case kind == format.Boolean && encoding == format.Plain:
		return booleans(e, runs{width: 1, packed: true, bits: src, left: 8 * len(src)}), nil
	case kind == format.Boolean && encoding == format.RLE:
		if len(src) < 4 {
			return nil, errValuesEnd()
		}
		return booleans(e, runs{src: src[4:], width: 1}), nil // the runs follow their length
	case encoding == format.Plain:
		return &plainValues{e, src}, nil
	case encoding == format.DeltaBinaryPacked && (kind == format.Int32 || kind == format.Int64):
		d, err := newDelta(src)
		if err != nil {
			return nil, err
		}
		return &decodedValues{element: e, decode: func(raw []byte) error { return decodeDelta(d, raw, e.width) }}, nil
	case encoding == format.ByteStreamSplit && kind != format.Boolean:
		return &decodedValues{element: e, decode: splitDecoder(src, e.width)}, nil
	case encoding == format.DeltaByteArray && kind == format.FixedLenByteArray:
		b, err := newDeltaBytes(src)
		if err != nil {
			return nil, err
		}
		return &decodedValues{element: e, decode: func(raw []byte) error { return decodeFixed(b, raw, e.width) }}, nil
	default:
		return nil, unsupported("", "write the file with other encodings", "found values of the encoding %s, which is not supported for %s", encoding, kind)
	}
}

func decodeDelta(d *delta, raw []byte, width int) error {
	for i := 0; i < len(raw); i += width {
		v, err := d.next()
		if err != nil {
			return err
		}
		if width == 4 {
			binary.LittleEndian.PutUint32(raw[i:], uint32(v))
		} else {
			binary.LittleEndian.PutUint64(raw[i:], uint64(v))
		}
	}
	return nil
}

// booleans decodes booleans of one bit each.
func booleans(e *element, r runs) fixedValues {
	return &decodedValues{element: e, decode: func(raw []byte) error {
		for i := range raw {
			v, err := r.one()
			if err != nil {
				return err
			}
			raw[i] = byte(v)
		}
		return nil
	}}
}

// decodeFixed fills raw with byte arrays, which must all have width bytes.
func decodeFixed(b byteValues, raw []byte, width int) error {
	for i := 0; i < len(raw); i += width {
		value, err := b.next()
		if err != nil {
			return err
		}
		if len(value) != width {
			return damaged("found a value of %d bytes, expected %d", len(value), width)
		}
		copy(raw[i:], value)
	}
	return nil
}

// splitDecoder decodes BYTE_STREAM_SPLIT: the first bytes of all values, then the second bytes, and
// so on.
func splitDecoder(src []byte, width int) func(raw []byte) error {
	count, next := len(src)/width, 0
	return func(raw []byte) error {
		n := len(raw) / width
		if next+n > count {
			return errValuesEnd()
		}
		for k := range width {
			stream := src[k*count+next:][:n]
			for i, b := range stream {
				raw[i*width+k] = b
			}
		}
		next += n
		return nil
	}
}
