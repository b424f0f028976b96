package publish

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// A disk is every effect this package has on a file system, so that a test can make any one of them fail. Paths are absolute
// and free of symbolic links. An operation that a file system lacks fails with errors.ErrUnsupported.
type disk interface {
	lstat(path string) (fs.FileInfo, error)
	readDir(path string) ([]fs.DirEntry, error)
	open(path string) (io.ReadCloser, error)

	// createFile and makeDir make what must not exist. It has the permissions of what is replaced;
	// where that is nil, 0666 and 0777 less the umask.
	createFile(path string, replaced fs.FileInfo) (fileHandle, error)
	makeDir(path string, replaced fs.FileInfo) error                    // those that the umask leaves
	openFolder(path string, replaced fs.FileInfo) (folderHandle, error) // the folder of one output, which gets them all

	lock(path string) (heldLock, error)         // fault.Locked if another run holds it
	openDirect(path string) (fileHandle, error) // a device, FIFO or socket; may block
	rename(from, to string) error               // replaces a file, and an empty folder on unix
	renameNew(from, to string) error            // fs.ErrExist if to exists
	link(from, to string) error                 // fs.ErrExist if to exists
	exchange(a, b string) error                 // both exist, and each becomes the other
	remove(path string) error                   // a file or an empty folder
	removeAll(path string) error                // a file or a folder with all it holds
	syncDir(path string) error                  // makes renames within path durable
}

// A heldLock belongs to one run. Its file is unlinked first, then the lock is let go.
type heldLock interface {
	unlink() error
	Close() error
}

// A fileHandle is one file that is being written.
type fileHandle interface {
	io.Writer
	Sync() error
	Stat() (fs.FileInfo, error)
	Close() error
}

// A folderHandle is one folder that is being filled.
type folderHandle interface {
	makeDir(name string) error
	writeFile(path string, data []byte) error   // in the folder or a class of it; must not exist; for many goroutines at once
	createFile(path string) (fileHandle, error) // likewise
	rename(from, to string) error               // files of this run; to is free
	sync() error                                // everything below, durably
	Close() error
}

// osDisk is the operating system's. Its methods that differ between systems are in the files named after them.
type osDisk struct{}

func (osDisk) readDir(path string) ([]fs.DirEntry, error) { return os.ReadDir(path) }
func (osDisk) open(path string) (io.ReadCloser, error)    { return os.Open(path) }
func (osDisk) link(from, to string) error                 { return os.Link(from, to) }
func (osDisk) remove(path string) error                   { return os.Remove(path) }
func (osDisk) removeAll(path string) error                { return os.RemoveAll(path) }

// lstat makes what it returns fit for os.SameFile after a rename: Windows otherwise looks the identity up by name, when it is asked.
func (osDisk) lstat(path string) (fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if err == nil {
		os.SameFile(info, info)
	}
	return info, err
}

// absent reports whether nothing stands at path.
func absent(d disk, path string) bool {
	_, err := d.lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// arrived is err, which a rename to path ended with, or nil if the file or folder that identity describes is what path leads to: an error may come after the
// effect, as on NFS.
func arrived(d disk, err error, path string, identity fs.FileInfo) error {
	if err == nil || identity == nil {
		return err
	}
	if there, lookErr := d.lstat(path); lookErr == nil && os.SameFile(there, identity) {
		return nil
	}
	return err
}

func (osDisk) lock(path string) (heldLock, error) {
	l, err := takeLock(path)
	if err != nil {
		return nil, err // not a typed nil
	}
	return l, nil
}

func (osDisk) createFile(path string, replaced fs.FileInfo) (fileHandle, error) {
	if replaced == nil {
		return newOSFile(os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666))
	}
	mode := replaced.Mode().Perm()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode) // writes even if mode lets nobody write
	if err != nil {
		return nil, err
	}
	if err := setMode(f, mode); err != nil {
		f.Close()
		return nil, err
	}
	return newOSFile(f, nil)
}

func (osDisk) makeDir(path string, replaced fs.FileInfo) error {
	if replaced == nil {
		return os.Mkdir(path, 0o777)
	}
	return os.Mkdir(path, folderMode(replaced).Perm())
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

func newOSFile(f *os.File, err error) (fileHandle, error) {
	if err != nil {
		return nil, err // not a typed nil
	}
	return &osFile{File: f}, nil
}

// writebackStep is how many bytes are written before the disk is asked to begin storing them: fsync then finds most of the work
// done.
const writebackStep = 8 << 20

// osFile starts writeback as it goes.
type osFile struct {
	*os.File
	written, started int64 // bytes
}

func (f *osFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	f.written += int64(n)
	if f.written-f.started >= writebackStep {
		startWriteback(f.File, f.started, f.written-f.started)
		f.started = f.written
	}
	return n, err
}

// cannotSync reports whether err only says that there is no such thing as fsync here, as for pipes and terminals (fsync(2)).
func cannotSync(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported)
}

// osFolder is a folder opened through os.Root, so that no class name can lead out of it.
type osFolder struct {
	root *os.Root
	self *os.File // opened before anything is written: syncfs reports the errors since then
}

func (osDisk) openFolder(path string, replaced fs.FileInfo) (folderHandle, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	self, err := root.Open(".")
	if err != nil {
		root.Close()
		return nil, err
	}
	f := &osFolder{root: root, self: self}
	if replaced == nil {
		return f, nil
	}
	if err := setMode(self, folderMode(replaced)); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (f *osFolder) makeDir(name string) error { return f.root.Mkdir(name, 0o777) }

func (f *osFolder) createFile(path string) (fileHandle, error) {
	return newOSFile(f.root.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666))
}

// rename is tried again after a signal, which [os.Root.Rename] does not do; network file systems end so.
func (f *osFolder) rename(from, to string) error {
	err := f.root.Rename(from, to)
	for errors.Is(err, syscall.EINTR) {
		err = f.root.Rename(from, to)
	}
	return err
}

func (f *osFolder) sync() error { return syncTree(f.self, f.root) }

func (f *osFolder) Close() error {
	err := f.self.Close()
	if rootErr := f.root.Close(); err == nil {
		err = rootErr
	}
	return err
}
