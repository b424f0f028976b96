package publish

import "slices"

// removeTries is how often a partial folder is deleted while a write that is still running may put a file into it.
const removeTries = 3

// Discard removes every partial, lets the locks go and removes the folders that were made for the targets, if they are empty. It has no
// effect after a Commit that succeeded, nor a second time. It does not wait for writes that are stuck elsewhere; such a write fails
// with fs.ErrClosed, or the next run sweeps what it made.
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
		if out.partial == "" {
			continue
		}
		for range removeTries {
			if s.disk.removeAll(out.partial) == nil {
				break
			}
		}
	}
	s.unlock()
}
