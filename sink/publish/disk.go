package publish

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// A disk is every effect that this package has on a file system, and every look at what is not its
// own. Paths are absolute and free of symbolic links. An operation that a file system lacks fails
// with errors.ErrUnsupported.
type disk struct {
	// fault, which only tests set, carries an operation on a path out by calling effect, or fails
	// it.
	fault func(operation, path string, effect func() error) error
}

func (d disk) do(operation, path string, effect func() error) error {
	if d.fault == nil {
		return effect()
	}
	return d.fault(operation, path, effect)
}

// get is do for an operation with a result, which may come with an error.
func get[T any](d disk, operation, path string, effect func() (T, error)) (result T, err error) {
	err = d.do(operation, path, func() (err error) { result, err = effect(); return err })
	return result, err
}

// again makes a system call, and makes it again after a signal.
func again(call func() error) error {
	err := call()
	for errors.Is(err, syscall.EINTR) {
		err = call()
	}
	return err
}

// lstat describes what stands at path; nil if nothing does. Windows looks an identity up by name
// when it is first asked for: that is done here, for os.SameFile after a rename.
func (d disk) lstat(path string) (fs.FileInfo, error) {
	info, err := get(d, "lstat", path, func() (fs.FileInfo, error) { return os.Lstat(path) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	os.SameFile(info, info)
	return info, nil
}

// arrived is err, which a rename to path ended with, or nil if the file or folder that identity
// describes is what path leads to: an error may come after the effect, as on NFS.
func (d disk) arrived(err error, path string, identity fs.FileInfo) error {
	if err == nil || identity == nil {
		return err
	}
	if there, lookErr := d.lstat(path); lookErr == nil && there != nil && os.SameFile(there, identity) {
		return nil
	}
	return err
}

func (d disk) readDir(path string) ([]fs.DirEntry, error) {
	return get(d, "readDir", path, func() ([]fs.DirEntry, error) { return os.ReadDir(path) })
}

// createFile makes a file, which must not exist, with the permissions of what it replaces; where
// that is nil, 0666 less the umask.
func (d disk) createFile(path string, replaced fs.FileInfo) (*os.File, error) {
	mode := fs.FileMode(0o666)
	if replaced != nil {
		mode = replaced.Mode().Perm()
	}
	return get(d, "createFile", path, func() (*os.File, error) {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode) // writes even if mode lets nobody write
		if err == nil && replaced != nil {
			err = setMode(f, mode)
		}
		return f, err
	})
}

// makeDir is createFile for a folder; it leaves to openFolder what the umask takes away.
func (d disk) makeDir(path string, replaced fs.FileInfo) error {
	mode := fs.FileMode(0o777)
	if replaced != nil {
		mode = folderMode(replaced).Perm()
	}
	return d.do("makeDir", path, func() error { return os.Mkdir(path, mode) })
}

// folderMode is the permissions of a folder and how its files get their group. The owner may always
// fill and delete it.
func folderMode(info fs.FileInfo) fs.FileMode {
	return info.Mode()&(fs.ModePerm|fs.ModeSetgid|fs.ModeSticky) | 0o700
}

// setMode gives f the permissions that the umask has taken from mode. Where f has them it does
// nothing: some file systems have no chmod.
func setMode(f *os.File, mode fs.FileMode) error {
	info, err := f.Stat()
	if err != nil || info.Mode()&^fs.ModeType == mode {
		return err
	}
	return f.Chmod(mode)
}

// rename replaces a file, and on Unix an empty folder.
func (d disk) rename(from, to string) error {
	return d.do("rename", from, func() error { return rename(from, to) })
}

// renameNew fails with fs.ErrExist if to exists, as link does.
func (d disk) renameNew(from, to string) error {
	return d.do("renameNew", from, func() error { return renameNew(from, to) })
}

func (d disk) link(from, to string) error {
	return d.do("link", from, func() error { return os.Link(from, to) })
}

// exchange makes each of two names lead to what the other led to.
func (d disk) exchange(a, b string) error {
	return d.do("exchange", b, func() error { return exchange(a, b) })
}

// remove deletes a file or an empty folder, removeAll a folder with all it holds.
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

// SyncDir makes the names in a folder durable, as far as the file system can.
func SyncDir(path string) error { return syncDir(path) }

// FreeSpace returns how many bytes this user may still write to the file system that holds path, or
// would hold it once it is made. It fails with errors.ErrUnsupported where the system does not
// tell.
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
