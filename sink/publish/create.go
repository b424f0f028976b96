package publish

import (
	"errors"
	"io/fs"
	"runtime"
)

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
		if err != nil {
			return err
		}
		out.file = &File{path: out.Path, handle: handle}
		return nil
	}
	if err := s.disk.makeDir(out.partial, out.keeps()); err != nil {
		return err
	}
	handle, err := s.disk.openFolder(out.partial, out.keeps())
	if err != nil {
		return err
	}
	out.folder = newFolder(out.Target, handle)
	return nil
}

// keeps is what stands at the target, whose permissions the output gets, so that nobody can read it
// who could not before; nil if there is nothing. On Windows a new file has them from its folder.
func (out *output) keeps() fs.FileInfo {
	if out.info == nil || out.info.IsDir() != out.Target.Folder || runtime.GOOS == "windows" {
		return nil
	}
	return out.info
}
