package inflate

// share divides s into as many parts as there are cores. The Reader decodes the first one; helpers
// decode a piece of each of the others.
//
// The first part is a tenth smaller than an equal share, because the Reader also translates the
// pieces: measured with one helper, neither then waits for the other.
func (l *Lookahead) share(s *segment) {
	size, helpers := s.end-s.start, cap(l.helpers)
	if helpers == 0 {
		return
	}
	first := size * 9 / 10 / (helpers + 1)
	cut := func(i int) int { return 8 * (s.start + first + (size-first)*i/helpers) }
	for i := range helpers {
		p := l.newPiece()
		p.prepare(cut(i), cut(i+1))
		s.pieces = append(s.pieces, p)
		go p.run(s.buf[:s.end], l.helpers)
	}
}

func (l *Lookahead) newPiece() *piece {
	if n := len(l.spare); n > 0 {
		p := l.spare[n-1]
		l.spare = l.spare[:n-1]
		return p
	}
	return newPiece(8 * l.sizes.segment / (1 + cap(l.helpers)))
}

// piece returns the piece that begins at that bit of the buffered bytes, once it is decoded, or nil
// if there is none. The caller must release it.
func (l *Lookahead) piece(bit int) *piece {
	bit += 8 * l.current.start
	for len(l.current.pieces) > 0 {
		p := l.current.pieces[0]
		if bit < p.from {
			return nil
		}
		<-p.found
		if bit < p.start {
			return nil
		}
		l.current.pieces = l.current.pieces[1:]
		if bit == p.start {
			<-p.done
			if p.usable() {
				l.used++
				return p
			}
		}
		l.abandon(p)
	}
	return nil
}

// endOf returns the bit of the buffered bytes after p.
func (l *Lookahead) endOf(p *piece) int { return p.end - 8*l.current.start }

func (l *Lookahead) drop(s *segment) {
	for _, p := range s.pieces {
		p.unwanted.Store(true)
	}
	for _, p := range s.pieces {
		l.abandon(p)
	}
	s.pieces = nil
}

// abandon waits for p, because its buffer and that of its segment are reused.
func (l *Lookahead) abandon(p *piece) {
	p.unwanted.Store(true)
	<-p.done
	l.release(p)
}

func (l *Lookahead) release(p *piece) { l.spare = append(l.spare, p) }
