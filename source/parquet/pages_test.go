package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/internal/fault"
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
	count    int
	src      string
	values   string    // PLAIN, without lengths
	dict     string    // the PLAIN values of the dictionary, and their number
	entries  int       //
	dtype    idx.DType // of the column
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
	"deltas": {format.Int32, format.DeltaBinaryPacked, 8, "\x08\x01\x08\x0e\x03\x02\xc0\x3f", eightInt32, "", 0, 0},
	// 1 2 3, as there: all differences are the least, so they take no bits.
	"equal differences": {format.Int64, format.DeltaBinaryPacked, 3, "\x08\x01\x03\x02\x02\x00", threeInt64, "", 0, 0},
	"split bytes": {format.Float, format.ByteStreamSplit, 2, "\xaa\x00\xbb\x11\xcc\x22\xdd\x33",
		"\xaa\xbb\xcc\xdd\x00\x11\x22\x33", "", 0, 0},
	"negative zero": {format.Float, plain, 1, "\x00\x00\x00\x80", "\x00\x00\x00\x80", "", 0, idx.Float32},
	"plain bytes":   {format.ByteArray, plain, 2, lengths, "abc", "", 0, 0},
	// Indices of 2 bits: a run of two 1, then a packed group that begins with 0 and 1.
	"indices": {format.Int32, format.RLEDictionary, 4, "\x02\x04\x01\x03\x04\x00",
		"\x05\x00\x00\x00\x05\x00\x00\x00\x07\x00\x00\x00\x05\x00\x00\x00", eightInt32[:8], 2, 0},
	"indices of bytes": {format.ByteArray, format.RLEDictionary, 4, "\x02\x04\x01\x03\x04\x00", "ccabc", lengths, 2, 0},
	"indices of pixels": {format.Int32, format.RLEDictionary, 8, "\x08\x03\x00\x01\x00\x00\x01\x01\x00\x01",
		"\x07\x05\x07\x07\x05\x05\x07\x05", eightInt32[:8], 2, idx.Uint8},
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
	l := &leaf{file: &file{r: strings.NewReader(e.src + "x")}, node: new(node), dtype: e.dtype, perRow: 1}
	l.SchemaElement = &format.SchemaElement{Type: thrift.New(e.kind)}
	l.setNumbers()
	p := &page{stream: stream{leaf: l}, encoding: e.encoding, entries: e.count}
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
		for n := 1; n <= e.count; n++ {
			if found, err := e.decode(n); err != nil || string(found) != e.values {
				t.Errorf("%s: in pieces of %d: found % x and %v, expected % x", name, n, found, err, e.values)
			}
		}
		for n := range e.src {
			if e.encoding == format.RLEDictionary && n == len(e.src)-1 {
				continue // writers may omit the unused end of the last group
			}
			cut := e
			cut.src = e.src[:n]
			if found, err := cut.decode(e.count); !errors.Is(err, fault.Malformed) {
				t.Errorf("%s: cut at byte %d: found % x and %v, expected %v", name, n, found, err, fault.Malformed)
			}
		}
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
		{"indices of pixels", "\x08\x03\x00\x01\x00\x00\x01\x01\x00\x02", "index 2, expected"},
		{"indices", "\x21\x04\x02", "at most 32 bits"},
		{"indices", "\x02" + string(binary.AppendUvarint(nil, 1<<32)) + "\x01", "end too early"}, // a run of 2³¹
		{"deltas", wide, "end too early"},                                                        // 65 bits
		{"deltas", "\x08\x00\x08\x0e\x03\x02\xc0\x3f", "header of delta"},                        // no miniblocks
		{"deltas", "\x00\x01\x08\x0e\x03\x02\xc0\x3f", "header of delta"},                        // blocks of none
		{"deltas", "\x08\x02\x08\x0e\x03\x02\xc0\x3f", "header of delta"},                        // miniblocks of 4
		{"deltas", huge + "\x01\x08\x0e\x03\x02\xc0\x3f", "header of delta"},
		{"deltas", "\x08\x01" + huge + "\x0e\x03\x02\xc0\x3f", "that of 8 values"},
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
		"plain integers": format.RLE, "split bytes": format.DeltaBinaryPacked, "truth values": format.RLEDictionary,
		"runs of truth values": format.ByteStreamSplit} {
		e := encodings[base]
		e.encoding = encoding
		if _, err := e.decode(e.count); !errors.Is(err, fault.Unsupported) {
			t.Errorf("%s in %s: found %v, expected %v", base, encoding, err, fault.Unsupported)
		}
	}
}

