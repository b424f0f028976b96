package publish

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/idxport/idxport/fault"
)

// Options apply to all targets of a run.
type Options struct {
	Overwrite bool // replace existing targets
	// Inputs are paths that must be neither replaced nor inside a replaced folder. If one is a
	// folder, no output may be inside it. Those that do not exist are ignored.
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
}

var errEnded = errors.New("already committed or discarded")

// Prepare checks every target before any work, takes the locks, sweeps what killed runs left and
// creates the partials. After an error, which is a *fault.Error, nothing remains on disk.
func Prepare(targets []Target, o Options) (*Set, error) { return prepare(disk{}, targets, o) }

func prepare(d disk, targets []Target, o Options) (*Set, error) {
	s := &Set{disk: d, overwrite: o.Overwrite}
	for _, t := range targets {
		p, err := locate(t.Path)
		if err != nil {
			return nil, Failure(t.Path, "cannot follow the path", err)
		}
		out := &output{Target: t, place: p}
		s.outputs = append(s.outputs, out)
		if !p.direct {
			s.staged = append(s.staged, out)
		}
	}
	// The steps before makeParents only look, so that most mistakes leave no trace even for a
	// moment.
	for _, step := range []func() error{
		func() error { return refuseDangerous(s.outputs, o.Inputs) },
		func() error { return s.refuseExisting(false) },
		s.makeParents,
		s.takeLocks,
		s.sweep,
		func() error { return s.refuseExisting(true) },
		s.create,
	} {
		if err := step(); err != nil {
			s.Discard()
			return nil, err
		}
	}
	return s, nil
}

// refuseExisting refuses a run that is bound to fail: all targets exist and none may be replaced,
// or a folder to be replaced is not an earlier output. The folder's content is checked only if
// locked is set: this run then has the locks, so that no other run can be replacing the folder.
// Commit checks it again.
func (s *Set) refuseExisting(locked bool) error {
	existing := 0
	for _, out := range s.staged {
		occupied, err := out.occupied(s.disk)
		if err == nil && occupied && s.overwrite && locked && out.Target.Folder {
			err = refuseForeign(s.disk, out.place, out.Path, out.path)
		}
		if err != nil {
			return err
		}
		if occupied {
			existing++
		}
	}
	if !s.overwrite && existing > 0 && existing == len(s.staged) {
		return exists(s.staged[0].Path, "")
	}
	return nil
}

func (s *Set) makeParents() error {
	for _, out := range s.outputs {
		for _, dir := range out.missing {
			s.parents = append(s.parents, dir) // before mkdir, which may succeed and still return an error
			err := s.disk.makeDir(dir, nil)
			if errors.Is(err, fs.ErrExist) { // made for an earlier target, or by another run
				s.parents = s.parents[:len(s.parents)-1]
				continue
			}
			if err != nil {
				return Failure(out.Path, "making its folder "+dir, err)
			}
		}
	}
	return nil
}

// takeLocks takes the lock of every target, in the order of their paths: of two runs with the same
// targets one gets all of them.
func (s *Set) takeLocks() error {
	ordered := slices.Clone(s.staged)
	slices.SortFunc(ordered, func(a, b *output) int { return strings.Compare(a.path, b.path) })
	for _, out := range ordered {
		path := out.beside(lockSuffix)
		lock, err := doValue(s.disk, "lock", path, func() (*fileLock, error) { return takeLock(path) })
		out.lock = lock // even after an error: the fault may have come after the effect
		switch {
		case err == nil, errors.Is(err, errors.ErrUnsupported): // the file system has no locks
		case errors.Is(err, fault.Locked):
			return fault.New(fault.Locked, "is being written by another run").In(out.Path).
				WithHint("wait for the other run to end")
		case errors.Is(err, syscall.ELOOP): // links are not followed: others may have made them
			return refusal(out.Path, "it cannot be locked, as "+path+" is a link", "delete the link")
		case errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrNotExist):
			return Failure(out.Path, "cannot be created", err)
		default:
			return Failure(out.Path, "cannot be locked", err)
		}
	}
	return nil
}

// sweep removes what killed runs left beside the targets that are locked: partials, and old
// folders. An old folder whose target is missing is moved back: the run was killed between its two
// renames. Then sweep looks at the targets again, as other runs may have published some.
func (s *Set) sweep() error {
	for _, out := range s.staged {
		found, err := out.siblings(s.disk)
		if err != nil {
			return Failure(out.Path, "listing its folder", err)
		}
		for _, h := range found {
			switch {
			case h.suffix == recordSuffix:
				out.stale = append(out.stale, h.path)
			case out.lock == nil:
			default:
				err = s.sweepOne(out, h)
			}
			if err != nil {
				return Failure(out.Path, "removing what an interrupted run left", err)
			}
		}
		if out.info, err = s.disk.lstat(out.path); err != nil {
			return Failure(out.Path, "cannot check it", err)
		}
	}
	return nil
}

