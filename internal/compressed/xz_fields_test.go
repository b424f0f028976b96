package compressed

import (
	"errors"
	"testing"

	"github.com/idxport/idxport/fault"
)

// TestXZBlockHeaders parses the fields of block headers after the flags, written by hand according
// to section 3.1 of the .xz format. The real programs write only the filter, or sizes before it.
func TestXZBlockHeaders(t *testing.T) {
	t.Parallel()
	const filter = "\x21\x01\x08" // LZMA2, one byte of properties: 64 KiB
	none := xzBlock{compressed: -1, size: -1, dictionary: 64 << 10}
	for name, c := range map[string]struct {
		flags  byte
		fields string
		want   xzBlock
		err    error
	}{
		"filter alone":         {0, filter, none, nil},
		"padded":               {0, filter + "\x00\x00\x00", none, nil},
		"both sizes":           {0xc0, "\x80\x01\xac\x02" + filter, xzBlock{compressed: 128, size: 300, dictionary: 4096}, nil},
		"size, large":          {0x80, "\x80\x80\x40" + filter, xzBlock{compressed: -1, size: 1 << 20, dictionary: 64 << 10}, nil},
		"two filters":          {1, filter + filter, xzBlock{}, fault.Unsupported},
		"reserved flag":        {4, filter, xzBlock{}, fault.Unsupported},
		"compressed size cut":  {0x40, "\x80", xzBlock{}, fault.Malformed},
		"size cut":             {0xc0, "\x01\x80", xzBlock{}, fault.Malformed},
		"size of 10 bytes":     {0x40, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" + filter, xzBlock{}, fault.Malformed},
		"not the shortest":     {0x40, "\x80\x00" + filter, xzBlock{}, fault.Malformed},
		"no filter":            {0, "", xzBlock{}, fault.Malformed},
		"another filter":       {0, "\x03\x01\x00", xzBlock{}, fault.Unsupported}, // delta
		"no properties":        {0, "\x21", xzBlock{}, fault.Malformed},
		"0 properties":         {0, "\x21\x00", xzBlock{}, fault.Malformed},
		"2 properties":         {0, "\x21\x02\x08\x08", xzBlock{}, fault.Malformed},
		"properties of 41":     {0, "\x21\x01\x29", xzBlock{}, fault.Malformed},
		"4 GiB":                {0, "\x21\x01\x28", xzBlock{}, fault.Unsupported},
		"4 GiB for 300 bytes":  {0x80, "\xac\x02\x21\x01\x28", xzBlock{compressed: -1, size: 300, dictionary: 4096}, nil},
		"more fields":          {0, filter + "\x00\x01", xzBlock{}, fault.Unsupported},
		"64 MiB, the largest":  {0, "\x21\x01\x1c", xzBlock{compressed: -1, size: -1, dictionary: 64 << 20}, nil},
		"96 MiB, the next one": {0, "\x21\x01\x1d", xzBlock{}, fault.Unsupported},
	} {
		var b xzBlock
		err := b.parse(c.flags, []byte(c.fields))
		if !errors.Is(err, c.err) || err == nil && b != c.want {
			t.Errorf("%s: found %+v and %v, expected %+v and %v", name, b, err, c.want, c.err)
		}
	}
}
