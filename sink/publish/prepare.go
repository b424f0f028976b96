package publish

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/shell"
)

// refuseDangerous refuses targets that Options.Overwrite does not allow either, such as an input, a
// mount point, or a file in a folder that does not exist.
func (s *Set) refuseDangerous(inputs []string) error {
	for _, out := range s.outputs {
		err := out.refuseKind()
		if err == nil && !out.direct {
			err = out.refuseInputs(inputs)
		}
		if err == nil && !out.direct {
			err = out.checkParent()
		}
		if err != nil {
			return err
		}
	}
	return s.refuseOverlap()
}

// refuseKind refuses an existing target of another kind than the output, such as a folder for a
// file, and folders that must never be replaced, such as a mount point.
func (out *output) refuseKind() error {
	const inside = "name a new folder inside it"
	separator := string(filepath.Separator)
	exists, isDir := out.info != nil, out.info != nil && out.info.IsDir()
	switch {
	case out.direct && out.Target.Folder:
		return refusal(out.Path, "it is a device, FIFO or socket, not a folder", "name a new folder")
	case out.direct && out.info.Mode()&fs.ModeSocket != 0:
		return refusal(out.Path, "it is a socket, not a file", "name a new file")
	case out.direct:
		return nil
	case !out.Target.Folder && isDir && holdsParts(out.path):
		return refusal(out.Path, "it is a folder of part files, as --rows-per-file makes", "name a new file; or, to replace the folder, add --rows-per-file N --overwrite")
	case !out.Target.Folder && isDir:
		return refusal(out.Path, "it is a folder", "name a file in it")
	case !out.Target.Folder && os.IsPathSeparator(out.Path[len(out.Path)-1]):
		return refusal(out.Path, "it names a folder, not a file", "leave out the last "+separator)
	case !out.Target.Folder || !exists:
		return nil
	case !isDir:
		return refusal(out.Path, "the output is a folder, but a file has this name", "remove the file, or give the path of a new folder")
	case filepath.Dir(out.path) == out.path:
		return refusal(out.Path, "it is the root of a file system", inside)
	}
	work, err := os.Getwd()
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // if the working folder was removed, no target can contain it
		return Failure(out.Path, "cannot find the current folder", err)
	}
	if err == nil && contains(out.info, work) {
		return refusal(out.Path, "it is the current folder, or contains it", inside)
	}
	mounted, err := isMountPoint(out.path)
	if mounted {
		return refusal(out.Path, "it is a mount point", inside)
	}
	return Failure(out.Path, "cannot check whether it is a mount point", err)
}

func (out *output) refuseInputs(inputs []string) error {
	for _, input := range inputs {
		switch {
		case out.info == nil || !contains(out.info, input):
		case out.Target.Folder:
			return refusal(out.Path, "it contains the input "+input, "name a new folder")
		default:
			return refusal(out.Path, "it is an input", "name a new file")
		}
	}
	return nil
}

func (out *output) checkParent() error {
	parent := filepath.Dir(out.path)
	if len(out.missing) > 0 && !out.MakeParents {
		missing := filepath.Dir(out.Path)
		_, err := os.Stat(missing)
		// If that folder exists, the target is a link into a missing one. If the path has "..",
		// filepath.Dir may have given another folder.
		if err == nil || strings.Contains(out.Path, "..") {
			missing = parent
		}
		return noParent(out.Path, "", shell.MakeFolder(missing))
	}
	if len(out.missing) == 0 && holdsParts(parent) {
		reason := " is a folder of part files, and programs that read it would read this file as a part"
		return refusal(out.Path, filepath.Dir(out.Path)+reason, "name another folder")
	}
	return nil
}

