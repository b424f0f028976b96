package parquet

// skip passes over n rows. Pages that lie within them are not read.
func (s *stream) skip(n int64) error {
	for n > 0 {
		if s.rowsLeft == 0 {
			if err := s.more(); err != nil { // the next row group that has rows
				return err
			}
		}
		if s.cursor == nil && s.at == 0 && n >= s.rowsLeft {
			n -= s.rowsLeft
			s.row += s.rowsLeft
			s.rowsLeft, s.unread, s.page.entries = 0, 0, 0
			continue
		}
		if err := s.more(); err != nil {
			return err
		}
		if s.cursor == nil && int64(s.page.entries) <= n*int64(s.entries)-int64(s.at) {
			s.offset += int64(s.page.size)
			n -= int64(s.pass(s.page.entries))
			s.page.entries = 0
			continue
		}
		m, err := s.discard(int(min(n, blockValues)))
		if err != nil {
			return err
		}
		n -= int64(m)
	}
	return nil
}

// discard decodes up to n rows and forgets them.
func (s *stream) discard(n int) (int, error) {
	n = int(min(int64(n), s.rowsLeft))
	var p part
	if !s.raw() {
		n = max(1, min(n, (1<<20)/max(1, s.entries*s.element.size)))
		p.dst = make([]byte, n*s.entries*s.element.size)
	}
	return s.decode(&p, 0, n)
}
