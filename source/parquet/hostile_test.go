package parquet

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/idxport/idxport/fault"
)

// FuzzMetadata reads what others may have written into a file's metadata: an Arrow schema with offsets that lead anywhere.
func FuzzMetadata(f *testing.F) {
	f.Add([]byte("\xff\xff\xff\xff\x10\x00\x00\x00\x10\x00\x00\x00\x00\x00\x0a\x00\x0c\x00\x06\x00"))
	f.Add([]byte("\x00\x00\x00\x00\x04\x00\x00\x00\x04\x00\x00\x00"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, arrow []byte) {
		size := 0
		for column, info := range arrowFields(base64.StdEncoding.EncodeToString(arrow)) {
			for key, value := range info.Metadata {
				size += len(key) + len(value)
			}
			if size += len(column); size > 4*len(arrow)+1<<20 {
				t.Errorf("found %d bytes in %d", size, len(arrow))
			}
		}
	})
}

// Claims whose products an int of 32 bits cannot hold must not become small ones.
func TestClaimsThatOverflow(t *testing.T) {
	t.Parallel()
	packed := func(groups uint64) []byte { return binary.AppendUvarint(nil, groups<<1|1) }
	for name, test := range map[string]struct {
		runs runs
		left int // values of the run; 0: an error
	}{
		"size of 2^32":             {runs{src: packed(1 << 27), width: 32}, 0},
		"size of 2^32, cut short":  {runs{src: append(packed(1<<27), make([]byte, 40)...), width: 32}, 10},
		"2^31 values of no bits":   {runs{src: packed(1 << 28)}, 1<<31 - 1},
		"2^34-8 values, cut short": {runs{src: append(packed(1<<31-1), 0xAA), width: 1}, 8},
	} {
		err := test.runs.next()
		if (err != nil) != (test.left == 0) || test.runs.left != test.left {
			t.Errorf("%s: found %d values, %v, expected %d", name, test.runs.left, err, test.left)
		}
	}

	d, err := newDelta(slices.Concat(binary.AppendUvarint(nil, 1<<30), []byte{1, 3, 0, 0, 64}, make([]byte, 100)))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = d.next()
	if v, err := d.next(); !errors.Is(err, fault.Malformed) {
		t.Errorf("a miniblock of 2^30 values of 64 bits in 100 bytes: found %d, %v, expected damage", v, err)
	}

	header := slices.Concat([]byte{0x15, 0, 0x15, 0, 0x15}, binary.AppendUvarint(nil, 2*(1<<32+7)), []byte{0}) // the size is field 3
	if h, _, err := parsePageHeader(header); err == nil {
		t.Errorf("a page of 2^32+7 bytes: found %d, expected an error", h.size)
	}
}
