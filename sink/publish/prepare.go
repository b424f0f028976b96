package publish

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/shell"
)

// refuseDangerous refuses targets whose replacement would destroy what is no output, whatever the
// options.
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

// refuseKind refuses what is no file, or no folder, and folders that no run may replace.
func (out *output) refuseKind() error {
	const inside = "name a new folder inside it"
	separator := string(filepath.Separator)
	there, folder := out.info != nil, out.info != nil && out.info.IsDir()
	switch {
	case out.direct && out.Target.Folder:
		return refusal(out.Path, "is a device, FIFO or socket, not a folder", "name a new folder")
	case out.direct && out.info.Mode()&fs.ModeSocket != 0:
		return refusal(out.Path, "is a socket, not a file", "name a new file")
	case out.direct:
		return nil
	case !out.Target.Folder && folder && holdsParts(out.path):
		return refusal(out.Path, "is a folder of parts", "name a new file, or make parts again to replace it")
	case !out.Target.Folder && folder:
		return refusal(out.Path, "is a folder", "name a file in it")
	case !out.Target.Folder && os.IsPathSeparator(out.Path[len(out.Path)-1]):
		return refusal(out.Path, "names a folder, not a file", "leave out the last "+separator)
	case !out.Target.Folder || !there:
		return nil
	case !folder:
		return refusal(out.Path, "is a file, not a folder", "name a new folder")
	case filepath.Dir(out.path) == out.path:
		return refusal(out.Path, "is the root of a file system", inside)
	}
	work, err := os.Getwd()
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // one that was removed is in no folder
		return Failure(out.Path, "asking for the working folder", err)
	}
	if err == nil && holds(out.info, work) {
		return refusal(out.Path, "is the working folder or holds it", inside)
	}
	mounted, err := isMountPoint(out.path)
	if mounted {
		return refusal(out.Path, "is a mount point", inside)
	}
	return Failure(out.Path, "looking for a mount point", err)
}

func (out *output) refuseInputs(inputs []string) error {
	for _, input := range inputs {
		switch {
		case out.info == nil || !holds(out.info, input):
		case out.Target.Folder:
			return refusal(out.Path, fmt.Sprintf("holds the input %s", input), "name a new folder")
		default:
			return refusal(out.Path, "is an input", "name a new file")
		}
	}
	return nil
}

func (out *output) checkParent() error {
	parent := filepath.Dir(out.path)
	if len(out.missing) > 0 && !out.MakeParents {
		named := filepath.Dir(out.Path)
		if _, err := os.Stat(named); err == nil { // a link there leads to where there is no folder
			named = parent
		}
		return noParent(out.Path, "", shell.MakeFolder(named))
	}
	if len(out.missing) == 0 && holdsParts(parent) {
		reason := " is a folder of parts, whose readers would take it for one more"
		return refusal(out.Path, filepath.Dir(out.Path)+reason, "name another folder")
	}
	return nil
}

// refuseOverlap refuses two targets that are one, and a target inside a target folder.
func (s *Set) refuseOverlap() error {
	within := func(inner, outer *output) bool {
		return outer.Target.Folder && strings.HasPrefix(inner.path, outer.path+string(filepath.Separator))
	}
	for i, a := range s.placed {
		for _, b := range s.placed[i+1:] {
			inner, outer := b, a
			if within(a, b) {
				inner, outer = a, b
			}
			switch {
			case a.path == b.path, a.info != nil && b.info != nil && os.SameFile(a.info, b.info):
				return sameOutput(b, a)
			case within(inner, outer):
				return refusal(inner.Path, "lies inside the output "+outer.Path, "put it beside that folder")
			}
		}
	}
	return nil
}

func sameOutput(out, other *output) error {
	return refusal(out.Path, "is the same output as "+other.Path, "give every output a name of its own")
}

// refuseExisting ends a run that could only fail: every target exists and none may be replaced, or
// a folder to be replaced is not an earlier output. The latter is looked at only once nobody else
// may be replacing it, and again by Commit.
func (s *Set) refuseExisting() error {
	existing := 0
	for _, out := range s.placed {
		full, err := out.occupied(s.disk)
		if err == nil && full && s.overwrite && s.owned && out.Target.Folder {
			err = out.Mark.refuseForeign(s.disk, out.Path, out.path)
		}
		if err != nil {
			return err
		}
		if full {
			existing++
		}
	}
	if !s.overwrite && existing > 0 && existing == len(s.placed) {
		return exists(s.placed[0].Path, "")
	}
	return nil
}

