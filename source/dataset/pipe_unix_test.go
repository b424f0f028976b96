//go:build unix

package dataset

import (
	"path/filepath"
	"syscall"
	"testing"
)

// makePipe makes a named pipe; opening it would block.
func makePipe(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Skip(err)
	}
	return path
}
