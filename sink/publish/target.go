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
	// Key is 16 hexadecimal digits that identify the inputs and options of the output (see
	// [UpToDate]), or empty.
	Key string
	// MakeParents creates missing folders above the target. Discard removes them again if they are
	// still empty.
	MakeParents bool
}

// Options apply to all targets of a run.
type Options struct {
	Overwrite bool // replace existing targets
	// Inputs are paths that must be neither replaced nor inside a replaced folder. Those that do
	// not exist are ignored.
	Inputs []string
}

// A Set is the outputs of one run, which are published together.
type Set struct {
	disk      disk
	overwrite bool
	outputs   []*output
	staged    []*output // those with a partial, that is all but devices and FIFOs

	mu        sync.Mutex // held by Complete, Commit and Discard
	completed bool       // all outputs are complete, under their hidden names
	ended     bool
	parents   []string // folders made for the targets, outermost first
	locks     []*fileLock
}

// An output is the state of one target.
type output struct {
	Target
	place
	file   *File
	folder *Folder

	locked   bool
	partial  string              // the path that Discard removes, or ""
	identity fs.FileInfo         // of the partial, to recognise it at the target
	move     func(*output) error // moves it to the target; nil if it is there already
	replaced string              // path of the replaced folder, which is to be deleted
}

var errEnded = errors.New("already committed or discarded")

// maxListings limits how often a folder is listed again because other runs keep replacing it.
const maxListings = 10

// occupied reports whether the target exists; an empty folder does not count where a folder is to
// be published. It is also called before the lock is taken, while another run may replace the
// folder: listing a folder that was just deleted fails with fs.ErrNotExist.
func (out *output) occupied(d disk) (bool, error) {
	if out.info == nil || !out.Target.Folder || !out.info.IsDir() {
		return out.info != nil, nil
	}
	for range maxListings {
		entries, err := d.readDir(out.path)
		if err == nil {
			return len(entries) > 0, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return false, Failure(out.Path, "listing it", err)
		}
		if found, err := d.lstat(out.path); err == nil && found == nil {
			return false, nil
		}
	}
	return true, nil
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
