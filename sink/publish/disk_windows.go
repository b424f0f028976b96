package publish

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/windows"

	"github.com/idxport/idxport/fault"
)

// Windows does not rename, or rename over, what anybody has open, be it for a moment: another run
// that looks whether it is there, a virus scanner, an indexer. Two seconds are what cmd/go gives
// them.
const (
	renameTries = 100
	renamePause = 20 * time.Millisecond
)

func rename(from, to string) error {
	if info, err := os.Lstat(to); err == nil && info.IsDir() { // which Windows never renames over
		return os.Rename(from, to)
	}
	return persist(func() error { return os.Rename(from, to) }, from, to)
}

// persist repeats a rename while it fails as it does for files that are open. Access denied is also
// the answer for what the user may not replace: whether the files can be opened without sharing
// tells the two apart.
func persist(rename func() error, paths ...string) error {
	err := rename()
	denied := func() bool {
		return errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_SHARING_VIOLATION)
	}
	for try := 1; try < renameTries && denied(); try++ {
		time.Sleep(renamePause)
		err = rename()
	}
	if denied() && slices.ContainsFunc(paths, isOpen) {
		return inUse()
	}
	return err
}

// isOpen reports whether somebody has the file at path open, or anything in the folder there: then
// it cannot be opened without sharing.
func isOpen(path string) bool {
	open := false
	_ = filepath.WalkDir(path, func(path string, _ fs.DirEntry, _ error) error {
		name, err := windows.UTF16PtrFromString(path)
		if err != nil {
			return nil
		}
		handle, err := windows.CreateFile(name, windows.DELETE, 0, nil, windows.OPEN_EXISTING,
			windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
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

// renameNew is MoveFileEx without MOVEFILE_REPLACE_EXISTING. Write-through makes it wait until the
// move is stored.
func renameNew(from, to string) error {
	fromName, err := windows.UTF16PtrFromString(from)
	if err != nil {
		return err
	}
	toName, err := windows.UTF16PtrFromString(to)
	if err != nil {
		return err
	}
	return persist(func() error {
		return windows.MoveFileEx(fromName, toName, windows.MOVEFILE_WRITE_THROUGH)
	}, from)
}

func exchange(_, _ string) error { return errors.ErrUnsupported }

// syncDir does nothing: Windows has no fsync for folders.
func syncDir(string) error { return nil }

// cannotSync is asked of NUL, the console, a port or a pipe: FlushFileBuffers is for files, and
// fails on most devices.
func cannotSync(error) bool { return true }

// syncTree flushes every file, which asks for write access; flushing a whole volume takes an
// administrator.
func syncTree(_ *os.File, root *os.Root) error {
	return syncEach(root, os.O_WRONLY, false, (*os.File).Sync)
}

func startWriteback(*os.File, int64, int64) {}

// isMountPoint: a folder with a volume mounted on it is a reparse point, and the resolved path has
// left it already. Roots of drives are recognised by their names.
func isMountPoint(string) (bool, error) { return false, nil }

// freeSpace is what the user's quota leaves.
func freeSpace(path string) (uint64, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return free, err
}

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

// A lock file that is just being deleted cannot be opened for a moment.
const (
	lockTries = 20
	lockPause = 5 * time.Millisecond
)

// A fileLock is a file opened without sharing, so that nobody else can open it, which the last
// close deletes, also when the process is killed.
type fileLock struct{ handle windows.Handle }

// takeLock opens the file at path for this process alone. It fails with fault.Locked if another run
// has it open.
func takeLock(path string) (*fileLock, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	for range lockTries {
		var handle windows.Handle
		handle, err = windows.CreateFile(name, windows.GENERIC_READ|windows.DELETE, 0, nil, windows.OPEN_ALWAYS,
			windows.FILE_ATTRIBUTE_HIDDEN|windows.FILE_FLAG_DELETE_ON_CLOSE, 0)
		switch {
		case err == nil:
			return &fileLock{handle}, nil
		case errors.Is(err, windows.ERROR_SHARING_VIOLATION):
			return nil, fault.Locked
		case !errors.Is(err, windows.ERROR_DELETE_PENDING) && !errors.Is(err, windows.ERROR_ACCESS_DENIED):
			return nil, err
		}
		time.Sleep(lockPause)
	}
	return nil, err
}

// unlink leaves the deletion to Close.
func (l *fileLock) unlink() error { return nil }

func (l *fileLock) Close() error { return windows.CloseHandle(l.handle) }
