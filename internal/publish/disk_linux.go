package publish

import (
	"os"

	"golang.org/x/sys/unix"
)

const (
	replaceNothing = unix.RENAME_NOREPLACE
	exchangeBoth   = unix.RENAME_EXCHANGE
	withoutName    = unix.O_TMPFILE
)

func renameFlags(from, to string, flags uint) error {
	return unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, flags)
}

// syncTree syncs the whole file system, which is far cheaper than an fsync for each of many files.
func syncTree(self *os.File, _ *os.Root) error { return withDescriptor(self, unix.Syncfs) }

// startWriteback asks the kernel to start storing a range. It ignores errors, which fsync reports.
func startWriteback(f *os.File, offset, n int64) {
	_ = withDescriptor(f, func(fd int) error {
		return unix.SyncFileRange(fd, offset, n, unix.SYNC_FILE_RANGE_WRITE)
	})
}
