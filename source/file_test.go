package source

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/idxport/idxport/source/compressed"
	"github.com/idxport/idxport/source/idx"
)

// compress passes data through a writer of w's kind.
func compress[W io.WriteCloser](t testing.TB, data []byte, make func(io.Writer) (W, error)) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := make(&out)
	if err == nil {
		_, err = w.Write(data)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func gzipped(t testing.TB, data []byte) []byte {
	return compress(t, data, func(w io.Writer) (*gzip.Writer, error) { return gzip.NewWriter(w), nil })
}

func zstandard(t testing.TB, data []byte) []byte {
	return compress(t, data, func(w io.Writer) (*zstd.Encoder, error) { return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)) })
}

func TestOpenIDX(t *testing.T) {
	t.Parallel()
	formats := map[compressed.Format]func(testing.TB, []byte) []byte{
		compressed.Plain: func(_ testing.TB, b []byte) []byte { return b },
		compressed.Gzip:  gzipped,
		compressed.Zstd:  zstandard,
		compressed.XZ:    func(t testing.TB, b []byte) []byte { return compress(t, b, xz.NewWriter) },
	}
	values := []int16{0, 1, -1, 32767, -32768, 258, 7, 8, 9, 10, 11, 12}
	raw := file(t, idx.Int16, []int{3, 2, 2}, values)
	for format, pack := range formats {
		for _, salvage := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v, salvage %v", format, salvage), func(t *testing.T) {
				t.Parallel()
				for _, batch := range []int{1, 2, 100} {
					table := open(t, write(t, "train-images", pack(t, raw)), Options{Name: "image", Classes: []string{"a"}, Salvage: salvage})
					c := table.Columns()[0]
					if len(table.Columns()) != 1 || c.Name != "image" || c.DType != idx.Int16 || !slices.Equal(c.Shape, []int{2, 2}) ||
						c.Origin != "train-images" || !slices.Equal(c.Classes, []string{"a"}) {
						t.Errorf("found column %+v", c)
					}
					if table.Rows() != 3 || table.Compression() != format || !slices.Equal(table.Claim().Dims, []int64{3, 2, 2}) {
						t.Errorf("found %d rows, %v, %v", table.Rows(), table.Compression(), table.Claim())
					}
					check(t, table, batch, 0, little(t, values))
					if notes := table.Notes(); len(notes) > 0 {
						t.Errorf("a good file has notes: %q", notes)
					}
				}
			})
		}
	}
}

// The files that the real programs packed hold 8 images of 5×5 and one line of text after them (compressed/testdata/make.sh).
func TestOpenIDXPackedByTheRealPrograms(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile(filepath.Join("compressed", "testdata", "small.plain"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"small.plain", "small.bz2", "small-streams.bz2", "small.xz", "small.zst", "small-members.gz"} {
		path := filepath.Join("compressed", "testdata", name)
		table, err := OpenIDX(path, Options{})
		if err == nil {
			_, err = readAll(table, 3)
			table.Close()
		}
		var e *fault.Error
		if !errors.Is(err, fault.Malformed) || !errors.As(err, &e) || e.Path != path {
			t.Errorf("%s: found %v, expected trailing bytes in that file", name, err)
		}
		check(t, open(t, path, Options{Salvage: true}), 3, 0, want[16:16+8*25])
	}
}

func TestOpenIDXErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := file(t, idx.Uint8, []int{2, 3}, bytesUpTo(6))
	tests := map[string]struct {
		path string
		kind error
		says string
	}{
		"missing":              {filepath.Join(dir, "nowhere"), fs.ErrNotExist, "nowhere"},
		"folder":               {dir, nil, "is a directory, expected an IDX file"},
		"empty":                {write(t, "empty", nil), fault.Truncated, "the input is empty"},
		"text":                 {write(t, "text", []byte("5,0,0,0\n")), idx.ErrMagic, "expected an IDX file"},
		"truncated":            {write(t, "cut", good[:17]), fault.Truncated, "found 17 bytes, expected 18"},
		"trailing":             {write(t, "long", append(slices.Clone(good), 1)), fault.Malformed, "trailing bytes (1)"},
		"header cut in a gzip": {write(t, "cut.gz", gzipped(t, good[:9])), fault.Truncated, "found 9 bytes, expected 12"},
		"gzip of two bytes":    {write(t, "two.gz", []byte("\x1f\x8b")), fault.Truncated, "gzip"},
		"gzip in gzip":         {write(t, "twice.gz", gzipped(t, gzipped(t, good))), idx.ErrMagic, "a gzip file inside"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, o := range []Options{{}, {MaxRecordSize: 100}} {
				table, err := OpenIDX(test.path, o)
				if err == nil || table != nil || test.kind != nil && !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.says) {
					t.Errorf("found %v, %v, expected %v with %q", table, err, test.kind, test.says)
				}
				if !strings.Contains(fmt.Sprint(err), test.path) {
					t.Errorf("found %v, expected the path in it", err)
				}
			}
		})
	}
}

