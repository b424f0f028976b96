package compressed

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/test/must"
)

// goodFiles are the valid files of testdata, made by the programs themselves (testdata/make.sh).
var goodFiles = []struct {
	name   string
	format string
}{
	{"small.plain", Plain},
	{"small.gz", "gzip"},
	{"small-members.gz", "gzip"},
	{"small-padded.gz", "gzip"},
	{"empty.gz", "gzip"},
	{"long.gz", "gzip"},
	{"small.zst", "zstd"},
	{"small-nocheck.zst", "zstd"},
	{"small-frames.zst", "zstd"},
	{"empty.zst", "zstd"},
	{"long.zst", "zstd"},
	{"small.xz", "xz"},
	{"small-nocheck.xz", "xz"},
	{"small-delta.xz", "xz"},
	{"small-streams.xz", "xz"},
	{"small-blocks.xz", "xz"},
	{"empty.xz", "xz"},
	{"long.xz", "xz"},
	{"small.bz2", "bzip2"},
	{"small-streams.bz2", "bzip2"},
	{"empty.bz2", "bzip2"},
	{"long.bz2", "bzip2"},
}

func TestFilesOfTheRealPrograms(t *testing.T) {
	t.Parallel()
	inputs := map[string]func([]byte) io.Reader{
		"whole":           func(b []byte) io.Reader { return bytes.NewReader(b) },
		"byte by byte":    func(b []byte) io.Reader { return iotest.OneByteReader(bytes.NewReader(b)) },
		"error with data": func(b []byte) io.Reader { return iotest.DataErrReader(bytes.NewReader(b)) },
	}
	for _, file := range goodFiles {
		for kind, input := range inputs {
			t.Run(file.name+" "+kind, func(t *testing.T) {
				t.Parallel()
				raw := testFile(t, file.name)
				r := NewReader(input(raw))
				defer r.Close()
				if r.Format() != file.format {
					t.Errorf("format: found %v, expected %v", r.Format(), file.format)
				}
				must.Do(t, iotest.TestReader(r, content(t, file.name)))
				if r.in.taken != int64(len(raw)) {
					t.Errorf("offset: found %d, expected %d", r.in.taken, len(raw))
				}
			})
		}
	}
}

func TestUnsupported(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"unsupported-dictionary.xz", "unsupported-window.zst"} {
		if data, _, err := decompress(testFile(t, name)); len(data) > 0 || !errors.Is(err, fault.Unsupported) {
			t.Errorf("%s: found %d bytes and %v, expected unsupported data", name, len(data), err)
		}
	}
}

func TestDetect(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, prefix, want string }{
		{"nothing", "", Plain},
		{"an IDX header", "\x00\x00\x08\x03\x00\x00", Plain},
		{"a gzip member", "\x1f\x8b\x08\x00\x00\x00", "gzip"},
		{"gzip of an unknown method", "\x1f\x8b\x07\x00\x00\x00", "gzip"},
		{"two bytes of gzip", "\x1f\x8b", "gzip"},
		{"compress(1)", "\x1f\x9d\x90\x00\x00\x00", Plain},
		{"a zstd frame", "\x28\xb5\x2f\xfd\x24\x00", "zstd"},
		{"the first skippable frame", "\x50\x2a\x4d\x18\x00\x00", "zstd"},
		{"the last skippable frame", "\x5f\x2a\x4d\x18\x00\x00", "zstd"},
		{"after the last skippable frame", "\x60\x2a\x4d\x18\x00\x00", Plain},
		{"an xz stream", "\xfd7zXZ\x00", "xz"},
		{"five bytes of xz", "\xfd7zXZ", Plain},
		{"a bzip2 block", "BZh91AY&SY", "bzip2"},
		{"bzip2 without blocks", "BZh1\x17\x72\x45", "bzip2"},
		{"text like bzip2", "BZh9,label", Plain},
		{"bzip2 of level 0", "BZh01AY", Plain},
	} {
		if got := Detect([]byte(test.prefix)); got != test.want {
			t.Errorf("%s: found %v, expected %v", test.name, got, test.want)
		}
	}
}

// Plain input is read without waiting for more than a Read returns, and large parts straight into
// the caller's buffer.
func TestPlainReadsGoStraightThrough(t *testing.T) {
	t.Parallel()
	var asked []*byte
	r := NewReader(readerFunc(func(p []byte) (int, error) {
		asked = append(asked, &p[0])
		return copy(p, "0,1,2\n3,4,5\n"), nil
	}))
	p := make([]byte, inputBuffer)
	for reads := 1; reads <= 3; reads++ {
		if n, err := r.Read(p); n != 12 || err != nil || len(asked) != reads || reads > 1 && asked[reads-1] != &p[0] {
			t.Errorf("read %d: found %d bytes and %v after %d reads of the input, expected 12 bytes", reads, n,
				err, len(asked))
		}
	}
}

