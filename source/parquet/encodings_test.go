package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source/columnar"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
)

// An encoded has the values of a page, encoded by hand after Encodings.md of the Parquet format.
type encoded struct {
	kind     format.Type
	encoding format.Encoding
	count    int
	src      string
	values   string    // PLAIN, without lengths
	dict     string    // the PLAIN values of the dictionary, and their number
	entries  int       //
	dtype    idx.DType // of the column
}

// kindLeaf returns a leaf with one value of a physical type in each row.
func kindLeaf(kind format.Type) *leaf {
	l := &leaf{file: &file{}, node: &node{SchemaElement: &format.SchemaElement{Type: thrift.New(kind)}}}
	l.setNumbers()
	l.expect([]byte{0}, 0)
	return l
}

const (
	plain, lengths = format.Plain, "\x02\x00\x00\x00ab\x01\x00\x00\x00c"
	threeInt64     = "\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00"
	eightInt32     = "\x07\x00\x00\x00\x05\x00\x00\x00\x03\x00\x00\x00\x01\x00\x00\x00" +
		"\x02\x00\x00\x00\x03\x00\x00\x00\x04\x00\x00\x00\x05\x00\x00\x00"
)

// encodings are pages of every supported encoding.
var encodings = map[string]encoded{
	"plain integers": {format.Int32, plain, 8, eightInt32, eightInt32, "", 0, 0},
	"truth values":   {format.Boolean, plain, 9, "\x05\x01", "\x01\x00\x01\x00\x00\x00\x00\x00\x01", "\x00\x01", 2, 0},
	"runs of truth values": {format.Boolean, format.RLE, 5, "\x04\x00\x00\x00\x06\x01\x04\x00", "\x01\x01\x01\x00\x00",
		"\x00\x01", 2, 0},
	// 7 5 3 1 2 3 4 5, as there: blocks of 8 in 1 miniblock, 8 values, the first 7; least
	// difference −2; differences 0 0 0 3 3 3 3 of 2 bits.
	"differences": {format.Int32, format.DeltaBinaryPacked, 8, "\x08\x01\x08\x0e\x03\x02\xc0\x3f", eightInt32, "", 0, 0},
	// 1 2 3, as there: all differences are the least, so they take no bits.
	"equal differences": {format.Int64, format.DeltaBinaryPacked, 3, "\x08\x01\x03\x02\x02\x00", threeInt64, "", 0, 0},
	"split bytes": {format.Float, format.ByteStreamSplit, 2, "\xaa\x00\xbb\x11\xcc\x22\xdd\x33",
		"\xaa\xbb\xcc\xdd\x00\x11\x22\x33", "", 0, 0},
	"plain bytes": {format.ByteArray, plain, 2, lengths, "abc", "", 0, 0},
	// Indices of 2 bits: a run of two 1, then a packed group that begins with 0 and 1.
	"indices": {format.Int32, format.RLEDictionary, 4, "\x02\x04\x01\x03\x04\x00",
		"\x05\x00\x00\x00\x05\x00\x00\x00\x07\x00\x00\x00\x05\x00\x00\x00", eightInt32[:8], 2, 0},
	"indices of bytes": {format.ByteArray, format.RLEDictionary, 4, "\x02\x04\x01\x03\x04\x00", "ccabc", lengths, 2, 0},
	// Integers that are kept as the first of uint8, int16 and int32 that holds them.
	"bytes": {format.Int64, plain, 2, threeInt64[:16], "\x01\x02", "", 0, idx.Int32},
	"shorts": {format.Int64, plain, 2, "\xff\xff\xff\xff\xff\xff\xff\xff\x2c\x01\x00\x00\x00\x00\x00\x00",
		"\xff\xff\x2c\x01", "", 0, idx.Int32},
	"integers": {format.Int64, plain, 1, "\x01\x02\x03\x04\x00\x00\x00\x00", "\x01\x02\x03\x04", "", 0, idx.Uint8},
	"too many": {format.Int64, plain, 1, "\x01\x02\x03\x04\x05\x00\x00\x00", "\x01\x02\x03\x04\x05\x00\x00\x00", "",
		0, idx.Int32},
}

// decode decodes the values of a page, as a whole or in pieces of n.
func (e encoded) decode(n int) (all []byte, err error) {
	p := &page{stream: stream{leaf: kindLeaf(e.kind)}, encoding: e.encoding, entries: e.count}
	p.dtype, p.file.r = e.dtype, strings.NewReader(e.src+"x")
	p.header = &format.PageHeader{UncompressedPageSize: int32(len(e.src)), CompressedPageSize: int32(len(e.src))}
	p.content = sync.OnceValues(p.open)
	if e.dict != "" {
		if p.dictionary, err = p.newDictionary([]byte(e.dict), e.entries); err != nil {
			return nil, err
		}
	}
	for from := 0; from < e.count && err == nil; from += n {
		n := min(n, e.count-from)
		err = p.use(nil, from, n, func(v columnar.Values) error {
			for i := range n {
				all = append(all, v.At(i, n)...)
			}
			return nil
		})
	}
	return all, err
}

