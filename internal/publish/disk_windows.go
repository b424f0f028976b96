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

// Windows neither renames nor replaces an open file, and another run, a virus scanner or an indexer
// may open one for a moment. cmd/go waits two seconds, too.
const (
	renameTries = 100
	renamePause = 20 * time.Millisecond
)

func rename(from, to string) error {
	if info, err := os.Lstat(to); err == nil && info.IsDir() { // Windows never replaces a folder
		return os.Rename(from, to)
	}
	return retry(func() error { return os.Rename(from, to) }, from, to)
}

// retry repeats a rename while it fails because a file is open. The same error, access denied, also
// means that the user has no permission. To distinguish the two it tries to open the files without
// sharing.
func retry(rename func() error, paths ...string) error {
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

// isOpen reports whether a program has the file at path open, or a file in the folder there: then
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

// renameNew is MoveFileEx without MOVEFILE_REPLACE_EXISTING. With write-through it waits until the
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
	return retry(func() error {
		return windows.MoveFileEx(fromName, toName, windows.MOVEFILE_WRITE_THROUGH)
	}, from)
}

func exchange(_, _ string) error { return errors.ErrUnsupported }

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

func startWriteback(*os.File, int64, int64) {}

// refuseFixed finds nothing: a folder on which a volume is mounted is a reparse point, which the
// resolved path does not contain. Roots of drives are recognised by their names.
func refuseFixed(_, _ string) error { return nil }

// freeSpace respects the quota of the user.
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

// For a moment, a lock file that is being deleted cannot be opened.
const (
	lockTries = 20
	lockPause = 5 * time.Millisecond
)

// A fileLock is a file opened without sharing, so that nobody else can open it. The last close
// deletes it, even if the process is killed.
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

// scratch makes a file that Windows deletes when its handle is closed.
func scratch(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, scratchName)
	if err != nil {
		return nil, err
	}
	path := f.Name()
	if err := f.Close(); err != nil {
		return nil, err
	}
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	handle, err := windows.CreateFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE, 0, nil, windows.TRUNCATE_EXISTING,
		windows.FILE_ATTRIBUTE_TEMPORARY|windows.FILE_FLAG_DELETE_ON_CLOSE, 0)
	if err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	return os.NewFile(uintptr(handle), path), nil
}
