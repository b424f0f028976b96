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

// A Writer is an object while it is written, from start to end and by one goroutine at a time. It is
// sent in parts, which are no object before Commit has succeeded. Whoever made it calls Discard in
// the end, which has no effect after Commit.
type Writer struct {
	bucket  *bucket
	address address
	replace bool
	parent  context.Context // ends what is sent, but not Commit
	ctx     context.Context // also ended by the first failure of a part, and by Discard
	cancel  context.CancelCauseFunc

	buffer []byte         // the part that is being filled
	free   sync.Pool      // of buffers
	group  errgroup.Group // of the requests that send parts
	parts  []*Part        // in order; the answers come in any
	sum    hash.Hash32    // CRC-32 of all that was written: what the storage shall have
	count  int64
	id     string // of the upload; empty before the first whole part
	err    error  // the first failure: it is repeated
	ended  bool
}

// Create begins an object called name. It is looked up first: unless overwrite is set, one that is
// there is fault.Exists before any work, and no bucket is fault.Refused. The context ends the upload,
// but not Commit once it is called.
func (s *Store) Create(ctx context.Context, name string, overwrite bool) (*Writer, error) {
	b, a, err := s.reachKey(ctx, name)
	if err != nil {
		return nil, err
	}
	if !overwrite {
		_, err := b.find(ctx, a.key)
		if err == nil {
			return nil, errorAt(a, failed(fault.Exists, ""))
		}
		if !errors.Is(err, fault.NotFound) {
			return nil, errorAt(a, err)
		}
	}
	err = b.retry(ctx, func() error { return b.hasBucket(ctx) }) // now, rather than after the work
	if errors.Is(err, fault.NotFound) {                          // any other error may be of a permission that writing does not need
		return nil, errorAt(a, toWrite(err))
	}
	w := &Writer{bucket: b, address: a, replace: overwrite, parent: ctx, sum: crc32.NewIEEE()}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	w.group.SetLimit(atOnce)
	return w, nil
}

// Write appends p. After an error the object cannot be committed.
func (w *Writer) Write(p []byte) (int, error) {
	if w.ended {
		return 0, fault.New(fault.Internal, "written to after its end").Because(fs.ErrClosed).In(w.address.String())
	}
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.fill(p)
	return n, w.fail(err)
}

// fill fills parts and sends those that are full; it waits while two are on their way.
func (w *Writer) fill(p []byte) (n int, err error) {
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
				return n, err
			}
		}
	}
	return n, nil
}

// takeBuffer returns a buffer that nobody sends from.
func (w *Writer) takeBuffer() []byte {
	size := w.bucket.part
	if len(w.parts) >= manySmall {
		size = laterSize
	}
	if b, ok := w.free.Get().(*[]byte); ok && cap(*b) >= size {
		return (*b)[:0:size]
	}
	return make([]byte, 0, size)
}

// send sends the part that was filled, and begins the upload before the first one. An upload whose
// first answer is lost remains, without parts, until a lifecycle rule removes it.
func (w *Writer) send() error {
	b, key := w.bucket, w.address.key
	if w.id == "" {
		id, err := retried(w.ctx, b.Options, func() (string, error) { return b.begin(w.ctx, key) })
		if err != nil {
			return err
		}
		w.id = id
	}
	data, part, number := w.buffer, new(Part), len(w.parts)+1
	if number > maxParts {
		return failed(fault.IO, "it is longer than %d parts, the most that S3 takes", maxParts).WithHint("divide the rows over several outputs: --rows")
	}
	w.buffer, w.parts = nil, append(w.parts, part)
	w.group.Go(func() (err error) {
		*part, err = retried(w.ctx, b.Options, func() (Part, error) { return b.client.send(w.ctx, key, w.id, number, data) })
		if err != nil {
			w.cancel(err) // of the other parts, whose error it is too
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

// Count returns how many bytes were written.
func (w *Writer) Count() int64 { return w.count }

// Complete waits until the storage has everything that can be there before Commit: all that is left
// then is to make it visible. It may be called more than once; nothing may be written after it.
func (w *Writer) Complete() error {
	if w.err != nil || w.ended {
		return w.err
	}
	return w.fail(w.complete())
}

// complete sends the last part and waits for all. What is less than one part is kept: Commit sends it.
func (w *Writer) complete() error {
	if w.id != "" && len(w.buffer) > 0 {
		if err := w.send(); err != nil {
			return err
		}
	}
	if err := w.group.Wait(); err != nil {
		return err
	}
	if w.ctx.Err() != nil {
		return ended(w.ctx)
	}
	return nil
}

// Commit makes the object visible under its key, whole, and replaces what is there only if that was
// allowed; else it is fault.Exists. It goes on when the context of the run has ended, so that its
// outcome is known.
func (w *Writer) Commit() error {
	if w.ended {
		return errors.Join(w.err, fs.ErrClosed)
	}
	if err := w.Complete(); err != nil {
		return err
	}
	all := &whole{bucket: w.bucket, key: w.address.key, replace: w.replace, data: w.buffer, PendingUpload: w.pending()}
	if err := w.fail(all.appear(context.WithoutCancel(w.parent), false)); err != nil {
		return err
	}
	w.ended = true
	return nil
}

// pending is the upload as it is.
func (w *Writer) pending() PendingUpload {
	u := PendingUpload{Upload: w.id, Bytes: w.count, CRC32: checksum(w.sum.Sum32())}
	for _, p := range w.parts {
		u.Parts = append(u.Parts, *p)
	}
	return u
}

// Stage is Complete, and leaves the upload as it is for whoever has the result: nothing is visible
// until Store.Publish, in this process or in another. After it, nothing may be written, and Discard
// has no effect. It does not matter whether the object may be replaced: Publish never does.
func (w *Writer) Stage() (PendingUpload, error) {
	if w.ended {
		return PendingUpload{}, errors.Join(w.err, fs.ErrClosed)
	}
	if w.err == nil && w.id == "" && w.count > 0 { // a part, however short it is
		_ = w.fail(w.send())
	}
	if err := w.Complete(); err != nil {
		return PendingUpload{}, err
	}
	w.ended = true
	return w.pending(), nil
}

// Discard ends the upload and removes what was sent, unless Commit has succeeded. It waits for the
// requests that are on their way. What it cannot remove, a lifecycle rule does.
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.parent), 2*w.bucket.Stall)
	defer cancel()
	_ = w.bucket.end(ctx, w.address.key, w.id)
}

func (w *Writer) fail(err error) error {
	if err != nil && w.err == nil {
		w.err = errorAt(w.address, toWrite(err))
	}
	return w.err
}
