package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	pqdelta "github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/columnar"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sourcetest"
)

// An encoded has the values of a page, encoded by hand after Encodings.md of the Parquet format.
type encoded struct {
	kind     format.Type
	encoding format.Encoding
	width    int    // bytes of a value of a fixed number of bytes
	dict     string // the PLAIN values of the dictionary, and their number
	entries  int
	src      string
	values   string // PLAIN, without lengths
	count    int
}

// encodings are pages of every supported encoding.
var encodings = map[string]encoded{
	"plain integers":       {kind: format.Int32, src: "\x01\x00\x00\x00\xff\xff\xff\xff", values: "\x01\x00\x00\x00\xff\xff\xff\xff", count: 2},
	"plain truth values":   {kind: format.Boolean, src: "\x05\x01", values: "\x01\x00\x01\x00\x00\x00\x00\x00\x01", count: 9},
	"runs of truth values": {kind: format.Boolean, encoding: format.RLE, src: "\x04\x00\x00\x00\x06\x01\x04\x00", values: "\x01\x01\x01\x00\x00", count: 5},
	// 7 5 3 1 2 3 4 5, as there: blocks of 8 in 1 miniblock, 8 values, the first 7; least
	// difference −2; differences 0 0 0 3 3 3 3 of 2 bits.
	"differences": {kind: format.Int32, encoding: format.DeltaBinaryPacked, src: "\x08\x01\x08\x0e\x03\x02\xc0\x3f", count: 8,
		values: "\x07\x00\x00\x00\x05\x00\x00\x00\x03\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00\x04\x00\x00\x00\x05\x00\x00\x00"},
	// 1 2 3 4 5, as there: all differences are the least, so they take no bits.
	"differences of 8 bytes": {kind: format.Int64, encoding: format.DeltaBinaryPacked, src: "\x08\x01\x03\x02\x02\x00", count: 3,
		values: "\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00"},
	"split bytes": {kind: format.Float, encoding: format.ByteStreamSplit, src: "\xaa\x00\xbb\x11\xcc\x22\xdd\x33", values: "\xaa\xbb\xcc\xdd\x00\x11\x22\x33", count: 2},
	"plain bytes": {kind: format.ByteArray, src: "\x02\x00\x00\x00ab\x01\x00\x00\x00c", values: "abc", count: 2},
	// Indices of 2 bits: a run of two 1, then a packed group that begins with 0 and 1.
	"indices": {kind: format.Int32, encoding: format.RLEDictionary, dict: "\x05\x00\x00\x00\x06\x00\x00\x00", entries: 2, src: "\x02\x04\x01\x03\x04\x00", count: 4,
		values: "\x06\x00\x00\x00\x06\x00\x00\x00\x05\x00\x00\x00\x06\x00\x00\x00"},
	"indices of bytes": {kind: format.ByteArray, encoding: format.RLEDictionary, dict: "\x02\x00\x00\x00ab\x01\x00\x00\x00c", entries: 2, src: "\x02\x04\x01\x03\x04\x00", count: 4,
		values: "ccabc"},
}

