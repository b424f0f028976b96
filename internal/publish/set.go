package publish

import (
	"errors"
	"io/fs"
	"os"
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
func Prepare(targets []Target, o Options) (*Set, error) { return prepare(nil, targets, o) }

func prepare(d disk, targets []Target, o Options) (*Set, error) {
	s := &Set{disk: d, overwrite: o.Overwrite}
	inputs := lookAt(o.Inputs)
	for _, t := range targets {
		out, err := locate(t)
		if err == nil {
			err = out.refuse(inputs, s.outputs)
		}
		if err != nil {
			return nil, Failure(t.Path, "cannot follow the path", err)
		}
		s.outputs = append(s.outputs, out)
		if !out.direct {
			s.staged = append(s.staged, out)
		}
	}
	ordered := slices.Clone(s.staged) // of two runs with the same targets one gets all the locks
	slices.SortFunc(ordered, func(a, b *output) int { return strings.Compare(a.real, b.real) })
	// The first step only looks, so that most mistakes leave no trace even for a moment.
	for _, step := range []func() error{
		func() error { return s.refuseExisting(false) },
		func() error { return each(s.outputs, "making its folder", s.makeParents) },
		func() error { return each(ordered, "cannot be locked", s.takeLock) },
		func() error { return each(s.staged, "removing what an interrupted run left", s.sweep) },
		func() error { return s.refuseExisting(true) },
		func() error { return each(s.outputs, "creating it", s.create) },
	} {
		if err := step(); err != nil {
			s.Discard()
			return nil, err
		}
	}
	return s, nil
}

// each calls step for the outputs until one fails; doing names the step.
func each(outputs []*output, doing string, step func(*output) error) error {
	for _, out := range outputs {
		if err := step(out); err != nil {
			return Failure(out.target.Path, doing, err)
		}
	}
	return nil
}

// refuseExisting refuses targets that exist and must not be replaced: folders that are not earlier
// outputs, and without Options.Overwrite all. Until Commit, some may exist without Overwrite; then
// those are accepted that equal the outputs. A folder's content is checked only if locked is set:
// no other run can then be replacing the folder. Commit leaves the check of a single folder to
// replaceFolder, as nothing is published before it.
func (s *Set) refuseExisting(locked bool) error {
	existing := 0
	for _, out := range s.staged {
		err := out.inspect(s.disk)
		switch {
		case err != nil || !out.occupied:
		case s.overwrite:
			if out.target.Folder && locked && !(s.completed && len(s.staged) == 1) {
				err = out.refuseForeign(s.disk, out.real)
			}
		case s.completed:
			err = s.accept(out)
		default:
			existing++
		}
		if err != nil {
			return err
		}
	}
	if existing > 0 && existing == len(s.staged) {
		return exists(s.staged[0].target.Path, "")
	}
	return nil
}

// accept accepts an existing target that equals the output, and fails with fault.Exists otherwise.
func (s *Set) accept(out *output) error {
	shown := out.target.Path
	if out.info == nil || out.info.IsDir() != out.target.Folder || !out.info.IsDir() && !out.info.Mode().IsRegular() {
		return exists(shown, "")
	}
	existing, err := resultOn(s.disk, "open", Fingerprint, out.real)
	if err == nil {
		var written string
		written, err = resultOn(s.disk, "open", Fingerprint, out.partial)
		if err == nil && existing != written {
			return exists(shown, "its contents differ from the new output")
		}
	}
	return Failure(shown, "cannot compare it with the new output", err)
}

func (s *Set) makeParents(out *output) error {
	for _, dir := range out.missing {
		s.parents = append(s.parents, dir) // before mkdir, which may succeed and still return an error
		err := s.disk.on("makeDir", makeDir, dir)
		switch {
		case errors.Is(err, fs.ErrExist): // made for an earlier target, or by another run
			s.parents = s.parents[:len(s.parents)-1]
		case err != nil:
			return Failure(out.target.Path, "making its folder "+dir, err)
		}
	}
	return nil
}

// takeLock takes the lock of a target. On a file system without locks a run goes on, as its hidden
// names are random and its renames atomic, but it sweeps nothing.
func (s *Set) takeLock(out *output) (err error) {
	path := out.beside(lockSuffix)
	out.lock, err = resultOn(s.disk, "lock", takeLock, path) // perhaps a lock and an error
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return nil
	case errors.Is(err, fault.Locked):
		return fault.New(fault.Locked, "is being written by another run").In(out.target.Path).
			WithHint("wait for the other run to end")
	case errors.Is(err, syscall.ELOOP): // links are not followed: others may have made them
		return refusal(out.target.Path, "it cannot be locked, as "+path+" is a link", "delete the link")
	case errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrNotExist):
		return Failure(out.target.Path, "cannot be created", err)
	}
	return err
}