// TestWidths decodes differences and runs of integers of all widths, encoded by parquet-go.
func TestWidths(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for width := range 65 {
		for _, n := range []int{1, 2, 32, 33, 129, 1000} {
			values, small := make([]int64, n), make([]int32, n)
			var expected []byte
			for i := range values {
				if values[i] = int64(random.Uint64() >> (64 - width)); i%100 > 50 {
					values[i] = values[i-1]
				}
				small[i] = int32(values[i])
				expected = binary.LittleEndian.AppendUint64(expected, uint64(values[i]))
			}
			encoded := must.Get(new(delta.BinaryPackedEncoding).EncodeInt64(nil, values))(t)
			if found, err := deltas(encoded, n, 8); err != nil || !bytes.Equal(found, expected) {
				t.Fatalf("width %d, %d values: found % x and %v, expected % x", width, n, found, err, expected)
			}
			if width == 0 || width > 31 {
				continue
			}
			r := runs{src: must.Get((&rle.Encoding{BitWidth: width}).EncodeInt32(nil, small))(t), width: width}
			for i, expected := range small {
				if found, err := r.one(); err != nil || int32(found) != expected {
					t.Fatalf("width %d, value %d: found %d and %v, expected %d", width, i, found, err, expected)
				}
			}
		}
	}
}

// pageOf returns a page with the header h, after completing it.
func pageOf(t *testing.T, h *format.PageHeader, body []byte) []byte {
	h.CompressedPageSize, h.CRC = int32(len(body)), int32(crc32.ChecksumIEEE(body))
	return append(must.Get(thrift.Marshal(new(thrift.CompactProtocol), h))(t), body...)
}

// dataPage returns a page of n PLAIN values, in size bytes after decompression.
func dataPage(t *testing.T, n, size int, body []byte) []byte {
	return pageOf(t, &format.PageHeader{Type: format.DataPage, UncompressedPageSize: int32(size),
		DataPageHeader: thrift.New(format.DataPageHeader{NumValues: int32(n), DefinitionLevelEncoding: format.RLE,
			RepetitionLevelEncoding: format.RLE})}, body)
}

// zeros returns a Zstandard frame of n zeros, of blocks that repeat a byte (RFC 8878, 3.1.1.2), and
// a frame to be skipped of padding bytes.
func zeros(n, padding int) []byte {
	frame := append([]byte("\x28\xb5\x2f\xfd\xa0"), binary.LittleEndian.AppendUint32(nil, uint32(n))...)
	for left := n; left > 0; {
		size, last := min(left, 128<<10), 0
		if left -= size; left == 0 {
			last = 1
		}
		header := uint32(size<<3 | 1<<1 | last)
		frame = append(frame, byte(header), byte(header>>8), byte(header>>16), 0)
	}
	if padding > 0 {
		frame = binary.LittleEndian.AppendUint32(append(frame, "\x50\x2a\x4d\x18"...), uint32(padding))
	}
	return append(frame, make([]byte, padding)...)
}

// columnsOf returns a file of columns of uint8, all with these pages. A repeated column is a list
// of two levels, as old programs write them.
func columnsOf(t *testing.T, repetition format.FieldRepetitionType, codec format.CompressionCodec,
	rows, entries, columns int, pages ...[]byte) []byte {
	t.Helper()
	file := []byte(magic)
	footer := format.FileMetaData{Version: 1, NumRows: int64(rows),
		RowGroups: []format.RowGroup{{NumRows: int64(rows)}},
		Schema:    []format.SchemaElement{{Name: "schema", NumChildren: thrift.New(int32(columns))}}}
	for i := range columns {
		name, start := fmt.Sprint("x", i), len(file)
		file = append(file, slices.Concat(pages...)...)
		footer.Schema = append(footer.Schema, format.SchemaElement{Name: name, RepetitionType: thrift.New(repetition),
			Type: thrift.New(format.Int32), LogicalType: format.LogicalType{Value: &format.IntType{BitWidth: 8}}})
		footer.RowGroups[0].Columns = append(footer.RowGroups[0].Columns, format.ColumnChunk{
			MetaData: format.ColumnMetaData{Type: format.Int32, PathInSchema: []string{name}, Codec: codec,
				NumValues: int64(entries), TotalCompressedSize: int64(len(file) - start),
				DataPageOffset: int64(start)}})
	}
	return withFooter(t, file, &footer)
}

// withFooter returns the file of pages and a footer.
func withFooter(t *testing.T, pages []byte, footer *format.FileMetaData) []byte {
	text := must.Get(thrift.Marshal(new(thrift.CompactProtocol), footer))(t)
	return slices.Concat(pages, text, binary.LittleEndian.AppendUint32(nil, uint32(len(text))), []byte(magic))
}

