package publish

import (
	"io"
	"io/fs"
	"os"
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
	// class opens the subfolder name, made if make is set; "" is the folder itself. A class that is not kept open costs no
	// descriptor.
	class(name string, make, keep bool) (classHandle, error)
	createFile(path string) (fileHandle, error) // in the folder or a class of it; must not exist
	rename(from, to string) error               // files of this run; to is free
	sync() error                                // everything below, durably
	Close() error
}

// A classHandle makes files in one subfolder, for many goroutines at once.
type classHandle interface {
	writeFile(name string, data []byte) error
	Close() error
}

// osDisk is the operating system's. Its methods that differ between systems are in the files named after them.
type osDisk struct{}

func (osDisk) lstat(path string) (fs.FileInfo, error)     { return os.Lstat(path) }
func (osDisk) readDir(path string) ([]fs.DirEntry, error) { return os.ReadDir(path) }
func (osDisk) open(path string) (io.ReadCloser, error)    { return os.Open(path) }
func (osDisk) link(from, to string) error                 { return os.Link(from, to) }
func (osDisk) remove(path string) error                   { return os.Remove(path) }
func (osDisk) removeAll(path string) error                { return os.RemoveAll(path) }

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