// sweep removes what killed runs left beside a target that is locked: partials, and old folders. An
// old folder whose target is missing is moved back: the run was killed between its two renames.
func (s *Set) sweep(out *output) error {
	records, left, err := out.siblings(s.disk)
	for _, h := range records {
		out.stale = append(out.stale, h.path)
	}
	for _, h := range left {
		found := out.info
		if err == nil && h.isOld {
			found, err = s.disk.lstat(out.real) // without it the old folder may be the only one
		}
		switch {
		case err != nil || out.lock == nil:
		case h.isOld && found == nil:
			err = s.disk.move("rename", rename, h.path, out.real)
		default:
			err = s.disk.on("removeAll", os.RemoveAll, h.path)
		}
	}
	return err
}

// create creates the partial, so that a missing permission shows before any work; a device or FIFO
// has none.
func (s *Set) create(out *output) error {
	if out.target.Folder {
		out.content = &Folder{disk: s.disk, path: out.target.Path, kind: out.target.Kind, subfolders: map[string]*Subfolder{}}
	} else {
		out.content = &File{disk: s.disk, path: out.target.Path, direct: out.direct}
	}
	if out.direct {
		return nil
	}
	out.partial = out.newHidden(partialSuffix) // set first: creating it may succeed and still return an error
	mode, inherited := out.mode()
	create := func(path string) error { return out.content.create(path, mode, inherited) }
	err := s.disk.on("create", create, out.partial)
	if errors.Is(err, fs.ErrExist) {
		out.partial = "" // it belongs to another run
	}
	if err == nil && out.target.Folder && out.info != nil {
		err = s.refuseFixed(out)
	}
	return err
}

// refuseFixed refuses to replace a folder that the file system cannot rename, before any output is
// published.
func (s *Set) refuseFixed(out *output) error {
	err := s.disk.do("refuseFixed", out.real, func() error { return refuseFixed(out.real, out.partial) })
	switch {
	case errors.Is(err, syscall.EXDEV) && !out.occupied: // it is not renamed, but replaced by a rename
		return nil
	case errors.Is(err, syscall.EXDEV):
		return refusal(out.target.Path, "its file system cannot rename it: it may be in a lower layer of overlayfs,"+
			" such as the image of a container", "delete the folder first, or name a new one")
	case errors.Is(err, syscall.EBUSY):
		return refusal(out.target.Path, "it is a mount point", "name a new folder inside it")
	}
	return err
}

// File returns the writer of the i-th target, or nil if the target is a folder.
func (s *Set) File(i int) *File {
	f, _ := s.outputs[i].content.(*File)
	return f
}

// Folder returns the folder of the i-th target, or nil if the target is a file.
func (s *Set) Folder(i int) *Folder {
	f, _ := s.outputs[i].content.(*Folder)
	return f
}

// Partial returns the path of the i-th output until Commit, or "" if it is a device or FIFO.
func (s *Set) Partial(i int) string { return s.outputs[i].partial }

// Complete completes every output under its hidden name: nothing more can be written, and the files
// at Partial can be read. Commit calls it if necessary.
func (s *Set) Complete() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.complete()
}

func (s *Set) complete() error {
	if s.ended {
		return errEnded
	}
	if !s.completed {
		if err := each(s.outputs, "completing it", func(out *output) error { return out.content.complete() }); err != nil {
			return err
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
		_ = s.disk.on("remove", os.Remove, dir)
	}
}

// maxRemovals limits the attempts to delete a partial folder: a write that is still running may put
// another file into it meanwhile.
const maxRemovals = 3

// end closes and deletes what is not published, and releases the locks.
func (s *Set) end() {
	s.ended = true
	for _, out := range s.outputs {
		if out.content != nil {
			_ = out.content.close()
		}
		for try := 0; try < maxRemovals && out.partial != ""; try++ {
			if s.disk.on("removeAll", os.RemoveAll, out.partial) == nil {
				break
			}
		}
		if out.record != "" {
			_ = s.disk.on("remove", os.Remove, out.record)
		}
	}
	for _, out := range s.staged { // last: the outputs may share folders
		if out.lock != nil {
			// A file that remains is empty, and the next run uses it. Windows deletes it in Close.
			_ = s.disk.on("unlink", os.Remove, out.lock.Name())
			_ = out.lock.Close()
		}
	}
}