// decompress reads all of raw.
func decompress(raw []byte) (data []byte, f string, err error) {
	r := NewReader(bytes.NewReader(raw))
	defer r.Close()
	data, err = io.ReadAll(r)
	return data, r.Format(), err
}

func testFile(t testing.TB, name string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(filepath.Join("testdata", name)))(t)
}

// content returns the decompressed content of a file of testdata.
func content(t testing.TB, name string) []byte {
	t.Helper()
	switch name[:4] {
	case "long":
		return bytes.Repeat([]byte("0123456789abc\n"), 3_000_000/14+1)[:3_000_000]
	case "smal":
		return testFile(t, "small.plain")
	}
	return nil
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestCloseInTheMiddle(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"small.plain", "long.gz", "long.zst", "long.xz", "long.bz2"} {
		for _, size := range []int{0, 1, 100} {
			r := NewReader(bytes.NewReader(testFile(t, name)))
			must.Get(io.ReadFull(r, make([]byte, size)))(t)
			r.Close()
			if _, err := r.Read(make([]byte, 1)); err != fs.ErrClosed {
				t.Errorf("%s, read after Close: found %v, expected fs.ErrClosed", name, err)
			}
			r.Close() // a second time
		}
	}
}

// A pipe without further data blocks a Read. Close does not wait for it.
func TestCloseDoesNotWaitForABlockedPipe(t *testing.T) {
	t.Parallel()
	in, out := io.Pipe()
	r := NewReader(io.MultiReader(bytes.NewReader(testFile(t, "long.gz")[:1000]), in))
	read := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, r)
		read <- err
	}()
	for r.mu.TryLock() {
		r.mu.Unlock()
		time.Sleep(time.Millisecond)
	}
	r.Close()
	out.CloseWithError(syscall.EIO)
	if err := <-read; err != syscall.EIO && err != fs.ErrClosed {
		t.Errorf("found %v, expected that of the input or fs.ErrClosed", err)
	}
}

func TestErrorsOfTheInputKeepTheirIdentity(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"small.plain", "long.gz", "long.zst", "long.xz", "long.bz2"} {
		raw := testFile(t, name)
		for _, failure := range []error{
			&fs.PathError{Op: "read", Path: "x.gz", Err: syscall.EIO},
			io.ErrUnexpectedEOF, // as a HTTP body may return
		} {
			for _, at := range []int{0, 3, 100, len(raw)} {
				r := NewReader(io.MultiReader(bytes.NewReader(raw[:at]), iotest.ErrReader(failure)))
				if _, err := io.Copy(io.Discard, r); err != failure {
					t.Errorf("%s failing at %d: found %v, expected %v", name, at, err, failure)
				}
				r.Close()
			}
		}
	}
}

func TestInputWithoutProgress(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"small.plain", "small.gz"} {
		stuck := readerFunc(func([]byte) (int, error) { return 0, nil })
		r := NewReader(io.MultiReader(bytes.NewReader(testFile(t, name)[:50]), stuck))
		if _, err := io.Copy(io.Discard, r); err != io.ErrNoProgress {
			t.Errorf("%s: found %v, expected io.ErrNoProgress", name, err)
		}
		r.Close()
	}
}

// A panic of a decoder means bad data.
func TestPanics(t *testing.T) {
	t.Parallel()
	in := &input{r: strings.NewReader("12345678")}
	r := &Reader{format: format{name: "xz", open: openPanicking}, in: in, buf: bufio.NewReader(in)}
	if data, err := io.ReadAll(r); string(data) != "abc" || !errors.Is(err, fault.Malformed) {
		t.Errorf("decoder: found %q and %v, expected abc and malformed data", data, err)
	}
}

func openPanicking(*bufio.Reader) (io.Reader, error) {
	reads := 0
	return readerFunc(func(p []byte) (int, error) {
		if reads++; reads == 2 {
			panic("index out of range")
		}
		return copy(p, "abc"), nil
	}), nil
}

