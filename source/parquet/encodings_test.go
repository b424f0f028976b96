package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// An encoded is the values of a page, worked out by hand after Encodings.md of the Parquet format.
type encoded struct {
	kind     format.Type
	encoding format.Encoding
	width    int    // bytes of a value of a fixed number of bytes
	dict     string // the dictionary's PLAIN values, and how many they are
	entries  int
	src      string
	values   string // PLAIN, without lengths
	count    int
}

// encodings are pages of every encoding that is read.
var encodings = map[string]encoded{
	"plain integers":       {kind: format.Int32, src: "\x01\x00\x00\x00\xff\xff\xff\xff", values: "\x01\x00\x00\x00\xff\xff\xff\xff", count: 2},
	"plain truth values":   {kind: format.Boolean, src: "\x05\x01", values: "\x01\x00\x01\x00\x00\x00\x00\x00\x01", count: 9},
	"runs of truth values": {kind: format.Boolean, encoding: format.RLE, src: "\x04\x00\x00\x00\x06\x01\x04\x00", values: "\x01\x01\x01\x00\x00", count: 5},
	// 7 5 3 1 2 3 4 5, as there: blocks of 8 in 1 miniblock, 8 values, the first 7; least difference −2; differences 0 0 0 3 3 3 3 of 2 bits.
	"differences": {kind: format.Int32, encoding: format.DeltaBinaryPacked, src: "\x08\x01\x08\x0e\x03\x02\xc0\x3f", count: 8,
		values: "\x07\x00\x00\x00\x05\x00\x00\x00\x03\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00\x04\x00\x00\x00\x05\x00\x00\x00"},
	// 1 2 3 4 5, as there: all differences are the least, so they take no bits.
	"differences of 8 bytes": {kind: format.Int64, encoding: format.DeltaBinaryPacked, src: "\x08\x01\x03\x02\x02\x00", count: 3,
		values: "\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00"},
	"split bytes": {kind: format.Float, encoding: format.ByteStreamSplit, src: "\xaa\x00\xbb\x11\xcc\x22\xdd\x33", values: "\xaa\xbb\xcc\xdd\x00\x11\x22\x33", count: 2},
	// The prefixes' lengths 0 and 1, the suffixes' lengths 2 and 1, the suffixes.
	"common beginnings of fixed size": {kind: format.FixedLenByteArray, encoding: format.DeltaByteArray, width: 2, values: "abac", count: 2,
		src: "\x08\x01\x02\x00\x02\x00" + "\x08\x01\x02\x04\x01\x00" + "abc"},
	"common beginnings": {kind: format.ByteArray, encoding: format.DeltaByteArray, values: "abac", count: 2, src: "\x08\x01\x02\x00\x02\x00" + "\x08\x01\x02\x04\x01\x00" + "abc"},
	"lengths first":     {kind: format.ByteArray, encoding: format.DeltaLengthByteArray, values: "abc", count: 2, src: "\x08\x01\x02\x04\x01\x00" + "abc"},
	"plain bytes":       {kind: format.ByteArray, src: "\x02\x00\x00\x00ab\x01\x00\x00\x00c", values: "abc", count: 2},
	// Indices of 2 bits: a run of two 1, then a packed group that begins with 0 and 1.
	"indices": {kind: format.Int32, encoding: format.RLEDictionary, dict: "\x05\x00\x00\x00\x06\x00\x00\x00", entries: 2, src: "\x02\x04\x01\x03\x04\x00", count: 4,
		values: "\x06\x00\x00\x00\x06\x00\x00\x00\x05\x00\x00\x00\x06\x00\x00\x00"},
	"indices of bytes": {kind: format.ByteArray, encoding: format.RLEDictionary, dict: "\x02\x00\x00\x00ab\x01\x00\x00\x00c", entries: 2, src: "\x02\x04\x01\x03\x04\x00", count: 4,
		values: "ccabc"},
}

// decode reads the values of a page by the readers that pages get, as many as e counts.
func (e encoded) decode() ([]byte, error) {
	l := &leaf{node: kindNode(e.kind)}
	switch e.kind {
	case format.Boolean:
		l.element = numberElement(source.NumberBool8, idx.Uint8)
	case format.Int64, format.Double:
		l.element = bytesElement(8)
	case format.FixedLenByteArray:
		l.element = bytesElement(e.width)
	default:
		l.element = bytesElement(4)
	}
	p := &page{pageHeader: pageHeader{encoding: e.encoding}}
	if e.dict != "" {
		var err error
		if p.dictionary, err = newDictionary(l, []byte(e.dict), e.entries); err != nil {
			return nil, err
		}
	}
	if e.kind != format.ByteArray {
		values, err := newFixed(&l.element, e.kind, p, []byte(e.src))
		if err != nil {
			return nil, err
		}
		dst := make([]byte, e.count*l.element.size)
		return dst, values.read(dst)
	}
	values, err := newBytes(p, []byte(e.src))
	if err != nil {
		return nil, err
	}
	var all []byte
	for range e.count {
		value, err := values.next()
		if err != nil {
			return nil, err
		}
		all = append(all, value...)
	}
	return all, nil
}

