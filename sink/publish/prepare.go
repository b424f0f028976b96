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

// refuseDangerous refuses targets whose replacement would destroy what is no output, whatever the options.
func (s *Set) refuseDangerous(inputs []string) error {
	for _, out := range s.outputs {
		var err error
		switch {
		case out.direct && out.Target.Folder:
			err = refusal(out.Path, "is a device, FIFO or socket, not a folder", "name a new folder")
		case out.direct:
			continue
		case out.Target.Folder:
			err = refuseFolder(out)
		default:
			err = refuseFile(out)
		}
		if err == nil {
			err = refuseInputs(out, inputs)
		}
		if err == nil {
			err = checkParent(out)
		}
		if err != nil {
			return err
		}
	}
	return s.refuseOverlap()
}

func refuseFile(out *output) error {
	switch {
	case out.info != nil && out.info.IsDir() && holdsParts(out.path):
		return refusal(out.Path, "is a folder of parts", "name a new file, or make parts again to replace it")
	case out.info != nil && out.info.IsDir():
		return refusal(out.Path, "is a folder", "name a file in it")
	case os.IsPathSeparator(out.Path[len(out.Path)-1]):
		return refusal(out.Path, "names a folder, not a file", "leave out the last "+string(filepath.Separator))
	}
	return nil
}

func refuseFolder(out *output) error {
	if out.info == nil {
		return nil
	}
	inside := "name a new folder inside it"
	if !out.info.IsDir() {
		return refusal(out.Path, "is a file, not a folder", "name a new folder")
	}
	if filepath.Dir(out.path) == out.path {
		return refusal(out.Path, "is the root of a file system", inside)
	}
	work, err := os.Getwd()
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // one that was removed is in no folder
		return failure(out.Path, "asking for the working folder", err)
	}
	if err == nil && holds(out.info, work) {
		return refusal(out.Path, "is the working folder or holds it", inside)
	}
	mounted, err := isMountPoint(out.path)
	if mounted {
		return refusal(out.Path, "is a mount point", inside)
	}
	return failure(out.Path, "looking for a mount point", err)
}

