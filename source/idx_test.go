package source

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/idxport/idxport/internal/compressed"
	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
)

// compress returns data as written through the compressor that make returns.
func compress[W io.WriteCloser](t testing.TB, data []byte, make func(io.Writer) (W, error)) []byte {
	t.Helper()
	var out bytes.Buffer
	w := must.Get(make(&out))(t)
	must.Get(w.Write(data))(t)
	must.Do(t, w.Close())
	return out.Bytes()
}

func gzipped(t testing.TB, data []byte) []byte {
	return compress(t, data, func(w io.Writer) (*gzip.Writer, error) { return gzip.NewWriter(w), nil })
}

func zstandard(t testing.TB, data []byte) []byte {
	return compress(t, data, func(w io.Writer) (*zstd.Encoder, error) {
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	})
}

func TestOpenIDX(t *testing.T) {
	t.Parallel()
	formats := map[string]func(testing.TB, []byte) []byte{
		compressed.Plain: func(_ testing.TB, b []byte) []byte { return b },
		"gzip":           gzipped,
		"zstd":           zstandard,
		"xz":             func(t testing.TB, b []byte) []byte { return compress(t, b, xz.NewWriter) },
	}
	values := []int16{0, 1, -1, 32767, -32768, 258, 7, 8, 9, 10, 11, 12}
	raw := file(t, idx.Int16, []int{3, 2, 2}, values)
	for format, pack := range formats {
		for _, salvage := range []bool{false, true} {
			for _, batch := range []int{1, 2, 100} {
				table := open(t, write(t, "train-images", pack(t, raw)),
					Options{Name: "image", Classes: []string{"a"}, Salvage: salvage})
				c := table.Columns()[0]
				if len(table.Columns()) != 1 || c.Name != "image" || c.DType != idx.Int16 ||
					!slices.Equal(c.Shape, []int{2, 2}) ||
					c.Origin != "train-images" || !slices.Equal(c.Classes, []string{"a"}) {
					t.Errorf("%s: found column %+v", format, c)
				}
				if table.Rows() != 3 || cmp.Or(table.Info().Compression, "none") != format ||
					!slices.Equal(table.Header().Dims, []int64{3, 2, 2}) {
					t.Errorf("%s: found %d rows, %v, %v", format, table.Rows(), table.Info(), table.Header())
				}
				check(t, table, batch, 0, little(t, values))
				if notes := table.Info().Notes; len(notes) > 0 {
					t.Errorf("%s: a good file has notes: %q", format, notes)
				}
			}
		}
	}
}

func TestOpenIDXErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := file(t, idx.Uint8, []int{2, 3}, bytesUpTo(6))
	for name, test := range map[string]struct {
		path string
		kind error
		says string
	}{
		"missing":   {filepath.Join(dir, "nowhere"), fs.ErrNotExist, "nowhere"},
		"folder":    {dir, nil, "is a folder, expected an IDX file"},
		"empty":     {write(t, "empty", nil), fault.Truncated, "the input is empty"},
		"text":      {write(t, "text", []byte("5,0,0,0\n")), idx.ErrMagic, "expected an IDX file"},
		"truncated": {write(t, "cut", good[:17]), fault.Truncated, "found 17 bytes, expected 18"},
		"trailing": {write(t, "long", append(slices.Clone(good), 1)), fault.Malformed,
			"found 1 extra byte after the end"},
		"header cut in a gzip": {write(t, "cut.gz", gzipped(t, good[:9])), fault.Truncated,
			"found 9 bytes, expected 12"},
		"gzip of two bytes": {write(t, "two.gz", []byte("\x1f\x8b")), fault.Truncated, "gzip"},
		"gzip in gzip":      {write(t, "twice.gz", gzipped(t, gzipped(t, good))), idx.ErrMagic, "found a gzip file"},
	} {
		for _, o := range []Options{{}, {MaxRecordSize: 100}} {
			table, err := OpenIDX(test.path, o)
			if err == nil || table != nil || test.kind != nil && !errors.Is(err, test.kind) ||
				!strings.Contains(err.Error(), test.says) {
				t.Errorf("%s: found %v, %v, expected %v with %q", name, table, err, test.kind, test.says)
			}
			if !strings.Contains(fmt.Sprint(err), test.path) {
				t.Errorf("%s: found %v, expected the path in it", name, err)
			}
		}
	}
}

