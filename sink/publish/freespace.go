package publish

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// FreeSpace returns how many bytes this user may still write to the file system that holds path, or would hold it once it is made.
// It fails with errors.ErrUnsupported where the system does not tell.
func FreeSpace(path string) (uint64, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return 0, err
	}
	for {
		free, err := freeSpace(path)
		parent := filepath.Dir(path)
		if !errors.Is(err, fs.ErrNotExist) || parent == path {
			return free, err
		}
		path = parent
	}
}
