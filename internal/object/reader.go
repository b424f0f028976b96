package object

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"sync"

	"github.com/idxport/idxport/internal/fault"
)

// Sizes in bytes, and how many of them are in memory.
const (
	headSize  = 64 << 10 // of the block at the start, from which formats are detected
	firstSize = 1 << 20  // of the first piece of a sequential run; the size doubles with each piece
	pieceSize = 8 << 20  // of the largest pieces
	maxPieces = 4        // of a sequential run, including the current one
	blockSize = 1 << 20  // of cached blocks
	maxBlocks = 8        // in the cache
)

// A Reader is an open object. Read and Seek are for one goroutine, ReadAt for any number.
type Reader struct {
	client  *client
	address address
	version identity
	ctx     context.Context // of all requests; its cause is fs.ErrClosed after Close
	cancel  context.CancelCauseFunc

	next  int64 // offset of the next Read
	limit int64 // nothing beyond this offset is fetched in advance

	mu       sync.Mutex // protects the fields below
	requests sync.WaitGroup
	blocks   []*piece // the cache, in the order of their last use

	// A run is a sequential read, which fetches pieces in advance. It starts with one small piece
	// and grows while its pieces are read, so that reading only the start of a file costs little.
	run   []*piece // in order; the first is being read
	ahead int64    // offset of the next piece to fetch
	size  int64    // bytes of the next piece
	depth int      // number of pieces to keep in memory
	spare []byte   // the buffer of the previous piece
}

// A piece is a range of the object that is being fetched, or that was fetched.
type piece struct {
	first  int64 // offset
	data   []byte
	cancel context.CancelFunc
	done   chan struct{} // closed once data or err is set
	err    error
}

// ETag returns the ETag of the version that is read, or "" if it has none.
func (r *Reader) ETag() string { return r.version.etag }

// Stat returns the name, size and time of the object when it was opened.
func (r *Reader) Stat() (fs.FileInfo, error) {
	return info{name: path.Base(r.address.key), size: r.version.size, modTime: r.version.modTime}, nil
}

// Limit prevents sequential reads from fetching bytes beyond offset end in advance.
func (r *Reader) Limit(end int64) { r.limit = min(end, r.version.size) }

// Read reads from the offset that Seek or the last Read has set.
func (r *Reader) Read(p []byte) (n int, err error) {
	switch {
	case r.ctx.Err() != nil:
		return 0, context.Cause(r.ctx)
	case len(p) == 0:
		return 0, nil
	case r.next >= r.version.size:
		return 0, io.EOF
	}
	n, err = r.sequential(int64(len(p))).read(r.ctx, p, r.next)
	r.next += int64(n)
	return n, errorAt(r.address, err)
}

// Seek sets the offset of the next Read.
func (r *Reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.next
	case io.SeekEnd:
		offset += r.version.size
	}
	if offset < 0 {
		return r.next, fs.ErrInvalid
	}
	r.next = offset
	return offset, nil
}

// ReadAt reads at an offset. Short reads use the cache, long ones do not.
func (r *Reader) ReadAt(p []byte, offset int64) (n int, err error) {
	if offset < 0 {
		return 0, fs.ErrInvalid
	}
	want := int(max(0, min(int64(len(p)), r.version.size-offset))) // an int may have 32 bits
	for n < want && err == nil {
		if r.ctx.Err() != nil {
			return n, context.Cause(r.ctx)
		}
		more, next := want-n, offset+int64(n)
		if next >= headSize && more >= blockSize {
			err = r.fetch(r.ctx, p[n:want], next)
		} else {
			more, err = r.block(next).read(r.ctx, p[n:want], next)
		}
		if err == nil {
			n += more
		}
	}
	if err == nil && n < len(p) {
		return n, io.EOF
	}
	return n, errorAt(r.address, err)
}

// Close ends all requests and waits for them.
func (r *Reader) Close() error {
	r.cancel(fs.ErrClosed)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests.Wait()
	return nil
}

