package compressed

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
)

// stored returns a zstd frame with data in one raw block (RFC 8878, 3.1.1): a single segment, its
// size in one byte, no checksum.
func stored(data string) string {
	block := uint32(len(data))<<3 | 1 // raw, the last
	return zstdMagic + "\x20" + string([]byte{byte(len(data)), byte(block), byte(block >> 8), byte(block >> 16)}) + data
}

// sums are the low halves of the XXH64 of some data, computed by Python's xxhash library.
var sums = map[string]uint32{"": 0x51d8e999, "abc": 0xad770999, "a": 0xa98c6e5b, "abca": 0x90600b13}

// seekTable returns a seek table according to the description of the format: entries are numbers of
// 4 bytes, two or three a frame.
func seekTable(frames uint32, descriptor byte, entries ...uint32) string {
	table := binary.LittleEndian.AppendUint32(nil, 0x184D2A5E)
	table = binary.LittleEndian.AppendUint32(table, uint32(4*len(entries)+9))
	for _, n := range entries {
		table = binary.LittleEndian.AppendUint32(table, n)
	}
	table = binary.LittleEndian.AppendUint32(table, frames)
	return string(append(table, descriptor, 0xb1, 0xea, 0x92, 0x8f))
}

func TestSeekTables(t *testing.T) {
	t.Parallel()
	abc, a, skippable := stored("abc"), stored("a"), "\x50\x2a\x4d\x18\x02\x00\x00\x00hi"
	long, short, skip := uint32(len(abc)), uint32(len(a)), uint32(len(skippable))
	type found struct {
		frames int
		size   int64
	}
	tests := map[string]struct {
		raw  string
		want found // 0, −1: no table
		err  string
	}{
		"one frame":            {abc + seekTable(1, 0, long, 3), found{1, 3}, ""},
		"two frames":           {abc + a + seekTable(2, 0, long, 3, short, 1), found{2, 4}, ""},
		"checksums":            {abc + a + seekTable(2, 0x80, long, 3, sums["abc"], short, 1, sums["a"]), found{2, 4}, ""},
		"unused bits":          {abc + seekTable(1, 3, long, 3), found{1, 3}, ""},
		"a skippable frame":    {abc + skippable + a + seekTable(3, 0, long, 3, skip, 0, short, 1), found{3, 4}, ""},
		"no frames":            {seekTable(0, 0), found{0, 0}, ""},
		"no table":             {abc + a, found{0, -1}, ""},
		"nothing":              {"", found{0, -1}, ""},
		"reserved bits":        {abc + seekTable(1, 4, long, 3), found{0, -1}, ""},
		"another magic number": {abc + strings.Replace(seekTable(1, 0, long, 3), "\x5e\x2a", "\x5d\x2a", 1), found{0, -1}, ""},
		"cut":                  {abc + seekTable(1, 0, long, 3)[:24], found{0, -1}, ""},
		"footer alone":         {seekTable(0, 0)[8:], found{0, -1}, ""},
		"2³²−1 frames":         {abc + seekTable(1<<32-1, 0x80, long, 3), found{0, -1}, ""},
		"two files, joined":    {abc + seekTable(1, 0, long, 3) + a + seekTable(1, 0, short, 1), found{0, -1}, ""},
		"bytes not listed":     {"x" + abc + seekTable(1, 0, long, 3), found{0, -1}, ""},
		"frames too short":     {abc + seekTable(1, 0, long-1, 3), found{}, "at compressed byte 12: corrupt data: the seek table lists frames of 11 bytes, expected the 12"},
		"frames too long":      {abc + seekTable(1, 0, 1<<32-1, 3), found{}, "lists frames of 4294967295 bytes, expected the 12"},
		"another size":         {abc + strings.Replace(seekTable(1, 0, long, 3), "\x11\x00", "\x10\x00", 1), found{}, "at compressed byte 16: corrupt data: the seek table's size is 16, expected 17 for 1 frames"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table, err := FindSeekTable(strings.NewReader(test.raw), int64(len(test.raw)))
			if test.err != "" {
				if !errors.Is(err, fault.Malformed) || !strings.Contains(err.Error(), test.err) {
					t.Errorf("found %v, expected %q", err, test.err)
				}
				return
			}
			got := found{0, -1}
			if table != nil {
				got = found{table.frames, table.Size()}
			}
			if err != nil || got != test.want {
				t.Errorf("found %v and %v, expected %v", got, err, test.want)
			}
		})
	}
}

// TestSpan has frames of 3, 0, 1, 0 and 0 bytes of data, in 12, 10, 10, 9 and 10 bytes of the file.
func TestSpan(t *testing.T) {
	t.Parallel()
	raw := strings.Repeat("x", 51) + seekTable(5, 0, 12, 3, 10, 0, 10, 1, 9, 0, 10, 0)
	table := tableOf(t, []byte(raw))
	for span, want := range map[[2]int64][2]int64{
		{0, 1}: {0, 12}, {0, 3}: {0, 12}, {2, 3}: {0, 12}, {1, 4}: {0, 32}, {3, 4}: {22, 32},
		{0, 0}: {0, 0}, {3, 3}: {22, 22}, {4, 4}: {51, 51},
	} {
		if from, to := table.Span(span[0], span[1]); [2]int64{from, to} != want {
			t.Errorf("bytes %v: found %d and %d, expected %v", span, from, to, want)
		}
	}
}