// The parts of an error are available: which file, where, what, and what to do.
func TestErrorOfAFile(t *testing.T) {
	t.Parallel()
	path := write(t, "images.gz", gzipped(t, file(t, idx.Uint8, []int{9, 3}, bytesUpTo(6))))
	_, err := readAll(open(t, path, Options{}), 1)
	e, _ := errors.AsType[*fault.Error](err)
	if e == nil || e.Path != path || e.Offset != 18 || e.Kind != fault.Truncated ||
		!strings.HasPrefix(err.Error(), path+": at byte 18: ") || !strings.Contains(e.Hint, "--salvage") {
		t.Errorf("found %v with the hint %q, expected a *fault.Error at byte 18", err, fault.HintOf(err))
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
		in := io.MultiReader(bytes.NewReader(raw[:at]), iotest.ErrReader(broken))
		table, err := NewIDX(in, "tape", Options{})
		if err == nil {
			_, err = readAll(table, 1)
		}
		if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "tape: ") {
			t.Errorf("after %d bytes: found %v, expected the reader's error under its name", at, err)
		}
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	path := write(t, "x", file(t, idx.Int16, []int{4, 6}, slices.Repeat([]int16{0x0102}, 24)))
	table := open(t, path, Options{Shape: []int{3}})
	if shape := table.Columns()[0].Shape; table.Rows() != 8 || !slices.Equal(shape, []int{3}) ||
		!slices.Equal(table.Header().Dims, []int64{4, 6}) {
		t.Errorf("found %d rows of %v, header %v", table.Rows(), shape, table.Header())
	}
	check(t, table, 3, 0, bytes.Repeat([]byte{2, 1}, 24))
	if _, err := OpenIDX(path, Options{MaxRecordSize: 11}); !errors.Is(err, fault.Unsupported) {
		t.Errorf("found %v, expected an unsupported size", err)
	}
}

func TestFileThatChangesWhileItIsRead(t *testing.T) {
	t.Parallel()
	raw := file(t, idx.Uint8, []int{4, 3}, bytesUpTo(12))
	for size, when := range map[int]int64{len(raw) + 1: 1, len(raw): 2, len(raw) - 1: 1, 0: 1} {
		path := write(t, "images", raw)
		must.Do(t, os.Chtimes(path, time.Time{}, time.Unix(1, 0)))
		table, opened := open(t, path, Options{}), must.Get(Local{}.Open(path))(t)
		must.Do(t, os.Truncate(path, int64(size)))
		must.Do(t, os.Chtimes(path, time.Time{}, time.Unix(when, 0)))
		_, err := readAll(table, 3)
		n, atErr := opened.ReadAt(make([]byte, 1), 0) // as other formats read
		if !errors.Is(err, fault.Changed) || n != 0 || !errors.Is(atErr, fault.Changed) {
			t.Errorf("%d bytes: found %v, %d, %v, expected %v", size, err, n, atErr, fault.Changed)
		}
	}
}

func TestSalvageOfCompressedFiles(t *testing.T) {
	t.Parallel()
	const rows, record = 40, 1000
	data := make([]byte, rows*record)
	for i, x := 0, uint32(1); i < len(data); i++ {
		x = x*1664525 + 1013904223 // does not compress, so that a cut takes rows away
		data[i] = byte(x >> 24)
	}
	whole := gzipped(t, file(t, idx.Uint8, []int{rows, record}, data))
	broken := func(file []byte) []byte {
		file = bytes.Clone(file)
		file[len(file)-6] ^= 1 // inside the checksum
		return file
	}
	few := broken(gzipped(t, file(t, idx.Uint8, []int{rows - 1, record}, data)))
	for name, test := range map[string]struct {
		packed []byte
		note   string // "" for none
		rows   int64  // −1: fewer than all
	}{
		"whole":           {whole, "", rows},
		"cut in the data": {whole[:len(whole)/2], "only the data before the damage is read", -1},
		"count is 0":      {gzipped(t, file(t, idx.Uint8, []int{0, record}, data)), "never filled in", rows},
		"counts bytes":    {gzipped(t, file(t, idx.Uint8, []int{rows * record, record}, data)), "counts bytes", rows},
		// the damage may have changed the count
		"more, and wrong": {few, "and any of its values may be wrong: gzip stream", rows - 1},
		"too few inside":  {gzipped(t, file(t, idx.Uint8, []int{rows + 1, record}, data)), "truncated", rows},
	} {
		path := write(t, "images.gz", test.packed)
		table := open(t, path, Options{Salvage: true})
		want := table.Rows()
		if test.rows >= 0 && want != test.rows || want < 1 || test.rows < 0 && want >= rows {
			t.Fatalf("%s: found %d rows, expected %d", name, want, test.rows)
		}
		check(t, table, 7, 0, data[:want*record])
		notes := strings.Join(table.Info().Notes, "\n")
		if !strings.Contains(notes, test.note) || (test.note == "") != (notes == "") ||
			notes != "" && !strings.Contains(notes, path) {
			t.Errorf("%s: found notes %q, expected %q", name, notes, test.note)
		}
	}
	for _, damaged := range [][]byte{broken(whole), few} {
		if _, err := readAll(open(t, write(t, "crc.gz", damaged), Options{}), 7); !errors.Is(err, fault.Malformed) ||
			!strings.Contains(err.Error(), "checksum") {
			t.Errorf("found %v, expected a wrong checksum", err)
		}
	}
}

