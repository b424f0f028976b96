//go:build unix

package publish

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// rename is rename(2); os.Rename would refuse an empty folder.
func (osDisk) rename(from, to string) error {
	err := unix.Rename(from, to)
	for err == unix.EINTR {
		err = unix.Rename(from, to)
	}
	return err
}

func (osDisk) syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !cannotSync(err) { // some network file systems have no fsync for folders
		return err
	}
	return nil
}

// openDirect opens a device or FIFO for writing, or connects to a socket.
func (osDisk) openDirect(path string) (fileHandle, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode()&os.ModeSocket == 0 {
		f, err := os.OpenFile(path, os.O_WRONLY|unix.O_NOCTTY, 0)
		if err != nil {
			return nil, err
		}
		return f, nil
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, err
	}
	unix.CloseOnExec(fd)
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

// withDescriptor calls use with f's descriptor, which cannot be closed and reused meanwhile.
func withDescriptor(f *os.File, use func(fd int) error) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var useErr error
	err = raw.Control(func(fd uintptr) {
		useErr = use(int(fd))
		for useErr == unix.EINTR {
			useErr = use(int(fd))
		}
	})
	if err != nil {
		return err
	}
	return useErr
}

// onOtherDevice reports whether path lies on another file system than its parent.
func onOtherDevice(path string) (bool, error) {
	var self, parent unix.Stat_t
	if err := unix.Lstat(path, &self); err != nil {
		return false, err
	}
	if err := unix.Lstat(filepath.Dir(path), &parent); err != nil {
		return false, err
	}
	return self.Dev != parent.Dev, nil
}
