package publish

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/windows"

	"github.com/idxport/idxport/internal/fault"
)

// Windows neither renames nor replaces an open file, and a virus scanner, for example, may open one
// for a moment; cmd/go waits two seconds, too. Nor can a lock file be opened while it is deleted.
const (
	renameTries, renamePause = 100, 20 * time.Millisecond
	lockTries, lockPause     = 20, 5 * time.Millisecond
)

// rename replaces a file or an empty folder; os.Rename replaces only files.
func rename(from, to string) error {
	info, err := os.Lstat(to)
	if err == nil && info.IsDir() {
		if err := os.Remove(to); err != nil {
			return err
		}
	}
	for range renameTries {
		err = os.Rename(from, to)
		if !errors.Is(err, windows.ERROR_ACCESS_DENIED) && !errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
			return err
		}
		time.Sleep(renamePause)
	}
	return fault.New(fault.Locked, "is open in another program, or write-protected").Because(err).
		WithHint("close it there and try again")
}

func renameNew(_, _ string) error { return errors.ErrUnsupported }
func exchange(_, _ string) error  { return errors.ErrUnsupported }

// syncDir does nothing: Windows has no fsync for folders.
func syncDir(string) error { return nil }

// syncTree flushes every file, which needs write access: only an administrator may flush a volume.
func syncTree(_ *os.File, root *os.Root) error {
	return syncEach(root, os.O_WRONLY, false, (*os.File).Sync)
}

func writeFile(_ *os.File, root *os.Root, path string, data []byte) error {
	file, err := root.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return cmp.Or(err, file.Close())
}

// takeLock opens the file at path without sharing it, until the last close, which deletes it, even
// if the process is killed. It fails with errLocked if another run has it open.
func takeLock(path string) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		handle, err := windows.CreateFile(name, windows.GENERIC_READ|windows.DELETE, 0, nil, windows.OPEN_ALWAYS,
			windows.FILE_ATTRIBUTE_HIDDEN|windows.FILE_FLAG_DELETE_ON_CLOSE, 0)
		denied := errors.Is(err, windows.ERROR_DELETE_PENDING) || errors.Is(err, windows.ERROR_ACCESS_DENIED)
		switch {
		case err == nil:
			return os.NewFile(uintptr(handle), path), nil
		case errors.Is(err, windows.ERROR_SHARING_VIOLATION):
			return nil, errLocked
		case !denied || try == lockTries:
			return nil, err
		}
		time.Sleep(lockPause)
	}
}

// Scratch creates a file in dir. Windows deletes it when it is closed or the process ends.
func Scratch(dir string) (*os.File, error) {
	path := filepath.Join(dir, fmt.Sprintf(".idxport-scratch-%016x", rand.Uint64()))
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|windows.FILE_FLAG_DELETE_ON_CLOSE, 0o600)
	return f, failure(path, "scratch file, beside the output or in TMPDIR", err)
}