func refuseInputs(out *output, inputs []string) error {
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

func checkParent(out *output) error {
	parent := filepath.Dir(out.path)
	if len(out.missing) > 0 && !out.MakeParents {
		named := filepath.Dir(out.Path)
		if _, err := os.Stat(named); err == nil { // a link there leads to where there is no folder
			named = parent
		}
		return noParent(out.Path, "", shell.MakeFolder(named))
	}
	if len(out.missing) > 0 {
		parent = filepath.Dir(out.missing[0])
	}
	info, err := os.Stat(parent)
	if err != nil {
		return failure(out.Path, "looking at its folder", err)
	}
	if !info.IsDir() {
		return refusal(out.Path, parent+" is not a folder", "name another folder")
	}
	if len(out.missing) == 0 && holdsParts(parent) {
		return refusal(out.Path, filepath.Dir(out.Path)+" is a folder of parts, whose readers would take it for one more", "name another folder")
	}
	return nil
}

// refuseOverlap refuses two targets that are one, and a target inside a target folder.
func (s *Set) refuseOverlap() error {
	within := func(path, dir string) bool { return strings.HasPrefix(path, dir+string(filepath.Separator)) }
	for i, a := range s.placed {
		for _, b := range s.placed[i+1:] {
			switch {
			case a.path == b.path, a.info != nil && b.info != nil && os.SameFile(a.info, b.info):
				return sameOutput(b, a)
			case a.Target.Folder && within(b.path, a.path):
				return refusal(b.Path, "lies inside the output "+a.Path, "put it beside that folder")
			case b.Target.Folder && within(a.path, b.path):
				return refusal(a.Path, "lies inside the output "+b.Path, "put it beside that folder")
			}
		}
	}
	return nil
}

func sameOutput(out, other *output) error {
	return refusal(out.Path, "is the same output as "+other.Path, "give every output a name of its own")
}

// refuseExisting ends a run that could only fail: every target exists and none may be replaced.
func (s *Set) refuseExisting() error {
	existing := 0
	for _, out := range s.placed {
		full, err := out.occupied(s.disk)
		if err != nil {
			return err
		}
		if full {
			existing++
		}
	}
	if s.overwrite || existing == 0 || existing < len(s.placed) {
		return nil
	}
	return exists(s.placed[0].Path, "")
}

// refuseForeign ends a run that would replace a folder which is not an earlier output. Commit looks again.
func (s *Set) refuseForeign() error {
	for _, out := range s.placed {
		if !s.overwrite || !out.Target.Folder {
			continue
		}
		full, err := out.occupied(s.disk)
		if err == nil && full {
			_, err = out.Mark.sealOf(s.disk, out.Path, out.path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// look finds out anew what stands at the targets.
func (s *Set) look() error {
	for _, out := range s.placed {
		info, err := s.disk.lstat(out.path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return failure(out.Path, "looking at it", err)
		}
		if out.info = info; err != nil {
			out.info = nil
		}
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
				return failure(out.Path, "making its folder "+dir, err)
			}
		}
	}
	return nil
}

// lock takes every target's lock, in the order of their paths: of two runs with the same targets one gets them all.
func (s *Set) lock() error {
	ordered := slices.Clone(s.placed)
	slices.SortFunc(ordered, func(a, b *output) int { return strings.Compare(a.path, b.path) })
	var mine []*output
	for _, out := range ordered {
		held, err := s.disk.lock(out.lockPath())
		switch {
		case errors.Is(err, errors.ErrUnsupported): // no locks here: do not sweep
			continue
		case errors.Is(err, fault.Locked):
			return lockedError(out, mine)
		case errors.Is(err, syscall.ELOOP): // it is not followed: whoever made it may not choose what is locked
			return refusal(out.Path, "cannot be locked, as "+out.lockPath()+" is a link", "delete the link")
		case err != nil:
			return failure(out.Path, "locking it", err)
		}
		s.locked = append(s.locked, held)
		out.exclusive = true
		mine = append(mine, out)
	}
	return nil
}

// lockedError tells another run's lock from this run's own, which two spellings of one name meet on file systems that ignore case.
func lockedError(out *output, mine []*output) error {
	theirs, err := os.Lstat(out.lockPath())
	for _, other := range mine {
		held, heldErr := os.Lstat(other.lockPath())
		if err == nil && heldErr == nil && os.SameFile(theirs, held) {
			return sameOutput(out, other)
		}
	}
	return fault.New(fault.Locked, "is being written by another run").In(out.Path).WithHint("wait for the other run to end")
}

// sweep removes what killed runs left beside the targets whose locks are held. An old folder whose target is missing belonged to
// a run that was killed between its two renames: it goes back first.
func (s *Set) sweep() error {
	listings := map[string][]os.DirEntry{} // a container holds many targets
	for _, out := range s.placed {
		if !out.exclusive {
			continue
		}
		dir, base := filepath.Split(out.path)
		entries, listed := listings[dir]
		if !listed {
			var err error
			if entries, err = s.disk.readDir(dir); err != nil {
				return failure(out.Path, "listing its folder", err)
			}
			listings[dir] = entries
		}
		for _, entry := range entries {
			if err := s.sweepEntry(out, dir+entry.Name(), base); err != nil {
				return failure(out.Path, "removing what an interrupted run left", err)
			}
		}
	}
	return nil
}

func (s *Set) sweepEntry(out *output, path, base string) error {
	name := filepath.Base(path)
	switch {
	case isHidden(name, base, partialSuffix):
		return s.disk.removeAll(path)
	case !isHidden(name, base, oldSuffix):
		return nil
	}
	_, err := s.disk.lstat(out.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s.disk.rename(path, out.path)
	case err != nil: // the old folder may be all there is
		return err
	}
	return s.disk.removeAll(path)
}

// create makes the partials, so that a lack of permission shows before any work.
func (s *Set) create() error {
	for _, out := range s.outputs {
		err := s.createPartial(out)
		if errors.Is(err, fs.ErrExist) {
			out.partial = "" // another run's: not ours to remove
		}
		if err != nil {
			return failure(out.Path, "creating it", err)
		}
	}
	return nil
}

// createPartial makes one partial. A direct target has none, and is opened only when there is something to write: opening a FIFO
// waits for its reader.
func (s *Set) createPartial(out *output) error {
	if out.direct {
		out.file = &File{path: out.Path, open: func() (fileHandle, error) { return s.disk.openDirect(out.path) }}
		return nil
	}
	out.partial = out.hidden(partialSuffix) // before: a failed attempt may have had its effect
	if !out.Target.Folder {
		handle, err := s.disk.createFile(out.partial, out.keeps())
		out.file = &File{path: out.Path, handle: handle}
		return err
	}
	if err := s.disk.makeDir(out.partial, out.keeps()); err != nil {
		return err
	}
	handle, err := s.disk.openFolder(out.partial, out.keeps())
	if err == nil {
		out.folder = newFolder(out.Target, handle)
	}
	return err
}
