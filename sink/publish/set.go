package publish

import "slices"

// Prepare checks every target before any work, takes the locks, sweeps what killed runs left and
// creates the partials. After an error, which is a *fault.Error, nothing remains on disk.
func Prepare(targets []Target, o Options) (*Set, error) { return prepare(disk{}, targets, o) }

func prepare(d disk, targets []Target, o Options) (*Set, error) {
	s := &Set{disk: d, overwrite: o.Overwrite}
	for _, t := range targets {
		p, err := locate(t.Path)
		if err != nil {
			return nil, Failure(t.Path, "cannot follow the path", err)
		}
		out := &output{Target: t, place: p}
		s.outputs = append(s.outputs, out)
		if !p.direct {
			s.staged = append(s.staged, out)
		}
	}
	// The steps before makeParents only look, so that most mistakes leave no trace even for a
	// moment.
	for _, step := range []func() error{
		func() error { return s.refuseDangerous(o.Inputs) },
		func() error { return s.refuseExisting(false) },
		s.makeParents,
		s.lock,
		s.sweep,
		s.refresh,
		func() error { return s.refuseExisting(true) },
		s.create,
	} {
		if err := step(); err != nil {
			s.Discard()
			return nil, err
		}
	}
	return s, nil
}

// File returns the writer of the i-th target, or nil if the target is a folder.
func (s *Set) File(i int) *File { return s.outputs[i].file }

// Folder returns the folder of the i-th target, or nil if the target is a file.
func (s *Set) Folder(i int) *Folder { return s.outputs[i].folder }

// Partial returns the path of the i-th output until Commit, or "" if it is a device or FIFO.
func (s *Set) Partial(i int) string { return s.outputs[i].partial }

// Complete completes every output under its hidden name: nothing more can be written, and the files
// at Partial can be read. Commit calls it if necessary.
func (s *Set) Complete() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.complete()
}

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
	if err := s.publishAll(); err != nil {
		return err
	}
	for _, out := range s.staged {
		writeStamp(s.disk, out)
	}
	s.end()
	return nil
}

// Discard removes every partial, releases the locks and removes the folders that were made for the
// targets, if they are empty. It has no effect after a successful Commit or a second time. It does
// not wait for writes that are stuck: such a write fails with fs.ErrClosed, or the next run sweeps
// the file that it made.
func (s *Set) Discard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.end()
	for _, dir := range slices.Backward(s.parents) {
		_ = s.disk.remove(dir)
	}
}

// maxRemovals limits the attempts to delete a partial folder: a write that is still running may put
// another file into it meanwhile.
const maxRemovals = 3

// end closes and deletes what is not published, and releases the locks.
func (s *Set) end() {
	s.ended = true
	for _, out := range s.outputs {
		if out.file != nil {
			_ = out.file.close()
		}
		if out.folder != nil {
			_ = out.folder.close()
		}
		for try := 0; try < maxRemovals && out.partial != ""; try++ {
			if s.disk.removeAll(out.partial) == nil {
				break
			}
		}
	}
	for _, lock := range s.locks {
		_ = s.disk.do("unlink", "", lock.unlink) // a file that remains is empty, and the next run uses it
		_ = lock.Close()
	}
	s.locks = nil
}
