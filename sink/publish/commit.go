package publish

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/idxport/idxport/fault"
)

// complete completes all outputs under their hidden names, once.
func (s *Set) complete() error {
	if s.whole {
		return nil
	}
	for _, out := range s.outputs {
		if err := s.finish(out); err != nil {
			return failure(out.Path, "completing it", err)
		}
	}
	s.whole = true
	return nil
}

// finish completes one output under its hidden name.
func (s *Set) finish(out *output) (err error) {
	if !out.Target.Folder {
		out.identity, err = out.file.finish()
		return err
	}
	if err = out.folder.finish(); err != nil {
		return err
	}
	out.identity, err = s.disk.lstat(out.partial)
	return err
}

// settle decides, before the first rename, how the output takes its place, if it may.
func (s *Set) settle(out *output) error {
	info, err := s.disk.lstat(out.path)
	if errors.Is(err, fs.ErrNotExist) {
		out.move = s.moveNew
		if s.overwrite && !out.Target.Folder {
			out.move = s.replaceFile
		}
		return nil
	}
	if err != nil {
		return failure(out.Path, "looking at it", err)
	}
	out.info = info
	full, err := out.occupied(s.disk)
	switch {
	case err != nil:
		return err
	case !full:
		out.move = s.fillEmpty
		return nil
	case !s.overwrite:
		return s.accept(out)
	case !out.Target.Folder:
		out.move = s.replaceFile
		return nil
	}
	out.move = s.replaceFolder
	_, err = out.Mark.sealOf(s.disk, out.Path, out.path)
	return err
}

// accept takes an existing target for the output if they are equal, and fails with fault.Exists otherwise. The mark of an equal
// folder is the same to the byte.
func (s *Set) accept(out *output) error {
	compare := s.sameContent
	if out.Target.Folder {
		compare = s.sameFolder
	}
	same, err := compare(out)
	if err == nil && !same {
		return exists(out.Path, "it differs from what this run made")
	}
	return failure(out.Path, "comparing it", err)
}

func (s *Set) sameFolder(out *output) (bool, error) {
	seal, err := out.Mark.sealOf(s.disk, out.Path, out.path)
	if errors.Is(err, fault.Refused) {
		return false, nil
	}
	return bytes.Equal(seal, out.folder.sealed), err
}

func (s *Set) sameContent(out *output) (bool, error) {
	info, err := s.disk.lstat(out.path)
	if err != nil || !info.Mode().IsRegular() || info.Size() != out.file.count {
		return false, err
	}
	theirs, err := s.disk.open(out.path)
	if err != nil {
		return false, err
	}
	defer theirs.Close()
	ours, err := s.disk.open(out.partial)
	if err != nil {
		return false, err
	}
	defer ours.Close()
	return equalReaders(theirs, ours)
}

func equalReaders(a, b io.Reader) (bool, error) {
	const chunk = 256 << 10
	left, right := make([]byte, chunk), make([]byte, chunk)
	for {
		n, errLeft := io.ReadFull(a, left)
		m, errRight := io.ReadFull(b, right)
		if !bytes.Equal(left[:n], right[:m]) {
			return false, nil
		}
		for _, err := range []error{errLeft, errRight} {
			if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
				return false, err
			}
		}
		if errLeft != nil || errRight != nil {
			return true, nil // both ended: the last chunks were equally long
		}
	}
}

// publishAll renames the outputs into place, syncs their folders and deletes what was replaced, also after a failure: what was
// published stays.
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

// syncParents makes the renames durable, in each folder in which names change. Until it has succeeded a replaced folder must stay: after a power failure
// it may be the target again.
func (s *Set) syncParents() error {
	var first error
	var synced []string
	sync := func(dir string) {
		if slices.Contains(synced, dir) {
			return
		}
		synced = append(synced, dir)
		if err := s.disk.syncDir(dir); first == nil {
			first = failure(dir, "syncing the folder of outputs", err)
		}
	}
	for _, out := range s.placed {
		sync(filepath.Dir(out.path))
	}
	for _, dir := range s.made {
		sync(filepath.Dir(dir))
	}
	return first
}

// publish moves one output to its place, in the way that settle chose.
func (s *Set) publish(out *output) error {
	err := out.move(out)
	switch {
	case errors.Is(err, fault.Refused):
		return err
	case arrived(s.disk, err, out.path, out.identity) == nil:
		return nil
	case errors.Is(err, fs.ErrExist) && !s.overwrite: // it was published after settle had looked
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
	if errors.Is(err, fs.ErrExist) || arrived(s.disk, err, out.path, out.identity) == nil {
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
	err := arrived(s.disk, s.disk.rename(out.partial, out.path), out.path, out.identity)
	if err == nil || s.disk.remove(out.path) != nil && !absent(s.disk, out.path) {
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
	if err = arrived(s.disk, err, out.path, out.identity); err != nil {
		return err
	}
	out.replaced, out.partial = out.partial, ""
	if _, err = out.Mark.sealOf(s.disk, out.Path, out.replaced); err == nil {
		return nil
	}
	return s.putBack(out, err)
}

// putBack undoes the exchange with a folder that is not ours to delete. Only once the old folder has left its place can nobody put
// anything into it any more; what was put there after settle had looked would be lost.
func (s *Set) putBack(out *output, why error) error {
	old := out.replaced
	out.replaced = "" // not to be deleted by this run
	if arrived(s.disk, s.disk.exchange(old, out.path), out.path, out.info) != nil {
		return leftAside(out, why, old, "move it away: the next run with this output deletes it")
	}
	out.partial = old
	return why
}

// moveAside replaces a folder by two renames, and undoes the first if the second fails.
func (s *Set) moveAside(out *output) error {
	old := out.hidden(oldSuffix)
	if err := arrived(s.disk, s.disk.rename(out.path, old), old, out.info); err != nil {
		return err
	}
	_, err := out.Mark.sealOf(s.disk, out.Path, old) // again, for the reason that putBack gives
	if err == nil {
		err = arrived(s.disk, s.disk.rename(out.partial, out.path), out.path, out.identity)
	}
	if err == nil {
		out.replaced = old
		return nil
	}
	if arrived(s.disk, s.disk.rename(old, out.path), out.path, out.info) != nil {
		return leftAside(out, err, old, "the next run with this output moves it back")
	}
	return err
}

// Take moves a complete file or folder from one name to another, which must be free, in one step, and makes that durable. It fails with fault.Exists if
// the name is taken, an empty folder for a folder included.
func Take(from, to string) error {
	at, err := locate(to)
	if err != nil {
		return failure(to, "resolving it", err)
	}
	if at.info != nil {
		return exists(to, "")
	}
	s := &Set{disk: osDisk{}}
	info, err := s.disk.lstat(from)
	if err != nil {
		return failure(to, "looking at what it is to be", err)
	}
	out := &output{Target: Target{Path: to, Folder: info.IsDir()}, place: at, partial: from, identity: info}
	err = arrived(s.disk, s.moveNew(out), at.path, info)
	if errors.Is(err, fs.ErrExist) {
		return exists(to, "")
	}
	if err != nil {
		return failure(to, "publishing it", err)
	}
	return failure(to, "syncing its folder", s.disk.syncDir(filepath.Dir(at.path)))
}

// SyncDir makes the names in a folder durable, as far as the file system can.
func SyncDir(path string) error { return osDisk{}.syncDir(path) }