// hostile are files of a few bytes that ask for a lot of memory.
var hostile = []struct {
	name string
	raw  string
	want error
}{
	{"a zstd window of 64 MiB", "\x28\xb5\x2f\xfd\x00\x80\x01\x00\x00", nil},
	{"a zstd window of 144 MiB", "\x28\xb5\x2f\xfd\x00\x89\x01\x00\x00", fault.Unsupported},
	{"a zstd window of 3.75 TiB", "\x28\xb5\x2f\xfd\x00\xff\x01\x00\x00", fault.Unsupported},
	{"a zstd single segment of 4 GiB", "\x28\xb5\x2f\xfd\xa0\xff\xff\xff\xff\x01\x00\x00", fault.Unsupported},
	{"a zstd single segment of 64 MiB", "\x28\xb5\x2f\xfd\xa0\x00\x00\x00\x04\x01\x00\x00", fault.Malformed},
	{"an xz dictionary of 64 MiB", xzWithDictionary(28), nil},
	{"an xz dictionary of 96 MiB", xzWithDictionary(29), fault.Unsupported},
	{"an xz dictionary of 4 GiB", xzWithDictionary(40), fault.Unsupported},
}

// xzWithDictionary returns an xz file whose block of one byte asks for a dictionary of the encoded
// size (5.3.1).
func xzWithDictionary(size byte) string {
	return string(madeXZ{dictionary: size, blocks: []string{"\x01\x00\x00a"}, sizes: []int{1}}.bytes())
}

// Not parallel: it reads the process's memory statistics.
func TestHostileHeaders(t *testing.T) {
	const limit = 66 << 20
	idleXZ() // whose dictionaries are reserved once
	for _, test := range hostile {
		t.Run(test.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _, err := decompress([]byte(test.raw))
			runtime.ReadMemStats(&after)
			if !errors.Is(err, test.want) {
				t.Errorf("found %v, expected %v", err, test.want)
			}
			reserved := after.TotalAlloc - before.TotalAlloc
			if reserved > limit || errors.Is(err, fault.Unsupported) && reserved > 2<<20 {
				t.Errorf("%d bytes made it reserve %d KiB", len(test.raw), reserved>>10)
			}
			t.Logf("reserved %d KiB", reserved>>10)
		})
	}
}

func TestJunkAfterTheLastMember(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"small.gz", "small-padded.gz", "small.zst", "small-streams.xz", "small.bz2"} {
		for _, junk := range []string{"x", "junk", "PK\x03\x04 is another format",
			"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00x", "\x00\x00\x00\x00\x1f\x8b\x08\x00"} {
			data, _, err := decompress([]byte(string(testFile(t, name)) + junk))
			if string(data) != string(content(t, name)) || err == nil {
				t.Errorf("%s and %q: found %d bytes and %v, expected all data, then an error", name, junk,
					len(data), err)
			}
			if len(junk) >= 4 && !errors.Is(err, fault.Malformed) {
				t.Errorf("%s and %q: found %v, expected malformed data", name, junk, err)
			}
		}
	}
}

// TestManyEmptyStreams has many streams, members and skippable frames without data before the data
// and, where the format allows it, after it: appending to logs makes them. A cut in the last one is
// detected after all of them.
func TestManyEmptyStreams(t *testing.T) {
	t.Parallel()
	for name, empty := range map[string]string{
		"small.gz": string(testFile(t, "empty.gz")), "small.xz": string(testFile(t, "empty.xz")),
		"small.bz2": string(testFile(t, "empty.bz2")),
		"small.zst": "\x50\x2a\x4d\x18\x00\x00\x00\x00", // RFC 8878, 3.1.2
	} {
		many := strings.Repeat(empty, 10_000)
		raw := many + string(testFile(t, name)) + many
		if data, _, err := decompress([]byte(raw)); err != nil || !bytes.Equal(data, content(t, name)) {
			t.Errorf("%s: found %d bytes, %v, expected all data", name, len(data), err)
		}
		if data, _, err := decompress([]byte(many)); err != nil || len(data) != 0 {
			t.Errorf("%s, nothing else: found %d bytes, %v, expected none", name, len(data), err)
		}
		if _, _, err := decompress([]byte(raw[:len(raw)-1])); !errors.Is(err, fault.Truncated) {
			t.Errorf("%s: found %v, expected that a cut is seen", name, err)
		}
	}
}

// A name may be longer than any buffer, and the checksum of the header covers all of it.
func TestLongNameInTheHeader(t *testing.T) {
	t.Parallel()
	raw := member(2|8, bytes.Repeat([]byte{'n'}, 5<<20), []byte{0})
	if data, _, err := decompress(raw); err != nil || string(data) != "abc" {
		t.Errorf("found %q, %v", data, err)
	}
	raw[4<<20] ^= 1
	if _, _, err := decompress(raw); err == nil {
		t.Error("a flipped bit of the name was not seen")
	}
}