// TestBombs reads the first rows of small files that would need much memory. It is not
// parallel, as it measures the memory of the whole process.
func TestBombs(t *testing.T) {
	zip := func(n, values, padding int) []byte { return dataPage(t, n, 4*values, zeros(4*values, padding)) }
	dictionary := func(n int) []byte {
		return pageOf(t, &format.PageHeader{Type: format.DictionaryPage, UncompressedPageSize: int32(4 * n),
			DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: int32(n)})}, zeros(4*n, 0))
	}
	const many, most = 16 << 20, 255 << 20
	deltas := pageOf(t, &format.PageHeader{Type: format.DataPage, UncompressedPageSize: 1000,
		DataPageHeader: thrift.New(format.DataPageHeader{NumValues: many, Encoding: format.DeltaBinaryPacked,
			DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE})}, zeros(1000, 0))
	compressed := pageOf(t, &format.PageHeader{Type: format.DataPageV2, UncompressedPageSize: 20,
		DataPageHeaderV2: thrift.New(format.DataPageHeaderV2{NumValues: 5})}, zeros(20, 0))
	for name, test := range map[string]struct {
		rows, columns int
		pages         [][]byte
		want          string
	}{
		"a page of 1 GB":                {most, 1, [][]byte{zip(most, most, 300_000)}, "found a page of"},
		"large pages of 30 columns":     {many / 4, 30, [][]byte{zip(many/4, many/4, 0)}, "decompress to"},
		"small pages of 30,000 columns": {4096, 30_000, [][]byte{zip(4096, 4096, 0)}, "decompress to"},
		"a large page of deltas":        {many, 1, [][]byte{deltas}, "decompress to"},
		"a large dictionary":            {5, 1, [][]byte{dictionary(many), zip(5, 5, 0)}, "found a page of"},
		"two dictionaries":              {5, 1, [][]byte{dictionary(9), dictionary(9)}, "expected one of PLAIN values"},
		"a dictionary":                  {5, 1, [][]byte{dictionary(1 << 14), zip(5, 5, 0)}, "<nil>"},
		"a page of version 2":           {5, 1, [][]byte{compressed}, "<nil>"}, // by default, its values are compressed
		"pages of one value":            {600, 1, slices.Repeat([][]byte{zip(1, many, 0)}, 600), "found a page of"},
	} {
		file := columnsOf(t, format.Required, format.Zstd, test.rows, test.rows, test.columns, test.pages...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		table, err := fromBytes(file, source.ReadOptions{})
		if err == nil {
			b := &source.Raw{Cap: 5}
			if err = table.Read(t.Context(), b); err == nil {
				err = table.Decode(b)
			}
		}
		runtime.ReadMemStats(&after)
		if text := fmt.Sprint(err); err != nil && !errors.Is(err, fault.Malformed) ||
			!strings.Contains(text, test.want) {
			t.Errorf("%s: found %v, expected %q", name, err, test.want)
		}
		if taken := (after.TotalAlloc - before.TotalAlloc) >> 20; taken > 80 {
			t.Errorf("%s, %d bytes: %d MiB were allocated", name, len(file), taken)
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
		for skip := range int64(rows) {
			got := must.Get(fromBytes(file, source.ReadOptions{}))(t)
			must.Do(t, source.Skip(got, skip))
			columns := []source.Column{{Name: "x0", DType: idx.Uint8, Shape: []int{4}}}
			sourcetest.Expect(t, got, []int{1, 5, 1000}[skip%3], columns, [][]byte{pixels[4*skip:]})
		}
		for _, bad := range []int{0, 3, 7, 44} {
			_, err := read(t, splitFile(t, pixels, size, bad), 5)
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("row %d, ", bad/4)) {
				t.Errorf("pages of %d: found %v, expected one about row %d", size, err, bad/4)
			}
		}
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

// TestCutPages decompresses pages of every codec. It refuses them cut at any byte or continued, and
// those whose size differs from their header.
func TestCutPages(t *testing.T) {
	t.Parallel()
	data := []byte(strings.Repeat("0123456789", 30))
	const zstd, lz4 = format.Zstd, format.Lz4Raw
	for _, codec := range []format.CompressionCodec{format.Uncompressed, format.Snappy, format.Gzip, zstd, lz4} {
		page := must.Get(pq.LookupCompressionCodec(codec).Encode(nil, data))(t)
		longer := append(bytes.Clone(page), 1)
		for n := range len(longer) + 1 {
			for size := len(data) - 1; size <= len(data)+1; size++ {
				found, err := decompress(codec, longer[:n], size)
				good := n == len(page) && size == len(data) || codec == format.Uncompressed && n == size
				same := err == nil && bytes.Equal(found, append(data, 1)[:size])
				if good != same || !good && !errors.Is(err, fault.Malformed) {
					t.Errorf("%s, %d bytes of %d to %d: found %q and %v", codec, n, len(page), size, found, err)
				}
			}
		}
	}
}
