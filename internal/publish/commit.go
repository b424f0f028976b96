package publish

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idxport/idxport/fault"
)

// Commit completes every output and only then publishes them, back to back. All writes must have
// returned. After an error Discard removes what was not published; outputs that were published
// stay, each complete.
func (s *Set) Commit() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.complete(); err != nil {
		return err
	}
	for _, out := range s.staged {
		if err := s.chooseMove(out); err != nil {
			return err
		}
	}
	for _, out := range s.staged {
		if err := out.makeRecord(s.disk); err != nil {
			return Failure(out.Path, "recording it", err)
		}
	}
	if err := s.publishAll(); err != nil {
		return err
	}
	s.end()
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
		out.move = func() error { return s.replaceEmpty(out) }
	case s.overwrite && !out.Target.Folder: // a plain rename replaces a file in one step everywhere
		out.move = func() error { return s.disk.rename(out.partial, out.path) }
	case occupied:
		out.move = func() error { return s.replaceFolder(out) }
		if len(s.staged) == 1 { // replaceFolder checks it, too, and nothing is published before
			return nil
		}
		return refuseForeign(s.disk, out.place, out.Path, out.path)
	default:
		out.move = func() error { return s.moveNew(out) }
	}
	return nil
}

// noNumber stands in a record for a number that an output does not have.
var noNumber = strings.Repeat("0", hiddenDigits)

// makeRecord makes the record of the output, which is complete but not visible yet. A file without
// a key has none.
func (out *output) makeRecord(d disk) (err error) {
	numbers := []string{noNumber, noNumber, noNumber}
	if out.Target.Folder {
		numbers[0] = out.folder.listing.String()
	}
	if out.Key != "" {
		numbers[1] = out.Key
		if numbers[2], err = doValue(d, "open", out.partial, func() (string, error) { return Fingerprint(out.partial) }); err != nil {
			return err
		}
	}
	if !out.Target.Folder && out.Key == "" {
		return nil
	}
	path := out.beside(hiddenInfix + strings.Join(numbers, "-") + recordSuffix)
	if i := slices.Index(out.stale, path); i >= 0 { // from an earlier run with the same result
		out.stale = slices.Delete(out.stale, i, i+1)
		return nil
	}
	out.record = path // set first: making it may succeed and still return an error
	if !out.Target.Folder {
		return d.makeDir(path, nil)
	}
	f, err := d.createFile(path, nil)
	if err != nil {
		return err
	}
	return f.Close()
}

// accept accepts an existing target that equals the output, and fails with fault.Exists otherwise.
func (s *Set) accept(out *output) error {
	if out.info == nil || out.info.IsDir() != out.Target.Folder || !out.info.IsDir() && !out.info.Mode().IsRegular() {
		return exists(out.Path, "")
	}
	existing, err := doValue(s.disk, "open", out.path, func() (string, error) { return Fingerprint(out.path) })
	if err == nil {
		var written string
		written, err = doValue(s.disk, "open", out.partial, func() (string, error) { return Fingerprint(out.partial) })
		if err == nil && existing != written {
			return exists(out.Path, "its contents differ from the new output")
		}
	}
	return Failure(out.Path, "cannot compare it with the new output", err)
}

// publishAll renames the outputs to their targets, syncs their folders and deletes the replaced
// folders and old records. After a failed rename it renames no more outputs, but still syncs and
// deletes, because outputs that were published before stay.
func (s *Set) publishAll() error {
	var first error
	var obsolete []string
	for _, out := range s.staged {
		if first == nil && out.move != nil {
			first = s.publish(out)
		}
		if first == nil {
			out.record = "" // it stays
			obsolete = append(obsolete, out.stale...)
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
	for _, record := range obsolete {
		_ = s.disk.remove(record)
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
	err := out.move()
	switch {
	case errors.Is(err, fault.Refused):
		return err
	case s.disk.confirmRename(err, out.path, out.identity) == nil:
		return nil
	case errors.Is(err, fs.ErrExist) && !s.overwrite: // another run published it after chooseMove
		if out.info, err = s.disk.lstat(out.path); err == nil {
			return s.accept(out)
		}
	}
	return Failure(out.Path, "publishing it", err)
}

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
	err = refuseForeign(s.disk, out.place, out.Path, old)
	if err == nil && twoSteps {
		err = s.disk.confirmRename(s.disk.rename(out.partial, out.path), out.path, out.identity)
	}
	if err == nil {
		out.replaced = old
		return nil
	}
	if s.disk.confirmRename(undo(old, out.path), out.path, out.info) != nil {
		cause := Failure(out.Path, "publishing it", err)
		var e *fault.Error
		errors.As(cause, &e) // Failure returns one
		return fault.New(fault.KindOf(cause), "%s; the old folder could not be put back: it is now %s", e.Msg, old).
			In(out.Path).Because(cause).WithHint("%s", hint)
	}
	if !twoSteps {
		out.partial = old
	}
	return err
}
