package object

import (
	"context"
	"sync"
)

// A run is one sequential read, with pieces on their way in advance. It begins with one short piece, and grows as the pieces turn out to be wanted: who only
// looks at the beginning of a compressed file costs little.
type run struct {
	reader *Reader
	ctx    context.Context
	cancel context.CancelFunc
	wait   sync.WaitGroup

	next  int64    // offset of the next byte for the caller
	ahead int64    // offset of the next byte to ask for
	end   int64    // where the run ends
	size  int      // of the next piece
	most  int      // pieces at a time
	queue []*piece // in order; the first is being read
	spare []byte   // the buffer of the last piece that was read
}

// A piece is a stretch of the object on its way.
type piece struct {
	buffer []byte
	done   chan struct{} // closed when err and the buffer are set
	err    error
	used   int
}

func newRun(r *Reader, from, to int64) *run {
	ctx, cancel := context.WithCancel(r.ctx)
	return &run{reader: r, ctx: ctx, cancel: cancel, next: from, ahead: from, end: to, size: firstRun, most: 1}
}

// first asks for pieces until there are enough, and is the one that holds the next byte. n is how many bytes the caller wants, who may go beyond the end
// that was known.
func (s *run) first(n int) *piece {
	if s.next >= s.end {
		s.end = min(s.next+int64(n), s.reader.version.size)
	}
	s.fill()
	return s.queue[0]
}

// read copies what the first piece has left, once it is there.
func (s *run) read(first *piece, p []byte) (int, error) {
	select {
	case <-first.done:
	case <-s.ctx.Done():
		return 0, ended(s.ctx)
	}
	if first.err != nil {
		return 0, first.err
	}
	n := copy(p, first.buffer[first.used:])
	first.used += n
	s.next += int64(n)
	if first.used == len(first.buffer) {
		s.queue, s.spare = s.queue[1:], first.buffer
		s.most = min(s.most+1, depth)
	}
	return n, nil
}

// fill asks for pieces until there are enough.
func (s *run) fill() {
	for len(s.queue) < s.most && s.ahead < s.end {
		n := int(min(int64(s.size), s.end-s.ahead))
		if cap(s.spare) < n {
			s.spare = make([]byte, n, s.size)
		}
		p := &piece{buffer: s.spare[:n], done: make(chan struct{})}
		s.spare = nil
		offset := s.ahead
		s.wait.Go(func() {
			defer close(p.done)
			p.err = s.reader.fetch(s.ctx, p.buffer, offset)
		})
		s.queue = append(s.queue, p)
		s.ahead += int64(n)
		s.size = min(2*s.size, pieceSize)
	}
}

// stop ends the requests and waits for them.
func (s *run) stop() {
	s.cancel()
	s.wait.Wait()
}
