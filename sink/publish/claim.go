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
)

// lock takes every target's lock, in the order of their paths: of two runs with the same targets one gets them all.
func (s *Set) lock() error {
	ordered := slices.Clone(s.outputs)
	slices.SortFunc(ordered, func(a, b *output) int { return strings.Compare(a.path, b.path) })
	var mine []*output
	for _, out := range ordered {
		if out.direct {
			continue
		}
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

func (p place) lockPath() string {
	dir, base := filepath.Split(p.path)
	return dir + Hidden(base, lockSuffix)
}

// lockedError tells another run's lock from this run's own, which two spellings of one name meet on file systems that ignore case.
func lockedError(out *output, mine []*output) error {
	theirs, err := os.Lstat(out.lockPath())
	for _, other := range mine {
		held, heldErr := os.Lstat(other.lockPath())
		if err == nil && heldErr == nil && os.SameFile(theirs, held) {
			return refusal(out.Path, "is the same output as "+other.Path, "give every output a name of its own")
		}
	}
	return fault.New(fault.Locked, "is being written by another run").In(out.Path).WithHint("wait for the other run to end")
}

// sweep removes what killed runs left beside the targets whose locks are held. An old folder whose target is missing belonged to
// a run that was killed between its two renames: it goes back first.
func (s *Set) sweep() error {
	listings := map[string][]os.DirEntry{} // a container holds many targets
	for _, out := range s.outputs {
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

// unlock unlinks the lock files and lets them go.
func (s *Set) unlock() {
	for _, held := range s.locked {
		_ = held.unlink() // what remains is empty and serves the next run
		_ = held.Close()
	}
	s.locked = nil
}
