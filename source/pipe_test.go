//go:build unix

package source

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source/idx"
)

// pipe makes a named pipe; data is written to it as soon as it is opened for reading.
func pipe(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Skip(err)
	}
	go func() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = f.Write(data) // the reader may stop early
		f.Close()
	}()
	return path
}

func TestOpenIDXOnAPipe(t *testing.T) {
	t.Parallel()
	raw := file(t, idx.Uint8, []int{4, 3}, bytesUpTo(12))
	for name, data := range map[string][]byte{"plain": raw, "gzip": gzipped(t, raw)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table := open(t, pipe(t, data), Options{})
			if table.Rows() != 4 || table.Columns()[0].Origin != "pipe" {
				t.Errorf("found %d rows from %q", table.Rows(), table.Columns()[0].Origin)
			}
			if err := table.Skip(1); err != nil {
				t.Fatal(err)
			}
			check(t, table, 2, 1, bytesUpTo(12)[3:])
		})
	}
	t.Run("truncated", func(t *testing.T) {
		t.Parallel()
		if _, err := readAll(open(t, pipe(t, raw[:20]), Options{}), 2); !errors.Is(err, fault.Truncated) {
			t.Errorf("found %v, expected a truncated file", err)
		}
	})
	t.Run("trailing", func(t *testing.T) {
		t.Parallel()
		if _, err := readAll(open(t, pipe(t, append(raw[:len(raw):len(raw)], 7)), Options{}), 2); !errors.Is(err, fault.Malformed) {
			t.Errorf("found %v, expected a malformed file", err)
		}
	})
}