// TestEncodings reads pages of every encoding, and refuses them cut at any byte: no value is made up.
func TestEncodings(t *testing.T) {
	t.Parallel()
	for name, e := range encodings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if found, err := e.decode(); err != nil || !bytes.Equal(found, []byte(e.values)) {
				t.Errorf("found % x and %v, expected % x", found, err, e.values)
			}
			cut := e
			for n := range e.src {
				if e.encoding == format.RLEDictionary && n == len(e.src)-1 {
					continue // the page has more values in its last group than are asked for, whose end writers may leave out
				}
				cut.src = e.src[:n]
				if found, err := cut.decode(); !errors.Is(err, fault.Malformed) {
					t.Errorf("cut at byte %d: found % x and %v, expected %v", n, found, err, fault.Malformed)
				}
			}
		})
	}
}

// TestRefusedEncodings reads pages that claim what cannot be.
func TestRefusedEncodings(t *testing.T) {
	t.Parallel()
	huge := string(binary.AppendUvarint(nil, math.MaxInt32+1))
	for name, c := range map[string]struct {
		change func(e *encoded)
		base   string
		err    error
		want   string
	}{
		"index behind a dictionary":          {func(e *encoded) { e.src = "\x02\x04\x02" }, "indices", fault.Malformed, "index 2, expected one of the dictionary's 2"},
		"packed index behind a dictionary":   {func(e *encoded) { e.src = "\x02\x03\xff\xff" }, "indices", fault.Malformed, "index 3, expected"},
		"index behind a dictionary of bytes": {func(e *encoded) { e.src = "\x02\x04\x02" }, "indices of bytes", fault.Malformed, "index 2, expected one of the dictionary's 2"},
		"indices of 33 bits":                 {func(e *encoded) { e.src = "\x21\x04\x02" }, "indices", fault.Malformed, "33 bits"},
		"byte indices of 33 bits":            {func(e *encoded) { e.src = "\x21\x04\x02" }, "indices of bytes", fault.Malformed, "33 bits"},
		"no dictionary":                      {func(e *encoded) { e.dict = "" }, "indices", fault.Malformed, "no dictionary before them"},
		"too small a dictionary":             {func(e *encoded) { e.entries = 3 }, "indices", fault.Malformed, "a dictionary of 3 values in 8 bytes"},
		"too small a dictionary of bytes":    {func(e *encoded) { e.entries = 3 }, "indices of bytes", fault.Malformed, "end too early"},
		"run of 2³¹":                         {func(e *encoded) { e.src = "\x02" + string(binary.AppendUvarint(nil, 1<<32)) + "\x01" }, "indices", fault.Malformed, "end too early"},
		"differences of 65 bits":             {func(e *encoded) { e.src = strings.Replace(e.src, "\x02\xc0\x3f", "\x41"+strings.Repeat("\xff", 65), 1) }, "differences", fault.Malformed, "end too early"},
		"no miniblocks":                      {func(e *encoded) { e.src = "\x08\x00" + e.src[2:] }, "differences", fault.Malformed, "header of delta-encoded values"},
		"blocks of none":                     {func(e *encoded) { e.src = "\x00" + e.src[1:] }, "differences", fault.Malformed, "header of delta-encoded values"},
		"miniblocks of 4":                    {func(e *encoded) { e.src = "\x08\x02" + e.src[2:] }, "differences", fault.Malformed, "header of delta-encoded values"},
		"blocks of 2³¹":                      {func(e *encoded) { e.src = huge + e.src[1:] }, "differences", fault.Malformed, "header of delta-encoded values"},
		"2³¹ values":                         {func(e *encoded) { e.src = e.src[:2] + huge + e.src[3:] }, "differences", fault.Malformed, "header of delta-encoded values"},
		"fewer differences than values":      {func(e *encoded) { e.count = 9 }, "differences", fault.Malformed, "end too early"},
		"negative length":                    {func(e *encoded) { e.src = "\x08\x01\x02\x03\x01\x00" + "abc" }, "lengths first", fault.Malformed, "end too early"},
		"beginning of nothing":               {func(e *encoded) { e.src = "\x08\x01\x02\x02" + e.src[4:] }, "common beginnings", fault.Malformed, "end too early"},
		"negative beginning":                 {func(e *encoded) { e.src = "\x08\x01\x02\x01" + e.src[4:] }, "common beginnings", fault.Malformed, "end too early"},
		"value of another size":              {func(e *encoded) { e.width = 3 }, "common beginnings of fixed size", fault.Malformed, "a value of 2 bytes, expected 3"},
		"plain bytes of 4 GiB":               {func(e *encoded) { e.src = "\xff\xff\xff\xff" + e.src[4:] }, "plain bytes", fault.Malformed, "end too early"},
		"bytes in split":                     {func(e *encoded) { e.encoding = format.ByteStreamSplit }, "plain bytes", fault.Unsupported, "BYTE_STREAM_SPLIT"},
		"integers in runs":                   {func(e *encoded) { e.encoding = format.RLE }, "plain integers", fault.Unsupported, "RLE"},
		"floats as differences":              {func(e *encoded) { e.encoding = format.DeltaBinaryPacked }, "split bytes", fault.Unsupported, "DELTA_BINARY_PACKED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, ok := encodings[c.base]
			if !ok {
				t.Fatalf("no encoding %s", c.base)
			}
			c.change(&e)
			if found, err := e.decode(); !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("found % x and %v, expected %q", found, err, c.want)
			}
		})
	}
}
