package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sourcetest"
)

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
	frame = binary.LittleEndian.AppendUint32(append(frame, "\x50\x2a\x4d\x18"...), uint32(padding))
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

// TestBombs reads the first rows of small files that would need much memory or time. It is not
// parallel, as it measures the memory of the whole process.
func TestBombs(t *testing.T) {
	zip := func(n, values, padding int) []byte { return dataPage(t, n, 4*values, zeros(4*values, padding)) }
	dictionary := func(n int) []byte {
		return pageOf(t, &format.PageHeader{Type: format.DictionaryPage, UncompressedPageSize: int32(4 * n),
			DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: int32(n)})}, zeros(4*n, 0))
	}
	const many, most = 16 << 20, 255 << 20
	for name, test := range map[string]struct {
		rows, columns int
		pages         [][]byte
		want          string
	}{
		"a page of 1 GB":                {most, 1, [][]byte{zip(most, most, 300_000)}, "found a page of"},
		"large pages of 30 columns":     {many / 4, 30, [][]byte{zip(many/4, many/4, 0)}, "decompress to"},
		"small pages of 30,000 columns": {4096, 30_000, [][]byte{zip(4096, 4096, 0)}, "decompress to"},
		"a large dictionary":            {5, 1, [][]byte{dictionary(many), zip(5, 5, 0)}, "found a page of"},
		"two dictionaries":              {5, 1, [][]byte{dictionary(9), dictionary(9), zip(5, 5, 0)}, "a second dictionary"},
		"a dictionary":                  {5, 1, [][]byte{dictionary(1 << 18), zip(5, 5, 0)}, ""},
		"pages of one value":            {600, 1, slices.Repeat([][]byte{zip(1, many, 0)}, 600), "found a page of"},
	} {
		file := columnsOf(t, format.Required, format.Zstd, test.rows, test.rows, test.columns, test.pages...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		table, err := fromBytes(file, source.ReadOptions{})
		if err == nil {
			b := &source.Raw{Cap: 5}
			if err = table.Read(t.Context(), b); err == nil {
				err = table.Decode(b)
			}
		}
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		if test.want == "" && err != nil || test.want != "" &&
			(!errors.Is(err, fault.Malformed) || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: found %v, expected %q", name, err, test.want)
		}
		if taken := (after.TotalAlloc - before.TotalAlloc) >> 20; taken > 80 || took > 2*time.Second {
			t.Errorf("%s, %d bytes: %d MiB were allocated in %v", name, len(file), taken, took)
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
			must.Do(t, got.(source.Seeker).Skip(skip))
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

// TestCutPages decompresses pages of every codec. It refuses them cut at any byte, and those whose
// size differs from their header.
func TestCutPages(t *testing.T) {
	t.Parallel()
	data := []byte(strings.Repeat("0123456789", 30))
	for _, codec := range codecs {
		page := must.Get(pq.LookupCompressionCodec(codec).Encode(nil, data))(t)
		if found, err := decompress(codec, page, len(data)); err != nil || !bytes.Equal(found, data) {
			t.Errorf("%s: found %q and %v", codec, found, err)
		}
		for n := range len(page) {
			if found, err := decompress(codec, page[:n], len(data)); !errors.Is(err, fault.Malformed) {
				t.Errorf("%s, %d bytes of %d: found %q and %v", codec, n, len(page), found, err)
			}
		}
		_, longer := decompress(codec, append(page, 1), len(data))
		_, smaller := decompress(codec, page, len(data)+1)
		_, larger := decompress(codec, page, len(data)-1)
		for _, err := range []error{longer, smaller, larger} {
			if !errors.Is(err, fault.Malformed) {
				t.Errorf("%s: found %v for a page whose header has another size", codec, err)
			}
		}
	}
}
