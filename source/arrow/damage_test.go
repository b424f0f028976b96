package arrow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
	sinkarrow "github.com/idxport/idxport/sink/arrow"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
)

// try reads file in whichever way it can be opened, and demands that errors are this package's, and no panics that were caught.
func try(tb testing.TB, file []byte, path string) (data [][]byte, err error) {
	tb.Helper()
	o := source.ReadOptions{MaxRecordSize: 1 << 12, DType: idx.Uint8} // for bytes of which nothing tells what they are
	var table source.Table
	if path == "" {
		table, err = New(bytes.NewReader(file), "-", o)
	} else {
		table, err = Open(path, o)
	}
	if err == nil {
		data, err = readAll(table, 5)
		if c := table.Close(); c != nil {
			tb.Error(c)
		}
	}
	var e *fault.Error
	if err != nil && (!errors.As(err, &e) || e.Kind == 0 || e.Path == "" || strings.Contains(err.Error(), "reading failed")) {
		tb.Fatalf("found %v, expected an error of a kind about the file", err)
	}
	return data, err
}

// TestTruncated cuts files everywhere. A stream may end between messages, which is noted.
func TestTruncated(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"fixed-None-file", "list-zstd-stream", "polars-lz4", "binary-view-long", "dictionary-numbers-lz4", "polars-stream-categorical"} {
		file, err := os.ReadFile(filepath.Join("testdata", name+".arrow"))
		if err != nil {
			t.Fatal(err)
		}
		path := save(t, file)
		for n := len(file) - 1; n >= 0; n-- {
			if err := os.Truncate(path, int64(n)); err != nil {
				t.Fatal(err)
			}
			for _, p := range []string{path, ""} {
				if _, err := try(t, file[:n], p); err == nil && !boundary(file, n) {
					t.Errorf("%s: %d of %d bytes: found no error", name, n, len(file))
				}
			}
		}
		if err := os.WriteFile(path, append(bytes.Clone(file), 0), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := try(t, nil, path); err == nil {
			t.Errorf("%s: found no error for a byte behind the end", name)
		}
	}
}

// boundary tells whether a message of the stream in file begins at n, or there is only the end mark.
func boundary(file []byte, n int) bool {
	return !bytes.HasPrefix(file, []byte(magic)) && n > 0 && bytes.HasPrefix(file[n:], []byte{0xff, 0xff, 0xff, 0xff})
}

