//go:build !linux

package publish

import (
	"io/fs"
	"os"
)

// syncEach calls sync for every file of a folder and, if folders is set, for every folder. Linux
// has a call for that, so it is not built there.
func syncEach(root *os.Root, flags int, folders bool, sync func(*os.File) error) error {
	return fs.WalkDir(root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() && !folders {
			return err
		}
		f, err := root.OpenFile(path, flags, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		return sync(f)
	})
}

func startWriteback(*os.File, int64, int64) {}
