//go:build linux || darwin

package publish

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/idxport/idxport/fault"
)

// rename is rename(2). os.Rename does not replace an empty folder.
func rename(from, to string) error {
	return ignoringEINTR(func() error { return unix.Rename(from, to) })
}

// syncDir makes the names in a folder durable. Some network file systems have no fsync for folders.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !cannotSync(err) {
		return err
	}
	return nil
}

// cannotSync reports whether err means that the file does not support fsync, like pipes and
// terminals (fsync(2)).
func cannotSync(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, errors.ErrUnsupported)
}

// withDescriptor calls use with the descriptor of f, which cannot be closed and reused meanwhile.
func withDescriptor(f *os.File, use func(fd int) error) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var useErr error
	err = raw.Control(func(fd uintptr) { useErr = ignoringEINTR(func() error { return use(int(fd)) }) })
	return cmp.Or(err, useErr)
}

// refuseFixed returns EBUSY or EXDEV if the folder at path cannot be renamed: it is a mount point,
// or in a lower layer of overlayfs. It asks for a rename that must fail otherwise: to a folder that
// is not empty, made in the empty folder scratch.
func refuseFixed(path, scratch string) error {
	inside := filepath.Join(scratch, "probe")
	if err := os.Mkdir(inside, 0o700); err != nil {
		return err
	}
	err := rename(path, scratch)
	if err == nil { // no file system should do that
		return cmp.Or(rename(scratch, path), error(unix.ENOTSUP))
	}
	removeErr := os.Remove(inside)
	if errors.Is(err, unix.EBUSY) || errors.Is(err, unix.EXDEV) {
		return err
	}
	return removeErr
}

// writeFile makes a file in a folder by openat, write, lseek (for the size, as for every output)
// and close. This is the hot path of image folders: tens of thousands of files of a few hundred
// bytes, for which the poller registration and allocations of os.OpenFile would show, and fstat in
// place of lseek takes 2 % longer. Opening each subfolder is no faster. See BenchmarkWriteFile.
func writeFile(self *os.File, _ *os.Root, path string, data []byte) (err error) {
	if withDescriptor(self, func(dir int) error { err = writeFileAt(dir, path, data); return nil }) != nil {
		return os.ErrClosed
	}
	return err
}

func writeFileAt(dir int, name string, data []byte) error {
	const flags = unix.O_CREAT | unix.O_EXCL | unix.O_WRONLY | unix.O_CLOEXEC
	fd := -1
	err := ignoringEINTR(func() (err error) { fd, err = unix.Openat(dir, name, flags, 0o666); return err })
	if err != nil {
		return err
	}
	size, end := int64(len(data)), int64(0)
	for len(data) > 0 && err == nil {
		var n int
		err = ignoringEINTR(func() (err error) { n, err = unix.Write(fd, data); return err })
		if err == nil && n <= 0 {
			err = io.ErrShortWrite
		}
		data = data[max(n, 0):]
	}
	if err == nil {
		end, err = unix.Seek(fd, 0, io.SeekEnd)
	}
	if err == nil && end != size {
		err = incomplete(size, end)
	}
	return cmp.Or(err, unix.Close(fd)) // quotas and network file systems may report errors only in close
}

// lockTries limits the attempts to take a lock whose file other runs remove as they end.
const lockTries = 1000

// takeLock locks the file at path, and makes it if necessary: the lock is flock on a file that is
// still at path after it was locked. It fails with fault.Locked if another run holds the lock, and
// with errors.ErrUnsupported on file systems without flock.
func takeLock(path string) (*os.File, error) {
	for range lockTries {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o666)
		if err != nil { // perhaps it was made, or another user's run that was killed left it
			var readErr error
			if file, readErr = os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW, 0); readErr != nil {
				return nil, err
			}
		}
		err = withDescriptor(file, func(fd int) error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) })
		opened, openedErr := file.Stat()
		found, foundErr := os.Lstat(path)
		same := openedErr == nil && foundErr == nil && os.SameFile(found, opened)
		if err == nil && same {
			return file, nil
		}
		file.Close()
		switch {
		case errors.Is(foundErr, fs.ErrNotExist), cmp.Or(openedErr, foundErr) == nil && !same:
			// The holder removed it after it was opened here: try the file that is there now.
		case errors.Is(err, unix.EWOULDBLOCK):
			return nil, fault.Locked
		case errors.Is(err, errors.ErrUnsupported), errors.Is(err, unix.ENOLCK), errors.Is(err, unix.EINVAL):
			_ = os.Remove(path) // nobody can hold a lock on this file system
			return nil, errors.ErrUnsupported
		default:
			return nil, cmp.Or(openedErr, foundErr, err)
		}
	}
	return nil, fault.Locked
}

// unnamed makes a file and removes its name at once.
func unnamed(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, ".idxport-scratch-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
