package parquet

import (
	"errors"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/format"
)

// unknownFields is a field of each type of Thrift's compact protocol, worked out by hand after thrift-compact-protocol.md, whose numbers Parquet does not have.
// A field's first byte is what its number is more than the last one, and its type.
const unknownFields = "\x03\x2a" + // 16 + …: a byte
	"\x14\x02" + "\x15\x80\x01" + "\x16\x03" + // i16, i32, i64
	"\x17\x00\x00\x00\x00\x00\x00\xf0\x3f" + // double
	"\x18\x03abc" + // binary
	"\x11" + "\x12" + // true, false
	"\x19\x22\x01\x02" + // a list of 2 truth values
	"\x19\xf5\x10" + "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10" + // a list of 16 i32: more than fit into its first byte
	"\x1a\x18\x01x" + // a set of 1 binary
	"\x1c\x15\x02\x00" + // a struct
	"\x1d\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff" // uuid

// longField stands before unknownFields: a byte whose field is 20, which is written out as a number of its own.
const longField = "\x03\x28"

// pageFields is the header of a data page: type 0, 64 bytes, 32 compressed, CRC 1; 10 values, PLAIN, levels RLE and RLE.
const pageFields = "\x15\x00" + "\x15\x80\x01" + "\x15\x40" + "\x15\x02" + "\x1c" + "\x15\x14" + "\x15\x00" + "\x15\x06" + "\x15\x06" + "\x00"

// TestUnknownFields reads a page's header that has fields of every type which Parquet may get, and refuses it cut at any byte.
func TestUnknownFields(t *testing.T) {
	t.Parallel()
	header := pageFields + longField + unknownFields + "\x00"
	h, n, err := parsePageHeader([]byte(header + "rest"))
	want := pageHeader{kind: format.DataPage, uncompressed: 64, size: 32, crc: 1, checked: true, entries: 10, encoding: format.Plain,
		definitionEncoding: format.RLE, repetitionEncoding: format.RLE}
	if err != nil || n != len(header) || h != want {
		t.Errorf("found %+v of %d bytes and %v, expected %+v of %d", h, n, err, want, len(header))
	}
	for n := range header {
		if _, _, err := parsePageHeader([]byte(header[:n])); !errors.Is(err, errCompactEnd) {
			t.Errorf("cut at byte %d: found %v, expected %v", n, err, errCompactEnd)
		}
	}
}

// TestNoThrift refuses what is not the compact protocol, or would take more than the bytes that are there.
func TestNoThrift(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		data string
		err  error
	}{
		"number of 11 bytes":         {"\x15" + strings.Repeat("\xff", 11), errCompact},
		"field number of 11 bytes":   {"\x05" + strings.Repeat("\xff", 11), errCompact},
		"map":                        {"\x9b\x01\x55\x00\x00\x00", errCompact},
		"unknown type":               {"\x9e\x00", errCompact},
		"33 structs":                 {strings.Repeat("\x9c", 40), errCompact},
		"33 lists":                   {"\x99" + strings.Repeat("\x19", 40), errCompact},
		"list of empty structs":      {"\x99\x2c\x00\x00\x00", errCompact},
		"list longer than the bytes": {"\x99\xf3\xff\x7f\x00", errCompactEnd},
		"text longer than the bytes": {"\x98\xff\x7f\x00", errCompactEnd},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, _, err := parsePageHeader([]byte(c.data)); !errors.Is(err, c.err) {
				t.Errorf("found %v, expected %v", err, c.err)
			}
		})
	}
}
