package publish

import (
	"errors"
	"io/fs"
	"runtime"
)

// A Target is one output.
type Target struct {
	Path   string
	Folder bool // a folder of files, published as one; otherwise a file
	Kind   Kind // of a folder
	// Key is 16 hexadecimal digits that identify the inputs and options of the output (see
	// [UpToDate]), or empty.
	Key string
	// MakeParents creates missing folders above the target. Discard removes them again if they are
	// still empty.
	MakeParents bool
}

// An output is the state of one target.
type output struct {
	Target
	place
	file   *File
	folder *Folder

	lock     *fileLock    // nil if the file system has no locks
	partial  string       // the path that Discard removes, or ""
	identity fs.FileInfo  // of the partial, to recognise it at the target
	record   string       // the path of a record that Discard removes, or ""
	stale    []string     // records from before the run
	move     func() error // moves it to the target; nil if it is there already
	replaced string       // path of the replaced folder, which is to be deleted
}

// occupied reports whether the target exists; an empty folder does not count where a folder is to
// be published. It is also called before the lock is taken: listing a folder that another run has
// just replaced fails with fs.ErrNotExist.
func (out *output) occupied(d disk) (bool, error) {
	if out.info == nil || !out.Target.Folder || !out.info.IsDir() {
		return out.info != nil, nil
	}
	entries, err := d.readDir(out.path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return len(entries) > 0, Failure(out.Path, "listing it", err)
}

// inherited returns the existing target whose permissions the output gets, so that nobody can read
// the output who could not read the old one; nil if there is none. On Windows new files have the
// permissions of their folder.
func (out *output) inherited() fs.FileInfo {
	if out.info == nil || out.info.IsDir() != out.Target.Folder || runtime.GOOS == "windows" {
		return nil
	}
	return out.info
}
