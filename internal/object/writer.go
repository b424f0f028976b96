package object

import (
	"context"
	"crypto/rand"
	"errors"
	"hash"
	"hash/crc32"
	"io/fs"

	"golang.org/x/sync/errgroup"

	"github.com/idxport/idxport/internal/fault"
)

// Limits of uploads. S3 accepts 10,000 parts, so an object may have 84 GB.
const (
	maxParts = 10000
	maxSends = 2 // concurrent requests; a third part is filled meanwhile
)

// A Writer writes an object from start to end, by one goroutine at a time. It sends parts, which
// Commit combines. The caller of Create must call Discard in the end; after Commit it does nothing.
type Writer struct {
	client  *client
	address address
	ctx     context.Context // of all requests but the last of Commit; its cause is the first failure
	cancel  context.CancelCauseFunc

	upload upload
	buffer []byte         // the part that is being filled
	free   chan []byte    // buffers of parts that were sent
	group  errgroup.Group // of the requests that send parts
	sum    hash.Hash32    // CRC-32 of all bytes written
	err    error          // the first failure, which later calls return again
	ended  bool
}

// Create starts an object with the URL name. Unless overwrite is set, it fails with fault.Exists if
// the object exists. If the bucket does not exist, it fails with fault.Refused. The context cancels
// the upload, but not the last request of Commit.
func (s *Store) Create(ctx context.Context, name string, overwrite bool) (*Writer, error) {
	c, a, err := s.client(name)
	switch {
	case err != nil:
		return nil, err
	case a.isWeb():
		return nil, failed(fault.Usage, "files on web servers can only be read").In(a.String()).
			WithHint("write a local file, or an object: s3://BUCKET/KEY")
	case !a.hasKey():
		return nil, failed(fault.Usage, "expected a key, which does not end with a slash").In(a.String())
	}
	if !overwrite {
		switch _, err := c.head(ctx, a.key); {
		case err == nil:
			return nil, errorAt(a, failed(fault.Exists, ""))
		case !errors.Is(err, fault.NotFound):
			return nil, errorAt(a, err)
		}
		if _, err := c.list(ctx, a.key, 1); errors.Is(err, fault.NotFound) { // said before data are sent
			return nil, errorAt(a, failed(fault.Refused, ""))
		}
	}
	w := &Writer{client: c, address: a, sum: crc32.NewIEEE(), free: make(chan []byte, maxSends+1),
		upload: upload{mark: rand.Text(), replace: overwrite}}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	w.group.SetLimit(maxSends)
	return w, nil
}

// Write appends p. It waits while maxSends parts are sent. After an error Commit fails.
func (w *Writer) Write(p []byte) (int, error) {
	if w.ended {
		return 0, fs.ErrClosed
	}
	if w.err != nil {
		return 0, w.err
	}
	n := 0
	for len(p) > 0 {
		if w.buffer == nil {
			select {
			case w.buffer = <-w.free:
			default:
				w.buffer = make([]byte, 0, w.client.partSize)
			}
		}
		room := min(len(p), cap(w.buffer)-len(w.buffer))
		w.buffer = append(w.buffer, p[:room]...)
		w.sum.Write(p[:room])
		n, p = n+room, p[room:]
		if len(w.buffer) == cap(w.buffer) {
			if err := w.send(); err != nil {
				return n, w.fail(err)
			}
		}
	}
	return n, nil
}

// send sends the buffer as a part. Before the first part it starts the upload. If the answer to
// this is lost, an upload without parts remains until a lifecycle rule removes it.
func (w *Writer) send() (err error) {
	key, id := w.address.key, w.upload.id
	if id == "" {
		if id, err = w.client.begin(w.ctx, key, w.upload); err != nil {
			return err
		}
		w.upload.id = id
	}
	data, sent, number := w.buffer, new(part), len(w.upload.parts)+1
	if number > maxParts {
		return failed(fault.IO, "the object has more than %d parts, the limit of S3", maxParts).
			WithHint("divide the rows over several outputs: --part")
	}
	w.buffer, w.upload.parts = nil, append(w.upload.parts, sent)
	w.group.Go(func() (err error) {
		*sent, err = w.client.send(w.ctx, key, id, number, data)
		if err != nil {
			w.cancel(err)
		}
		w.free <- data[:0]
		return err
	})
	return context.Cause(w.ctx)
}

// Complete waits until all parts are sent, so that Commit only has to make the object visible. It
// may be called more than once. Nothing may be written after it.
func (w *Writer) Complete() error {
	if w.err != nil || w.ended {
		return w.err
	}
	if w.upload.id != "" && len(w.buffer) > 0 { // without an upload Commit sends the buffer
		if err := w.send(); err != nil {
			return w.fail(err)
		}
	}
	_ = w.group.Wait() // the cause of the context is the first failure
	return w.fail(context.Cause(w.ctx))
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
	u := w.upload
	u.data, u.crc32 = w.buffer, checksum(w.sum.Sum32())
	ctx := context.WithoutCancel(w.ctx)
	err := w.client.finish(ctx, w.address.key, u)
	if err != nil {
		err = w.resolve(ctx, err)
	}
	w.ended = err == nil
	return w.fail(err)
}

// resolve returns nil if the object of this Writer exists although its last request failed: the
// answer to an earlier attempt may have been lost. Otherwise it returns the error.
func (w *Writer) resolve(ctx context.Context, err error) error {
	found, headErr := w.client.head(ctx, w.address.key)
	switch {
	case headErr == nil && found.mark == w.upload.mark:
		return nil
	case headErr == nil || errors.Is(headErr, fault.NotFound) || !errors.Is(err, fault.IO):
		return err
	}
	return failed(fault.KindOf(headErr), "the last answer was lost or unclear, so the object may exist or not").
		Because(headErr).WithHint("check whether it exists, since it is complete if it does")
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
	if w.upload.id == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.ctx), 2*w.client.Stall)
	defer cancel()
	for range 2 { // a part in transit may arrive after the first attempt
		_ = w.client.abort(ctx, w.address.key, w.upload.id)
	}
}

func (w *Writer) fail(err error) error {
	if errors.Is(err, fault.NotFound) { // there is no such bucket
		err = failed(fault.Refused, "")
	}
	if err != nil && w.err == nil {
		w.err = errorAt(w.address, err)
	}
	return w.err
}