// TestFlippedBits changes a bit, or a few bytes, of files of all kinds.
func TestFlippedBits(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/*.arrow")
	if err != nil || len(names) < 60 {
		t.Fatal(err, len(names))
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			file, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			path := save(t, file)
			flipped, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer flipped.Close() // only read from by others
			random := rand.New(rand.NewPCG(1, 2))
			for i := range 60 {
				changed := bytes.Clone(file)
				for range 1 + i%3 {
					at := random.IntN(len(changed))
					changed[at] ^= 1 << random.IntN(8)
					if i%5 == 0 {
						changed[at] = 0xff
					}
				}
				if _, err := flipped.WriteAt(changed, 0); err != nil { // writing it anew takes milliseconds on some file systems
					t.Fatal(err)
				}
				_, _ = try(t, changed, path)
				_, _ = try(t, changed, "")
			}
		})
	}
}

// TestClaims are files that promise more than they have: no memory is taken for it.
func TestClaims(t *testing.T) {
	t.Parallel()
	written := layouttest.Random(64, source.Column{Name: "x", DType: idx.Uint8, Shape: []int{16}})
	clear(written.Data[0])
	file := encode(t, written, sinkarrow.Options{Compression: "zstd", Stream: true}, 64)
	const frame = "\x28\xb5\x2f\xfd" // of zstd
	at := bytes.Index(file, []byte(frame)) - 8
	size := []byte{0, 4, 0, 0, 0, 0, 0, 0} // 64 records of 16 bytes
	if !bytes.Equal(file[at:at+8], size) {
		t.Fatal("there is no size to change")
	}
	for _, claim := range [][]byte{{0, 0, 0, 16}, {0, 0, 0, 32}, {0, 0, 0, 0, 0, 0, 0, 64}, {0, 0, 0, 0, 0, 0, 0, 128}, {1, 4}, {255, 3}, {0, 8}} {
		changed := bytes.Clone(file)
		copy(changed[at:], claim)
		if _, err := try(t, changed, ""); !errors.Is(err, fault.Malformed) {
			t.Errorf("% x: found %v, expected fault.Malformed", claim, err)
		}
	}
}

// TestDictionariesAreBounded claims dictionaries of more values, or more bytes, than there is memory for.
func TestDictionariesAreBounded(t *testing.T) {
	t.Parallel()
	number := &field{kind: typeInt, width: 64, signed: true, node: 0}
	text := &field{kind: typeBinaryView}
	for name, test := range map[string]struct {
		of   *field
		rows int64
		size int64
		held int64
	}{
		"rows":          {number, 1 << 40, 8, 0},
		"text":          {text, maxNames + 1, 8, 0},
		"body":          {number, 1, maxDictionaries + 1, 0},
		"with others":   {number, 1000, 8000, maxDictionaries - 4000},
		"length of one": {text, 1, 16, 0},
	} {
		view := append(binary.LittleEndian.AppendUint32(nil, maxValue), make([]byte, 12)...)
		b := &batch{rows: test.rows, size: test.size, codec: codecNone, at: bytes.NewReader(view), nodes: []span{{test.rows, 0}},
			buffers: []span{{0, 0}, {0, 16}}, views: []int{0, 0}}
		d := &dictionary{batch: b, held: &test.held}
		if err := d.decode(test.of); !errors.Is(err, fault.Unsupported) {
			t.Errorf("%s: found %v, expected that the dictionary is too large", name, err)
		}
	}
}

// TestLargeBody is a record batch that claims to be far larger than its input. Not parallel: it measures the memory of the whole process.
func TestLargeBody(t *testing.T) {
	written := layouttest.Random(64, source.Column{Name: "x", DType: idx.Uint8, Shape: []int{16}})
	file := encode(t, written, sinkarrow.Options{Stream: true}, 64)
	size := []byte{0, 4, 0, 0, 0, 0, 0, 0} // of the body, the array of elements, and its buffer: 64 records of 16 bytes
	if bytes.Count(file, size) != 3 {
		t.Fatalf("found the size %d times, expected 3", bytes.Count(file, size))
	}
	for claim, want := range map[byte]error{12: fault.Truncated, 64: fault.Unsupported} { // in units of 16 MiB
		changed := bytes.ReplaceAll(file, size, []byte{0, 0, 0, claim, 0, 0, 0, 0})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := try(t, changed, "")
		runtime.ReadMemStats(&after)
		if taken := (after.TotalAlloc - before.TotalAlloc) >> 20; !errors.Is(err, want) || taken > 32 {
			t.Errorf("%d MiB: found %v, expected %v; %d MiB were allocated", int(claim)*16, err, want, taken)
		}
		if _, err := try(t, changed, save(t, changed)); !errors.Is(err, fault.Truncated) {
			t.Errorf("%d MiB: found %v, expected fault.Truncated", int(claim)*16, err)
		}
	}
}

// FuzzRead reads whatever comes, as a file and from a pipe: nothing panics, and what both accept is the same.
func FuzzRead(f *testing.F) {
	names, err := filepath.Glob("testdata/*.arrow")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		file, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(file)
	}
	path := save(f, nil)
	whole, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		f.Fatal(err)
	}
	defer whole.Close() // only read from by others
	f.Fuzz(func(t *testing.T, in []byte) {
		_, err := whole.WriteAt(in, 0)
		if err := errors.Join(err, whole.Truncate(int64(len(in)))); err != nil {
			t.Fatal(err)
		}
		fromFile, fileErr := try(t, in, path)
		fromPipe, pipeErr := try(t, in, "")
		if bytes.HasPrefix(in, []byte(magic)) { // its footer may tell of other batches than its stream
			return
		}
		if (fileErr == nil) != (pipeErr == nil) {
			t.Fatalf("a file: %v; a pipe: %v", fileErr, pipeErr)
		}
		for i := range fromFile {
			if fileErr == nil && !bytes.Equal(fromFile[i], fromPipe[i]) {
				t.Fatalf("column %d: a file has other values than a pipe", i)
			}
		}
	})
}