// The pieces of an error can be taken apart: which file, where, what, and what to do.
func TestErrorOfAFile(t *testing.T) {
	t.Parallel()
	path := write(t, "images.gz", gzipped(t, file(t, idx.Uint8, []int{9, 3}, bytesUpTo(6))))
	_, err := readAll(open(t, path, Options{}), 1)
	var e *fault.Error
	if !errors.As(err, &e) || e.Path != path || e.Offset != 18 || !errors.Is(err, fault.Truncated) {
		t.Fatalf("found %v, expected a *fault.Error at byte 18", err)
	}
	if !strings.HasPrefix(err.Error(), path+": at byte 18: ") || !strings.Contains(e.Hint, "--salvage") {
		t.Errorf("found %q with hint %q", err, e.Hint)
	}
}

func TestNewIDX(t *testing.T) {
	t.Parallel()
	raw := file(t, idx.Uint8, []int{3, 2}, bytesUpTo(6))
	for name, in := range map[string][]byte{"plain": raw, "gzip": gzipped(t, raw)} {
		table := fromBytes(t, Stdin, in, Options{Name: "data"})
		if table.Rows() != 3 || table.Columns()[0].Origin != Stdin {
			t.Errorf("%s: found %d rows from %q", name, table.Rows(), table.Columns()[0].Origin)
		}
		check(t, table, 2, 0, bytesUpTo(6))
	}
	broken := errors.New("cable pulled")
	for at := range len(raw) {
		in := io.MultiReader(bytes.NewReader(raw[:at]), readerFunc(func([]byte) (int, error) { return 0, broken }))
		table, err := NewIDX(in, "tape", Options{})
		if err == nil {
			_, err = readAll(table, 1)
		}
		if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "tape: ") {
			t.Errorf("after %d bytes: found %v, expected the reader's error under its name", at, err)
		}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestReadStopsWhenCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b := &Raw{Cap: 1}
	if err := second(t).Read(ctx, b); !errors.Is(err, context.Canceled) || b.Rows != 0 {
		t.Errorf("found %d rows, %v, expected context.Canceled", b.Rows, err)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	raw := file(t, idx.Int16, []int{4, 6}, slices.Repeat([]int16{0x0102}, 24))
	t.Run("little-endian payload", func(t *testing.T) {
		t.Parallel()
		check(t, open(t, write(t, "x", raw), Options{LittleEndian: true}), 3, 0, bytes.Repeat([]byte{1, 2}, 24))
	})
	t.Run("reshape", func(t *testing.T) {
		t.Parallel()
		table := open(t, write(t, "x", raw), Options{Reshape: []int{-1, 3}})
		if table.Rows() != 8 || !slices.Equal(table.Columns()[0].Shape, []int{3}) || !slices.Equal(table.Claim().Dims, []int64{4, 6}) {
			t.Errorf("found %d rows of %v, claim %v", table.Rows(), table.Columns()[0].Shape, table.Claim())
		}
		check(t, table, 3, 0, bytes.Repeat([]byte{2, 1}, 24))
	})
	t.Run("record size", func(t *testing.T) {
		t.Parallel()
		if _, err := OpenIDX(write(t, "x", raw), Options{MaxRecordSize: 11}); !errors.Is(err, fault.Unsupported) {
			t.Errorf("found %v, expected an unsupported size", err)
		}
	})
}

// Labels written as they lie in a PC's memory, under a big-endian header.
func TestNotesOfSwappedPayload(t *testing.T) {
	t.Parallel()
	labels := slices.Repeat([]int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 10)
	header := file(t, idx.Int32, []int{100}, []int32{})
	for name, test := range map[string]struct {
		data  []byte
		notes int
	}{
		"wrong order": {slices.Concat(header, little(t, labels)), 1},
		"right order": {file(t, idx.Int32, []int{100}, labels), 0},
	} {
		path := write(t, "labels", test.data)
		table := open(t, path, Options{})
		if _, err := readAll(table, 64); err != nil {
			t.Fatal(err)
		}
		notes := table.Notes()
		if len(notes) != test.notes || test.notes > 0 && !(strings.HasPrefix(notes[0], path+": ") && strings.Contains(notes[0], "--byte-order little")) {
			t.Errorf("%s: found notes %q, expected %d", name, notes, test.notes)
		}
	}
}
