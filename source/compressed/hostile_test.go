package compressed

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
)

// emptyMember is a gzip member without data: an empty last block of fixed codes (RFC 1951, 3.2.6), checksum and size 0.
const emptyMember = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x03\x00" + "\x00\x00\x00\x00\x00\x00\x00\x00"

// Members without data are legal, however many there are: appending logs makes them.
func TestManyEmptyMembers(t *testing.T) {
	t.Parallel()
	const many = 10_000
	raw := append([]byte(strings.Repeat(emptyMember, many)), member(0)...)
	raw = append(raw, strings.Repeat(emptyMember, many)...)
	data, format, err := decompress(raw)
	if err != nil || format != Gzip || string(data) != "abc" {
		t.Errorf("found %q, %v, %v", data, format, err)
	}
	data, _, err = decompress([]byte(strings.Repeat(emptyMember, many)))
	if err != nil || len(data) != 0 {
		t.Errorf("empty members alone: found %q, %v", data, err)
	}
	// A cut in the trailer of the last one is seen behind all of them.
	if _, _, err = decompress(raw[:len(raw)-1]); err == nil {
		t.Error("a cut was not seen")
	}
}

// A name may be longer than any buffer, and the checksum of the header is over all of it.
func TestLongNameInTheHeader(t *testing.T) {
	t.Parallel()
	name := append(bytes.Repeat([]byte{'n'}, 5<<20), 0)
	raw := member(2|8, name)
	if data, _, err := decompress(raw); err != nil || string(data) != "abc" {
		t.Errorf("found %q, %v", data, err)
	}
	raw[4<<20] ^= 1
	if _, _, err := decompress(raw); err == nil {
		t.Error("a flipped bit of the name was not seen")
	}
	if _, _, err := decompress(raw[:4<<20]); err == nil {
		t.Error("a cut in the name was not seen")
	}
}

// Streams and skippable frames without data are legal too.
func TestManyEmptyStreams(t *testing.T) {
	t.Parallel()
	const many = 10_000
	skippable := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, 0x184D2A50), 0) // RFC 8878, 3.1.2
	for name, empty := range map[string][]byte{"small.xz": testFile(t, "empty.xz"), "small.bz2": testFile(t, "empty.bz2"), "small.zst": skippable} {
		raw := append(bytes.Repeat(empty, many), testFile(t, name)...)
		if data, _, err := decompress(raw); err != nil || !bytes.Equal(data, content(t, name)) {
			t.Errorf("%s: found %d bytes, %v", name, len(data), err)
		}
	}
}
