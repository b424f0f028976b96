package object

import (
	"context"
	"errors"
	"hash"
	"hash/crc32"
	"io/fs"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/idxport/idxport/fault"
)

// A Writer writes an object from start to end, by one goroutine at a time. It sends parts, which
// Commit combines. The caller of Create must call Discard in the end; after Commit it does nothing.
type Writer struct {
	client  *client
	address address
	replace bool
	parent  context.Context // cancels the sending of parts, but not the last request of Commit
	ctx     context.Context // also canceled by the first failure of a part, and by Discard
	cancel  context.CancelCauseFunc

	buffer []byte         // the part that is being filled
	free   sync.Pool      // of buffers
	group  errgroup.Group // of the requests that send parts
	parts  []*part        // in order, filled in by the answers
	sum    hash.Hash32    // CRC-32 of all bytes written
	count  int64
	id     string // of the upload; empty before the first whole part
	err    error  // the first failure, which later calls return again
	ended  bool
}

// Create starts an object with the URL name. Unless overwrite is set, it fails with fault.Exists if
// the object exists. If the bucket does not exist, it fails with fault.Refused. The context cancels
// the upload, but not the last request of Commit.
func (s *Store) Create(ctx context.Context, name string, overwrite bool) (*Writer, error) {
	c, a, err := s.clientForKey(name)
	if err != nil {
		return nil, err
	}
	if !overwrite {
		_, err := c.head(ctx, a.key)
		if err == nil {
			return nil, errorAt(a, failed(fault.Exists, ""))
		}
		if !errors.Is(err, fault.NotFound) {
			return nil, errorAt(a, err)
		}
	}
	err = c.hasBucket(ctx)              // now, rather than after the work
	if errors.Is(err, fault.NotFound) { // writing may be permitted despite other errors
		return nil, errorAt(a, writeError(err))
	}
	w := &Writer{client: c, address: a, replace: overwrite, parent: ctx, sum: crc32.NewIEEE()}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	w.group.SetLimit(maxSends)
	return w, nil
}

// Write appends p. It waits while maxSends parts are being sent. After an error the object cannot
// be committed.
func (w *Writer) Write(p []byte) (int, error) {
	if w.ended {
		return 0, fault.New(fault.Internal, "written to after its end").Because(fs.ErrClosed).In(w.address.String())
	}
	if w.err != nil {
		return 0, w.err
	}
	n := 0
	for len(p) > 0 {
		if w.buffer == nil {
			w.buffer = w.takeBuffer()
		}
		room := min(len(p), cap(w.buffer)-len(w.buffer))
		w.buffer = append(w.buffer, p[:room]...)
		w.sum.Write(p[:room])
		w.count += int64(room)
		n, p = n+room, p[room:]
		if len(w.buffer) == cap(w.buffer) {
			if err := w.send(); err != nil {
				return n, w.fail(err)
			}
		}
	}
	return n, nil
}

// takeBuffer returns an unused buffer with the size of the next part.
func (w *Writer) takeBuffer() []byte {
	size := w.client.partSize
	if len(w.parts) >= smallParts {
		size = laterSize
	}
	if b, ok := w.free.Get().(*[]byte); ok && cap(*b) >= size {
		return (*b)[:0:size]
	}
	return make([]byte, 0, size)
}

// send sends the buffer as a part. Before the first part it starts the upload. If the answer to
// this is lost, an upload without parts remains until a lifecycle rule removes it.
func (w *Writer) send() error {
	key := w.address.key
	if w.id == "" {
		id, err := w.client.begin(w.ctx, key)
		if err != nil {
			return err
		}
		w.id = id
	}
	data, sent, number := w.buffer, new(part), len(w.parts)+1
	if number > maxParts {
		return failed(fault.IO, "the object has more than %d parts, the limit of S3", maxParts).
			WithHint("divide the rows over several outputs: --rows")
	}
	w.buffer, w.parts = nil, append(w.parts, sent)
	w.group.Go(func() (err error) {
		*sent, err = w.client.send(w.ctx, key, w.id, number, data)
		if err != nil {
			w.cancel(err)
			if w.parent.Err() == nil {
				err = context.Cause(w.ctx)
			}
		}
		w.free.Put(&data)
		return err
	})
	if w.ctx.Err() != nil {
		return w.group.Wait() // the first of the failures
	}
	return nil
}

// Count returns the number of bytes written.
func (w *Writer) Count() int64 { return w.count }

// Complete waits until all parts are sent, so that Commit only has to make the object visible. It
// may be called more than once. Nothing may be written after it.
func (w *Writer) Complete() error {
	if w.err != nil || w.ended {
		return w.err
	}
	var err error
	if w.id != "" && len(w.buffer) > 0 { // without an upload Commit sends the buffer
		err = w.send()
	}
	if err == nil {
		err = w.group.Wait()
	}
	if err == nil && w.ctx.Err() != nil {
		err = canceled(w.ctx)
	}
	return w.fail(err)
}

// Commit makes the object visible in one step. If another object exists, Commit replaces it if
// Create was called with overwrite, and otherwise fails with fault.Exists. The context of Create
// does not cancel the last request, so that the outcome is known.
func (w *Writer) Commit() error {
	if w.ended {
		return errors.Join(w.err, fs.ErrClosed)
	}
	if err := w.Complete(); err != nil {
		return err
	}
	c := &completion{client: w.client, key: w.address.key, replace: w.replace, data: w.buffer}
	c.upload = upload{id: w.id, bytes: w.count, crc32: checksum(w.sum.Sum32())}
	for _, p := range w.parts {
		c.parts = append(c.parts, *p)
	}
	if err := w.fail(c.complete(context.WithoutCancel(w.parent))); err != nil {
		return err
	}
	w.ended = true
	return nil
}

// Discard ends the upload and removes its parts, unless Commit has succeeded. It waits for
// running requests. Parts that it cannot remove stay until a lifecycle rule removes them.
func (w *Writer) Discard() {
	if w.ended {
		return
	}
	w.ended = true
	w.cancel(nil)
	_ = w.group.Wait()
	if w.id == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.parent), 2*w.client.Stall)
	defer cancel()
	for range 2 { // a part in transit may arrive after the first attempt
		_ = w.client.abort(ctx, w.address.key, w.id)
	}
}

func (w *Writer) fail(err error) error {
	if err != nil && w.err == nil {
		w.err = errorAt(w.address, writeError(err))
	}
	return w.err
}