// makeParents makes the folders that targets ask for.
func (s *Set) makeParents() error {
	for _, out := range s.outputs {
		for _, dir := range out.missing {
			s.made = append(s.made, dir) // before: a failed attempt may have had its effect
			err := s.disk.makeDir(dir, nil)
			if errors.Is(err, fs.ErrExist) { // made for an earlier target, or by another run
				s.made = s.made[:len(s.made)-1]
				continue
			}
			if err != nil {
				return Failure(out.Path, "making its folder "+dir, err)
			}
		}
	}
	return nil
}

// lock takes every target's lock, in the order of their paths: of two runs with the same targets
// one gets them all.
func (s *Set) lock() error {
	ordered := slices.Clone(s.placed)
	slices.SortFunc(ordered, func(a, b *output) int { return strings.Compare(a.path, b.path) })
	for i, out := range ordered {
		path := out.beside(lockSuffix)
		held, err := get(s.disk, "lock", path, func() (*fileLock, error) { return takeLock(path) })
		if held != nil {
			s.locked = append(s.locked, held)
		}
		switch {
		case errors.Is(err, errors.ErrUnsupported): // no locks here: do not sweep
			continue
		case errors.Is(err, fault.Locked):
			return lockedError(out, ordered[:i])
		case errors.Is(err, syscall.ELOOP): // it is not followed: whoever made it may not choose what is locked
			return refusal(out.Path, "cannot be locked, as "+path+" is a link", "delete the link")
		case err != nil:
			return Failure(out.Path, "locking it", err)
		}
		out.exclusive = true
	}
	s.owned = true
	return nil
}

// lockedError tells another run's lock from this run's own, which two spellings of one name meet on
// file systems that ignore case.
func lockedError(out *output, before []*output) error {
	theirs, err := os.Lstat(out.beside(lockSuffix))
	for _, other := range before {
		held, heldErr := os.Lstat(other.beside(lockSuffix))
		if other.exclusive && err == nil && heldErr == nil && os.SameFile(theirs, held) {
			return sameOutput(out, other)
		}
	}
	return fault.New(fault.Locked, "is being written by another run").In(out.Path).WithHint("wait for the other run to end")
}

// sweep removes what killed runs left beside the targets whose locks are held. An old folder whose
// target is missing belonged to a run that was killed between its two renames: it goes back first.
func (s *Set) sweep() error {
	for _, out := range s.placed {
		if !out.exclusive {
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

func (s *Set) sweepEntry(out *output, path, base string) error {
	suffix, _ := parseHidden(filepath.Base(path), base)
	if suffix != partialSuffix && suffix != oldSuffix {
		return nil
	}
	if suffix == oldSuffix {
		there, err := s.disk.lstat(out.path)
		switch {
		case err != nil: // the old folder may be all there is
			return err
		case there == nil:
			return s.disk.rename(path, out.path)
		}
	}
	return s.disk.removeAll(path)
}

// lookAgain finds out what stands at the targets now: another run may have published, or a sweep
// moved something back, since the first look.
func (s *Set) lookAgain() (err error) {
	for _, out := range s.placed {
		if out.info, err = s.disk.lstat(out.path); err != nil {
			return Failure(out.Path, "looking at it", err)
		}
	}
	return nil
}

// create makes the partials, so that a lack of permission shows before any work. A direct target has
// none.
func (s *Set) create() error {
	for _, out := range s.outputs {
		if !out.Target.Folder {
			out.file = &File{disk: s.disk, path: out.Path, direct: out.direct}
		}
		if out.direct {
			continue
		}
		var err error
		out.partial = out.hidden(partialSuffix) // before: a failed attempt may have had its effect
		if !out.Target.Folder {
			out.file.handle, err = s.disk.createFile(out.partial, out.keeps())
		} else if err = s.disk.makeDir(out.partial, out.keeps()); err == nil {
			out.folder, err = openFolder(s.disk, out.Path, out.Mark, out.partial, out.keeps())
		}
		if errors.Is(err, fs.ErrExist) {
			out.partial = "" // another run's: not ours to remove
		}
		if err != nil {
			return Failure(out.Path, "creating it", err)
		}
	}
	return nil
}
