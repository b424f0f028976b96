package compressed

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"runtime"
	"testing"

	"github.com/idxport/idxport/internal/fault"
)

// A madeXZ is a stream that is written by hand; the zero values of the fields after blocks are
// right.
type madeXZ struct {
	blocks     []string // LZMA2 chunks without the end of the block
	sizes      []int    // of their data
	dictionary byte     // 5.3.1
	index      []int    // blocks that the index lists, all if it is nil
	shift      int      // added to the sizes in the index
	backward   uint32   // added to the size of the index in the footer
	flags      byte     // of the footer
}

func (m madeXZ) bytes() []byte {
	sum := func(b []byte, from int) []byte {
		return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b[from:]))
	}
	pad := func(b []byte, from int) []byte { return append(b, make([]byte, -(len(b)-from)&3)...) }
	out := sum([]byte(xzMagic+"\x00\x00"), 6)
	var packed []int
	for _, chunks := range m.blocks {
		from := len(out)
		out = sum(append(out, 2, 0, 0x21, 1, m.dictionary, 0, 0, 0), from)
		out = append(append(out, chunks...), 0)
		packed = append(packed, len(out)-from)
		out = pad(out, from)
	}
	listed := m.index
	for i := range m.blocks {
		if m.index == nil {
			listed = append(listed, i)
		}
	}
	from := len(out)
	out = binary.AppendUvarint(append(out, 0), uint64(len(listed)))
	for _, i := range listed {
		out = binary.AppendUvarint(out, uint64(packed[i]))
		out = binary.AppendUvarint(out, uint64(m.sizes[i]+m.shift))
	}
	out = sum(pad(out, from), from)
	footer := binary.LittleEndian.AppendUint32(nil, uint32(len(out)-from)/4-1+m.backward)
	footer = append(footer, 0, m.flags)
	out = binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(footer))
	return append(append(out, footer...), "YZ"...)
}

// TestXZThatLies has files whose checksums of the container are right, but not what they say. The
// data has no check.
func TestXZThatLies(t *testing.T) {
	t.Parallel()
	const a, bcd, more = "\x01\x00\x00a", "\x01\x00\x02bcd", "\x02\x00\x00e" // uncompressed; more needs a dictionary
	for name, c := range map[string]struct {
		file madeXZ
		want string
		kind error
	}{
		"right":     {madeXZ{blocks: []string{a, bcd + more, ""}, sizes: []int{1, 4, 0}}, "abcde", nil},
		"no blocks": {madeXZ{}, "", nil},
		"index of fewer blocks": {madeXZ{blocks: []string{a, bcd}, sizes: []int{1, 3}, index: []int{0}},
			"abcd", fault.Malformed},
		"index of more blocks": {madeXZ{blocks: []string{a, a}, sizes: []int{1, 1}, index: []int{0, 1,
			0}}, "aa", fault.Malformed},
		"index in another order": {madeXZ{blocks: []string{a, bcd}, sizes: []int{1, 3}, index: []int{1,
			0}}, "abcd", fault.Malformed},
		"index of other sizes": {madeXZ{blocks: []string{a}, sizes: []int{1}, shift: 1}, "a", fault.Malformed},
		"footer of another index": {madeXZ{blocks: []string{a}, sizes: []int{1}, backward: 1}, "a",
			fault.Malformed},
		"footer of another check":     {madeXZ{blocks: []string{a}, sizes: []int{1}, flags: 1}, "a", fault.Malformed},
		"dictionary not reset":        {madeXZ{blocks: []string{more}, sizes: []int{1}}, "", fault.Malformed},
		"dictionary of another block": {madeXZ{blocks: []string{a, more}, sizes: []int{1, 1}}, "a", fault.Malformed},
		"LZMA without a dictionary": {madeXZ{blocks: []string{"\xc0\x00\x00\x00\x04]\x00\x00\x00\x00\x00"},
			sizes: []int{1}}, "", fault.Malformed},
		"LZMA without properties": {madeXZ{blocks: []string{a + "\x80\x00\x00\x00\x04\x00\x00\x00\x00\x00"},
			sizes: []int{2}}, "a", fault.Malformed},
		"LZMA that ends early": {madeXZ{blocks: []string{"\xe0\x00\x00\x00\x03]\x00\x00\x00\x00"},
			sizes: []int{1}}, "", fault.Malformed},
		"LZMA with bytes left": {madeXZ{sizes: []int{1},
			blocks: []string{"\xe0\x00\x00\x00\x08]\x00\x00\x00\x00\x00\x00\x00\x00\x00"}}, "\x00", fault.Malformed},
		"unknown chunk": {madeXZ{blocks: []string{a + "\x03\x00\x00a"}, sizes: []int{2}}, "a", fault.Malformed},
	} {
		if data, _, err := decompress(c.file.bytes()); string(data) != c.want || !errors.Is(err, c.kind) {
			t.Errorf("%s: found %q and %v, expected %q and %v", name, data, err, c.want, c.kind)
		}
	}
}

// TestXZBlocksShareADictionary has 500 blocks in 11 KB, each with a dictionary of 64 MiB. Not
// parallel: it reads the process's memory statistics.
func TestXZBlocksShareADictionary(t *testing.T) {
	file := madeXZ{dictionary: 28}
	for range 500 {
		file.blocks, file.sizes = append(file.blocks, "\x01\x00\x00a"), append(file.sizes, 1)
	}
	idleXZ() // whose dictionaries are reserved once
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	data, _, err := decompress(file.bytes())
	runtime.ReadMemStats(&after)
	if reserved := after.TotalAlloc - before.TotalAlloc; len(data) != 500 || err != nil || reserved > 1<<20 {
		t.Errorf("found %d bytes and %v with %d KiB of memory, expected 500 with an idle dictionary", len(data), err,
			reserved>>10)
	}
}
