package compressed

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/idxport/idxport/fault"
)

// seekableFiles are those of testdata that end with a seek table, made by other programs.
var seekableFiles = []struct {
	name   string
	frames int
}{
	{"small-seekable.zst", 3}, // checksums in the table alone
	{"small-seekable-nosums.zst", 5},
	{"empty-seekable.zst", 1},
}

// tableOf returns the seek table of raw, which must have one.
func tableOf(t testing.TB, raw []byte) *SeekTable {
	t.Helper()
	table, err := FindSeekTable(bytes.NewReader(raw), int64(len(raw)))
	if err != nil || table == nil {
		t.Fatalf("found the table %v and %v", table, err)
	}
	return table
}

// openSeekable opens raw, which must have a seek table.
func openSeekable(t testing.TB, raw []byte) *SeekReader {
	t.Helper()
	r := NewSeekReader(bytes.NewReader(raw), tableOf(t, raw))
	t.Cleanup(func() { r.Close() })
	return r
}

func TestSeekableFilesOfOtherPrograms(t *testing.T) {
	t.Parallel()
	for _, file := range seekableFiles {
		t.Run(file.name, func(t *testing.T) {
			t.Parallel()
			raw, want := testFile(t, file.name), content(t, file.name)
			r := openSeekable(t, raw)
			if r.table.frames != file.frames {
				t.Errorf("found %d frames, expected %d", r.table.frames, file.frames)
			}
			if err := iotest.TestReader(r, want); err != nil { // seeks too
				t.Error(err)
			}
			for _, until := range []int64{0, 1, 100, 1000} {
				r := openSeekable(t, raw)
				r.ReadAhead(until)
				if data, err := io.ReadAll(r); err != nil || !bytes.Equal(data, want) {
					t.Errorf("ahead to byte %d: found %d bytes and %v", until, len(data), err)
				}
			}
			if data, format, err := decompress(raw); err != nil || format != Zstd || !bytes.Equal(data, want) {
				t.Errorf("without the table: found %d bytes, %v and %v", len(data), format, err)
			}
		})
	}
}

// Every part is read by a new reader and by one that jumps between parts.
func TestSeekEverywhere(t *testing.T) {
	t.Parallel()
	raw, want := testFile(t, "small-seekable.zst"), content(t, "small-seekable.zst")
	jumping := openSeekable(t, raw)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 2000 {
		first := random.Int64N(int64(len(want)) + 1)
		last := first + random.Int64N(int64(len(want))-first+1)
		readers := []*SeekReader{jumping}
		if i%10 == 0 {
			readers = append(readers, openSeekable(t, raw))
		}
		for _, r := range readers {
			if i%3 == 0 {
				r.ReadAhead(random.Int64N(300))
			}
			if _, err := r.Seek(first, io.SeekStart); err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(io.LimitReader(r, last-first))
			if err == nil && i%7 == 0 {
				err = r.Finish()
			}
			if err != nil || !bytes.Equal(data, want[first:last]) {
				t.Fatalf("bytes %d to %d: found %d of them and %v", first, last, len(data), err)
			}
		}
	}
	for _, to := range []struct {
		offset int64
		whence int
	}{{-1, io.SeekStart}, {int64(len(want)) + 1, io.SeekStart}, {1, io.SeekEnd}, {0, 3}, {0, -1}} {
		if _, err := jumping.Seek(to.offset, to.whence); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("seek to %v: found %v, expected %v", to, err, fs.ErrInvalid)
		}
	}
}

