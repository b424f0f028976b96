package parquet

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go/format"
)

// byteValues are the values of a page that are bytes of any size. What next returns is valid until the next call.
type byteValues interface {
	next() ([]byte, error)
}

// newBytes reads the values in src of a page of BYTE_ARRAY.
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
		return nil, unsupported("", "write the file with other encodings", "found values of the encoding %s, which is not read for bytes", p.encoding)
	}
}

// plainBytes are PLAIN: each value after its length.
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

// indexedBytes are indices into a dictionary.
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

// lengthBytes are DELTA_LENGTH_BYTE_ARRAY: all lengths, then all bytes.
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

// deltaBytes are DELTA_BYTE_ARRAY: how many bytes each value has in common with the one before it, then the others.
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
