package source

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
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

const spanRows, spanRecord = 30, 50 // of the files below

// spanFiles are files with a header of 12 bytes and 30 rows of 50 bytes.
func spanFiles(t *testing.T) map[string][]byte {
	raw := file(t, idx.Uint8, []int{spanRows, spanRecord}, noise(spanRows*spanRecord))
	return map[string][]byte{
		"plain":               raw,
		"header and batches":  seekable(t, raw, 12, 400),
		"frames across rows":  seekable(t, raw, 77),
		"frames of one row":   seekable(t, raw, 12, 50),
		"header in two":       seekable(t, raw, 7, 100),
		"frames of 3 bytes":   seekable(t, raw, 3),
		"one frame":           seekable(t, raw, 10_000),
		"skippable ones":      seekable(t, raw, 0, 12, 0, 0, 130, 0, 1000, 0, 70),
		"a large first frame": seekable(t, raw, 600, 90),
	}
}

// TestSpan checks the contract of Span: which bytes of the file are read for some rows.
func TestSpan(t *testing.T) {
	t.Parallel()
	want := noise(spanRows * spanRecord)
	for name, raw := range spanFiles(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for first := range int64(spanRows + 1) {
				for last := first; last <= spanRows; last++ {
					table, file := record(t, raw, Options{})
					part := must.Get(Slice(table, first, last))(t)
					check(t, part, int(1+(first+last)%9), first, want[first*spanRecord:last*spanRecord])
					if problem := spanProblem(table, file, first, last); problem != "" {
						t.Fatalf("rows %d to %d: %s; read %v", first, last, problem, file.reads)
					}
				}
			}
		})
	}
}

// spanProblem checks what was read of the file as a caller that hashes the span would.
func spanProblem(table *IDX, file *recording, first, last int64) string {
	from, to, ok := table.Span(first, last)
	if !ok || from > to || to > file.Size() || (first == last) != (from == to) {
		return fmt.Sprintf("found the span %d to %d, %v", from, to, ok)
	}
	if first == last {
		return ""
	}
	if problem := headerProblem(table, file, from); problem != "" {
		return problem
	}
	next := from
	for _, read := range file.reads {
		switch {
		case next == to && last < table.Rows():
			return fmt.Sprintf("read on from %d, where the span ends", to)
		case next >= to:
		case next > from && read[0] != next, next == from && read[0] > next:
			return fmt.Sprintf("read on at %d, expected %d", read[0], next)
		case read[1] > next:
			next = read[1]
		}
	}
	switch {
	case last == table.Rows() && table.frames != nil && file.limit != math.MaxInt64:
		return fmt.Sprintf("the file's limit is %d, expected none, as the seek table follows", file.limit)
	case next < to:
		return fmt.Sprintf("read to %d, expected %d", next, to)
	case last < table.Rows() && next > to:
		return fmt.Sprintf("read to %d, beyond %d", next, to)
	case last < table.Rows() && file.limit != to:
		return fmt.Sprintf("the file's limit is %d, expected %d", file.limit, to)
	}
	return ""
}

// headerProblem checks what was read of the file before anything else, as a caller that hashes the
// header's bytes would. The rows begin at from.
func headerProblem(table *IDX, file *recording, from int64) string {
	end, ok := table.HeaderEnd()
	if !ok || end < 12 || end > file.Size() {
		return fmt.Sprintf("found the header before byte %d, %v", end, ok)
	}
	next := int64(0)
	for _, read := range file.reads {
		if next >= end {
			return ""
		}
		if read[0] != next {
			return fmt.Sprintf("read on at %d, expected %d, as the header's bytes end at %d and the rows' begin at %d", read[0], next, end, from)
		}
		next = read[1]
	}
	if next < end {
		return fmt.Sprintf("read to %d, expected %d, where the header's bytes end", next, end)
	}
	return ""
}

// TestHeaderEnd adds up the sizes, from the table, of the frames that hold the header.
func TestHeaderEnd(t *testing.T) {
	t.Parallel()
	raw := file(t, idx.Uint8, []int{spanRows, spanRecord}, noise(spanRows*spanRecord))
	for name, test := range map[string]struct {
		sizes  []int
		frames int // that hold the header of 12 bytes
	}{
		"its own frame": {[]int{12, 400}, 1},
		"with rows":     {[]int{600, 90}, 1},
		"in two":        {[]int{7, 100}, 2},
		"in four":       {[]int{3}, 4},
		"after another": {[]int{0, 12, 0, 100}, 2},
	} {
		packed := seekable(t, raw, test.sizes...)
		frames := int(binary.LittleEndian.Uint32(packed[len(packed)-9:]))
		want := int64(0)
		for i := range test.frames {
			want += int64(binary.LittleEndian.Uint32(packed[len(packed)-9-8*frames+8*i:]))
		}
		table, _ := record(t, packed, Options{})
		if to, ok := table.HeaderEnd(); to != want || !ok {
			t.Errorf("%s: found %d, %v, expected %d", name, to, ok, want)
		}
	}
	table, _ := record(t, raw, Options{Reshape: []int{-1, 5, 10}})
	if to, ok := table.HeaderEnd(); to != 12 || !ok {
		t.Errorf("a plain file: found %d, %v, expected 12", to, ok)
	}
}

