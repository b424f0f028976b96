package csv

import "sync"

// A bufferPool keeps buffers of one capacity. A buffer whose step never runs is simply lost to it.
type bufferPool struct {
	pool sync.Pool
	size int // capacity, bytes
}

// get returns a buffer. What it holds is of no use.
func (p *bufferPool) get() *[]byte {
	if b, ok := p.pool.Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, 0, p.size)
	return &b
}

// put takes b back.
func (p *bufferPool) put(b *[]byte) { p.pool.Put(b) }
