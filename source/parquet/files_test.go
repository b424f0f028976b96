package parquet

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	wrap "github.com/idxport/idxport/internal/compressed"
	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	sinkparquet "github.com/idxport/idxport/sink/parquet"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sourcetest"
)

// TestRoundTrip reads every layout, type and rank that sink/parquet writes.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	rows := []int{0, 1, 1003}
	layouttest.Each(t, layouttest.Names(), rows, func(t *testing.T, layoutName string, table layouttest.Table) {
		if layoutName == "huggingface" && table.Refuses(layoutName) {
			t.Skip("no images")
		}
		table.ClearSigns()
		columns, data := table.Columns, table.Data
		if layoutName == "columns" && columns[0].Elements() == 0 { // no columns
			columns, data = columns[1:2], data[1:2]
		}
		for _, codec := range []string{"", "none"} {
			o := sink.Options{Layout: layoutName, Compression: wrap.Codec{Name: codec}}
			file := written(t, table, o, 104)
			for _, rows := range []int{104, 1, 97, 5000} { // one as written, others across pages
				if rows == 1 && layoutName == "columns" {
					continue // slow
				}
				got := must.Get(fromBytes(file, source.ReadOptions{}))(t)
				sourcetest.Expect(t, got, rows, columns, data)
			}
		}
	})
}

// written returns the file that sink/parquet writes of t, in batches of batch rows.
func written(tb testing.TB, t layouttest.Table, o sink.Options, batch int) []byte {
	tb.Helper()
	open := func(w io.Writer, s *schema.Schema) (sink.Sink, error) { return sinkparquet.New(w, s, o) }
	return t.Write(tb, open, t.Schema(), batch)
}

// fromBytes opens a file in memory.
func fromBytes(file []byte, o source.ReadOptions) (source.Table, error) {
	return newTable(bytes.NewReader(file), io.NopCloser(nil), int64(len(file)), "test.parquet", o)
}

var errBroken = errors.New("the disk is broken")

// TestEveryReadMayFail fails each read in turn, in files with all kinds of pages. The error is that
// of the disk or, if the file became shorter, one about the file.
func TestEveryReadMayFail(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{"idxport": written(t, random(100), sink.Options{}, 8)}
	for _, name := range []string{"pyarrow-list", "pyarrow-png-dictionary", "pyarrow-columns", "duckdb-array-v2"} {
		files[name] = must.Get(os.ReadFile("testdata/" + name + ".parquet"))(t)
	}
	for name, file := range files {
		failing := func(f *sourcetest.FailingReaderAt) error {
			f.File = bytes.NewReader(file)
			table, err := newTable(f, io.NopCloser(nil), int64(len(file)), "test.parquet", asUint8)
			if err == nil {
				err = source.Skip(table, 40)
			}
			if err == nil {
				_, err = sourcetest.ReadAll(table, 8)
			}
			return err
		}
		all := &sourcetest.FailingReaderAt{Left: -1}
		if err := failing(all); err != nil || all.Calls.Load() < 3 {
			t.Fatalf("%s: found %v after %d reads", name, err, all.Calls.Load())
		}
		for left := range all.Calls.Load() {
			for broken, kind := range map[error]error{errBroken: fault.Internal, io.EOF: fault.Truncated} {
				err := failing(&sourcetest.FailingReaderAt{Left: left, Err: broken})
				if fault.KindOf(err) != kind || kind == fault.Internal && !errors.Is(err, errBroken) {
					t.Errorf("%s, read %d of %d: found %v, expected %v", name, left+1, all.Calls.Load(), err, broken)
				}
			}
		}
	}
}

