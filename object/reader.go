package object

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"sync"

	"github.com/idxport/idxport/fault"
)

// Sizes in bytes.
const (
	headSize  = 64 << 10 // of the beginning, which is fetched once for whoever looks what it is
	firstRun  = 1 << 20  // of the first piece of a sequential run; each next one is twice as long
	pieceSize = 8 << 20  // of the longest pieces
	blockSize = 1 << 20  // of what random reads keep
)

const (
	depth  = 4 // pieces in memory at most, the one that is read included
	blocks = 8 // that random reads keep
)

// A Reader is an open object: Read and Seek are for one goroutine, ReadAt for any number. Close waits for all requests.
type Reader struct {
	bucket  *bucket
	address address
	version identity
	ctx     context.Context // of the opener: it ends all requests
	cancel  context.CancelFunc

	begin cached // the first headSize bytes
	run   *run   // the last sequential read, or nil
	next  int64  // offset of the next Read
	limit int64  // nothing from here on is fetched in advance

	mu   sync.Mutex // of the pointer run, its queue, and kept
	kept []*cached  // blocks of random reads, the last used at the end
}

func newReader(ctx context.Context, b *bucket, a address, version identity) *Reader {
	inner, cancel := context.WithCancel(ctx)
	r := &Reader{bucket: b, address: a, version: version, ctx: inner, cancel: cancel, limit: version.size}
	r.begin = cached{first: 0, size: int(min(headSize, version.size))}
	return r
}

// Size is the number of bytes of the object.
func (r *Reader) Size() int64 { return r.version.size }

// ETag is what the storage calls this version of the object; empty if it has no such thing.
func (r *Reader) ETag() string { return r.version.etag }

// Stat tells the name, size and time of the object, as it was opened.
func (r *Reader) Stat() (fs.FileInfo, error) {
	return info{name: path.Base(r.address.key), size: r.version.size, modTime: r.version.modTime}, nil
}

// Limit says that the caller will not read sequentially beyond offset end, so that nothing there is fetched in advance.
func (r *Reader) Limit(end int64) { r.limit = max(0, min(end, r.version.size)) }

// Read reads on where the last Read ended.
func (r *Reader) Read(p []byte) (n int, err error) {
	if err := r.ctx.Err(); err != nil {
		return 0, r.closed()
	}
	switch {
	case len(p) == 0:
		return 0, nil
	case r.next >= r.version.size:
		return 0, io.EOF
	case r.next < int64(r.begin.size):
		n, err = r.begin.readAt(r, p, r.next)
	default:
		var first *piece
		if first, err = r.piece(len(p)); err == nil {
			n, err = r.run.read(first, p)
		}
	}
	r.next += int64(n)
	return n, errorAt(r.address, err)
}

// piece is the one that holds the next byte, of the run in progress or of a new one if the offset was set elsewhere.
func (r *Reader) piece(n int) (*piece, error) {
	r.mu.Lock() // Close may come at any time, and waits for all that were begun
	defer r.mu.Unlock()
	if r.ctx.Err() != nil {
		return nil, r.closed()
	}
	if r.run == nil || r.run.next != r.next {
		r.stopRun()
		r.run = newRun(r, r.next, max(r.limit, r.next))
	}
	return r.run.first(n), nil
}

// Seek sets the offset of the next Read. What was fetched in advance is dropped if it is elsewhere.
func (r *Reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.next
	case io.SeekEnd:
		offset += r.version.size
	}
	if offset < 0 {
		return r.next, fault.New(fault.Internal, "seek to %d", offset).Because(fs.ErrInvalid).In(r.address.String())
	}
	r.next = offset
	return offset, nil
}

// ReadAt reads at an offset. Short reads go through blocks that are kept, long ones do not.
func (r *Reader) ReadAt(p []byte, offset int64) (n int, err error) {
	if err := r.ctx.Err(); err != nil {
		return 0, r.closed()
	}
	if offset < 0 {
		return 0, fault.New(fault.Internal, "read at %d", offset).Because(fs.ErrInvalid).In(r.address.String())
	}
	want := int(max(0, min(int64(len(p)), r.version.size-offset)))
	for n < want && err == nil {
		at := offset + int64(n)
		var more int
		switch {
		case at < int64(r.begin.size):
			more, err = r.begin.readAt(r, p[n:want], at)
		case want-n >= blockSize:
			more = want - n
			if err = r.fetch(r.ctx, p[n:want], at); err != nil {
				more = 0
			}
		default:
			more, err = r.block(at).readAt(r, p[n:want], at)
		}
		n += more
	}
	if err == nil && n < len(p) {
		return n, io.EOF
	}
	return n, errorAt(r.address, err)
}

// Close ends all requests and waits for them.
func (r *Reader) Close() error {
	r.cancel()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopRun()
	return nil
}

func (r *Reader) stopRun() {
	if r.run != nil {
		r.run.stop()
	}
}

// closed is the error of a read after Close, or once the opener's context ended.
func (r *Reader) closed() error {
	if cause := context.Cause(r.ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return fault.New(fault.Internal, "read after its end").Because(fs.ErrClosed).In(r.address.String())
}

// block is the block that holds offset at: one that is kept, or a new one in place of the one that was used least recently.
func (r *Reader) block(at int64) *cached {
	first := at / blockSize * blockSize
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, b := range r.kept {
		if b.first == first {
			copy(r.kept[i:], r.kept[i+1:])
			r.kept[len(r.kept)-1] = b
			return b
		}
	}
	b := &cached{first: first, size: int(min(blockSize, r.version.size-first))}
	if len(r.kept) == blocks {
		r.kept = append(r.kept[:0], r.kept[1:]...)
	}
	r.kept = append(r.kept, b)
	return b
}

// A cached is a part of the object that is fetched when it is first read; a fetch that failed is tried again by the next reader.
type cached struct {
	first int64 // offset
	size  int

	mu   sync.Mutex
	data []byte
}

// readAt copies what the part has from offset on, which is inside it.
func (c *cached) readAt(r *Reader, p []byte, offset int64) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.data == nil {
		data := make([]byte, c.size)
		if err := r.fetch(r.ctx, data, c.first); err != nil {
			return 0, err
		}
		c.data = data
	}
	return copy(p, c.data[offset-c.first:]), nil
}

// fetch fills p with the object's bytes from offset on. What one request has brought is kept by the
// next, and the count of attempts begins anew whenever some bytes came.
func (r *Reader) fetch(ctx context.Context, p []byte, offset int64) error {
	got := 0
	for n := 1; got < len(p); n++ {
		more, err := r.bucket.read(ctx, r.address.key, r.version, offset+int64(got), p[got:])
		got += more
		if got == len(p) {
			return nil
		}
		if more > 0 {
			n = 1
		}
		switch {
		case err == nil:
			err = again("found %d bytes at offset %d, expected %d", more, offset+int64(got-more), len(p)-got+more)
		case errors.Is(err, fault.NotFound): // it was there
			err = failed(fault.Changed, "it is gone")
		case errors.Is(err, fault.Exists): // the condition that it is the same version was not met
			err = failed(fault.Changed, "")
		}
		if !passing(err) || n >= r.bucket.Attempts {
			return given(err, n)
		}
		if err := r.bucket.pause(ctx, n); err != nil {
			return err
		}
	}
	return nil
}
