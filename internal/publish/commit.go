package publish

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/idxport/idxport/internal/fault"
)

// Commit completes every output and only then publishes them, back to back. All writes must have
// returned. After an error Discard removes what was not published; outputs that were published
// stay, each complete.
func (s *Set) Commit() error {
	if err := s.Complete(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refuseExisting(); err != nil {
		return err
	}
	if err := each(s.staged, "recording it", func(out *output) error { return out.makeRecord(s.disk) }); err != nil {
		return err
	}
	var obsolete []string
	first := each(s.staged, "publishing it", func(out *output) error {
		err := s.publish(out)
		if err == nil {
			out.record = "" // it stays
			obsolete = append(obsolete, out.stale...)
		}
		return err
	})
	// Also after an error: outputs that were published before it stay.
	if err := s.syncParents(); err != nil {
		return cmp.Or(first, err)
	}
	for _, path := range obsolete {
		_ = s.disk.on("removeAll", os.RemoveAll, path) // the next run sweeps what cannot be deleted now
	}
	if first == nil {
		s.end()
	}
	return first
}

// syncParents makes the renames durable, in each folder in which names change. Until it has
// succeeded a replaced folder must stay: after a power failure it may be the target again.
func (s *Set) syncParents() (first error) {
	var dirs []string
	for _, out := range s.staged {
		dirs = append(dirs, filepath.Dir(out.real))
	}
	for _, dir := range s.parents {
		dirs = append(dirs, filepath.Dir(dir))
	}
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		first = cmp.Or(first, failure(dir, "syncing the folder of outputs", s.disk.on("syncDir", syncDir, dir)))
	}
	return first
}

// publish moves one output to its target. A rename replaces a file, or a folder if it is empty.
func (s *Set) publish(out *output) (err error) {
	switch {
	case out.occupied && !s.overwrite: // accepted by refuseExisting
		return nil
	case out.occupied && out.target.Folder:
		err = s.replaceFolder(out)
	case out.info != nil && out.target.Folder, s.overwrite && !out.target.Folder:
		err = s.disk.move("rename", rename, out.partial, out.real)
	default:
		err = s.moveNew(out)
	}
	switch {
	case errors.Is(err, fs.ErrExist) && !s.overwrite: // another program made it meanwhile
		err = exists(out.target.Path)
	case errors.Is(err, syscall.EXDEV), errors.Is(err, syscall.EBUSY):
		err = refusal(out.target.Path, "it cannot be renamed: it is a mount point, or in a lower layer of overlayfs,"+
			" such as the image of a container", "name a new file or folder")
	}
	return err
}

// moveNew moves the output to a name that must be free. If the file system has no such rename, a
// file is moved by a hard link, which also fails if the name is taken, and a folder by a plain
// rename, which can replace only an empty folder. If it has no hard links either, the name is
// checked before a plain rename.
func (s *Set) moveNew(out *output) error {
	err := s.disk.move("renameNew", renameNew, out.partial, out.real)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if !out.target.Folder {
		err = s.disk.move("link", os.Link, out.partial, out.real)
		if err == nil || errors.Is(err, fs.ErrExist) {
			return err // Set.end removes the other name: a crash before leaves a partial to sweep
		}
		if found, err := s.disk.lstat(out.real); err != nil || found != nil {
			return cmp.Or(err, fs.ErrExist)
		}
	}
	return s.disk.move("rename", rename, out.partial, out.real)
}

// replaceFolder replaces an old folder, in one step where the system can. Elsewhere the old folder
// is renamed first, then the new one. Once the old folder has another name, no other program puts
// files into it: only then is the last check for foreign files reliable, and a folder that holds
// one is moved back.
func (s *Set) replaceFolder(out *output) error {
	old, operation, moveBack := out.partial, "exchange", exchange
	err := s.disk.move(operation, exchange, old, out.real)
	twoSteps := errors.Is(err, errors.ErrUnsupported)
	if twoSteps {
		old, operation, moveBack = out.newHidden(oldSuffix), "rename", rename
		err = s.disk.move(operation, rename, out.real, old)
	}
	if err != nil {
		return err
	}
	if !twoSteps {
		out.partial = "" // its path now leads to the old folder, which Discard must not remove
	}
	err = out.refuseForeign(s.disk, old)
	if err == nil && twoSteps {
		err = s.disk.move("rename", rename, out.partial, out.real)
	}
	if err == nil {
		out.stale = append(out.stale, old)
		return nil
	}
	if s.disk.move(operation, moveBack, old, out.real) != nil {
		return fault.New(fault.KindOf(err), "the old folder could not be put back and is now %s: %v", old, bare(err)).
			In(out.target.Path).Because(err).WithHint("rename it now: the next run with this output may delete it")
	}
	if !twoSteps {
		out.partial = old
	}
	return err
}
