package publish

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/windows"

	"github.com/idxport/idxport/fault"
)

func rename(from, to string) error { return moveFile(from, to, windows.MOVEFILE_REPLACE_EXISTING) }

// renameNew waits until the move is stored.
func renameNew(from, to string) error { return moveFile(from, to, windows.MOVEFILE_WRITE_THROUGH) }

func exchange(_, _ string) error { return errors.ErrUnsupported }

// Windows neither renames nor replaces an open file, and another run, a virus scanner or an indexer
// may open one for a moment. cmd/go waits two seconds, too.
const (
	moveTries = 100
	movePause = 20 * time.Millisecond
)

// moveFile is MoveFileEx, repeated while it fails because a file is open. The same error, access
// denied, also means that the user has no permission, or that a folder is at the new path, which
// Windows never replaces. To distinguish them it tries to open the files without sharing.
func moveFile(from, to string, flags uint32) error {
	fromName, err := windows.UTF16PtrFromString(from)
	if err != nil {
		return err
	}
	toName, err := windows.UTF16PtrFromString(to)
	if err != nil {
		return err
	}
	info, statErr := os.Lstat(to)
	isDir := statErr == nil && info.IsDir()
	for try := 1; ; try++ {
		err = windows.MoveFileEx(fromName, toName, flags)
		denied := errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_SHARING_VIOLATION)
		switch {
		case !denied || isDir:
			return err
		case try == moveTries && (isOpen(from) || isOpen(to)):
			return inUse()
		case try == moveTries:
			return err
		}
		time.Sleep(movePause)
	}
}

// isOpen reports whether a program has the file at path open, or a file in the folder there: then
// it cannot be opened without sharing.
func isOpen(path string) bool {
	open := false
	_ = filepath.WalkDir(path, func(path string, _ fs.DirEntry, _ error) error {
		handle, err := openAlone(path, windows.DELETE, windows.OPEN_EXISTING,
			windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OPEN_REPARSE_POINT)
		if err == nil {
			return windows.CloseHandle(handle)
		}
		if open = errors.Is(err, windows.ERROR_SHARING_VIOLATION); open {
			return fs.SkipAll
		}
		return nil
	})
	return open
}

// openAlone opens a file without sharing, so that nobody else has it open or can open it.
func openAlone(path string, access, disposition, flags uint32) (windows.Handle, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return windows.InvalidHandle, err
	}
	return windows.CreateFile(name, access, 0, nil, disposition, flags, 0)
}

// syncDir does nothing: Windows has no fsync for folders.
func syncDir(string) error { return nil }

// cannotSync returns true. It is called for NUL, the console, a port or a pipe: FlushFileBuffers
// fails on most devices.
func cannotSync(error) bool { return true }

// syncTree flushes every file, which needs write access. Flushing a whole volume needs an
// administrator.
func syncTree(_ *os.File, root *os.Root) error {
	return syncEach(root, os.O_WRONLY, false, (*os.File).Sync)
}

// refuseFixed finds nothing: a folder on which a volume is mounted is a reparse point, which the
// resolved path does not contain. Roots of drives are recognised by their names.
func refuseFixed(_, _ string) error { return nil }

func writeFile(_ *os.File, root *os.Root, path string, data []byte) error {
	file, err := root.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil {
		var info fs.FileInfo
		if info, err = file.Stat(); err == nil && info.Size() != int64(len(data)) {
			err = incomplete(int64(len(data)), info.Size())
		}
	}
	return cmp.Or(err, file.Close())
}

// For a moment, a lock file that is being deleted cannot be opened.
const (
	lockTries = 20
	lockPause = 5 * time.Millisecond
)

// takeLock opens the file at path for this process alone, until the last close, which deletes it,
// even if the process is killed. It fails with fault.Locked if another run has it open.
func takeLock(path string) (*os.File, error) {
	for try := 1; ; try++ {
		handle, err := openAlone(path, windows.GENERIC_READ|windows.DELETE, windows.OPEN_ALWAYS,
			windows.FILE_ATTRIBUTE_HIDDEN|windows.FILE_FLAG_DELETE_ON_CLOSE)
		denied := errors.Is(err, windows.ERROR_DELETE_PENDING) || errors.Is(err, windows.ERROR_ACCESS_DENIED)
		switch {
		case err == nil:
			return os.NewFile(uintptr(handle), path), nil
		case errors.Is(err, windows.ERROR_SHARING_VIOLATION):
			return nil, fault.Locked
		case !denied || try == lockTries:
			return nil, err
		}
		time.Sleep(lockPause)
	}
}

// scratch makes a file that Windows deletes when it is closed.
func scratch(dir string) (*os.File, error) {
	path := filepath.Join(dir, fmt.Sprintf(".idxport-scratch-%016x", rand.Uint64()))
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|windows.FILE_FLAG_DELETE_ON_CLOSE, 0o600)
}
