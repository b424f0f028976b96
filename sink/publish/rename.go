package publish

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/idxport/idxport/fault"
)

// publishAll renames the outputs into place, syncs their folders and deletes what was replaced, also after a failure: what was
// published stays.
func (s *Set) publishAll() error {
	var first error
	for _, out := range s.outputs {
		if out.move == nil {
			continue
		}
		if first = s.publish(out); first != nil {
			break
		}
	}
	if err := s.syncParents(); err != nil {
		return cmp.Or(first, err)
	}
	for _, out := range s.outputs {
		if out.replaced != "" {
			_ = s.disk.removeAll(out.replaced) // the new one is in place; what cannot be deleted now the next run sweeps
		}
	}
	return first
}

// syncParents makes the renames durable. Until it has succeeded a replaced folder must stay: after a power failure it may be the
// target again.
func (s *Set) syncParents() error {
	var first error
	for _, dir := range s.parents() {
		if err := s.disk.syncDir(dir); err != nil && first == nil {
			first = failure(dir, "syncing the folder of outputs", err)
		}
	}
	return first
}

// parents lists the folders in which names change, each once.
func (s *Set) parents() []string {
	var dirs []string
	seen := map[string]bool{}
	add := func(dir string) {
		if !seen[dir] {
			seen[dir] = true
			dirs = append(dirs, dir)
		}
	}
	for _, out := range s.outputs {
		if !out.direct {
			add(filepath.Dir(out.path))
		}
	}
	for _, dir := range s.made {
		add(filepath.Dir(dir))
	}
	return dirs
}

// publish moves one output to its place, in the way that settle chose.
func (s *Set) publish(out *output) error {
	err := out.move(out)
	switch {
	case errors.Is(err, fault.Refused):
		return err
	case err == nil, s.isAt(out.path, out.identity): // an error may come after the effect, as on NFS
		return nil
	case errors.Is(err, fs.ErrExist) && !s.overwrite: // it appeared after settle had looked
		return s.accept(out)
	}
	return failure(out.Path, "publishing it", err)
}

// replaceFile is the plain rename, which replaces a file in one step everywhere.
func (s *Set) replaceFile(out *output) error {
	return s.disk.rename(out.partial, out.path)
}

// moveNew moves the output to a name that must be free. Without such a rename a hard link serves for files: it too fails if the
// name is taken. A folder cannot overwrite anything but an empty folder. Where there are no links either, a look comes before the rename.
func (s *Set) moveNew(out *output) error {
	err := s.disk.renameNew(out.partial, out.path)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if out.Target.Folder {
		return s.disk.rename(out.partial, out.path)
	}
	// link(2) never replaces, and both names lead to the complete file: a crash before the unlink leaves a partial to sweep.
	err = s.disk.link(out.partial, out.path)
	if err == nil {
		_ = s.disk.remove(out.partial) // a second name of the output; Commit's end tries again
		return nil
	}
	if errors.Is(err, fs.ErrExist) || s.isAt(out.path, out.identity) {
		return err
	}
	switch _, err := s.disk.lstat(out.path); {
	case err == nil:
		return fs.ErrExist
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return s.disk.rename(out.partial, out.path)
}

// fillEmpty puts the output in the place of an empty folder. Unix renames over it, and only if it still is empty; Windows does
// not, and there it is removed first.
func (s *Set) fillEmpty(out *output) error {
	err := s.disk.rename(out.partial, out.path)
	if err == nil || s.isAt(out.path, out.identity) {
		return nil
	}
	if s.disk.remove(out.path) != nil && !s.absent(out.path) {
		return err
	}
	if err = s.moveNew(out); err != nil {
		_ = s.disk.makeDir(out.path, out.keeps()) // as it was, unless the name is taken
	}
	return err
}

// replaceFolder puts the output in the place of an old one, in one step where the system can.
func (s *Set) replaceFolder(out *output) error {
	err := s.disk.exchange(out.partial, out.path)
	if errors.Is(err, errors.ErrUnsupported) {
		return s.moveAside(out)
	}
	if err != nil && !s.isAt(out.path, out.identity) {
		return err
	}
	out.replaced, out.partial = out.partial, ""
	if _, err = s.ownFolder(out, out.replaced); err == nil {
		return nil
	}
	return s.putBack(out, err)
}

// putBack undoes the exchange with a folder that is not ours to delete. Only once the old folder has left its place can nobody put
// anything into it any more; what was put there after settle had looked would be lost.
func (s *Set) putBack(out *output, why error) error {
	old := out.replaced
	out.replaced = "" // not to be deleted by this run
	if err := s.disk.exchange(old, out.path); err != nil && !s.isAt(out.path, out.info) {
		return leftAside(out, why, old, "move it away: the next run with this output deletes it")
	}
	out.partial = old
	return why
}

// moveAside replaces a folder by two renames, and undoes the first if the second fails.
func (s *Set) moveAside(out *output) error {
	old := out.hidden(oldSuffix)
	if err := s.disk.rename(out.path, old); err != nil && !s.isAt(old, out.info) {
		return err
	}
	_, err := s.ownFolder(out, old) // again, for the reason that putBack gives
	if err == nil {
		err = s.disk.rename(out.partial, out.path)
		if err == nil || s.isAt(out.path, out.identity) {
			out.replaced = old
			return nil
		}
	}
	if undo := s.disk.rename(old, out.path); undo != nil && !s.isAt(out.path, out.info) {
		return leftAside(out, err, old, "the next run with this output moves it back")
	}
	return err
}