// TestClose cancels, and closes a file before rows that were read are decoded.
func TestClose(t *testing.T) {
	t.Parallel()
	table := must.Get(Open("testdata/pyarrow-list.parquet", source.ReadOptions{}))(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := table.Read(ctx, &source.Raw{Cap: 8}); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, expected %v", err, context.Canceled)
	}
	b := &source.Raw{Cap: 8}
	must.Do(t, errors.Join(table.Read(t.Context(), b), table.Close(), table.Decode(b)))
	if want := encode(idx.Uint8, 12, pixel)[:8*12]; !bytes.Equal(b.Columns[0], want) {
		t.Errorf("found % x, expected % x", b.Columns[0], want)
	}
}

// TestLargePageHeaders reads a page with the minimum and the maximum value in its header, as
// parquet-go writes them.
func TestLargePageHeaders(t *testing.T) {
	t.Parallel()
	h := format.DataPageHeader{NumValues: 1, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE}
	h.Statistics.MaxValue = make([]byte, 2<<20)
	page := pageOf(t, &format.PageHeader{UncompressedPageSize: 4, DataPageHeader: thrift.New(h)}, []byte{7, 0, 0, 0})
	file := columnsOf(t, format.Required, format.Uncompressed, 1, 1, 1, page)
	got := must.Get(fromBytes(file, source.ReadOptions{}))(t)
	sourcetest.Expect(t, got, 2, []source.Column{{Name: "x0", DType: idx.Uint8}}, [][]byte{{7}})
}

// edited returns a file of testdata with an edited footer.
func edited(t *testing.T, name string, change func(f *format.FileMetaData)) []byte {
	t.Helper()
	file := must.Get(os.ReadFile("testdata/" + name + ".parquet"))(t)
	start := footerStart(file)
	var footer format.FileMetaData
	must.Do(t, thrift.Unmarshal(new(thrift.CompactProtocol), file[start:len(file)-8], &footer))
	change(&footer)
	return withFooter(t, file[:start], &footer)
}

// TestConvertedTypesAlone reads files without LogicalType, which version 2.4 of the format added.
// ConvertedType has the same information.
func TestConvertedTypesAlone(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"list", "int8", "int16", "int32", "int64", "uint16", "uint32"} {
		name = "pyarrow-" + name
		older := edited(t, name, func(f *format.FileMetaData) {
			for i := range f.Schema {
				f.Schema[i].LogicalType.Value = nil
			}
		})
		newer := must.Get(Open("testdata/"+name+".parquet", source.ReadOptions{}))(t)
		data := must.Get(sourcetest.ReadAll(newer, 8))(t) // compared with the values themselves by TestForeign
		sourcetest.Expect(t, must.Get(fromBytes(older, source.ReadOptions{}))(t), 8, newer.Columns(), data)
		must.Do(t, newer.Close())
	}
}

