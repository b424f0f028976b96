package compressed

import (
	"bytes"
	"encoding/binary"
	"io"
	"runtime"
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

// countingFile counts the reads.
type countingFile struct {
	*bytes.Reader
	reads int
}

func (c *countingFile) Read(p []byte) (int, error) {
	c.reads++
	return c.Reader.Read(p)
}

// Frames without data are passed over in one go, however many stand before the data: each start would be a read of its own, as it reads no further than
// it was told to.
func TestManyEmptyFramesInASeekTable(t *testing.T) {
	t.Parallel()
	const many = 20_000
	skippable, abc := "\x50\x2a\x4d\x18\x00\x00\x00\x00", stored("abc") // RFC 8878, 3.1.2
	var entries []uint32
	for range many {
		entries = append(entries, uint32(len(skippable)), 0)
	}
	entries = append(entries, uint32(len(abc)), 3, uint32(len(abc)), 3)
	raw := []byte(strings.Repeat(skippable, many) + abc + abc + seekTable(many+2, 0, entries...))
	table, err := FindSeekTable(bytes.NewReader(raw), int64(len(raw)))
	if err != nil || table == nil {
		t.Fatal(table, err)
	}
	file := &countingFile{Reader: bytes.NewReader(raw)}
	r := NewSeekReader(file, table)
	defer r.Close()
	for range 2 {
		data := make([]byte, 3)
		if _, err := io.ReadFull(r, data); err != nil || string(data) != "abc" {
			t.Fatalf("found %q and %v", data, err)
		}
	}
	if most := many*len(skippable)/inputBuffer + 5; file.reads > most {
		t.Errorf("found %d reads of the file, expected at most %d", file.reads, most)
	}
	if position, _ := file.Seek(0, io.SeekCurrent); position > table.ends.packed {
		t.Errorf("read to byte %d, expected %d, as nothing more was asked for", position, table.ends.packed)
	}
}

// Starting again for each frame takes no new buffers. Not parallel: it reads the process's memory statistics.
func TestFramesThatAreReadOneByOneShareBuffers(t *testing.T) {
	const many = 1000
	a := stored("a")
	raw := []byte(strings.Repeat(a, many))
	var entries []uint32
	for range many {
		entries = append(entries, uint32(len(a)), 1)
	}
	raw = append(raw, seekTable(many, 0, entries...)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	data, err := io.ReadAll(openSeekable(t, raw))
	runtime.ReadMemStats(&after)
	if err != nil || string(data) != strings.Repeat("a", many) {
		t.Errorf("found %d bytes and %v", len(data), err)
	}
	if reserved := after.TotalAlloc - before.TotalAlloc; reserved > 10*buffers*bufferSize {
		t.Errorf("found %d bytes of memory taken, expected a few buffers of %d", reserved, bufferSize)
	}
}