// A difference between the table and a frame is an error at that frame. The data before it is
// returned.
func TestTablesThatContradictTheFrames(t *testing.T) {
	t.Parallel()
	abc, a, skippable := stored("abc"), stored("a"), "\x50\x2a\x4d\x18\x02\x00\x00\x00hi"
	long, short := uint32(len(abc)), uint32(len(a))
	for name, test := range map[string]struct {
		raw, data string
		err       string // "": none
	}{
		"right":                  {abc + a + seekTable(2, 0x80, long, 3, sums["abc"], short, 1, sums["a"]), "abca", ""},
		"skippable":              {skippable + abc + skippable + seekTable(3, 0x80, 10, 0, sums[""], long, 3, sums["abc"], 10, 0, 0), "abc", ""},
		"frames of one entry":    {abc + a + abc + seekTable(2, 0x80, long+short, 4, sums["abca"], long, 3, sums["abc"]), "abcaabc", ""},
		"nothing":                {seekTable(0, 0), "", ""},
		"wrong checksum":         {abc + a + seekTable(2, 0x80, long, 3, sums["abc"], short, 1, 1), "abc", "frame 1 with the checksum a98c6e5b, expected 00000001"},
		"less data":              {abc + a + seekTable(2, 0, long, 3, short, 2), "abca", "frame 1 holds 1 bytes of data, expected 2"},
		"much less data":         {abc + a + seekTable(2, 0, long, 3, short, 1<<32-1), "abca", "frame 1 holds 1 bytes of data, expected 4294967295"},
		"more data":              {abc + a + seekTable(2, 0, long, 2, short, 1), "", "frame 0 holds more than 2 bytes of data"},
		"data where none is":     {abc + a + seekTable(2, 0, long, 3, short, 0), "abc", "frame 1 holds more than 0 bytes of data"},
		"border in the frame":    {abc + a + seekTable(2, 0, long-1, 3, short+1, 1), "", "frame 0 continues at byte 11"},
		"border after it":        {abc + a + seekTable(2, 0, long+1, 3, short-1, 1), "", "corrupt data"},
		"border in its header":   {abc + a + seekTable(2, 0, 3, 3, long+short-3, 1), "", "corrupt data"},
		"no bytes":               {abc + seekTable(2, 0, 0, 3, long, 3), "", "frame 0 holds 0 bytes of data, expected 3"},
		"a window of 144 MiB":    {"\x28\xb5\x2f\xfd\x00\x89\x01\x00\x00" + seekTable(1, 0, 9, 1), "", "not supported"},
		"4 GiB in one segment":   {"\x28\xb5\x2f\xfd\xa0\xff\xff\xff\xff\x01\x00\x00" + seekTable(1, 0, 12, 1<<32-1), "", "not supported"},
		"an unfinished frame":    {abc[:len(abc)-1] + seekTable(1, 0, long-1, 3), "", "frame 0 continues at byte 11"},
		"a frame that says less": {abc[:5] + "\x02" + abc[6:] + seekTable(1, 0, long, 3), "", "corrupt data"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := io.ReadAll(openSeekable(t, []byte(test.raw)))
			if string(data) != test.data {
				t.Errorf("found %q, expected %q", data, test.data)
			}
			if test.err == "" && err == nil {
				return
			}
			if !tellsDamage(err, Zstd, len(test.raw)) || test.err == "" || !strings.Contains(err.Error(), test.err) {
				t.Errorf("found %v, expected %q", err, test.err)
			}
		})
	}
}

// Reading everything checks the end: the table must not have changed, and nothing may follow it.
func TestFilesThatChangeBehindTheFrames(t *testing.T) {
	t.Parallel()
	raw := testFile(t, "small-seekable.zst")
	table := tableOf(t, raw)
	changed := bytes.Clone(raw)
	changed[table.end.packed+20]++
	for name, test := range map[string]struct {
		raw  []byte
		want error
	}{
		"longer":  {append(bytes.Clone(raw), 0), fault.Malformed},
		"changed": {changed, fault.Malformed},
		"shorter": {raw[:len(raw)-1], fault.Truncated},
		"cut":     {raw[:100], fault.Truncated},
	} {
		r := NewSeekReader(bytes.NewReader(test.raw), table)
		if _, err := io.ReadAll(r); !errors.Is(err, test.want) {
			t.Errorf("%s: found %v, expected %v", name, err, test.want)
		}
		r.Close()
	}
}