// start starts to fetch a piece. The caller holds the mutex, as Close may be called at any time and
// waits for all pieces that were started.
func (r *Reader) start(first int64, data []byte) *piece {
	ctx, cancel := context.WithCancel(r.ctx)
	p := &piece{first: first, data: data, cancel: cancel, done: make(chan struct{})}
	r.requests.Go(func() {
		defer cancel()
		defer close(p.done)
		p.err = r.fetch(ctx, p.data, p.first)
	})
	return p
}

// has reports whether the byte at an offset is in the piece.
func (p *piece) has(offset int64) bool {
	return offset >= p.first && offset < p.first+int64(len(p.data))
}

// read waits for the piece and copies its bytes to dst, starting with the byte at an offset.
func (p *piece) read(ctx context.Context, dst []byte, offset int64) (int, error) {
	select {
	case <-p.done:
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	if p.err != nil {
		return 0, p.err
	}
	return copy(dst, p.data[offset-p.first:]), nil
}

// block returns the block that contains the byte at an offset. If that is not in the cache, a new
// block replaces the least recently used one.
func (r *Reader) block(offset int64) (b *piece) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.blocks, func(b *piece) bool { return b.has(offset) })
	switch {
	case i >= 0:
		b = r.blocks[i]
		r.blocks = slices.Delete(r.blocks, i, i+1)
	case offset < headSize:
		b = r.start(0, make([]byte, min(headSize, r.version.size)))
	default:
		first := offset / blockSize * blockSize
		b = r.start(first, make([]byte, min(blockSize, r.version.size-first)))
	}
	if len(r.blocks) == maxBlocks {
		r.blocks = slices.Delete(r.blocks, 0, 1)
	}
	r.blocks = append(r.blocks, b)
	return b
}

// sequential returns the piece that contains the next byte: the cached block at the start of the
// object, or a piece of the current run, or of a new run if Seek has left the current one. n is the
// number of bytes that the caller reads; beyond the limit, not more than these are fetched.
func (r *Reader) sequential(n int64) *piece {
	if r.next < headSize {
		return r.block(r.next)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.run) > 0 && !r.run[0].has(r.next) { // it was read, or Seek has left it
		r.run[0].cancel()
		<-r.run[0].done // else more than maxPieces would be in memory
		r.spare, r.run = r.run[0].data, r.run[1:]
		r.depth = min(r.depth+1, maxPieces)
	}
	if len(r.run) == 0 && r.ahead != r.next {
		r.ahead, r.size, r.depth = r.next, firstSize, 1
	}
	end := r.limit
	if len(r.run) == 0 {
		end = min(max(end, r.next+n), r.version.size)
	}
	for len(r.run) < r.depth && r.ahead < end {
		size := min(r.size, end-r.ahead)
		if int64(cap(r.spare)) < size {
			r.spare = make([]byte, size, r.size)
		}
		r.run = append(r.run, r.start(r.ahead, r.spare[:size]))
		r.spare, r.ahead, r.size = nil, r.ahead+size, min(2*r.size, pieceSize)
	}
	return r.run[0]
}

// fetch fills p with the bytes of the object from offset on. If a request returns only some of
// them, the next one asks for the rest, and the count of attempts starts again.
func (r *Reader) fetch(ctx context.Context, p []byte, offset int64) error {
	got := 0
	for n := 1; got < len(p); n++ {
		more, err := r.client.read(ctx, r.address.key, r.version, offset+int64(got), p[got:])
		if got += more; got == len(p) {
			return nil
		}
		if more > 0 {
			n = 1
		}
		switch {
		case err == nil:
			err = temporary("found %d bytes at offset %d, expected %d", more, offset+int64(got-more), len(p)-got+more)
		case errors.Is(err, fault.NotFound): // it existed when it was opened
			err = failed(fault.Changed, "it does not exist any more")
		case errors.Is(err, fault.Exists): // the condition If-Match failed
			err = failed(fault.Changed, "")
		}
		if err := r.client.pause(ctx, err, n); err != nil {
			return err
		}
	}
	return nil
}
