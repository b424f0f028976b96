package csv

import "io"

// Next ends the file and begins another in w, with a header if the style has one: see sink.Splitter.
func (s *Sink) Next(w io.Writer) error {
	if err := s.Close(); err != nil {
		return err
	}
	s.out.Reset(w)
	s.begun = false
	return nil
}

// Held is 0: nothing is held back.
func (s *Sink) Held() int64 { return 0 }
