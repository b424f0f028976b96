package publish

import (
	"io/fs"
	"sync"
)

// A Target is one output.
type Target struct {
	Path   string
	Folder bool // a folder of files, published as one; otherwise a file
	Mark   Mark // of a folder
	// Key, 16 hexadecimal digits, stands for what the output is made of: IsMade tells by it that nothing has changed. It may be empty.
	Key string
	// MakeParents makes the folders above the target if they are missing. Discard removes them again if they are still empty.
	MakeParents bool
}

// Options are for all targets of a run.
type Options struct {
	Overwrite bool     // replace what exists
	Inputs    []string // paths that must be neither replaced nor inside a replaced folder; those that do not exist are ignored
}

// A Set is the outputs of one run, written side by side and published together.
type Set struct {
	disk      disk
	overwrite bool
	outputs   []*output

	mu     sync.Mutex // Complete, Commit and Discard, one at a time
	whole  bool       // all outputs are complete under their hidden names
	ended  bool
	made   []string // folders made for the targets, outermost first
	locked []heldLock
}

// output is one target on its way.
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

// Prepare checks every target before any work, takes the locks, sweeps what killed runs left and makes the partials. It fails
// with a fault; nothing remains on disk then.
func Prepare(targets []Target, o Options) (*Set, error) { return prepare(osDisk{}, targets, o) }

func prepare(d disk, targets []Target, o Options) (*Set, error) {
	s := &Set{disk: d, overwrite: o.Overwrite}
	for _, t := range targets {
		at, err := locate(t.Path)
		if err != nil {
			return nil, failure(t.Path, "resolving it", err)
		}
		s.outputs = append(s.outputs, &output{Target: t, place: at})
	}
	// Everything up to makeParents only looks, so that most mistakes leave no trace even for a moment.
	for _, step := range []func() error{
		func() error { return s.refuseDangerous(o.Inputs) },
		s.refuseExisting,
		s.makeParents,
		s.lock,
		s.sweep,
		s.look, // another run may have published, or a sweep moved something back, since the first look
		s.refuseExisting,
		s.refuseForeign,
		s.create,
	} {
		if err := step(); err != nil {
			s.Discard()
			return nil, err
		}
	}
	return s, nil
}

// File returns the i-th target's writer; nil if it is a folder.
func (s *Set) File(i int) *File { return s.outputs[i].file }

// Folder returns the i-th target's folder; nil if it is a file.
func (s *Set) Folder(i int) *Folder { return s.outputs[i].folder }