// Even if frames are larger than what is decoded ahead, the last frame of a span and that of the
// header are read to their ends, so that their checksums are verified, also if reading continues in
// another frame.
func TestSpanOfLargeFrames(t *testing.T) {
	t.Parallel()
	const rows, size, frame = 400, 10_000, 1_500_000
	want := noise(rows * size)
	raw := seekable(t, file(t, idx.Uint8, []int{rows, size}, want), frame)
	end := int(binary.LittleEndian.Uint32(raw[len(raw)-9-3*8:])) // of the first frame, which has the header
	damaged := write(t, "x", slices.Concat(raw[:end-1], []byte{raw[end-1] ^ 1}, raw[end:]))
	for _, span := range [][2]int64{{0, 1}, {3, 10}, {10, 11}, {148, 151}, {149, 150}, {160, 161}, {200, 201}, {200, 400}, {399, 400}} {
		table, file := record(t, raw, Options{})
		part := must.Get(Slice(table, span[0], span[1]))(t)
		check(t, part, 1, span[0], want[span[0]*size:span[1]*size])
		if problem := spanProblem(table, file, span[0], span[1]); problem != "" {
			t.Errorf("rows %v: %s; read %v", span, problem, file.reads)
		}
		part = must.Get(Slice(open(t, damaged, Options{}), span[0], span[1]))(t)
		if _, err := readAll(part, 1); !errors.Is(err, fault.Malformed) {
			t.Errorf("rows %v of a damaged file: found %v, expected %v", span, err, fault.Malformed)
		}
	}
}

// TestSpanHoldsTheRows decompresses only the bytes of the span, which hold the rows.
func TestSpanHoldsTheRows(t *testing.T) {
	t.Parallel()
	want := noise(spanRows * spanRecord)
	for name, raw := range spanFiles(t) {
		table, _ := record(t, raw, Options{})
		for _, rows := range [][2]int64{{0, 1}, {3, 9}, {29, 30}, {0, 30}} {
			from, to, _ := table.Span(rows[0], rows[1])
			data := raw[from:to]
			if name != "plain" {
				decoder, err := zstd.NewReader(bytes.NewReader(data))
				if err != nil {
					t.Fatal(err)
				}
				if data, err = io.ReadAll(decoder); err != nil {
					t.Fatal(err)
				}
				decoder.Close()
			}
			if !bytes.Contains(data, want[rows[0]*spanRecord:rows[1]*spanRecord]) {
				t.Errorf("%s, rows %v: they are not in the bytes %d to %d", name, rows, from, to)
			}
		}
	}
}

// Other files have no spans, and neither do rows that do not exist.
func TestNoSpan(t *testing.T) {
	t.Parallel()
	raw := file(t, idx.Uint8, []int{9, 3}, bytesUpTo(27))
	for name, packed := range map[string][]byte{"gzip": gzipped(t, raw), "zstd": zstandard(t, raw), "less than the header says": seekable(t, raw[:30], 10)} {
		if from, to, ok := open(t, write(t, "x", packed), Options{}).Span(0, 1); ok {
			t.Errorf("%s: found %d to %d", name, from, to)
		}
		if to, ok := open(t, write(t, "x", packed), Options{}).HeaderEnd(); ok {
			t.Errorf("%s: found the header before %d", name, to)
		}
	}
	pipe := fromBytes(t, Stdin, raw, Options{})
	if _, _, ok := pipe.Span(0, 1); ok {
		t.Error("a pipe has a span")
	}
	if _, ok := pipe.HeaderEnd(); ok {
		t.Error("a pipe's header has a span")
	}
	table := open(t, write(t, "x", seekable(t, raw, 10)), Options{})
	for _, rows := range [][2]int64{{-1, 2}, {3, 2}, {0, 10}} {
		if _, _, ok := table.Span(rows[0], rows[1]); ok {
			t.Errorf("rows %v have a span", rows)
		}
	}
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
