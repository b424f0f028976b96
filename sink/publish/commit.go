package publish

import (
	"bytes"
	"errors"
	"io"
	"io/fs"

	"github.com/idxport/idxport/fault"
)

var errEnded = errors.New("committed or discarded already")

// Commit completes every output and only then publishes them, back to back. After an error Discard removes what was not published;
// outputs that were stay, each whole. All writes must have returned.
func (s *Set) Commit() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return errEnded
	}
	if err := s.complete(); err != nil {
		return err
	}
	for _, out := range s.outputs {
		if err := s.settle(out); err != nil {
			return err
		}
	}
	if err := s.publishAll(); err != nil {
		return err
	}
	s.tellMade()
	s.end()
	return nil
}

// finish completes one output under its hidden name.
func (s *Set) finish(out *output) error {
	if !out.Target.Folder {
		info, err := out.file.finish()
		out.identity = info
		return failure(out.Path, "completing it", err)
	}
	err := out.folder.finish()
	if err != nil {
		return failure(out.Path, "completing it", err)
	}
	if out.identity, err = s.disk.lstat(out.partial); err != nil {
		return failure(out.Path, "completing it", err)
	}
	knowIdentity(out.identity)
	return nil
}

// settle decides, before the first rename, how the output takes its place, if it may.
func (s *Set) settle(out *output) error {
	if out.direct {
		return nil
	}
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
	knowIdentity(info)
	full, err := s.occupied(out)
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
	_, err = s.ownFolder(out, out.path)
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
	if err != nil {
		return failure(out.Path, "comparing it", err)
	}
	if !same {
		return exists(out.Path, "it differs from what this run made")
	}
	return nil
}

func (s *Set) sameFolder(out *output) (bool, error) {
	text, err := s.ownFolder(out, out.path)
	if errors.Is(err, fault.Refused) {
		return false, nil
	}
	return bytes.Equal(text, out.folder.sealed), err
}

func (s *Set) sameContent(out *output) (bool, error) {
	info, err := s.disk.lstat(out.path)
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() || info.Size() != out.file.count {
		return false, nil
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
