package publish

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

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
	if err := s.refuseExisting(true); err != nil {
		return err
	}
	record := func(out *output) error { return out.makeRecord(s.disk) }
	if err := each(s.staged, "recording it", record); err != nil {
		return err
	}
	if err := s.publishAll(); err != nil {
		return err
	}
	s.end()
	return nil
}

// publishAll renames the outputs to their targets, syncs their folders and deletes the replaced
// folders and old records. After a failed rename it renames no more outputs, but still syncs and
// deletes, because outputs that were published before stay.
func (s *Set) publishAll() error {
	var first error
	var obsolete []string
	for _, out := range s.staged {
		if first == nil {
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
			_ = s.disk.on("removeAll", os.RemoveAll, out.replaced) // the next run sweeps what cannot be deleted now
		}
	}
	for _, record := range obsolete {
		_ = s.disk.on("remove", os.Remove, record)
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
		first = cmp.Or(first, Failure(dir, "syncing the folder of outputs", s.disk.on("syncDir", syncDir, dir)))
	}
	return first
}

// publish moves one output to its target. A plain rename replaces a file in one step everywhere,
// and on Unix an empty folder, only while it is empty.
func (s *Set) publish(out *output) (err error) {
	emptyFolder := out.target.Folder && out.info != nil && !out.occupied
	switch {
	case out.occupied && !s.overwrite: // accepted by refuseExisting
		return nil
	case out.occupied && out.target.Folder:
		err = s.replaceFolder(out)
	case emptyFolder, s.overwrite && !out.target.Folder:
		err = s.disk.move("rename", rename, out.partial, out.real)
	default:
		err = s.moveNew(out)
	}
	if emptyFolder && err != nil && !errors.Is(err, fs.ErrExist) { // on Windows
		err = s.replaceFolder(out)
	}
	if errors.Is(err, fs.ErrExist) && !s.overwrite { // another run published it meanwhile
		if err = out.inspect(s.disk); err == nil {
			return s.accept(out)
		}
	}
	return Failure(out.target.Path, "publishing it", err)
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
	if out.target.Folder {
		return s.disk.move("rename", rename, out.partial, out.real)
	}
	err = s.disk.move("link", os.Link, out.partial, out.real)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err // Set.end removes the other name: a crash before leaves a partial to sweep
	}
	switch found, err := s.disk.lstat(out.real); {
	case err != nil:
		return err
	case found != nil:
		return fs.ErrExist
	}
	return s.disk.move("rename", rename, out.partial, out.real)
}

// replaceFolder replaces an old folder, in one step where the system can. Elsewhere the old folder
// is renamed first, then the new one. Once the old folder has another name, no other program puts
// files into it: only then is the last check for foreign files reliable, and a folder that holds
// one is moved back.
func (s *Set) replaceFolder(out *output) error {
	old, hint := out.partial, "to keep it, rename it now: the next run with this output deletes it"
	exchanged := func() error { return s.disk.move("exchange", exchange, old, out.real) }
	putBack := exchanged
	err := exchanged()
	twoSteps := errors.Is(err, errors.ErrUnsupported)
	if twoSteps {
		old, hint = out.newHidden(oldSuffix), "the next run with this output moves it back"
		putBack = func() error { return s.disk.move("rename", rename, old, out.real) }
		err = s.disk.move("rename", rename, out.real, old)
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
		out.replaced = old
		return nil
	}
	if putBack() != nil {
		cause := Failure(out.target.Path, "publishing it", err)
		known, _ := errors.AsType[*fault.Error](cause) // Failure returns one
		return fault.New(fault.KindOf(cause), "%s; the old folder could not be put back: it is now %s", known.Msg, old).
			In(out.target.Path).Because(cause).WithHint("%s", hint)
	}
	if !twoSteps {
		out.partial = old
	}
	return err
}