// TestEncodings decodes pages of every encoding, and refuses them cut at any byte.
func TestEncodings(t *testing.T) {
	t.Parallel()
	for name, e := range encodings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 1; n <= e.count; n++ {
				if found, err := e.decode(n); err != nil || string(found) != e.values {
					t.Errorf("in pieces of %d: found % x and %v, expected % x", n, found, err, e.values)
				}
			}
			for n := range e.src {
				if e.encoding == format.RLEDictionary && n == len(e.src)-1 {
					continue // writers may omit the unused end of the last group
				}
				cut := e
				cut.src = e.src[:n]
				if found, err := cut.decode(e.count); !errors.Is(err, fault.Malformed) {
					t.Errorf("cut at byte %d: found % x and %v, expected %v", n, found, err, fault.Malformed)
				}
			}
		})
	}
}

// TestRefusedEncodings decodes pages with impossible sizes.
func TestRefusedEncodings(t *testing.T) {
	t.Parallel()
	huge := string(binary.AppendUvarint(nil, math.MaxInt32+1))
	wide := "\x08\x01\x08\x0e\x03\x41" + strings.Repeat("\xff", 65)
	for _, c := range []struct{ base, src, want string }{
		{"indices", "\x02\x04\x02", "index 2, expected one of the dictionary's 2"},
		{"indices", "\x02\x03\xff\xff", "index 3, expected"},
		{"indices of bytes", "\x02\x04\x02", "index 2, expected"},
		{"indices", "\x21\x04\x02", "at most 32 bits"},
		{"indices", "\x02" + string(binary.AppendUvarint(nil, 1<<32)) + "\x01", "end too early"}, // a run of 2³¹
		{"differences", wide, "end too early"},                                                   // 65 bits
		{"differences", "\x08\x00\x08\x0e\x03\x02\xc0\x3f", "header of delta"},                   // no miniblocks
		{"differences", "\x00\x01\x08\x0e\x03\x02\xc0\x3f", "header of delta"},                   // blocks of none
		{"differences", "\x08\x02\x08\x0e\x03\x02\xc0\x3f", "header of delta"},                   // miniblocks of 4
		{"differences", huge + "\x01\x08\x0e\x03\x02\xc0\x3f", "header of delta"},
		{"differences", "\x08\x01" + huge + "\x0e\x03\x02\xc0\x3f", "that of 8 values"},
		{"plain bytes", "\xff\xff\xff\xff" + lengths, "end too early"},
	} {
		e := encodings[c.base]
		e.src = c.src
		if found, err := e.decode(e.count); !errors.Is(err, fault.Malformed) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s % x: found % x and %v, expected %q", c.base, c.src, found, err, c.want)
		}
	}
	e := encodings["indices"]
	for e.dict, e.entries = range map[string]int{"": 0, eightInt32[:8]: 3} {
		if _, err := e.decode(4); !errors.Is(err, fault.Malformed) {
			t.Errorf("a dictionary of %d values in %d bytes: found %v", e.entries, len(e.dict), err)
		}
	}
	for base, encoding := range map[string]format.Encoding{"plain bytes": format.ByteStreamSplit,
		"plain integers": format.RLE, "split bytes": format.DeltaBinaryPacked, "truth values": format.RLEDictionary} {
		e := encodings[base]
		e.encoding = encoding
		if _, err := e.decode(e.count); !errors.Is(err, fault.Unsupported) {
			t.Errorf("%s in %s: found %v, expected %v", base, encoding, err, fault.Unsupported)
		}
	}
}

// TestRuns decodes runs of all widths encoded by parquet-go.
func TestRuns(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for width := 1; width <= 31; width++ {
		values := make([]int32, 2000)
		for i := range values {
			values[i] = random.Int32() & int32(uint32(1)<<width-1)
			if i > 0 && random.IntN(50) > 0 && i/300%2 == 0 {
				values[i] = values[i-1]
			}
		}
		r := runs{src: must.Get((&rle.Encoding{BitWidth: width}).EncodeInt32(nil, values))(t), width: width}
		for i, expected := range values {
			if found, err := r.one(); err != nil || int32(found) != expected {
				t.Fatalf("width %d, value %d: found %d and %v, expected %d", width, i, found, err, expected)
			}
		}
	}
}

// TestDeltas decodes differences of all sizes encoded by parquet-go.
func TestDeltas(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for width := range 65 {
		for _, n := range []int{1, 2, 32, 33, 129, 1000} {
			values := make([]int64, n)
			var expected []byte
			for i := range values {
				if width > 0 {
					values[i] = int64(random.Uint64() >> (64 - width))
				}
				expected = binary.LittleEndian.AppendUint64(expected, uint64(values[i]))
			}
			encoded := must.Get(new(delta.BinaryPackedEncoding).EncodeInt64(nil, values))(t)
			if found, err := deltas(encoded, n, 8); err != nil || !bytes.Equal(found, expected) {
				t.Fatalf("width %d, %d values: found % x and %v, expected % x", width, n, found, err, expected)
			}
		}
	}
}