// TestRefusedFooters opens files that start or end with other bytes than Parquet's, or whose
// footers are impossible or unsupported.
func TestRefusedFooters(t *testing.T) {
	t.Parallel()
	type footer = format.FileMetaData
	decimal, time := new(format.DecimalType), thrift.New(deprecated.TimeMillis)
	repeat := func(s []format.SchemaElement) { s[1].RepetitionType.V = format.Repeated }
	chunk := func(f *footer) *format.ColumnChunk { return &f.RowGroups[0].Columns[0] }
	whole := must.Get(os.ReadFile("testdata/pyarrow-list.parquet"))(t)
	with := func(at int, text string) []byte {
		return append(append(bytes.Clone(whole[:at]), text...), whole[at+len(text):]...)
	}
	files := map[string][]byte{
		"the file is encrypted":         with(0, "PARE"),
		`found "<!DO", expected "PAR1"`: with(0, "<!DOCTYPE html>"),
		"the file is cut short":         whole[:len(whole)-1],
		`found "1\x00\x00\x00PAR1", `:   []byte("PAR1\x00\x00\x00PAR1"),
		"a footer of 4294967295 bytes":  with(len(whole)-8, "\xff\xff\xff\xff"),
		"the footer is damaged":         with(footerStart(whole), "\xff\xff\xff"),
		"3987: found a second file":     bytes.Repeat(must.Get(os.ReadFile("testdata/spark-list.parquet"))(t), 2),
	}
	for want, change := range map[string]func(f *footer){
		`in another file ("other.parquet")`:   func(f *footer) { chunk(f).FilePath = "other.parquet" },
		"the column is encrypted":             func(f *footer) { chunk(f).MetaData.PathInSchema = nil },
		"entries of DOUBLE":                   func(f *footer) { chunk(f).MetaData.Type = format.Double },
		"1099511627776 bytes at byte 4":       func(f *footer) { chunk(f).MetaData.TotalCompressedSize = 1 << 40 },
		"found a column of -1 entries":        func(f *footer) { chunk(f).MetaData.NumValues = -1 },
		"of 4611686018427387904 entries":      func(f *footer) { chunk(f).MetaData.NumValues = 1 << 62 },
		"an entry for each of 64 rows":        func(f *footer) { chunk(f).MetaData.NumValues = 1 },
		"found the compression":               func(f *footer) { chunk(f).MetaData.Codec = 99 },
		"with -1 rows":                        func(f *footer) { f.RowGroups[0].NumRows = -1 },
		"with 9223372036854775807 rows":       func(f *footer) { f.RowGroups[0].NumRows = math.MaxInt64 },
		"found another number of values":      func(f *footer) { f.NumRows, f.RowGroups[0].NumRows = 149, 63 },
		"1 columns, expected 2":               func(f *footer) { f.RowGroups[0].Columns = f.RowGroups[0].Columns[:1] },
		"rows in row groups, expected":        func(f *footer) { f.NumRows++ },
		"found a schema of 0 elements":        func(f *footer) { f.Schema = nil },
		"0 columns":                           func(f *footer) { f.Schema = f.Schema[len(f.Schema)-1:] },
		"found a schema of 4 elements":        func(f *footer) { f.Schema = f.Schema[:4] },
		"found a schema of 6 elements":        func(f *footer) { f.Schema = append(f.Schema, f.Schema[4]) },
		"of the type DECIMAL(":                func(f *footer) { f.Schema[4].LogicalType.Value = decimal },
		"of the type DATE":                    func(f *footer) { f.Schema[4].LogicalType.Value = new(format.DateType) },
		"INT64 (converted type 7)":            func(f *footer) { f.Schema[4].ConvertedType = time },
		"expected the children of all groups": func(f *footer) { f.Schema[0].NumChildren.V++ },
	} {
		files[want] = edited(t, "pyarrow-list", change)
	}
	type schema = []format.SchemaElement
	for _, c := range []struct {
		name, want string
		change     func(s schema)
	}{
		{"list", "image: found structs", func(s schema) { s[0].NumChildren.V--; s[2].NumChildren.V++ }}, // a pair
		{"binary", "(converted type 5)", func(s schema) { s[1].ConvertedType = thrift.New(deprecated.Decimal) }},
		{"binary", "of the type DECIMAL(0,0), ", func(s schema) { s[1].LogicalType.Value = decimal }},
		{"binary", "of the type BYTE_ARRAY, ", repeat},
		{"binary", "type STRING, ", func(s schema) { repeat(s); s[1].LogicalType.Value = new(format.StringType) }},
		{"fixed-binary", "of the type UUID, ", func(s schema) { s[1].LogicalType.Value = new(format.UUIDType) }},
		{"fixed-binary", "of the type FIXED_LEN_BYTE_ARRAY, ", repeat},
		{"int8", "found 42949", func(s schema) { s[3].LogicalType.Value = &format.IntType{BitWidth: 32} }}, // of −128
	} {
		files[c.want] = edited(t, "pyarrow-"+c.name, func(f *footer) { c.change(f.Schema) })
	}
	for want, file := range files {
		table, err := fromBytes(file, source.ReadOptions{})
		if err == nil {
			_, err = sourcetest.ReadAll(table, 8)
		}
		if checkError(t, err); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
}

// TestPanicsInFooters has a panic while the footer is read, such as one of a decoder.
func TestPanicsInFooters(t *testing.T) {
	t.Parallel()
	_, err := newTable(nil, io.NopCloser(nil), 1<<10, "test.parquet", source.ReadOptions{})
	if !errors.Is(err, fault.Malformed) || !strings.Contains(err.Error(), "test.parquet: the data cannot be decoded:") {
		t.Errorf("found %v, expected an error about the file", err)
	}
}

// footerStart returns the offset of the footer in file.
func footerStart(file []byte) int {
	return len(file) - 8 - int(binary.LittleEndian.Uint32(file[len(file)-8:]))
}

// read opens and reads file. Every error must be about the content of the file, and not about a
// recovered panic.
func read(tb testing.TB, file []byte, rows int) ([][]byte, error) {
	tb.Helper()
	t, err := fromBytes(file, source.ReadOptions{MaxRecordSize: 1 << 20, DType: idx.Uint8})
	var data [][]byte
	if err == nil {
		data, err = sourcetest.ReadAll(t, rows)
	}
	checkError(tb, err)
	return data, err
}

func checkError(tb testing.TB, err error) {
	tb.Helper()
	if err != nil && (fault.KindOf(err) == fault.Internal || !strings.HasPrefix(err.Error(), "test.parquet: ") ||
		strings.Contains(err.Error(), "cannot be decoded: ") || fault.HintOf(err) == "") {
		tb.Errorf("found the error %q, expected one of a kind with the file's name and a hint, and no panic", err)
	}
}

// TestDamage flips a bit of each byte, and cuts a file at each byte. Rows that are read without an
// error must be the original ones, unless the damage is in the footer, which has no checksum.
func TestDamage(t *testing.T) {
	t.Parallel()
	for _, name := range layouttest.Names() {
		for _, codec := range []string{"none", "zstd", "snappy"} {
			t.Run(name+" "+codec, func(t *testing.T) {
				t.Parallel()
				table := random(20)
				file := written(t, table, sink.Options{Layout: name, Compression: wrap.Codec{Name: codec}}, 8)
				end := footerStart(file)
				for at := range file {
					bit := byte(1) << (at % 8)
					if name == "columns" && at%3 != 0 && at < end {
						continue // similar pages
					}
					file[at] ^= bit
					data, err := read(t, file, 8)
					file[at] ^= bit
					for i := range data {
						if err == nil && at < end && !bytes.Equal(data[i], table.Data[i]) {
							t.Fatalf("byte %d of %d: column %d has other values, without an error", at, len(file), i)
						}
					}
				}
				for n := range file {
					if _, err := read(t, file[:n], 8); err == nil {
						t.Fatalf("found no error for %d bytes of %d", n, len(file))
					}
				}
			})
		}
	}
}

// random returns a table of images and labels.
func random(rows int) layouttest.Table {
	return layouttest.Random(rows, source.Column{Name: "image", DType: idx.Uint8, Shape: []int{2, 3}},
		source.Column{Name: "label", DType: idx.Uint8})
}

// FuzzRead reads the first rows of any file.
func FuzzRead(f *testing.F) {
	for _, name := range layouttest.Names() {
		f.Add(written(f, random(9), sink.Options{Layout: name, Compression: wrap.Codec{Name: "none"}}, 8))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		got, err := fromBytes(file, source.ReadOptions{MaxRecordSize: 1 << 16, DType: idx.Uint8})
		b := &source.Raw{Cap: 16}
		for n := 0; err == nil && n < 20; n++ {
			if err = got.Read(t.Context(), b); err == nil {
				err = got.Decode(b)
			}
		}
		if err != io.EOF {
			checkError(t, err)
		}
	})
}

