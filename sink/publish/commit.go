package publish

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/idxport/idxport/fault"
)

// complete completes all outputs under their hidden names, once.
func (s *Set) complete() (err error) {
	if s.ended {
		return errEnded
	}
	if s.whole {
		return nil
	}
	for _, out := range s.outputs {
		if !out.Target.Folder {
			out.identity, err = out.file.finish()
		} else if err = out.folder.finish(); err == nil {
			out.identity, err = s.disk.lstat(out.partial)
		}
		if err != nil {
			return Failure(out.Path, "completing it", err)
		}
	}
	s.whole = true
	return nil
}

// settle decides, before the first rename, how the output takes its place, if it may.
func (s *Set) settle(out *output) (err error) {
	if out.info, err = s.disk.lstat(out.path); err != nil {
		return Failure(out.Path, "looking at it", err)
	}
	full, err := out.occupied(s.disk)
	switch {
	case err != nil:
		return err
	case full && !s.overwrite:
		return s.accept(out)
	case out.info != nil && !full:
		out.move = s.fillEmpty
	case s.overwrite && !out.Target.Folder:
		out.move = s.replaceFile
	case full:
		out.move = s.replaceFolder
		return out.Mark.refuseForeign(s.disk, out.Path, out.path)
	default:
		out.move = s.moveNew
	}
	return nil
}

// accept takes an existing target for the output if they are equal, and fails with fault.Exists
// otherwise.
func (s *Set) accept(out *output) error {
	same, err := s.same(out)
	if err == nil && !same {
		return exists(out.Path, "it differs from what this run made")
	}
	return Failure(out.Path, "comparing it", err)
}

