package publish

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func renameNew(from, to string) error { return rename2(from, to, unix.RENAME_NOREPLACE) }

func exchange(a, b string) error { return rename2(a, b, unix.RENAME_EXCHANGE) }

// rename2 is renameat2. A file system that does not know a flag fails with EINVAL (renameat2(2)).
func rename2(from, to string, flags uint) error {
	err := ignoringEINTR(func() error { return unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, flags) })
	if errors.Is(err, unix.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return errors.ErrUnsupported
	}
	return err
}

// syncTree syncs the whole file system of the folder, which is far cheaper than an fsync for each
// of tens of thousands of files.
func syncTree(self *os.File, _ *os.Root) error { return withDescriptor(self, unix.Syncfs) }

// startWriteback asks the kernel to start storing a range. It ignores errors, which fsync reports.
func startWriteback(f *os.File, offset, n int64) {
	_ = withDescriptor(f, func(fd int) error {
		return unix.SyncFileRange(fd, offset, n, unix.SYNC_FILE_RANGE_WRITE)
	})
}

// scratch makes a file without a name, of which a killed run leaves nothing, or removes the name
// where the file system has no such files (open(2)).
func scratch(dir string) (*os.File, error) {
	if f, err := os.OpenFile(dir, unix.O_TMPFILE|os.O_RDWR, 0o600); err == nil {
		return f, nil
	}
	return unnamed(dir)
}
