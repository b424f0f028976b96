package parquet

import "io"

// Next ends the file and begins another in w: see sink.Splitter.
func (s *Sink) Next(w io.Writer) error {
	if err := s.Close(); err != nil {
		return err
	}
	s.out = output{w: w}
	s.rows, s.groups, s.indexes = 0, nil, nil
	return s.out.write([]byte(magic))
}

// Held is the size of the pages that wait for the end of their row group.
func (s *Sink) Held() int64 { return s.held }
