//go:build unix

package arrow

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/idxport/idxport/fault"
	sinkarrow "github.com/idxport/idxport/sink/arrow"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
)

// TestNamedPipes opens a named pipe by its path. It is read as a stream, whose rows are not known
// before its end.
func TestNamedPipes(t *testing.T) {
	t.Parallel()
	written := layouttest.Random(20, source.Column{Name: "x", DType: idx.Int16, Shape: []int{3}})
	file := encode(t, written, sinkarrow.Options{Stream: true}, 8)
	for name, c := range map[string]struct {
		content []byte
		err     error
	}{"whole": {file, nil}, "cut in the schema": {file[:20], fault.Truncated}, "no Arrow": {[]byte("a,b,c,d\n"), fault.Unsupported}} {
		path := filepath.Join(t.TempDir(), "pipe")
		if err := unix.Mkfifo(path, 0o600); err != nil {
			t.Skip(err)
		}
		done := make(chan error, 1)
		go func() {
			w, err := os.OpenFile(path, os.O_WRONLY, 0) // waits for the reader
			if err == nil {
				_, err = w.Write(c.content)
				err = errors.Join(err, w.Close())
			}
			done <- err
		}()
		table, err := Open(path, source.ReadOptions{})
		if !errors.Is(err, c.err) {
			t.Errorf("%s: found %v, expected %v", name, err, c.err)
		}
		if err == nil {
			if table.Rows() != -1 {
				t.Errorf("%s: found %d rows, expected −1, as they are not known", name, table.Rows())
			}
			compare(t, table, written, 7)
		}
		if err := <-done; err != nil && c.err == nil {
			t.Errorf("%s: found %v", name, err)
		}
	}
}
