package publish

import (
	"errors"
	"io/fs"
	"slices"
)

// look finds out anew what stands at the targets.
func (s *Set) look() error {
	for _, out := range s.outputs {
		if out.direct {
			continue
		}
		info, err := s.disk.lstat(out.path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return failure(out.Path, "looking at it", err)
		}
		if err != nil {
			info = nil
		}
		out.info = info
	}
	return nil
}

// refuseExisting ends a run that could only fail: every target exists and none may be replaced.
func (s *Set) refuseExisting() error {
	var existing, possible int
	for _, out := range s.outputs {
		if out.direct {
			continue
		}
		possible++
		full, err := s.occupied(out)
		if err != nil {
			return err
		}
		if full {
			existing++
		}
	}
	if s.overwrite || existing == 0 || existing < possible {
		return nil
	}
	first := slices.IndexFunc(s.outputs, func(out *output) bool { return !out.direct })
	return exists(s.outputs[first].Path, "")
}

// refuseForeign ends a run that would replace a folder which is not an earlier output. Commit looks again.
func (s *Set) refuseForeign() error {
	for _, out := range s.outputs {
		if !s.overwrite || !out.Target.Folder {
			continue
		}
		full, err := s.occupied(out)
		if err == nil && full {
			_, err = s.ownFolder(out, out.path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// occupiedTries bounds the race with runs that replace the folder again and again.
const occupiedTries = 10

// occupied reports whether something stands at the target that counts: an empty folder does not stand in a folder's way. It is also asked
// before the lock is taken, when another run may be replacing the folder: to list one that was deleted fails as if there were none.
func (s *Set) occupied(out *output) (bool, error) {
	if out.info == nil || !out.Target.Folder || !out.info.IsDir() {
		return out.info != nil, nil
	}
	for range occupiedTries {
		entries, err := s.disk.readDir(out.path)
		if err == nil {
			return len(entries) > 0, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return false, failure(out.Path, "listing it", err)
		}
		if s.absent(out.path) {
			return false, nil
		}
	}
	return true, nil
}
