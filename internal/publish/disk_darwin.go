package publish

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func renameNew(from, to string) error { return renamex(from, to, unix.RENAME_EXCL) }

func exchange(a, b string) error { return renamex(a, b, unix.RENAME_SWAP) }

// renamex is renamex_np. It fails with errors.ErrUnsupported where the call fails with ENOTSUP,
// because the volume does not support the flag, or with EINVAL, because the flag is not known
// (rename(2)).
func renamex(from, to string, flags uint32) error {
	err := unix.RenamexNp(from, to, flags)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return errors.ErrUnsupported
	}
	return err
}

// syncTree sends every file to the drive by fsync(2), which leaves it in the drive's cache, and
// then flushes that cache once: os.File.Sync is F_FULLFSYNC, which takes milliseconds for each
// file.
func syncTree(self *os.File, root *os.Root) error {
	flush := func(f *os.File) error { return withDescriptor(f, unix.Fsync) }
	if err := syncEach(root, os.O_RDONLY, true, flush); err != nil {
		return err
	}
	return self.Sync()
}

func scratch(dir string) (*os.File, error) { return unnamed(dir) }
