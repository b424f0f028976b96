package compressed

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"testing"

	"github.com/idxport/idxport/fault"
)

// member is a gzip member of the data "abc" in a stored block, with the header that RFC 1952 lays out for the given flags and fields.
func member(flags byte, fields ...[]byte) []byte {
	header := append([]byte{0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 255}, bytes.Join(fields, nil)...)
	if flags&2 != 0 {
		header = binary.LittleEndian.AppendUint16(header, uint16(crc32.ChecksumIEEE(header)))
	}
	data := []byte("abc")
	out := append(header, 1, 3, 0, 0xfc, 0xff)
	out = append(out, data...)
	out = binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(data))
	return binary.LittleEndian.AppendUint32(out, uint32(len(data)))
}

func TestGzipHeaders(t *testing.T) {
	t.Parallel()
	extra := append([]byte{5, 0}, "extra"...)
	name, comment := []byte("train-images\x00"), []byte("made by hand\x00")
	wrongSum := member(2|8, name)
	wrongSum[12] ^= 1 // a letter of the name
	method := member(0)
	method[2] = 7
	for label, test := range map[string]struct {
		in   []byte
		kind error // nil: "abc"
	}{
		"nothing":               {member(0), nil},
		"text":                  {member(1), nil},
		"extra field":           {member(4, extra), nil},
		"empty extra field":     {member(4, []byte{0, 0}), nil},
		"name":                  {member(8, name), nil},
		"comment":               {member(16, comment), nil},
		"everything":            {member(31, extra, name, comment), nil},
		"checksum":              {member(2), nil},
		"wrong checksum":        {wrongSum, fault.Malformed},
		"reserved flag":         {member(32), fault.Malformed},
		"another method":        {method, fault.Malformed},
		"cut in the fixed part": {member(0)[:9], fault.Truncated},
		"cut in the extra":      {member(4, extra)[:14], fault.Truncated},
		"cut in the name":       {member(8, name)[:15], fault.Truncated},
		"cut in the checksum":   {member(2)[:11], fault.Truncated},
		"second member damaged": {append(member(0), member(32)...), fault.Malformed},
		"block type 3":          {append(member(0)[:10:10], 7, 0, 0, 0, 0, 0, 0, 0, 0), fault.Malformed},
	} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			r, err := NewReader(bytes.NewReader(test.in))
			var data []byte
			if err == nil {
				defer r.Close() // only read from
				data, err = io.ReadAll(r)
			}
			if test.kind == nil && (err != nil || string(data) != "abc") {
				t.Errorf("found %q, %v", data, err)
			}
			if test.kind != nil && !errors.Is(err, test.kind) {
				t.Errorf("found %q, %v, expected %v", data, err, test.kind)
			}
		})
	}
}
