package source

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/test/must"

	"github.com/idxport/idxport/source/compressed"
	"github.com/idxport/idxport/source/idx"
)

// seekable compresses data in frames of the given sizes, repeating the last size, and appends a
// seek table as the description of zstd's seekable format says. Size 0 is a skippable frame.
func seekable(t testing.TB, data []byte, sizes ...int) []byte {
	t.Helper()
	encoder := must.Get(zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1)))(t)
	var out, entries []byte
	count := uint32(0)
	for len(data) > 0 {
		n := min(sizes[0], len(data))
		frame := []byte("\x50\x2a\x4d\x18\x02\x00\x00\x00hi")
		if n > 0 {
			frame = encoder.EncodeAll(data[:n], nil)
		}
		out = append(out, frame...)
		entries = binary.LittleEndian.AppendUint32(entries, uint32(len(frame)))
		entries = binary.LittleEndian.AppendUint32(entries, uint32(n))
		data = data[n:]
		count++
		if len(sizes) > 1 {
			sizes = sizes[1:]
		}
	}
	out = binary.LittleEndian.AppendUint32(out, 0x184D2A5E)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(entries)+9))
	out = append(out, entries...)
	out = binary.LittleEndian.AppendUint32(out, count)
	return append(out, 0, 0xb1, 0xea, 0x92, 0x8f)
}

// noise is data that does not compress, so that offsets in the file differ from those in the data.
func noise(n int) []byte {
	data := make([]byte, n)
	for i, x := 0, uint32(1); i < len(data); i++ {
		x = x*1664525 + 1013904223
		data[i] = byte(x >> 24)
	}
	return data
}

// A recording is a file that records what its Read delivered.
type recording struct {
	*bytes.Reader
	reads [][2]int64 // from and to
	limit int64      // −1: never set
}

func (r *recording) Read(p []byte) (int, error) {
	from := r.Size() - int64(r.Len())
	n, err := r.Reader.Read(p)
	if n > 0 {
		r.reads = append(r.reads, [2]int64{from, from + int64(n)})
	}
	return n, err
}

func (r *recording) Limit(end int64)            { r.limit = end }
func (r *recording) Close() error               { return nil }
func (r *recording) Stat() (fs.FileInfo, error) { return recordedInfo{size: r.Size()}, nil }

// A recordedInfo describes a regular file.
type recordedInfo struct {
	fs.FileInfo
	size int64
}

func (i recordedInfo) Size() int64      { return i.size }
func (recordedInfo) IsDir() bool        { return false }
func (recordedInfo) Mode() fs.FileMode  { return 0 }
func (recordedInfo) ModTime() time.Time { return time.Time{} }

// recorded is the only file that exists.
type recorded struct{ *recording }

func (r recorded) Open(string) (File, error)                { return r.recording, nil }
func (r recorded) Stat(string) (fs.FileInfo, error)         { return r.recording.Stat() }
func (recorded) ReadDir(string, int) ([]fs.DirEntry, error) { return nil, errors.ErrUnsupported }

// record opens raw as the only file and records what is read.
func record(t *testing.T, raw []byte, o Options) (*IDX, *recording) {
	t.Helper()
	r := &recording{Reader: bytes.NewReader(raw), limit: -1}
	o.Files = recorded{r}
	return open(t, "images", o), r
}

func TestSeekableFiles(t *testing.T) {
	t.Parallel()
	values := []int16{0, 1, -1, 32767, -32768, 258, 7, 8, 9, 10, 11, 12}
	raw := file(t, idx.Int16, []int{3, 2, 2}, values)
	for _, sizes := range [][]int{{16, 8}, {1}, {5}, {100}, {0, 20, 0, 20}} {
		for _, o := range []Options{{}, {Salvage: true}, {Reshape: []int{-1, 4}}} {
			table := open(t, write(t, "x", seekable(t, raw, sizes...)), o)
			if table.Compression() != compressed.Zstd || table.Rows() != 3 {
				t.Errorf("%v: found %v, %d rows", sizes, table.Compression(), table.Rows())
			}
			check(t, table, 2, 0, little(t, values))
		}
	}
	for _, dims := range [][]int{{0, 28, 28}, {5, 0}} { // files of a header alone
		table := open(t, write(t, "x", seekable(t, file(t, idx.Uint8, dims, []byte{}), 16)), Options{})
		check(t, table, 2, 0, nil)
	}
	table := open(t, write(t, "x", seekable(t, raw, 16, 12)), Options{})
	table.Limit(1) // which is no promise
	check(t, table, 1, 0, little(t, values))
}

