package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/test/must"
)

// zeros returns a Zstandard frame of n zeros, of blocks that repeat a byte (RFC 8878, 3.1.1.2).
func zeros(n int) []byte {
	frame := append([]byte("\x28\xb5\x2f\xfd\xa0"), binary.LittleEndian.AppendUint32(nil, uint32(n))...)
	for left := n; left > 0; {
		size, last := min(left, 128<<10), 0
		if left -= size; left == 0 {
			last = 1
		}
		header := uint32(size<<3 | 1<<1 | last)
		frame = append(frame, byte(header), byte(header>>8), byte(header>>16), 0)
	}
	return frame
}

// bomb returns a page of n PLAIN values of int32, all zeros, in size bytes after decompression. The
// frame of zeros is followed by a frame to be skipped of padding bytes.
func bomb(t *testing.T, kind format.PageType, n, size, padding int) []byte {
	t.Helper()
	body := zeros(size)
	if padding > 0 {
		body = append(body, "\x50\x2a\x4d\x18"...)
		body = append(binary.LittleEndian.AppendUint32(body, uint32(padding)), make([]byte, padding)...)
	}
	if kind == format.DictionaryPage {
		return pageOf(t, &format.PageHeader{Type: kind, UncompressedPageSize: int32(size),
			DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: int32(n)})}, body)
	}
	return dataPage(t, n, size, body)
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

// bombs returns a file of columns of uint8, in zstd.
func bombs(t *testing.T, rows, columns int, pages ...[]byte) []byte {
	return columnsOf(t, format.Required, format.Zstd, rows, rows, columns, pages...)
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
	const page, values, many = 64 << 20, 16 << 20, 600
	dictionary, last := bomb(t, format.DictionaryPage, 1<<18, 1<<20, 0), bomb(t, format.DataPage, 5, 20, 0)
	for name, test := range map[string]struct {
		file []byte
		want string
	}{
		"a page of 1 GB":                {bombs(t, 255<<20, 1, bomb(t, format.DataPage, 255<<20, 1020<<20, 300_000)), "found a page of"},
		"large pages of 30 columns":     {bombs(t, values, 30, bomb(t, format.DataPage, values/4, page/4, 0)), "decompress to"},
		"small pages of 30,000 columns": {bombs(t, 4096, 30_000, bomb(t, format.DataPage, 4096, 4*4096, 0)), "decompress to"},
		"a large dictionary":            {bombs(t, 5, 1, bomb(t, format.DictionaryPage, values, page, 0), last), "found a page of"},
		"two dictionaries":              {bombs(t, 5, 1, dictionary, dictionary, last), "a second dictionary"},
		"a dictionary":                  {bombs(t, 5, 1, dictionary, last), ""},
		"pages of one value":            {bombs(t, many, 1, slices.Repeat([][]byte{bomb(t, format.DataPage, 1, page, 0)}, many)...), "found a page of"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		table, err := fromBytes(test.file, source.ReadOptions{})
		if err == nil {
			b := &source.Raw{Cap: 5}
			if err = table.Read(t.Context(), b); err == nil {
				err = table.Decode(b)
			}
		}
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		if (err == nil) != (test.want == "") || err != nil && (!errors.Is(err, fault.Malformed) || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: found %v, expected %q", name, err, test.want)
		}
		if taken := (after.TotalAlloc - before.TotalAlloc) >> 20; taken > 80 || took > 2*time.Second {
			t.Errorf("%s, %d bytes: %d MiB were allocated in %v", name, len(test.file), taken, took)
		}
	}
}

// TestDeepNames has a schema of 16,000 columns below a group with a long name, which their paths
// would repeat. It is not parallel, as it measures the memory of the whole process.
func TestDeepNames(t *testing.T) {
	const columns = 16_000
	schema := []format.SchemaElement{{Name: "schema", NumChildren: thrift.New(int32(1))}, {Name: strings.Repeat("A", 100_000), NumChildren: thrift.New(int32(columns))}}
	for range columns {
		schema = append(schema, format.SchemaElement{Name: "b", Type: thrift.New(format.Int32)})
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, leaves, err := newTree(schema)
	runtime.ReadMemStats(&after)
	if err != nil || len(leaves) != columns || after.TotalAlloc-before.TotalAlloc > 16<<20 {
		t.Errorf("found %d columns and %v; %d bytes were allocated", len(leaves), err, after.TotalAlloc-before.TotalAlloc)
	}
	if name := leaves[0].column(); len(name) != 100_000 {
		t.Errorf("found a column whose name has %d bytes", len(name))
	}
}

// TestPanicsInFooters has a panic while the footer is read, such as one of a decoder.
func TestPanicsInFooters(t *testing.T) {
	t.Parallel()
	_, err := newTable(panicking{}, io.NopCloser(nil), 1<<10, "test.parquet", source.ReadOptions{})
	if !errors.Is(err, fault.Malformed) || !strings.Contains(err.Error(), "test.parquet: the data cannot be decoded: out of order") {
		t.Errorf("found %v, expected an error about the file", err)
	}
}

type panicking struct{}

func (panicking) ReadAt([]byte, int64) (int, error) { panic("out of order") }
