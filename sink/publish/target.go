package publish

import (
	"errors"
	"io/fs"
	"runtime"
	"sync"
)

// A Target is one output.
type Target struct {
	Path   string
	Folder bool // a folder of files, published as one; otherwise a file
	Mark   Mark // of a folder
	// Key, 16 hexadecimal digits, stands for what the output is made of: see [UpToDate]. It may be
	// empty.
	Key string
	// MakeParents makes the folders above the target if they are missing. Discard removes them
	// again if they are still empty.
	MakeParents bool
}

// Options are for all targets of a run.
type Options struct {
	Overwrite bool // replace what exists
	// Inputs are paths that must be neither replaced nor inside a replaced folder. Those that do
	// not exist are ignored.
	Inputs []string
}

// A Set is the outputs of one run, written side by side and published together.
type Set struct {
	disk      disk
	overwrite bool
	outputs   []*output
	placed    []*output // those that are not written directly, as devices are

	mu     sync.Mutex // Complete, Commit and Discard, one at a time
	whole  bool       // all outputs are complete under their hidden names
	ended  bool
	made   []string // folders made for the targets, outermost first
	locked []*fileLock
	owned  bool // every lock was taken that the file systems have
}

// An output is one target on its way.
type output struct {
	Target
	place
	file   *File
	folder *Folder

	exclusive bool                // its lock is held
	partial   string              // what Discard removes; "" once there is nothing
	identity  fs.FileInfo         // of the partial, to be recognised at the target
	move      func(*output) error // how it gets to its place; nil if it need not
	replaced  string              // the old folder, under the name from which it will be deleted
}

var errEnded = errors.New("committed or discarded already")

// occupiedTries bounds the race with runs that replace the folder again and again.
const occupiedTries = 10

// occupied reports whether something stands at the target that counts: an empty folder does not
// stand in a folder's way. It is also asked before the lock is taken, when another run may be
// replacing the folder: to list one that was deleted fails as if there were none.
func (out *output) occupied(d disk) (bool, error) {
	if out.info == nil || !out.Target.Folder || !out.info.IsDir() {
		return out.info != nil, nil
	}
	for range occupiedTries {
		entries, err := d.readDir(out.path)
		if err == nil {
			return len(entries) > 0, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return false, Failure(out.Path, "listing it", err)
		}
		if there, err := d.lstat(out.path); err == nil && there == nil {
			return false, nil
		}
	}
	return true, nil
}

// keeps is what stands at the target, whose permissions the output gets, so that nobody can read it
// who could not before; nil if there is nothing. On Windows a new file has them from its folder.
func (out *output) keeps() fs.FileInfo {
	if out.info == nil || out.info.IsDir() != out.Target.Folder || runtime.GOOS == "windows" {
		return nil
	}
	return out.info
}
