package publish

import (
	"slices"
)

// Prepare checks every target before any work, takes the locks, sweeps what killed runs left and
// makes the partials. It fails with a fault; nothing remains on disk then.
func Prepare(targets []Target, o Options) (*Set, error) { return prepare(disk{}, targets, o) }

func prepare(d disk, targets []Target, o Options) (*Set, error) {
	s := &Set{disk: d, overwrite: o.Overwrite}
	for _, t := range targets {
		at, err := locate(t.Path)
		if err != nil {
			return nil, Failure(t.Path, "resolving it", err)
		}
		out := &output{Target: t, place: at}
		s.outputs = append(s.outputs, out)
		if !at.direct {
			s.placed = append(s.placed, out)
		}
	}
	// Everything up to makeParents only looks, so that most mistakes leave no trace even for a
	// moment.
	for _, step := range []func() error{
		func() error { return s.refuseDangerous(o.Inputs) },
		s.refuseExisting,
		s.makeParents,
		s.lock,
		s.sweep,
		s.lookAgain,
		s.refuseExisting,
		s.create,
	} {
		if err := step(); err != nil {
			s.Discard()
			return nil, err
		}
	}
	return s, nil
}

// File returns the i-th target's writer; nil if it is a folder.
func (s *Set) File(i int) *File { return s.outputs[i].file }

// Folder returns the i-th target's folder; nil if it is a file.
func (s *Set) Folder(i int) *Folder { return s.outputs[i].folder }

// Partial is where the i-th output lies until Commit, or empty for one that is written directly, as
// devices are.
func (s *Set) Partial(i int) string { return s.outputs[i].partial }

// Complete completes every output under its hidden name: nothing more can be written, and what
// Partial tells can be read. Commit does it if it was not done before.
func (s *Set) Complete() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.complete()
}

// Commit completes every output and only then publishes them, back to back. After an error Discard
// removes what was not published; outputs that were stay, each whole. All writes must have
// returned.
func (s *Set) Commit() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.complete(); err != nil {
		return err
	}
	for _, out := range s.placed {
		if err := s.settle(out); err != nil {
			return err
		}
	}
	if err := s.publishAll(); err != nil {
		return err
	}
	for _, out := range s.placed {
		markUpToDate(s.disk, out)
	}
	s.end()
	return nil
}

// removeTries is how often a partial folder is deleted while a write that is still running may put
// a file into it.
const removeTries = 3

// Discard removes every partial, lets the locks go and removes the folders that were made for the
// targets, if they are empty. It has no effect after a Commit that succeeded, nor a second time. It
// does not wait for writes that are stuck elsewhere; such a write fails with fs.ErrClosed, or the
// next run sweeps what it made.
func (s *Set) Discard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.end()
	for _, dir := range slices.Backward(s.made) {
		_ = s.disk.remove(dir)
	}
}

// end closes and deletes what is not published, and lets the locks go.
func (s *Set) end() {
	s.ended = true
	for _, out := range s.outputs {
		if out.file != nil {
			_ = out.file.close()
		}
		if out.folder != nil {
			_ = out.folder.close()
		}
		for try := 0; try < removeTries && out.partial != ""; try++ {
			if s.disk.removeAll(out.partial) == nil {
				break
			}
		}
	}
	for _, held := range s.locked {
		_ = s.disk.do("unlink", "", held.unlink) // what remains is empty and serves the next run
		_ = held.Close()
	}
	s.locked = nil
}
