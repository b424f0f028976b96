package compressed

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/test/must"
)

// storedGzip returns 3 MB of noise in stored blocks of 65,535 bytes, and the position of the length
// of block 10.
func storedGzip(t *testing.T) (raw []byte, length int) {
	t.Helper()
	data := make([]byte, 3_000_000)
	rand.NewChaCha8([32]byte{1}).Read(data)
	var buf bytes.Buffer
	w := must.Get(gzip.NewWriterLevel(&buf, gzip.NoCompression))(t)
	w.Write(data)
	must.Do(t, w.Close())
	const header, blockHeader, block = 10, 5, 65535
	length = header + 10*(blockHeader+block) + 1
	if got := buf.Bytes()[length : length+4]; !bytes.Equal(got, []byte{0xff, 0xff, 0, 0}) {
		t.Fatalf("found %x, expected a block's length and its complement", got)
	}
	return buf.Bytes(), length
}

// TestDamageBeforeWhatWasReadAhead has bad data, or a failure, far from the end of an input that
// has already been read.
func TestDamageBeforeWhatWasReadAhead(t *testing.T) {
	t.Parallel()
	raw, length := storedGzip(t)
	raw[length]++
	damage := fmt.Sprintf("gzip stream, at compressed byte %d: corrupt data: ", length+4) // after the length
	for name, in := range map[string]io.Reader{
		"whole":  bytes.NewReader(raw),
		"cut":    bytes.NewReader(raw[:1_000_000]),
		"broken": io.MultiReader(bytes.NewReader(raw[:1_000_000]), iotest.ErrReader(errors.New("disk on fire"))),
	} {
		r := NewReader(in)
		if n, err := io.Copy(io.Discard, r); n != 10*65535 || err == nil || !strings.HasPrefix(err.Error(), damage) {
			t.Errorf("%s: found %d bytes and %v, expected 655350 and %s", name, n, err, damage)
		}
		r.Close()
	}
}

// TestCutLongAfterTheStart has an input that ends within the data.
func TestCutLongAfterTheStart(t *testing.T) {
	t.Parallel()
	raw, _ := storedGzip(t)
	const want = "gzip stream, at compressed byte 2500000: the data ends too early"
	if _, _, err := decompress(raw[:2_500_000]); err == nil || err.Error() != want {
		t.Errorf("found %v, expected %s", err, want)
	}
}

// member returns a gzip member with the data "abc" in a stored block, and the header that RFC 1952
// prescribes for these flags and fields.
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
		"cut in the extra":      {member(4, extra)[:14], fault.Truncated},
		"cut in the checksum":   {member(2)[:11], fault.Truncated},
		"second member damaged": {append(member(0), member(32)...), fault.Malformed},
		"block type 3":          {append(member(0)[:10:10], 7, 0, 0, 0, 0, 0, 0, 0, 0), fault.Malformed},
	} {
		if data, _, err := decompress(test.in); !errors.Is(err, test.kind) || err == nil && string(data) != "abc" {
			t.Errorf("%s: found %q and %v, expected %v", label, data, err, test.kind)
		}
	}
}