// same reports whether what stands at the target has the content of the output.
func (s *Set) same(out *output) (bool, error) {
	there, err := s.disk.lstat(out.path)
	if err != nil || there == nil || there.IsDir() != out.Target.Folder {
		return false, err
	}
	if out.Target.Folder {
		err = out.Mark.refuseForeign(s.disk, out.Path, out.path)
		if errors.Is(err, fault.Refused) {
			return false, nil
		}
	} else if !there.Mode().IsRegular() || there.Size() != out.identity.Size() {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	theirs, err := get(s.disk, "open", out.path, func() (string, error) { return Fingerprint(out.path) })
	if err != nil {
		return false, err
	}
	ours, err := get(s.disk, "open", out.partial, func() (string, error) { return Fingerprint(out.partial) })
	return theirs == ours, err
}

// publishAll renames the outputs into place, syncs their folders and deletes what was replaced,
// also after a failure: what was published stays.
func (s *Set) publishAll() error {
	var first error
	for _, out := range s.placed {
		if first == nil && out.move != nil {
			first = s.publish(out)
		}
	}
	if err := s.syncParents(); err != nil {
		return cmp.Or(first, err)
	}
	for _, out := range s.placed {
		if out.replaced != "" {
			_ = s.disk.removeAll(out.replaced) // the new one is in place; what cannot be deleted now the next run sweeps
		}
	}
	return first
}

// syncParents makes the renames durable, in each folder in which names change. Until it has
// succeeded a replaced folder must stay: after a power failure it may be the target again.
func (s *Set) syncParents() (first error) {
	var dirs []string
	for _, out := range s.placed {
		dirs = append(dirs, filepath.Dir(out.path))
	}
	for _, dir := range s.made {
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

// publish moves one output to its place, in the way that settle chose.
func (s *Set) publish(out *output) error {
	err := out.move(out)
	switch {
	case errors.Is(err, fault.Refused):
		return err
	case s.disk.arrived(err, out.path, out.identity) == nil:
		return nil
	case errors.Is(err, fs.ErrExist) && !s.overwrite: // it was published after settle had looked
		return s.accept(out)
	}
	return Failure(out.Path, "publishing it", err)
}

// replaceFile is the plain rename, which replaces a file in one step everywhere.
func (s *Set) replaceFile(out *output) error { return s.disk.rename(out.partial, out.path) }

// moveNew moves the output to a name that must be free. Without such a rename a hard link serves
// for files: it too fails if the name is taken. A folder cannot overwrite anything but an empty
// folder. Where there are no links either, a look comes before the rename.
func (s *Set) moveNew(out *output) error {
	err := s.disk.renameNew(out.partial, out.path)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if out.Target.Folder {
		return s.disk.rename(out.partial, out.path)
	}
	// link(2) never replaces, and both names lead to the complete file: a crash before the unlink
	// leaves a partial to sweep.
	err = s.disk.link(out.partial, out.path)
	if err == nil {
		_ = s.disk.remove(out.partial) // a second name of the output; Commit's end tries again
		return nil
	}
	if errors.Is(err, fs.ErrExist) || s.disk.arrived(err, out.path, out.identity) == nil {
		return err
	}
	switch there, err := s.disk.lstat(out.path); {
	case err != nil:
		return err
	case there != nil:
		return fs.ErrExist
	}
	return s.disk.rename(out.partial, out.path)
}

// fillEmpty puts the output in the place of an empty folder. Unix renames over it, and only if it
// still is empty; Windows does not, and there it is removed first.
func (s *Set) fillEmpty(out *output) error {
	err := s.disk.arrived(s.disk.rename(out.partial, out.path), out.path, out.identity)
	if err == nil {
		return nil
	}
	if s.disk.remove(out.path) != nil {
		if there, lookErr := s.disk.lstat(out.path); there != nil || lookErr != nil {
			return err
		}
	}
	if err = s.moveNew(out); err != nil {
		_ = s.disk.makeDir(out.path, out.keeps()) // as it was, unless the name is taken
	}
	return err
}

// replaceFolder puts the output in the place of an old folder, in one step where the system can.
// Elsewhere the old folder is renamed, then the new one. Only once the old folder has left its
// place can nobody put anything into it any more: if there is something in it by then that is not
// ours to delete, it goes back.
func (s *Set) replaceFolder(out *output) error {
	old, undo, hint := out.partial, s.disk.exchange, "move it away: the next run with this output deletes it"
	err := s.disk.exchange(out.partial, out.path)
	aside := errors.Is(err, errors.ErrUnsupported)
	if aside {
		old, undo, hint = out.hidden(oldSuffix), s.disk.rename, "the next run with this output moves it back"
		err = s.disk.arrived(s.disk.rename(out.path, old), old, out.info)
	} else {
		err = s.disk.arrived(err, out.path, out.identity)
	}
	if err != nil {
		return err
	}
	if !aside {
		out.partial = "" // the old folder has that name, and may be the only one
	}
	err = out.Mark.refuseForeign(s.disk, out.Path, old)
	if err == nil && aside {
		err = s.disk.arrived(s.disk.rename(out.partial, out.path), out.path, out.identity)
	}
	if err == nil {
		out.replaced = old
		return nil
	}
	if s.disk.arrived(undo(old, out.path), out.path, out.info) != nil {
		return leftAside(out, err, old, hint)
	}
	if !aside {
		out.partial = old
	}
	return err
}

// Take moves a complete file or folder from one name to another, which must be free, in one step,
// and makes that durable. It fails with fault.Exists if the name is taken, an empty folder for a
// folder included.
func Take(from, to string) error {
	s := &Set{}
	at, err := locate(to)
	if err != nil {
		return Failure(to, "resolving it", err)
	}
	info, err := s.disk.lstat(from)
	switch {
	case at.info != nil:
		return exists(to, "")
	case err == nil && info == nil:
		err = syscall.ENOENT
	}
	if err != nil {
		return Failure(to, "looking at what it is to be", err)
	}
	out := &output{Target: Target{Path: to, Folder: info.IsDir()}, place: at, partial: from, identity: info}
	switch err = s.disk.arrived(s.moveNew(out), at.path, info); {
	case errors.Is(err, fs.ErrExist):
		return exists(to, "")
	case err != nil:
		return Failure(to, "publishing it", err)
	}
	return Failure(to, "syncing its folder", s.disk.syncDir(filepath.Dir(at.path)))
}

// leftAside is the error for a folder that is replaced when why came between, and which could not
// be moved back from old.
func leftAside(out *output, why error, old, hint string) error {
	why = Failure(out.Path, "publishing it", why)
	var e *fault.Error
	errors.As(why, &e) // which failure returns
	return fault.New(fault.KindOf(why), "%s: the old folder is now %s", e.Msg, old).In(out.Path).Because(why).WithHint("%s", hint)
}
