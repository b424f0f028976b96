//go:build unix

package publish

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/idxport/idxport/fault"
)

// lockTries bounds the race with other runs that end just as this one begins.
const lockTries = 1000

// fileLock is flock on a file that was found at path after the lock had been taken.
type fileLock struct {
	file *os.File
	path string
}

// takeLock locks the file at path, made if missing. It fails with fault.Locked if another run holds it, and with errors.ErrUnsupported
// on file systems without flock.
func takeLock(path string) (*fileLock, error) {
	for range lockTries {
		file, err := openLock(path)
		if err != nil {
			return nil, err
		}
		lockErr := withDescriptor(file, func(fd int) error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) })
		current, err := leadsTo(path, file)
		switch {
		case err != nil:
			file.Close()
			return nil, err
		case !current: // its holder unlinked it after we had opened it: begin again with the file that is there now
			file.Close()
			continue
		case lockErr == nil:
			return &fileLock{file: file, path: path}, nil
		}
		file.Close()
		return nil, lockFailure(path, lockErr)
	}
	return nil, fault.Locked
}

// openLock opens the lock file for writing, as NFS demands for exclusive locks; the file that another user's killed run left
// may only be readable. An error may come after the effect, as on NFS: a file that is there is opened, or it would stay behind.
func openLock(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o666)
	if err == nil {
		return file, nil
	}
	for _, mode := range []int{os.O_RDWR, os.O_RDONLY} {
		if file, again := os.OpenFile(path, mode|unix.O_NOFOLLOW, 0); again == nil {
			return file, nil
		}
	}
	return nil, err
}

func leadsTo(path string, file *os.File) (bool, error) {
	there, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	ours, err := file.Stat()
	if err != nil {
		return false, err
	}
	return os.SameFile(there, ours), nil
}

func lockFailure(path string, err error) error {
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return fault.Locked
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, unix.ENOLCK), errors.Is(err, unix.EINVAL):
		_ = os.Remove(path) // nobody can hold a lock here
		return errors.ErrUnsupported
	}
	return err
}

// unlink removes the lock file; only the holder may.
func (l *fileLock) unlink() error { return os.Remove(l.path) }

// Close lets the lock go.
func (l *fileLock) Close() error { return l.file.Close() }
