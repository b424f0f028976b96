package publish

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// A disk makes the system calls of a Set, so that tests can make each of them fail. An operation
// that a file system lacks fails with errors.ErrUnsupported.
type disk struct {
	// fault, which only tests set, performs an operation by calling effect, or fails.
	fault func(operation, path string, effect func() error) error
}

func (d disk) do(operation, path string, effect func() error) error {
	if d.fault == nil {
		return effect()
	}
	return d.fault(operation, path, effect)
}

// doValue is do for an operation with a result, which it returns even after an error.
func doValue[T any](d disk, operation, path string, effect func() (T, error)) (result T, err error) {
	err = d.do(operation, path, func() (err error) { result, err = effect(); return err })
	return result, err
}

// ignoringEINTR makes a system call, and repeats it while a signal interrupts it.
func ignoringEINTR(call func() error) error {
	err := call()
	for errors.Is(err, syscall.EINTR) {
		err = call()
	}
	return err
}

// lstat returns nil if nothing exists at path. On Windows, the first call of os.SameFile looks up
// the identity by name: lstat makes that call itself, because the file may be renamed later.
func (d disk) lstat(path string) (fs.FileInfo, error) {
	info, err := doValue(d, "lstat", path, func() (fs.FileInfo, error) { return os.Lstat(path) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	os.SameFile(info, info)
	return info, nil
}

// confirmRename returns err, the result of a rename to path, or nil if the file or folder with the
// identity is at path nevertheless: on NFS, a rename may succeed and still return an error.
func (d disk) confirmRename(err error, path string, identity fs.FileInfo) error {
	if err == nil || identity == nil {
		return err
	}
	if found, lookErr := d.lstat(path); lookErr == nil && found != nil && os.SameFile(found, identity) {
		return nil
	}
	return err
}

func (d disk) readDir(path string) ([]fs.DirEntry, error) {
	return doValue(d, "readDir", path, func() ([]fs.DirEntry, error) { return os.ReadDir(path) })
}

// createFile makes a file, which must not exist, with the permissions of replaced. If replaced is
// nil, the permissions are 0666 less the umask.
func (d disk) createFile(path string, replaced fs.FileInfo) (*os.File, error) {
	mode := fs.FileMode(0o666)
	if replaced != nil {
		mode = replaced.Mode().Perm()
	}
	return doValue(d, "createFile", path, func() (*os.File, error) {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode) // open for writing even if mode forbids it
		if err == nil && replaced != nil {
			err = setMode(f, mode)
		}
		return f, err
	})
}

// makeDir is createFile for a folder. openFolder adds the permissions that the umask removed.
func (d disk) makeDir(path string, replaced fs.FileInfo) error {
	mode := fs.FileMode(0o777)
	if replaced != nil {
		mode = folderMode(replaced).Perm()
	}
	return d.do("makeDir", path, func() error { return os.Mkdir(path, mode) })
}

// folderMode returns the permissions of a folder, with the setgid and sticky bits, which determine
// the group of new files and who may delete files. The owner may always fill and delete it.
func folderMode(info fs.FileInfo) fs.FileMode {
	return info.Mode()&(fs.ModePerm|fs.ModeSetgid|fs.ModeSticky) | 0o700
}

// setMode sets the permissions of f to mode, as the umask may have removed some. If they are
// already equal, it does not call chmod, which some file systems lack.
func setMode(f *os.File, mode fs.FileMode) error {
	info, err := f.Stat()
	if err != nil || info.Mode()&^fs.ModeType == mode {
		return err
	}
	return f.Chmod(mode)
}

// rename replaces a file and, on Unix, an empty folder.
func (d disk) rename(from, to string) error {
	return d.do("rename", from, func() error { return rename(from, to) })
}

// renameNew renames a file or folder. Unlike rename, but like link, it fails with fs.ErrExist if
// anything exists at the new path.
func (d disk) renameNew(from, to string) error {
	return d.do("renameNew", from, func() error { return renameNew(from, to) })
}

func (d disk) link(from, to string) error {
	return d.do("link", from, func() error { return os.Link(from, to) })
}

// exchange swaps two names in one step.
func (d disk) exchange(a, b string) error {
	return d.do("exchange", b, func() error { return exchange(a, b) })
}

// remove deletes a file or an empty folder, removeAll a folder with its content.
func (d disk) remove(path string) error {
	return d.do("remove", path, func() error { return os.Remove(path) })
}

func (d disk) removeAll(path string) error {
	return d.do("removeAll", path, func() error { return os.RemoveAll(path) })
}

// syncDir makes the names in a folder durable.
func (d disk) syncDir(path string) error {
	return d.do("syncDir", path, func() error { return syncDir(path) })
}

// FreeSpace returns the number of bytes that this user may still write to the file system of path,
// which need not exist yet. It fails with errors.ErrUnsupported if the system does not report that
// number.
func FreeSpace(path string) (uint64, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return 0, err
	}
	for {
		free, err := freeSpace(path)
		parent := filepath.Dir(path)
		if !errors.Is(err, fs.ErrNotExist) || parent == path {
			return free, err
		}
		path = parent
	}
}

// Scratch returns a function that creates a file to read and write, in the folder that dir returns
// when that function is called. The system deletes the file when it is closed or the process ends.
// Except on Windows, the file has no name, or has one only for a moment.
func Scratch(dir func() string) func() (*os.File, error) {
	return func() (*os.File, error) { return scratch(dir()) }
}

// scratchName is the pattern of the names of scratch files, where they need one.
const scratchName = ".idxport-scratch-*"