// TestUnknownFields parses the header of a data page with fields of every type that Parquet may add
// later, encoded by hand after thrift-compact-protocol.md, and refuses it cut at any byte.
func TestUnknownFields(t *testing.T) {
	t.Parallel()
	const header = "\x15\x00" + "\x15\x80\x01" + "\x15\x40" + "\x15\x02" + // type 0, 64 bytes, 32 compressed, CRC 1
		"\x1c" + "\x15\x14" + "\x15\x00" + "\x15\x06" + "\x15\x06" + "\x00" + // 10 values, PLAIN, RLE and RLE
		"\x03\x28" + "\x03\x2a" + // fields 20 and 21, whose numbers do not fit into the first byte: bytes
		"\x14\x02" + "\x15\x80\x01" + "\x16\x03" + // i16, i32, i64
		"\x17\x00\x00\x00\x00\x00\x00\xf0\x3f" + // double
		"\x18\x03abc" + // binary
		"\x11" + "\x12" + // true, false
		"\x19\x22\x01\x02" + // a list of 2 booleans
		"\x19\xf5\x10" + "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10" + // a list of 16 i32
		"\x1a\x18\x01x" + // a set of 1 binary
		"\x1c\x15\x02\x00" + // a struct
		"\x1d\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff" + // uuid
		"\x00"
	h := format.PageHeader{}
	size, err := unmarshal([]byte(header+"rest"), &h)
	if err != nil || size != len(header) || h.CompressedPageSize != 32 || h.DataPageHeader.V.NumValues != 10 {
		t.Errorf("found %+v of %d bytes and %v, expected 32 bytes, 10 values, of %d", h, size, err, len(header))
	}
	for n := range header {
		if _, err := unmarshal([]byte(header[:n]), &h); !errors.Is(err, errShort) {
			t.Errorf("cut at byte %d: found %v, expected %v", n, err, errShort)
		}
	}
}

