package publish

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/idxport/idxport/fault"
)

// complete completes all outputs under their hidden names, once.
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

// chooseMove decides, before the first rename, how the output moves to its target, or refuses it.
func (s *Set) chooseMove(out *output) (err error) {
	if out.info, err = s.disk.lstat(out.path); err != nil {
		return Failure(out.Path, "cannot check it", err)
	}
	occupied, err := out.occupied(s.disk)
	switch {
	case err != nil:
		return err
	case occupied && !s.overwrite:
		return s.accept(out)
	case out.info != nil && !occupied:
		out.move = s.replaceEmpty
	case s.overwrite && !out.Target.Folder:
		out.move = s.replaceFile
	case occupied:
		out.move = s.replaceFolder
		return out.Mark.refuseForeign(s.disk, out.Path, out.path)
	default:
		out.move = s.moveNew
	}
	return nil
}

// accept accepts an existing target that equals the output, and fails with fault.Exists otherwise.
func (s *Set) accept(out *output) error {
	equal, err := s.equal(out)
	if err == nil && !equal {
		return exists(out.Path, "its contents differ from the new output")
	}
	return Failure(out.Path, "cannot compare it with the new output", err)
}

// equal reports whether the target exists and has the content of the output.
func (s *Set) equal(out *output) (bool, error) {
	found, err := s.disk.lstat(out.path)
	if err != nil || found == nil || found.IsDir() != out.Target.Folder {
		return false, err
	}
	if out.Target.Folder {
		err = out.Mark.refuseForeign(s.disk, out.Path, out.path)
		if errors.Is(err, fault.Refused) {
			return false, nil
		}
	} else if !found.Mode().IsRegular() || found.Size() != out.identity.Size() {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	existing, err := doValue(s.disk, "open", out.path, func() (string, error) { return Fingerprint(out.path) })
	if err != nil {
		return false, err
	}
	written, err := doValue(s.disk, "open", out.partial, func() (string, error) { return Fingerprint(out.partial) })
	return existing == written, err
}

// publishAll renames the outputs to their targets, syncs their folders and deletes the replaced
// folders. After a failed rename it renames no more outputs, but still syncs and deletes, because
// outputs that were published before stay.
func (s *Set) publishAll() error {
	var first error
	for _, out := range s.staged {
		if first == nil && out.move != nil {
			first = s.publish(out)
		}
	}
	if err := s.syncParents(); err != nil {
		return cmp.Or(first, err)
	}
	for _, out := range s.staged {
		if out.replaced != "" {
			_ = s.disk.removeAll(out.replaced) // the next run sweeps what cannot be deleted now
		}
	}
	return first
}

// syncParents makes the renames durable, in each folder in which names change. Until it has
// succeeded a replaced folder must stay: after a power failure it may be the target again.
func (s *Set) syncParents() (first error) {
	var dirs []string
	for _, out := range s.staged {
		dirs = append(dirs, filepath.Dir(out.path))
	}
	for _, dir := range s.parents {
		dirs = append(dirs, filepath.Dir(dir))
	}
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		if err := s.disk.syncDir(dir); first == nil {
			first = Failure(dir, "syncing the folder of outputs", err)
		}
	}
	return first
}

// publish moves one output to its target in the way that chooseMove has chosen.
func (s *Set) publish(out *output) error {
	err := out.move(out)
	switch {
	case errors.Is(err, fault.Refused):
		return err
	case s.disk.confirmRename(err, out.path, out.identity) == nil:
		return nil
	case errors.Is(err, fs.ErrExist) && !s.overwrite: // another run published it after chooseMove
		return s.accept(out)
	}
	return Failure(out.Path, "publishing it", err)
}

// replaceFile is the plain rename, which replaces a file in one step everywhere.
func (s *Set) replaceFile(out *output) error { return s.disk.rename(out.partial, out.path) }

// moveNew moves the output to a name that must be free. If the file system has no such rename, a
// file is moved by a hard link, which also fails if the name is taken, and a folder by a plain
// rename, which can replace only an empty folder. If it has no hard links either, the name is
// checked before a plain rename.
func (s *Set) moveNew(out *output) error {
	err := s.disk.renameNew(out.partial, out.path)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if out.Target.Folder {
		return s.disk.rename(out.partial, out.path)
	}
	// Both names lead to the complete file: a crash before the unlink leaves a partial to sweep.
	err = s.disk.link(out.partial, out.path)
	if err == nil {
		_ = s.disk.remove(out.partial) // Set.end tries again
		return nil
	}
	if errors.Is(err, fs.ErrExist) || s.disk.confirmRename(err, out.path, out.identity) == nil {
		return err
	}
	switch found, err := s.disk.lstat(out.path); {
	case err != nil:
		return err
	case found != nil:
		return fs.ErrExist
	}
	return s.disk.rename(out.partial, out.path)
}

// replaceEmpty replaces an empty folder. Unix renames over it, and only while it is empty; Windows
// does not, so there it is removed first.
func (s *Set) replaceEmpty(out *output) error {
	err := s.disk.confirmRename(s.disk.rename(out.partial, out.path), out.path, out.identity)
	if err == nil {
		return nil
	}
	if s.disk.remove(out.path) != nil {
		if found, lookErr := s.disk.lstat(out.path); found != nil || lookErr != nil {
			return err
		}
	}
	if err = s.moveNew(out); err != nil {
		_ = s.disk.makeDir(out.path, out.inherited()) // as it was, unless the name is taken
	}
	return err
}

// replaceFolder replaces an old folder, in one step where the system can. Elsewhere the old folder
// is renamed first, then the new one. Once the old folder has another name, no other program puts
// files into it: only then is the last check for foreign files reliable, and a folder that holds
// one is moved back.
func (s *Set) replaceFolder(out *output) error {
	old, undo, hint := out.partial, s.disk.exchange, "to keep it, rename it now: the next run with this output deletes it"
	err := s.disk.exchange(out.partial, out.path)
	twoSteps := errors.Is(err, errors.ErrUnsupported)
	if twoSteps {
		old, undo, hint = out.hiddenPath(oldSuffix), s.disk.rename, "the next run with this output moves it back"
		err = s.disk.confirmRename(s.disk.rename(out.path, old), old, out.info)
	} else {
		err = s.disk.confirmRename(err, out.path, out.identity)
	}
	if err != nil {
		return err
	}
	if !twoSteps {
		out.partial = "" // its path now leads to the old folder, which Discard must not remove
	}
	err = out.Mark.refuseForeign(s.disk, out.Path, old)
	if err == nil && twoSteps {
		err = s.disk.confirmRename(s.disk.rename(out.partial, out.path), out.path, out.identity)
	}
	if err == nil {
		out.replaced = old
		return nil
	}
	if s.disk.confirmRename(undo(old, out.path), out.path, out.info) != nil {
		return notMovedBack(out, err, old, hint)
	}
	if !twoSteps {
		out.partial = old
	}
	return err
}

// notMovedBack returns the error for a folder that could not be moved back from old after its
// replacement had failed with cause.
func notMovedBack(out *output, cause error, old, hint string) error {
	cause = Failure(out.Path, "publishing it", cause)
	var e *fault.Error
	errors.As(cause, &e) // Failure returns one
	return fault.New(fault.KindOf(cause), "%s; the old folder could not be put back: it is now %s", e.Msg, old).In(out.Path).Because(cause).WithHint("%s", hint)
}