// The rows of a damaged file cannot be counted first if it is a pipe.
func TestSalvageOfAStream(t *testing.T) {
	t.Parallel()
	raw := file(t, idx.Uint8, []int{9, 3}, bytesUpTo(14))
	for name, in := range map[string][]byte{"plain": raw, "gzip": gzipped(t, raw)} {
		table := fromBytes(t, Stdin, in, Options{Salvage: true})
		if table.Rows() != -1 {
			t.Errorf("%s: found %d rows, expected −1", name, table.Rows())
		}
		check(t, table, 3, 0, bytesUpTo(12))
		if notes := table.Info().Notes; len(notes) != 1 ||
			!strings.HasPrefix(notes[0], "standard input: salvaged 4 complete records") {
			t.Errorf("%s: found notes %q", name, notes)
		}
	}
}

// Close before the end stops the goroutines of the decompression. Not parallel: it counts those
// of the whole process.
func TestCloseLeavesNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	raw := file(t, idx.Uint8, []int{4 << 20}, make([]byte, 4<<20))
	for name, packed := range map[string][]byte{"plain": raw, "gzip": gzipped(t, raw), "zstd": zstandard(t, raw)} {
		path := write(t, "big", packed)
		for _, rows := range []int{0, 1, 1 << 20} {
			table := must.Get(OpenIDX(path, Options{Salvage: rows == 1}))(t)
			if rows > 0 {
				must.Do(t, table.Read(t.Context(), &Raw{Cap: rows}))
			}
			must.Do(t, table.Close())
			if err := table.Read(t.Context(), &Raw{Cap: 1}); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("%s: read after Close: found %v, expected fs.ErrClosed", name, err)
			}
		}
		if _, err := OpenIDX(path, Options{Shape: []int{4097}}); !errors.Is(err, fault.Usage) {
			t.Errorf("%s: found %v, expected wrong usage", name, err)
		}
	}
	settle(t, before)
}

// settle waits until there are no more goroutines than before.
func settle(t *testing.T, before int) {
	t.Helper()
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("found %d goroutines, %d before", runtime.NumGoroutine(), before)
}

func TestShortestKeepsTheNotesOfItsParts(t *testing.T) {
	t.Parallel()
	raw := file(t, idx.Uint8, []int{9, 3}, bytesUpTo(12))
	images := open(t, write(t, "images.gz", gzipped(t, raw)), Options{Name: "image", Salvage: true})
	table := must.Get(Join(true, images, scalars(t, "label", 9)))(t)
	check(t, table, 10, 0, bytesUpTo(12), bytesUpTo(4))
	if notes := strings.Join(About(table).Notes, "\n"); !strings.Contains(notes, "truncated: only 12 of 27 bytes") {
		t.Errorf("found notes %q, expected what the salvage of the images found", notes)
	}
}

// The error has the known number of rows, and the end does not set First.
func TestCountsOfTheError(t *testing.T) {
	t.Parallel()
	part := must.Get(Slice(scalars(t, "part", 10), 0, 4))(t)
	table, err := Join(false, scalars(t, "image", 9), plain{part, true})
	if err == nil {
		_, err = readAll(table, 2)
	}
	if !errors.Is(err, fault.Malformed) ||
		!strings.Contains(err.Error(), "image (image.idx) has 9, part (part.idx) has 4") {
		t.Errorf("found %v, expected 9 and 4 rows", err)
	}
}

// The second frame is refused, after more data than is read ahead. Not parallel: it counts
// goroutines.
func TestFailedCountLeavesNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	frames := zstandard(t, file(t, idx.Uint8, []int{8 << 20}, make([]byte, 4<<20)))
	refused := bytes.Clone([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa0, 0, 0, 0, 0, 0}) // a window of 1 GiB
	table, err := OpenIDX(write(t, "big.zst", append(frames, refused...)), Options{Salvage: true})
	if table != nil || !errors.Is(err, fault.Unsupported) {
		t.Fatalf("found %v, expected ErrUnsupported", err)
	}
	settle(t, before)
}
