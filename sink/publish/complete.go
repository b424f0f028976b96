package publish

// Complete completes every output under its hidden name: nothing more can be written, and what Partial tells can be read. Commit does it if it was not
// done before.
func (s *Set) Complete() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return errEnded
	}
	return s.complete()
}

func (s *Set) complete() error {
	if s.whole {
		return nil
	}
	for _, out := range s.outputs {
		if err := s.finish(out); err != nil {
			return err
		}
	}
	s.whole = true
	return nil
}

// Partial is where the i-th output lies until Commit, or empty for one that is written directly, as devices are.
func (s *Set) Partial(i int) string {
	if s.outputs[i].direct {
		return ""
	}
	return s.outputs[i].partial
}