// decode decodes the values of a page, as a whole or in pieces of n.
func (e encoded) decode(n int) (all []byte, err error) {
	p := &page{stream: stream{leaf: kindLeaf(e.kind, e.width)}, encoding: e.encoding, entries: e.count}
	p.file.r = strings.NewReader(e.src + "x")
	p.header = &format.PageHeader{UncompressedPageSize: int32(len(e.src)), CompressedPageSize: int32(len(e.src))}
	p.content = sync.OnceValues(p.open)
	if e.kind == format.Boolean {
		e.dict, e.entries = string(truths), len(truths)
	}
	if e.dict != "" {
		if p.dictionary, err = p.newDictionary([]byte(e.dict), e.entries); err != nil {
			return nil, err
		}
	}
	for from := 0; from < e.count; from += n {
		n := min(n, e.count-from)
		err := p.use(nil, from, n, func(v columnar.Values) error {
			for i := 0; v.Value != nil && i < n; i++ {
				v.Data = append(v.Data, v.Value(i)...)
			}
			all = append(all, v.Data...)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// TestEncodings decodes pages of every encoding, and refuses them cut at any byte.
func TestEncodings(t *testing.T) {
	t.Parallel()
	for name, e := range encodings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 1; n <= e.count; n++ {
				if found, err := e.decode(n); err != nil || !bytes.Equal(found, []byte(e.values)) {
					t.Errorf("in pieces of %d: found % x and %v, expected % x", n, found, err, e.values)
				}
			}
			cut := e
			for n := range e.src {
				if e.encoding == format.RLEDictionary && n == len(e.src)-1 {
					continue // writers may omit the unused end of the last group
				}
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
	for name, c := range map[string]struct {
		change func(e *encoded)
		base   string
		err    error
		want   string
	}{
		"index behind a dictionary":          {func(e *encoded) { e.src = "\x02\x04\x02" }, "indices", fault.Malformed, "index 2, expected one of the dictionary's 2"},
		"packed index behind a dictionary":   {func(e *encoded) { e.src = "\x02\x03\xff\xff" }, "indices", fault.Malformed, "index 3, expected"},
		"index behind a dictionary of bytes": {func(e *encoded) { e.src = "\x02\x04\x02" }, "indices of bytes", fault.Malformed, "index 2, expected one of the dictionary's 2"},
		"indices of 33 bits":                 {func(e *encoded) { e.src = "\x21\x04\x02" }, "indices", fault.Malformed, "at most 32 bits"},
		"byte indices of 33 bits":            {func(e *encoded) { e.src = "\x21\x04\x02" }, "indices of bytes", fault.Malformed, "at most 32 bits"},
		"no dictionary":                      {func(e *encoded) { e.dict = "" }, "indices", fault.Malformed, "without a dictionary"},
		"too small a dictionary":             {func(e *encoded) { e.entries = 3 }, "indices", fault.Malformed, "a dictionary of 3 values in 8 bytes"},
		"too small a dictionary of bytes":    {func(e *encoded) { e.entries = 3 }, "indices of bytes", fault.Malformed, "end too early"},
		"run of 2³¹":                         {func(e *encoded) { e.src = "\x02" + string(binary.AppendUvarint(nil, 1<<32)) + "\x01" }, "indices", fault.Malformed, "end too early"},
		"differences of 65 bits":             {func(e *encoded) { e.src = strings.Replace(e.src, "\x02\xc0\x3f", "\x41"+strings.Repeat("\xff", 65), 1) }, "differences", fault.Malformed, "end too early"},
		"no miniblocks":                      {func(e *encoded) { e.src = "\x08\x00" + e.src[2:] }, "differences", fault.Malformed, "header of delta-encoded values"},
		"blocks of none":                     {func(e *encoded) { e.src = "\x00" + e.src[1:] }, "differences", fault.Malformed, "header of delta-encoded values"},
		"miniblocks of 4":                    {func(e *encoded) { e.src = "\x08\x02" + e.src[2:] }, "differences", fault.Malformed, "header of delta-encoded values"},
		"blocks of 2³¹":                      {func(e *encoded) { e.src = huge + e.src[1:] }, "differences", fault.Malformed, "header of delta-encoded values"},
		"2³¹ values":                         {func(e *encoded) { e.src = e.src[:2] + huge + e.src[3:] }, "differences", fault.Malformed, "of 8 values"},
		"fewer differences than values":      {func(e *encoded) { e.count = 9 }, "differences", fault.Malformed, "of 9 values"},
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
			if found, err := e.decode(e.count); !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("found % x and %v, expected %q", found, err, c.want)
			}
		})
	}
}

// TestRuns decodes, in pieces, runs of all widths encoded by parquet-go.
func TestRuns(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for width := 1; width <= 31; width++ {
		values := make([]int32, 2000)
		for i := range values {
			if values[i] = random.Int32() & int32(uint32(1)<<width-1); i > 0 && random.IntN(50) > 0 && i/300%2 == 0 {
				values[i] = values[i-1]
			}
		}
		encoded := must.Get((&rle.Encoding{BitWidth: width}).EncodeInt32(nil, values))(t)
		r := runs{src: encoded, width: width}
		for i, expected := range values {
			if found, err := r.one(); err != nil || int32(found) != expected {
				t.Fatalf("width %d, value %d: found %d and %v, expected %d", width, i, found, err, expected)
			}
		}
	}
}

// TestMatch finds the first differing level at any position, in rows of bit-packed and of repeated
// levels.
func TestMatch(t *testing.T) {
	t.Parallel()
	for _, shape := range [][]int{{1}, {3}, {784}, {28, 28}, {3, 2, 2}} {
		row := repetitions(shape)
		l := &leaf{node: &node{maxRepetition: len(shape)}}
		l.expect(row, 0)
		levels := bytes.Repeat(row, 7+2*len(l.pattern)/len(row)) // longer than the pattern twice
		for at := 0; at <= len(levels); at += 1 + len(levels)/200 {
			wrong := append(bytes.Clone(levels), 0)
			wrong[at] ^= 1
			r := runs{src: must.Get((&rle.Encoding{BitWidth: 2}).EncodeLevels(nil, wrong))(t), width: 2}
			if found, _, err := r.match(l.pattern, 0, len(levels)); err != nil || found != at {
				t.Fatalf("%v: found the difference at %d and %v, expected %d", shape, found, err, at)
			}
		}
	}
}

// TestDelta decodes differences of all sizes encoded by parquet-go.
func TestDelta(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for width := range 65 {
		for _, n := range []int{1, 2, 32, 33, 129, 1000} {
			values := make([]int64, n)
			for i := range values {
				if width > 0 {
					values[i] = int64(random.Uint64() >> (64 - width))
				}
			}
			encoded := must.Get(new(pqdelta.BinaryPackedEncoding).EncodeInt64(nil, values))(t)
			var expected []byte
			for _, v := range values {
				expected = binary.LittleEndian.AppendUint64(expected, uint64(v))
			}
			if found, err := deltas(encoded, n, 8); err != nil || !bytes.Equal(found, expected) {
				t.Fatalf("width %d, %d values: found % x and %v, expected %d", width, n, found, err, values)
			}
		}
	}
}

// TestSplitRows reads lists that continue in the next page, as version 1 allows: rows of 4 elements
// in pages of 1 to 9.
func TestSplitRows(t *testing.T) {
	t.Parallel()
	const rows = 23
	var pixels []byte
	for i := range 4 * rows {
		pixels = append(pixels, byte(i*37))
	}
	for size := 1; size <= 9; size++ {
		file := splitFile(t, pixels, size, -1)
		for _, n := range []int{1, 3, 1000} {
			got := must.Get(fromBytes(file, source.ReadOptions{}))(t)
			sourcetest.Expect(t, got, n, []source.Column{{Name: "x0", DType: idx.Uint8, Shape: []int{4}}}, [][]byte{pixels})
		}
		for skip := range int64(rows) {
			got, err := fromBytes(file, source.ReadOptions{})
			if err == nil {
				err = got.(source.Seeker).Skip(skip)
			}
			if err != nil {
				t.Fatal(err)
			}
			sourcetest.Expect(t, got, 5, got.Columns(), [][]byte{pixels[4*skip:]})
		}
	}
	for size := 1; size <= 9; size++ {
		for _, bad := range []int{0, 3, 7, 44} {
			if _, err := read(t, splitFile(t, pixels, size, bad), 5); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("row %d, ", bad/4)) {
				t.Errorf("pages of %d: found %v, expected one about row %d", size, err, bad/4)
			}
		}
	}
	file := splitFile(t, pixels[:len(pixels)-1], 5, -1)
	if _, err := read(t, file, 5); err == nil || !strings.Contains(err.Error(), "row 22") {
		t.Errorf("found the error %v, expected one about row 22, which is short", err)
	}
}

// splitFile returns a Parquet file of lists of 4 pixels, in pages of size elements. The element
// with index bad does not fit.
func splitFile(t *testing.T, pixels []byte, size, bad int) []byte {
	t.Helper()
	var pages [][]byte
	for from := 0; from < len(pixels); from += size {
		to := min(from+size, len(pixels))
		var levels []byte
		for i := from; i < to; i++ {
			levels = append(levels, 2, min(1, byte(i%4))) // a run of one level
		}
		body := append(binary.LittleEndian.AppendUint32(nil, uint32(len(levels))), levels...)
		body = append(binary.LittleEndian.AppendUint32(body, 2), byte(2*(to-from)), 1)
		for i, v := range pixels[from:to] {
			value := uint32(v)
			if from+i == bad {
				value += 256
			}
			body = binary.LittleEndian.AppendUint32(body, value)
		}
		pages = append(pages, dataPage(t, to-from, len(body), body))
	}
	return columnsOf(t, format.Repeated, format.Uncompressed, (len(pixels)+3)/4, len(pixels), 1, pages...)
}
