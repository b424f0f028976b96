package source

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source/idx"
)

func TestFileThatChangesWhileItIsRead(t *testing.T) {
	t.Parallel()
	raw := file(t, idx.Uint8, []int{4, 3}, bytesUpTo(12))
	tests := map[string]struct {
		size int64
		want error
	}{
		"grows":   {int64(len(raw)) + 1, fault.Malformed},
		"shrinks": {int64(len(raw)) - 1, fault.Truncated},
		"emptied": {0, fault.Truncated},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := write(t, "images", raw)
			table := open(t, path, Options{})
			if err := os.Truncate(path, test.size); err != nil {
				t.Fatal(err)
			}
			if _, err := readAll(table, 3); !errors.Is(err, test.want) {
				t.Errorf("found %v, expected %v", err, test.want)
			}
		})
	}
}

// TestFileThatIsRewritten: of the same size, so that only its time tells.
func TestFileThatIsRewritten(t *testing.T) {
	t.Parallel()
	raw := file(t, idx.Uint8, []int{4, 3}, bytesUpTo(12))
	path := write(t, "images", raw)
	table := open(t, path, Options{})
	if err := os.WriteFile(path, raw, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := readAll(table, 3); !errors.Is(err, fault.Changed) {
		t.Errorf("found %v, expected %v", err, fault.Changed)
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
	wrong := bytes.Clone(whole)
	wrong[len(wrong)-6] ^= 1 // inside the checksum
	tests := map[string]struct {
		packed []byte
		note   string // "" for none
		rows   int64  // −1: fewer than all
	}{
		"whole":           {whole, "", rows},
		"cut in the data": {whole[:len(whole)/2], "read up to the damage", -1},
		"count is 0":      {gzipped(t, file(t, idx.Uint8, []int{0, record}, data)), "never filled in", rows},
		"counts bytes":    {gzipped(t, file(t, idx.Uint8, []int{rows * record, record}, data)), "counts bytes", rows},
		"too few inside":  {gzipped(t, file(t, idx.Uint8, []int{rows + 1, record}, data)), "truncated", rows},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := write(t, "images.gz", test.packed)
			table := open(t, path, Options{Salvage: true})
			want := table.Rows()
			if test.rows >= 0 && want != test.rows || want < 1 || test.rows < 0 && want >= rows {
				t.Fatalf("found %d rows, expected %d", want, test.rows)
			}
			check(t, table, 7, 0, data[:want*record])
			notes := strings.Join(table.Notes(), "\n")
			if !strings.Contains(notes, test.note) || (test.note == "") != (notes == "") || notes != "" && !strings.Contains(notes, path) {
				t.Errorf("found notes %q, expected %q", notes, test.note)
			}
		})
	}
	if _, err := readAll(open(t, write(t, "crc.gz", wrong), Options{}), 7); !errors.Is(err, fault.Malformed) {
		t.Errorf("a wrong checksum: found %v, expected malformed data", err)
	}
}

// From a pipe the rows of a damaged file cannot be counted first.
func TestSalvageOfAStream(t *testing.T) {
	t.Parallel()
	raw := file(t, idx.Uint8, []int{9, 3}, bytesUpTo(14))
	for name, in := range map[string][]byte{"plain": raw, "gzip": gzipped(t, raw)} {
		table := fromBytes(t, Stdin, in, Options{Salvage: true})
		if table.Rows() != -1 {
			t.Errorf("%s: found %d rows, expected −1", name, table.Rows())
		}
		check(t, table, 3, 0, bytesUpTo(12))
		if notes := table.Notes(); len(notes) != 1 || !strings.HasPrefix(notes[0], "-: salvaged 4 whole records") {
			t.Errorf("%s: found notes %q", name, notes)
		}
	}
}

// Close in the middle ends what decompression has started. Not parallel: it counts the goroutines of the whole process.
func TestCloseLeavesNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	raw := file(t, idx.Uint8, []int{4 << 20}, make([]byte, 4<<20))
	for name, packed := range map[string][]byte{"plain": raw, "gzip": gzipped(t, raw), "zstd": zstandard(t, raw)} {
		path := write(t, "big", packed)
		for _, rows := range []int{0, 1, 1 << 20} {
			table, err := OpenIDX(path, Options{Salvage: rows == 1})
			if err != nil {
				t.Fatal(err)
			}
			if rows > 0 {
				if err := table.Read(t.Context(), &Raw{Cap: rows}); err != nil {
					t.Fatal(err)
				}
			}
			if err := table.Close(); err != nil {
				t.Error(err)
			}
			if err := table.Read(t.Context(), &Raw{Cap: 1}); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("%s: read after Close: found %v, expected fs.ErrClosed", name, err)
			}
		}
		if _, err := OpenIDX(path, Options{Reshape: []int{3}}); !errors.Is(err, fault.Usage) {
			t.Errorf("%s: found %v, expected wrong usage", name, err)
		}
	}
	settled := false
	for range 100 {
		if settled = runtime.NumGoroutine() <= before; settled {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if !settled {
		t.Errorf("found %d goroutines, %d before", runtime.NumGoroutine(), before)
	}
}