// Frames beyond the first mark, and a table longer than the part of the file that is read first:
// 5,000 frames of 7 bytes, of which every third has no data and the others have 2 bytes.
func TestSpanOfManyFrames(t *testing.T) {
	t.Parallel()
	const many = 5000
	var entries []uint32
	var holders []int // of the bytes of data
	for i := range many {
		size := uint32(2)
		if i%3 == 0 {
			size = 0
		}
		entries = append(entries, 7, size)
		holders = append(holders, slices.Repeat([]int{i}, int(size))...)
	}
	raw := strings.Repeat("x", 7*many) + seekTable(many, 0, entries...)
	table, err := FindSeekTable(strings.NewReader(raw), int64(len(raw)))
	if err != nil || table == nil || table.Size() != int64(len(holders)) {
		t.Fatal(table, err)
	}
	for i, holder := range holders {
		if from, to := table.Span(int64(i), int64(i)+1); from != int64(7*holder) || to != from+7 {
			t.Fatalf("byte %d: found %d and %d, expected %d and %d", i, from, to, 7*holder, 7*holder+7)
		}
	}
	for i := range many + 1 {
		if at := table.frameStart(i); at.packed != int64(7*i) {
			t.Fatalf("frame %d: found it at %d, expected %d", i, at.packed, 7*i)
		}
	}
}

// The size of a table is compared with that of the file before it is allocated. Not parallel: it
// reads the process's memory statistics.
func TestHostileSeekTables(t *testing.T) {
	zeros := io.NewSectionReader(zeroReader{}, 0, 1<<40)
	for name, test := range map[string]struct {
		r    io.ReaderAt
		size int64
	}{
		"more frames than bytes": {strings.NewReader(stored("abc") + seekTable(100<<20, 0x80, 12, 3)), int64(len(stored("abc")) + 25)},
		"a table of over 16 MiB": {footed{zeros, 1 << 40, seekTable(16<<20/8-2, 0)[8:]}, 1 << 40}, // by 1 byte
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		table, err := FindSeekTable(test.r, test.size)
		runtime.ReadMemStats(&after)
		if reserved := after.TotalAlloc - before.TotalAlloc; table != nil || err != nil || reserved > 1<<20 {
			t.Errorf("%s: found %v and %v with %d bytes of memory", name, table, err, reserved)
		}
	}
}

// The largest table that is used has 16 MiB: 8 bytes, 8 for each frame, none of which exists here,
// and 9.
func TestLargestSeekTable(t *testing.T) {
	t.Parallel()
	const frames = 2_097_149
	raw := seekTable(frames, 0, make([]uint32, 2*frames)...)
	table, err := FindSeekTable(strings.NewReader(raw), int64(len(raw)))
	if err != nil || table == nil || len(raw) != 16<<20-7 || table.frames != frames {
		t.Errorf("found %v and %v of %d bytes", table != nil, err, len(raw))
	}
}

// A zeroReader has zeros everywhere.
type zeroReader struct{}

func (zeroReader) ReadAt(p []byte, _ int64) (int, error) { clear(p); return len(p), nil }

// footed is r of size bytes, with other last bytes.
type footed struct {
	io.ReaderAt
	size   int64
	footer string
}

func (f footed) ReadAt(p []byte, offset int64) (int, error) {
	n, err := f.ReaderAt.ReadAt(p, offset)
	if from := f.size - int64(len(f.footer)) - offset; from >= 0 && from < int64(n) {
		copy(p[from:n], f.footer)
	}
	return n, err
}

func TestSeekTableOfAFileThatFails(t *testing.T) {
	t.Parallel()
	raw := testFile(t, "small-seekable.zst")
	broken := errors.New("disk on fire")
	if _, err := FindSeekTable(failingAt{broken}, int64(len(raw))); err != broken {
		t.Errorf("found %v, expected %v", err, broken)
	}
	if _, err := FindSeekTable(bytes.NewReader(raw[:100]), int64(len(raw))); !errors.Is(err, fault.Truncated) {
		t.Errorf("a file that shrank: found %v, expected %v", err, fault.Truncated)
	}
}

type failingAt struct{ err error }

func (f failingAt) ReadAt([]byte, int64) (int, error) { return 0, f.err }

// A footer with 2^31 frames or more, a negative number if an int has 32 bits, does not belong to a
// table.
func TestFootersOfManyFrames(t *testing.T) {
	t.Parallel()
	for _, frames := range []uint32{1 << 28, 1 << 31, 1<<32 - 2, 1<<32 - 1} {
		file := binary.LittleEndian.AppendUint32(make([]byte, 100), frames)
		file = binary.LittleEndian.AppendUint32(append(file, 0), seekFooterMagic)
		if table, err := FindSeekTable(bytes.NewReader(file), int64(len(file))); table != nil || err != nil {
			t.Errorf("%d frames: found %v, %v, expected no table", frames, table, err)
		}
	}
}
