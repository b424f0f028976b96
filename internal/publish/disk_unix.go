//go:build linux || darwin

package publish

import (
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// rename is rename(2). os.Rename does not replace an empty folder.
func rename(from, to string) error {
	return ignoringEINTR(func() error { return unix.Rename(from, to) })
}

func renameNew(from, to string) error { return renameWith(from, to, replaceNothing) }

func exchange(a, b string) error { return renameWith(a, b, exchangeBoth) }

// renameWith is renameat2(2) or renamex_np(2). EINVAL means that the file system lacks the flag.
func renameWith(from, to string, flags uint) error {
	return supported(ignoringEINTR(func() error { return renameFlags(from, to, flags) }))
}

// supported returns err, or errors.ErrUnsupported if it means that the file system lacks the call.
func supported(err error) error {
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOLCK) || errors.Is(err, errors.ErrUnsupported) {
		return errors.ErrUnsupported
	}
	return err
}

// syncDir makes the names in a folder durable. Some network file systems have no fsync for folders.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	if err = supported(d.Sync()); errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
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

// writeFile makes a file in a folder by openat, write, lseek (for the size, as for every output)
// and close. This is the hot path of image folders: tens of thousands of files of a few hundred
// bytes, for which the poller registration and allocations of os.OpenFile would show, and fstat in
// place of lseek takes 2 % longer. Opening each subfolder is no faster.
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

// takeLock locks the file at path, and makes it if necessary: the lock is flock on a file that is
// still at path after it was locked. It fails with errLocked if another run holds the lock, and
// with errors.ErrUnsupported on file systems without flock.
func takeLock(path string) (*os.File, error) {
	for range 1000 { // other runs remove the file as they end
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o666)
		if err != nil { // perhaps it was made, or another user's run that was killed left it
			var readErr error
			if file, readErr = os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW, 0); readErr != nil {
				return nil, err
			}
		}
		err = supported(withDescriptor(file, func(fd int) error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) }))
		if err == nil {
			opened, openedErr := file.Stat()
			found, foundErr := system.lstat(path)
			if err = cmp.Or(openedErr, foundErr); err == nil && os.SameFile(opened, found) {
				return file, nil
			}
		}
		file.Close()
		switch {
		case errors.Is(err, unix.EWOULDBLOCK):
			return nil, errLocked
		case errors.Is(err, errors.ErrUnsupported):
			_ = os.Remove(path) // nobody can hold a lock on this file system
		}
		if err != nil {
			return nil, err
		}
		// The holder removed it after it was opened here: try the file that is there now.
	}
	return nil, errLocked
}

// Scratch creates a file to read and write in dir. The system deletes it when it is closed or the
// process ends: it has no name (open(2)) or, on file systems without such files, loses it at once.
func Scratch(dir string) (*os.File, error) {
	if f, err := os.OpenFile(dir, withoutName|os.O_RDWR, 0o600); err == nil {
		return f, nil
	}
	f, err := os.CreateTemp(dir, ".idxport-scratch-*")
	if err != nil { // perhaps there is no such TMPDIR; a hint is about the folder of the path
		return nil, failure(filepath.Join(dir, ".idxport-scratch"), "scratch file, beside the output or in TMPDIR", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