// refuseOverlap refuses two targets with the same path, and a target inside a target folder.
func (s *Set) refuseOverlap() error {
	inside := func(inner, outer *output) bool {
		return outer.Target.Folder && strings.HasPrefix(inner.path, outer.path+string(filepath.Separator))
	}
	for i, a := range s.staged {
		for _, b := range s.staged[i+1:] {
			inner, outer := b, a
			if inside(a, b) {
				inner, outer = a, b
			}
			switch {
			case a.path == b.path, a.info != nil && b.info != nil && os.SameFile(a.info, b.info):
				return sameOutput(b, a)
			case inside(inner, outer):
				return refusal(inner.Path, "it lies inside the output "+outer.Path, "put it beside that folder")
			}
		}
	}
	return nil
}

func sameOutput(out, other *output) error {
	return refusal(out.Path, "it is the same output as "+other.Path, "give every output a name of its own")
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
			err = out.Mark.refuseForeign(s.disk, out.Path, out.path)
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

// makeParents creates the missing folders above the targets.
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

// lock takes the lock of every target, in the order of their paths: of two runs with the same
// targets one gets all of them.
func (s *Set) lock() error {
	ordered := slices.Clone(s.staged)
	slices.SortFunc(ordered, func(a, b *output) int { return strings.Compare(a.path, b.path) })
	for i, out := range ordered {
		path := out.beside(lockSuffix)
		lock, err := doValue(s.disk, "lock", path, func() (*fileLock, error) { return takeLock(path) })
		if lock != nil {
			s.locks = append(s.locks, lock)
		}
		switch {
		case err == nil:
			out.locked = true
		case errors.Is(err, errors.ErrUnsupported): // the file system has no locks
		case errors.Is(err, fault.Locked):
			return lockedError(out, ordered[:i])
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

// lockedError returns the error for a target whose lock is taken, by another run or by this one: on
// file systems that ignore case two targets may be spellings of one name.
func lockedError(out *output, before []*output) error {
	taken, err := os.Lstat(out.beside(lockSuffix))
	for _, other := range before {
		own, ownErr := os.Lstat(other.beside(lockSuffix))
		if other.locked && err == nil && ownErr == nil && os.SameFile(taken, own) {
			return sameOutput(out, other)
		}
	}
	return fault.New(fault.Locked, "is being written by another run").In(out.Path).WithHint("wait for the other run to end")
}

// sweep removes what killed runs left beside the targets that are locked.
func (s *Set) sweep() error {
	for _, out := range s.staged {
		if !out.locked {
			continue
		}
		dir, base := filepath.Split(out.path)
		entries, err := s.disk.readDir(dir)
		if err != nil {
			return Failure(out.Path, "listing its folder", err)
		}
		for _, entry := range entries {
			if err := s.sweepEntry(out, dir+entry.Name(), base); err != nil {
				return Failure(out.Path, "removing what an interrupted run left", err)
			}
		}
	}
	return nil
}

// sweepEntry removes a partial, and an old folder unless its target is missing: then a run was
// killed between its two renames, and the old folder is moved back.
func (s *Set) sweepEntry(out *output, path, base string) error {
	suffix, _ := parseHidden(filepath.Base(path), base)
	if suffix != partialSuffix && suffix != oldSuffix {
		return nil
	}
	if suffix == oldSuffix {
		found, err := s.disk.lstat(out.path)
		switch {
		case err != nil: // the old folder may be the only one
			return err
		case found == nil:
			return s.disk.rename(path, out.path)
		}
	}
	return s.disk.removeAll(path)
}

// refresh looks at the targets again: since the first look another run may have published one, or
// the sweep moved one back.
func (s *Set) refresh() (err error) {
	for _, out := range s.staged {
		if out.info, err = s.disk.lstat(out.path); err != nil {
			return Failure(out.Path, "cannot check it", err)
		}
	}
	return nil
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
			out.folder, err = openFolder(s.disk, out.Path, out.Mark, out.partial, out.inherited())
		}
		if errors.Is(err, fs.ErrExist) {
			out.partial = "" // it belongs to another run
		}
		if err != nil {
			return Failure(out.Path, "creating it", err)
		}
	}
	return nil
}
