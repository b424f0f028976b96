package publish

import (
	"os"

	"golang.org/x/sys/unix"
)

const (
	replaceNothing = unix.RENAME_EXCL
	exchangeBoth   = unix.RENAME_SWAP
	withoutName    = 0 // there are no such files: a folder cannot be opened for writing
)

func renameFlags(from, to string, flags uint) error { return unix.RenamexNp(from, to, uint32(flags)) }

// syncTree sends every file to the drive by fsync(2), which leaves it in the drive's cache, and
// then flushes that cache once: os.File.Sync is F_FULLFSYNC, which takes milliseconds per file.
func syncTree(self *os.File, root *os.Root) error {
	flush := func(f *os.File) error { return withDescriptor(f, unix.Fsync) }
	if err := syncEach(root, os.O_RDONLY, true, flush); err != nil {
		return err
	}
	return self.Sync()
}