func (s *Set) sweepOne(out *output, h sibling) error {
	if h.suffix == oldSuffix {
		found, err := s.disk.lstat(out.path)
		if err != nil { // the old folder may be the only one
			return err
		}
		if found == nil {
			return s.disk.rename(h.path, out.path)
		}
	}
	return s.disk.removeAll(h.path)
}

// create creates the partials, so that a missing permission shows before any work. Devices and
// FIFOs have no partials.
func (s *Set) create() error {
	for _, out := range s.outputs {
		if !out.Target.Folder {
			out.file = &File{disk: s.disk, path: out.Path, direct: out.direct}
		}
		if out.direct {
			continue
		}
		var err error
		out.partial = out.hiddenPath(partialSuffix) // set first: creating it may succeed and still return an error
		if !out.Target.Folder {
			out.file.handle, err = s.disk.createFile(out.partial, out.inherited())
		} else if err = s.disk.makeDir(out.partial, out.inherited()); err == nil {
			out.folder, err = openFolder(s.disk, out.Path, out.Kind, out.partial, out.inherited())
		}
		if errors.Is(err, fs.ErrExist) {
			out.partial = "" // it belongs to another run
		}
		if err == nil && out.folder != nil && out.info != nil {
			err = s.checkMovable(out)
		}
		if err != nil {
			return Failure(out.Path, "creating it", err)
		}
	}
	return nil
}

// checkMovable refuses to replace a folder that the file system cannot rename, before any output is
// published.
func (s *Set) checkMovable(out *output) error {
	err := s.disk.do("refuseFixed", out.path, func() error { return refuseFixed(out.path, out.partial) })
	occupied, listErr := out.occupied(s.disk)
	switch {
	case listErr != nil:
		return listErr
	case errors.Is(err, syscall.EXDEV) && !occupied: // it is not renamed, but replaced by a rename
		return nil
	case errors.Is(err, syscall.EXDEV):
		return refusal(out.Path, "its file system cannot rename it: it may be in a lower layer of overlayfs, such as the image of a container",
			"delete the folder first, or name a new one")
	case errors.Is(err, syscall.EBUSY):
		return refusal(out.Path, "it is a mount point", "name a new folder inside it")
	}
	return err
}

// File returns the writer of the i-th target, or nil if the target is a folder.
func (s *Set) File(i int) *File { return s.outputs[i].file }

// Folder returns the folder of the i-th target, or nil if the target is a file.
func (s *Set) Folder(i int) *Folder { return s.outputs[i].folder }

// Partial returns the path of the i-th output until Commit, or "" if it is a device or FIFO.
func (s *Set) Partial(i int) string { return s.outputs[i].partial }

// Complete completes every output under its hidden name: nothing more can be written, and the files
// at Partial can be read. Commit calls it if necessary.
func (s *Set) Complete() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.complete()
}

func (s *Set) complete() (err error) {
	if s.ended {
		return errEnded
	}
	if s.completed {
		return nil
	}
	for _, out := range s.outputs {
		if !out.Target.Folder {
			out.identity, err = out.file.complete()
		} else if err = out.folder.complete(); err == nil {
			out.identity, err = s.disk.lstat(out.partial)
		}
		if err != nil {
			return Failure(out.Path, "completing it", err)
		}
	}
	s.completed = true
	return nil
}

// Discard removes every partial, releases the locks and removes the folders that were made for the
// targets, if they are empty. It has no effect after a successful Commit or a second time. It does
// not wait for writes that are stuck: such a write fails with fs.ErrClosed, or the next run sweeps
// the file that it made.
func (s *Set) Discard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.end()
	for _, dir := range slices.Backward(s.parents) {
		_ = s.disk.remove(dir)
	}
}

// maxRemovals limits the attempts to delete a partial folder: a write that is still running may put
// another file into it meanwhile.
const maxRemovals = 3

// end closes and deletes what is not published, and releases the locks.
func (s *Set) end() {
	s.ended = true
	for _, out := range s.outputs {
		if out.file != nil {
			_ = out.file.close()
		}
		if out.folder != nil {
			_ = out.folder.close()
		}
		for try := 0; try < maxRemovals && out.partial != ""; try++ {
			if s.disk.removeAll(out.partial) == nil {
				break
			}
		}
		if out.record != "" {
			_ = s.disk.remove(out.record)
		}
	}
	for _, out := range s.staged { // last: the outputs may share folders
		if out.lock != nil {
			_ = s.disk.do("unlink", "", out.lock.unlink) // a file that remains is empty, and the next run uses it
			_ = out.lock.Close()
		}
	}
}
