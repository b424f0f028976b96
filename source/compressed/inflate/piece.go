package inflate

import "sync/atomic"

// A piece is a part of the stream that is decoded before what precedes it is known. It begins with
// the first block found after from, and ends between two blocks.
type piece struct {
	decoder
	from, to int // bits of the segment: where to search, and from where on blocks belong to the next piece

	// start is the bit where the first block begins, or -1. It may be read once found is closed.
	start int
	found chan struct{}

	// end is the bit where the last block ends, and symbols are the decoded blocks. They may be
	// read once done is closed.
	end     int
	symbols []byte
	done    chan struct{}

	unwanted atomic.Bool // stops the decoding at the next block
}

// newPiece returns a piece for about that many symbols. Eight symbols for each compressed byte are
// enough for images, which have two to six. A piece with more symbols ends early, or is useless if
// it is a single block.
func newPiece(symbols int) *piece {
	p := new(piece)
	p.out = make([]byte, 2*(maxDistance+symbols+outputSlack))
	p.shift = 1
	p.limit = 2 * (maxDistance + symbols)
	putMarkers(p.out)
	return p
}

// prepare makes p a piece of a segment, between two of its bits.
func (p *piece) prepare(from, to int) {
	p.from, p.to = from, to
	p.start, p.end, p.symbols = -1, 0, nil
	p.found, p.done = make(chan struct{}), make(chan struct{})
	p.unwanted.Store(false)
}

// run decodes the piece of data, once a helper is free. Any error makes the piece shorter or
// useless.
func (p *piece) run(data []byte, helpers chan struct{}) {
	defer close(p.done)
	helpers <- struct{}{}
	defer func() { <-helpers }()
	p.search(data)
	if p.start >= 0 {
		p.decode(data)
	}
}

// search sets start.
func (p *piece) search(data []byte) {
	defer close(p.found)
	defer func() {
		if recover() != nil {
			p.start = -1
		}
	}()
	if !p.unwanted.Load() {
		p.start = p.find(data, p.from, p.to)
	}
}

// decode sets end and symbols to the whole blocks before any error.
func (p *piece) decode(data []byte) {
	defer func() { recover() }()
	const first = 2 * maxDistance
	p.startAt(data, p.start)
	p.written = first
	for p.written <= p.limit {
		if p.state == atHeader {
			p.end, p.symbols = p.bit(), p.out[first:p.written]
			if p.end >= p.to || p.unwanted.Load() {
				return
			}
		}
		if err := p.step(); err != nil || p.final {
			return
		}
	}
}

// usable reports whether the piece is as long as the part of it that the next one may copy from.
func (p *piece) usable() bool { return len(p.symbols) >= 2*maxDistance }
