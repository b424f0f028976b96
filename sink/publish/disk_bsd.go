//go:build unix && !linux && !darwin

package publish

import (
	"errors"
	"io/fs"
	"os"
)

func (osDisk) renameNew(_, _ string) error { return errors.ErrUnsupported }

func (osDisk) exchange(_, _ string) error { return errors.ErrUnsupported }

// syncTree is an fsync for every file and folder.
func syncTree(_ *os.File, root *os.Root) error {
	return fs.WalkDir(root.FS(), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		f, err := root.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		return f.Sync()
	})
}

func startWriteback(*os.File, int64, int64) {}

func isMountPoint(path string) (bool, error) { return onOtherDevice(path) }

func freeSpace(string) (uint64, error) { return 0, errors.ErrUnsupported }
