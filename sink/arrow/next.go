package arrow

import "io"

// Next ends the file or stream and begins another in w: see sink.Splitter.
func (s *Sink) Next(w io.Writer) error {
	if err := s.Close(); err != nil {
		return err
	}
	s.w, s.offset, s.blocks = w, 0, nil
	return s.start()
}

// Held is 0: nothing is held back.
func (s *Sink) Held() int64 { return 0 }
