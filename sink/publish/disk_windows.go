package publish

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

func (osDisk) rename(from, to string) error { return os.Rename(from, to) }

// renameNew is MoveFileEx without MOVEFILE_REPLACE_EXISTING. Write-through makes it wait until the move is stored.
func (osDisk) renameNew(from, to string) error {
	fromName, err := windows.UTF16PtrFromString(from)
	if err != nil {
		return err
	}
	toName, err := windows.UTF16PtrFromString(to)
	if err != nil {
		return err
	}
	return windows.MoveFileEx(fromName, toName, windows.MOVEFILE_WRITE_THROUGH)
}

func (osDisk) exchange(_, _ string) error { return errors.ErrUnsupported }

// syncDir does nothing: Windows has no fsync for folders.
func (osDisk) syncDir(string) error { return nil }

func (osDisk) openDirect(path string) (fileHandle, error) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// syncTree flushes every file; flushing a whole volume takes an administrator.
func syncTree(_ *os.File, root *os.Root) error {
	return fs.WalkDir(root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		f, err := root.OpenFile(path, os.O_WRONLY, 0) // FlushFileBuffers asks for write access
		if err != nil {
			return err
		}
		defer f.Close()
		return f.Sync()
	})
}

func startWriteback(*os.File, int64, int64) {}

// isMountPoint: a folder with a volume mounted on it is a reparse point, and the resolved path has left it already. Roots of drives
// are recognised by their names.
func isMountPoint(string) (bool, error) { return false, nil }
