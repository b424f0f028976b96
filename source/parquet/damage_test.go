package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/fault"
	wrap "github.com/idxport/idxport/internal/compressed"
	"github.com/idxport/idxport/sink/layout"
	sinkparquet "github.com/idxport/idxport/sink/parquet"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
	"github.com/idxport/idxport/test/sourcetest"
)

// footerStart returns the offset of the footer in file.
func footerStart(file []byte) int {
	return len(file) - tailSize - int(binary.LittleEndian.Uint32(file[len(file)-tailSize:]))
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
		strings.Contains(err.Error(), "cannot be decoded: ")) {
		tb.Errorf("found the error %q, expected one of a kind with the file's name, and no panic", err)
	}
}

// TestDamage flips a bit of each byte, and cuts a file at each byte. Rows that are read without an
// error must be the original ones, unless the damage is in the footer, which has no checksum.
func TestDamage(t *testing.T) {
	t.Parallel()
	for _, name := range layout.Names() {
		for _, codec := range []string{"none", "zstd", "lz4_raw"} {
			t.Run(name+" "+codec, func(t *testing.T) {
				t.Parallel()
				table := random(20)
				file := written(t, table, sinkparquet.Options{Layout: name, Compression: wrap.Codec{Name: codec}}, 8)
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
							t.Fatalf("byte %d of %d: column %d has other values, and there is no error", at, len(file), i)
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
	for _, name := range layout.Names() {
		f.Add(written(f, random(9), sinkparquet.Options{Layout: name, Compression: wrap.Codec{Name: "none"}}, 8))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		got, err := fromBytes(file, source.ReadOptions{MaxRecordSize: 1 << 16, DType: idx.Uint8})
		b := &source.Raw{Cap: 16}
		for range 20 {
			if err == nil {
				err = got.Read(t.Context(), b)
			}
			if err == nil {
				err = got.Decode(b)
			}
		}
		if err == nil && got.Rows() > 1000 {
			err = got.(source.Seeker).Skip(500)
		}
		if err != io.EOF {
			checkError(t, err)
		}
	})
}

// TestUnknownFields parses the header of a data page with fields of every type of Thrift's compact
// protocol that later versions of Parquet may add, and refuses it cut at any byte. They are encoded
// by hand after thrift-compact-protocol.md: the first byte of a field has its type and the
// difference of its number to the previous one.
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
	var h format.PageHeader
	size, err := unmarshal([]byte(header+"rest"), &h)
	want := format.PageHeader{UncompressedPageSize: 64, CompressedPageSize: 32, CRC: 1, DataPageHeader: thrift.New(
		format.DataPageHeader{NumValues: 10, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE})}
	if err != nil || size != len(header) || !reflect.DeepEqual(h, want) {
		t.Errorf("found %+v of %d bytes and %v, expected %+v of %d", h, size, err, want, len(header))
	}
	for n := range header {
		if _, err := unmarshal([]byte(header[:n]), &h); !errors.Is(err, errShort) {
			t.Errorf("cut at byte %d: found %v, expected %v", n, err, errShort)
		}
	}
}

// TestNoThrift refuses data that is not in the compact protocol, ends too early, or has lists of
// more structs than a file of that size can have: schema elements, and columns of a row group, for
// which a decoder would allocate up to 560 bytes.
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
		"too many columns":           {list(1, list(maxInner+1, column)+"\x00"), errMany},
	} {
		walk := compact{cursor: cursor{data: []byte(c.data + "\x00")}, size: len(c.data) + 1}
		if walk.skip(thrift.STRUCT, 0); !errors.Is(walk.err, c.err) {
			t.Errorf("%s: found %v, expected %v", name, walk.err, c.err)
		}
	}
}