// The last bytes of a frame are returned only after its checksum was verified; Finish verifies it
// earlier.
func TestFinish(t *testing.T) {
	t.Parallel()
	raw := testFile(t, "small-seekable.zst")
	raw[103-2] ^= 1 // in the last bytes of the second frame
	r := openSeekable(t, raw)
	if _, err := io.ReadFull(r, make([]byte, 96)); err != nil {
		t.Fatal(err)
	}
	if err := r.Finish(); err != nil {
		t.Fatalf("the first frame is right: found %v", err)
	}
	if n, err := io.ReadFull(r, make([]byte, 96)); !errors.Is(err, fault.Malformed) || n == 96 {
		t.Errorf("found %d bytes and %v, expected less than the frame and malformed data", n, err)
	}
	r = openSeekable(t, raw)
	if _, err := r.Seek(192+60, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(r, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := r.Finish(); err != nil {
		t.Errorf("the third frame is right: found %v", err)
	}
}

func TestErrorsOfASeekableFileKeepTheirIdentity(t *testing.T) {
	t.Parallel()
	raw := testFile(t, "small-seekable.zst")
	table := tableOf(t, raw)
	broken := errors.New("disk on fire")
	for at := range len(raw) {
		in := struct {
			io.Reader
			io.Seeker
		}{io.MultiReader(bytes.NewReader(raw[:at]), iotest.ErrReader(broken)), bytes.NewReader(raw)}
		r := NewSeekReader(in, table)
		if _, err := io.ReadAll(r); err != broken {
			t.Errorf("failing at %d: found %v, expected %v", at, err, broken)
		}
		r.Close()
	}
	r := NewSeekReader(struct {
		io.Reader
		io.Seeker
	}{bytes.NewReader(raw), failingSeeker{broken}}, table)
	if _, err := r.Read(make([]byte, 1)); err != broken {
		t.Errorf("a file that cannot seek: found %v, expected %v", err, broken)
	}
}

type failingSeeker struct{ err error }

func (f failingSeeker) Seek(int64, int) (int64, error) { return 0, f.err }

// TestCloseOfASeekReader closes it while a Read waits for the file, and after some bytes.
func TestCloseOfASeekReader(t *testing.T) {
	t.Parallel()
	raw := testFile(t, "small-seekable.zst")
	for n := range 120 {
		r := openSeekable(t, raw)
		r.ReadAhead(int64(n))
		if _, err := io.ReadFull(r, make([]byte, n)); err != nil {
			t.Fatal(err)
		}
		r.Close()
		if n > 0 {
			<-r.ahead.done
		}
		if _, err := r.Read(make([]byte, 1)); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("after %d bytes: found %v, expected fs.ErrClosed", n, err)
		}
		r.Close() // a second time
	}
	table := tableOf(t, raw)
	in, out := io.Pipe()
	go out.Write(raw[:20])
	r := NewSeekReader(struct {
		io.Reader
		io.Seeker
	}{in, bytes.NewReader(raw)}, table)
	read := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, r)
		read <- err
	}()
	time.Sleep(time.Millisecond)
	r.Close()
	select {
	case err := <-read:
		if !errors.Is(err, fs.ErrClosed) {
			t.Errorf("found %v, expected fs.ErrClosed", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the waiting Read hangs")
	}
	in.Close()
}

// A closingFile closes its reader during the n-th Seek.
type closingFile struct {
	*bytes.Reader
	n     int
	close func() error
}

func (c *closingFile) Seek(offset int64, whence int) (int64, error) {
	if c.n--; c.n == 0 {
		c.close()
	}
	return c.Reader.Seek(offset, whence)
}

// A SeekReader that was closed between two frames keeps returning fs.ErrClosed.
func TestCloseWhileTheFileSeeks(t *testing.T) {
	t.Parallel()
	raw := testFile(t, "small-seekable.zst")
	table := tableOf(t, raw)
	for n := 1; n <= 3; n++ {
		file := &closingFile{Reader: bytes.NewReader(raw), n: n}
		r := NewSeekReader(file, table)
		file.close = r.Close
		for i := range n + 2 {
			if _, err := r.Seek(int64(96*(i%2)), io.SeekStart); err != nil { // the first frame and the second
				t.Fatal(err)
			}
			if _, err := r.Read(make([]byte, 1)); i+1 < n && err != nil || i+1 >= n && !errors.Is(err, fs.ErrClosed) {
				t.Errorf("closed in seek %d: read %d found %v", n, i+1, err)
			}
			if _, err := r.Read(make([]byte, 1)); i+1 >= n && !errors.Is(err, fs.ErrClosed) {
				t.Errorf("closed in seek %d: read %d again found %v, expected fs.ErrClosed", n, i+1, err)
			}
		}
	}
}
