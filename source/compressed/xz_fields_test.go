package compressed

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/idxport/idxport/fault"
)

// TestXZBlockHeaders parses the fields of block headers after the flags, written by hand according
// to section 3.1 of the .xz format. The real programs write only the filter, or sizes before it.
func TestXZBlockHeaders(t *testing.T) {
	t.Parallel()
	const filter = "\x21\x01\x08" // LZMA2, one byte of properties: 64 KiB
	for name, c := range map[string]struct {
		flags  byte
		fields string
		want   xzBlockHeader
		err    error
	}{
		"filter alone":                   {0, filter, xzBlockHeader{compressed: -1, uncompressed: -1, dictionary: 64 << 10}, nil},
		"padded":                         {0, filter + "\x00\x00\x00", xzBlockHeader{compressed: -1, uncompressed: -1, dictionary: 64 << 10}, nil},
		"both sizes":                     {0xc0, "\x80\x01" + "\xac\x02" + filter, xzBlockHeader{compressed: 128, uncompressed: 300, dictionary: 4096}, nil}, // no more than LZMA's least
		"uncompressed size, large":       {0x80, "\x80\x80\x40" + filter, xzBlockHeader{compressed: -1, uncompressed: 1 << 20, dictionary: 64 << 10}, nil},
		"two filters":                    {1, filter + filter, xzBlockHeader{}, fault.Unsupported},
		"reserved flag":                  {4, filter, xzBlockHeader{}, fault.Unsupported},
		"compressed size cut":            {0x40, "\x80", xzBlockHeader{}, io.ErrUnexpectedEOF},
		"uncompressed size cut":          {0xc0, "\x01\x80", xzBlockHeader{}, io.ErrUnexpectedEOF},
		"size of 10 bytes":               {0x40, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" + filter, xzBlockHeader{}, fault.Malformed},
		"size not in its shortest form":  {0x40, "\x80\x00" + filter, xzBlockHeader{}, fault.Malformed},
		"no filter":                      {0, "", xzBlockHeader{}, io.ErrUnexpectedEOF},
		"another filter":                 {0, "\x03\x01\x00", xzBlockHeader{}, fault.Unsupported}, // delta
		"filter without properties":      {0, "\x21", xzBlockHeader{}, io.ErrUnexpectedEOF},
		"filter of no properties":        {0, "\x21\x00", xzBlockHeader{}, fault.Malformed},
		"filter of 2 properties":         {0, "\x21\x02\x08\x08", xzBlockHeader{}, fault.Malformed},
		"properties of 41":               {0, "\x21\x01\x29", xzBlockHeader{}, fault.Malformed},
		"dictionary of 4 GiB":            {0, "\x21\x01\x28", xzBlockHeader{}, fault.Unsupported},
		"dictionary of 4 GiB, 300 bytes": {0x80, "\xac\x02" + "\x21\x01\x28", xzBlockHeader{compressed: -1, uncompressed: 300, dictionary: 4096}, nil},
		"more fields":                    {0, filter + "\x00\x01", xzBlockHeader{}, fault.Unsupported},
	} {
		h := xzBlockHeader{compressed: -1, uncompressed: -1}
		if err := h.parse(c.flags, bytes.NewReader([]byte(c.fields))); !errors.Is(err, c.err) || err == nil && h != c.want {
			t.Errorf("%s: found %+v and %v, expected %+v and %v", name, h, err, c.want, c.err)
		}
	}
}

// TestXZBlockSizes compares the sizes that a block header says, which may be 0, with those found.
func TestXZBlockSizes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		compressed, uncompressed int64 // as the header says
		ok                       bool
	}{{-1, -1, true}, {4, 2, true}, {0, 2, false}, {4, 0, false}, {5, 2, false}, {4, 1, false}} {
		b := xzBlock{in: bufio.NewReader(bytes.NewReader(nil)), header: xzBlockHeader{compressed: c.compressed, uncompressed: c.uncompressed}, size: 2}
		b.compressed.offset = 4
		if err := b.end(); (err == nil) != c.ok {
			t.Errorf("%+v: found %v after 4 compressed and 2 other bytes", c, err)
		}
	}
}
