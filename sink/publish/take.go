package publish

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Take moves a complete file or folder from one name to another, which must be free, in one step, and makes that durable. It fails with fault.Exists if the
// name is taken, an empty folder for a folder included.
func Take(from, to string) error {
	at, err := locate(to)
	if err != nil {
		return failure(to, "resolving it", err)
	}
	if at.info != nil {
		return exists(to, "")
	}
	info, err := os.Lstat(from)
	if err != nil {
		return failure(to, "looking at what it is to be", err)
	}
	knowIdentity(info)
	s := &Set{disk: osDisk{}}
	out := &output{Target: Target{Path: to, Folder: info.IsDir()}, place: at, partial: from, identity: info}
	err = s.moveNew(out)
	switch {
	case err == nil, s.isAt(at.path, info):
	case errors.Is(err, fs.ErrExist):
		return exists(to, "")
	default:
		return failure(to, "publishing it", err)
	}
	return failure(to, "syncing its folder", s.disk.syncDir(filepath.Dir(at.path)))
}

// SyncDir makes the names in a folder durable, as far as the file system can.
func SyncDir(path string) error { return osDisk{}.syncDir(path) }