// TestNoThrift refuses data that is not in the compact protocol, ends too early, or has lists of
// more structs than a file of that size can have.
func TestNoThrift(t *testing.T) {
	t.Parallel()
	list := func(n int, of string) string {
		return string(binary.AppendUvarint([]byte{0x19, 0xfc}, uint64(n))) + strings.Repeat(of, n) // field 1
	}
	const small, column = "\x26\x00\x00", "\x18\x14" + "01234567890123456789" + "\x00" // fields 2 and 1
	for name, c := range map[string]struct {
		data string
		err  error
	}{
		"number of 11 bytes":         {"\x15" + strings.Repeat("\xff", 11), errNoCompact},
		"field number of 11 bytes":   {"\x05" + strings.Repeat("\xff", 11), errNoCompact},
		"map":                        {"\x9b\x01\x55\x00\x00", errNoCompact},
		"unknown type":               {"\x9e", errNoCompact},
		"40 structs":                 {strings.Repeat("\x9c", 40), errNoCompact},
		"40 lists":                   {"\x99" + strings.Repeat("\x19", 40), errNoCompact},
		"list of empty structs":      {"\x99\x2c\x00\x00", errNoCompact},
		"list longer than the bytes": {"\x99\xf3\xff\x7f", errShort},
		"text longer than the bytes": {"\x98\xff\x7f", errShort},
		"schema elements":            {list(maxOuter, column), nil},
		"small schema elements":      {list(maxOuter, small), errMany},
		"too many schema elements":   {list(maxOuter+1, column), errMany},
		"columns":                    {list(1, list(1<<13, column)+"\x00"), nil},
		"small columns":              {list(1, list(1<<13, small)+"\x00"), errMany},
	} {
		walk := compact{cursor: cursor{data: []byte(c.data + "\x00")}, size: len(c.data) + 1}
		if walk.skip(thrift.STRUCT, 0); !errors.Is(walk.err, c.err) {
			t.Errorf("%s: found %v, expected %v", name, walk.err, c.err)
		}
	}
}
