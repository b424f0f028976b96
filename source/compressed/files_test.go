package compressed

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"github.com/idxport/idxport/fault"
)

// goodFiles are those of testdata that decompress, made by the programs themselves (testdata/make.sh).
var goodFiles = []struct {
	name   string
	format Format
}{
	{"small.plain", Plain},
	{"small.gz", Gzip},
	{"small-members.gz", Gzip},
	{"small-padded.gz", Gzip},
	{"empty.gz", Gzip},
	{"long.gz", Gzip},
	{"small.zst", Zstd},
	{"small-nocheck.zst", Zstd},
	{"small-frames.zst", Zstd},
	{"empty.zst", Zstd},
	{"long.zst", Zstd},
	{"small.xz", XZ},
	{"small-nocheck.xz", XZ},
	{"small-streams.xz", XZ},
	{"small-blocks.xz", XZ},
	{"empty.xz", XZ},
	{"long.xz", XZ},
	{"small.bz2", Bzip2},
	{"small-streams.bz2", Bzip2},
	{"empty.bz2", Bzip2},
	{"long.bz2", Bzip2},
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
				r, err := NewReader(input(raw))
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				if r.Format() != file.format {
					t.Errorf("format: found %v, expected %v", r.Format(), file.format)
				}
				if err := iotest.TestReader(r, content(t, file.name)); err != nil {
					t.Error(err)
				}
				if r.in.taken.Load() != int64(len(raw)) {
					t.Errorf("offset: found %d, expected %d", r.in.taken.Load(), len(raw))
				}
			})
		}
	}
}

func TestUnsupported(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"unsupported-delta.xz", "unsupported-dictionary.xz", "unsupported-window.zst"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, _, err := decompress(testFile(t, name))
			if len(data) > 0 || !errors.Is(err, fault.Unsupported) || errors.Is(err, fault.Malformed) {
				t.Errorf("found %d bytes and %v, expected unsupported data", len(data), err)
			}
		})
	}
}

func TestDetect(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, prefix string
		want         Format
		text         string
	}{
		{"nothing", "", Plain, "none"},
		{"an IDX header", "\x00\x00\x08\x03\x00\x00", Plain, "none"},
		{"a gzip member", "\x1f\x8b\x08\x00\x00\x00", Gzip, "gzip"},
		{"gzip of an unknown method", "\x1f\x8b\x07\x00\x00\x00", Gzip, "gzip"},
		{"two bytes of gzip", "\x1f\x8b", Gzip, "gzip"},
		{"compress(1)", "\x1f\x9d\x90\x00\x00\x00", Plain, "none"},
		{"a zstd frame", "\x28\xb5\x2f\xfd\x24\x00", Zstd, "zstd"},
		{"the first skippable frame", "\x50\x2a\x4d\x18\x00\x00", Zstd, "zstd"},
		{"the last skippable frame", "\x5f\x2a\x4d\x18\x00\x00", Zstd, "zstd"},
		{"after the last skippable frame", "\x60\x2a\x4d\x18\x00\x00", Plain, "none"},
		{"an xz stream", "\xfd7zXZ\x00", XZ, "xz"},
		{"five bytes of xz", "\xfd7zXZ", Plain, "none"},
		{"a bzip2 block", "BZh91AY&SY", Bzip2, "bzip2"},
		{"bzip2 without blocks", "BZh1\x17\x72\x45", Bzip2, "bzip2"},
		{"text like bzip2", "BZh9,label", Plain, "none"},
		{"bzip2 of level 0", "BZh01AY", Plain, "none"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := Detect([]byte(test.prefix))
			if got != test.want || got.String() != test.text {
				t.Errorf("found %v, expected %v", got, test.text)
			}
		})
	}
}

// Tests that read a plain input straight into the caller's buffer: one Read of ours is one Read of the input.
func TestPlainReadsGoStraightThrough(t *testing.T) {
	t.Parallel()
	var asked []*byte
	data := bytes.Repeat([]byte("0,1,2\n"), 1000)
	r, err := NewReader(readerFunc(func(p []byte) (int, error) {
		asked = append(asked, &p[0])
		n := copy(p, data)
		data = data[n:]
		return n, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 4096)
	if n, err := r.Read(p); n != magicLen || err != nil {
		t.Errorf("first read: found %d bytes and %v, expected %d", n, err, magicLen)
	}
	if n, err := r.Read(p); n != len(p) || err != nil || asked[len(asked)-1] != &p[0] {
		t.Errorf("second read: found %d bytes and %v, expected all %d read in place", n, err, len(p))
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := r.Read(p); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("after Close: found %v, expected fs.ErrClosed", err)
	}
}

// decompress reads all of raw.
func decompress(raw []byte) (data []byte, f Format, err error) {
	r, err := NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, Plain, err
	}
	defer r.Close()
	data, err = io.ReadAll(r)
	return data, r.Format(), err
}

func testFile(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// content is what the named file of testdata holds once decompressed.
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