// Files whose header and table disagree are read from the start, with the same errors as without
// a table.
func TestSeekableFilesThatAreDamaged(t *testing.T) {
	t.Parallel()
	raw := file(t, idx.Uint8, []int{30, 50}, noise(1500))
	whole := seekable(t, raw, 12, 400)
	table := len(whole) - 9 - 8*5
	wrong := bytes.Clone(whole)
	wrong[table+8*1+4]++ // the size of the second frame's data
	frame := bytes.Clone(whole)
	end := 0
	for i := range 3 { // the third frame holds the rows 8 to 15
		end += int(binary.LittleEndian.Uint32(whole[table+8*i:]))
	}
	frame[end-1] ^= 1 // its checksum
	for name, test := range map[string]struct {
		packed      []byte
		first, last int64
		want        error
	}{
		"too few rows":      {seekable(t, raw[:len(raw)-1], 12, 400), 0, 30, fault.Truncated},
		"trailing bytes":    {seekable(t, append(bytes.Clone(raw), 0), 12, 400), 0, 30, fault.Malformed},
		"wrong table":       {wrong, 20, 30, fault.Malformed},
		"wrong frame":       {frame, 0, 30, fault.Malformed},
		"frame of the part": {frame, 8, 9, fault.Malformed},
		"frame before it":   {frame, 16, 30, nil},
		"frame after it":    {frame, 0, 8, nil},
		"after another row": {frame, 7, 9, fault.Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			part := must.Get(Slice(open(t, write(t, "x", test.packed), Options{}), test.first, test.last))(t)
			if _, err := readAll(part, 5); !errors.Is(err, test.want) {
				t.Errorf("found %v, expected %v", err, test.want)
			}
		})
	}
	contradicting := bytes.Clone(whole)
	contradicting[table+3] = 0x7f // of the first frame's size
	if _, err := OpenIDX(write(t, "x", contradicting), Options{}); !errors.Is(err, fault.Malformed) || !strings.Contains(err.Error(), "x: ") {
		t.Errorf("a table of more bytes than the file has: found %v", err)
	}
	check(t, open(t, write(t, "x", contradicting), Options{Salvage: true}), 7, 0, noise(1500))
}

// TestEveryDamageOfASeekableFile flips every bit and cuts at every byte: this is an error, or
// the rows are still right.
func TestEveryDamageOfASeekableFile(t *testing.T) {
	t.Parallel()
	const rows, size = 12, 5
	want := noise(rows * size)
	whole := seekable(t, file(t, idx.Uint8, []int{rows, size}, want), 12, 20)
	tableSize := 8 + 4*8 + 9
	read := func(raw []byte, first, last int64) error {
		table, err := OpenIDX("images", Options{Files: recorded{&recording{Reader: bytes.NewReader(raw)}}})
		if err != nil {
			return err
		}
		defer table.Close()
		part, err := Slice(table, first, last)
		if err != nil {
			return err
		}
		got, err := readAll(part, 3)
		if err == nil && !bytes.Equal(got.columns[0], want[first*size:last*size]) {
			t.Errorf("rows %d to %d: wrong and no error", first, last)
		}
		return err
	}
	for _, part := range [][2]int64{{0, rows}, {0, 2}, {5, 7}, {10, rows}} {
		silent := 0
		for bit := range 8 * len(whole) {
			raw := bytes.Clone(whole)
			raw[bit/8] ^= 1 << (bit % 8)
			if read(raw, part[0], part[1]) == nil && bit/8 < len(whole)-tableSize {
				silent++
			}
		}
		// RFC 8878, 3.1.1.1: the unused bit in the header of each of the 4 frames, and the 8
		// bits of a window size that none of them exceeds.
		if part[1]-part[0] == rows && silent != 4*(1+8) {
			t.Errorf("%d bits of the frames flip without an error, expected %d", silent, 4*(1+8))
		}
		for n := range len(whole) {
			if err := read(whole[:n], 0, rows); err == nil && n < len(whole)-tableSize {
				t.Errorf("cut to %d of %d bytes: found no error", n, len(whole))
			}
		}
	}
}

// A file whose table and header differ is read from the start in one go, not frame by frame, as
// the table says nothing about it.
func TestManyFramesOfLessThanTheHeaderSays(t *testing.T) {
	t.Parallel()
	const there, missing = 20_000, 5
	raw := file(t, idx.Uint8, []int{there + missing}, noise(there+missing))
	table, read := record(t, seekable(t, raw[:len(raw)-missing], 1), Options{})
	part := must.Get(Slice(table, there-missing, there+missing))(t)
	if _, err := readAll(part, 5); !errors.Is(err, fault.Truncated) {
		t.Errorf("found %v, expected %v", err, fault.Truncated)
	}
	if len(read.reads) > 100 {
		t.Errorf("found %d reads of %d bytes, expected few", len(read.reads), read.Size())
	}
}
