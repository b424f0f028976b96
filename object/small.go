package object

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/idxport/idxport/fault"
)

// A putter is a bucket that sends an object in one request; those that are none send it as an upload. It has patience, unlike the methods of a bucket.
type putter interface {
	put(ctx context.Context, key string, data []byte, overwrite bool, o Options) error
}

// Put makes a small object of data, in one request where the storage can. An object that is there is ErrExists unless overwrite is set, which is demanded of
// the storage rather than looked up before. If an answer was lost and the object there has the same bytes, all is well: so bytes that shall tell which of two
// processes was first must differ between them. (Files, file://, know no such demand: of two processes at once, both may succeed there.)
func (s *Store) Put(ctx context.Context, name string, data []byte, overwrite bool) error {
	b, a, o, err := s.reach(ctx, name)
	if err != nil {
		return err
	}
	if err := a.needsKey(); err != nil {
		return err
	}
	if p, ok := b.(putter); ok {
		return errorAt(a, toWrite(p.put(ctx, a.key, data, overwrite, o)))
	}
	err = o.settle(ctx, false, func() error { return putOnce(ctx, b, a.key, data, overwrite, o) }, func() (standing, error) {
		found, err := get(ctx, b, a, int64(len(data)), o)
		switch {
		case isNotFound(err):
			return absent, nil
		case errors.Is(err, ErrLong), err == nil && !bytes.Equal(found, data):
			return other, nil
		}
		return same, err
	})
	return errorAt(a, toWrite(err))
}

// putOnce sends data as an upload, once.
func putOnce(ctx context.Context, b bucket, key string, data []byte, overwrite bool, o Options) error {
	up, err := b.create(ctx, key, overwrite, o)
	if err != nil {
		return err
	}
	if _, err = up.Write(data); err == nil {
		err = up.complete()
	}
	if err == nil {
		err = up.commit()
	}
	if err != nil {
		up.discard()
	}
	return err
}

// Get is a small object, whole. One of more than most bytes is ErrLong, and is not fetched.
func (s *Store) Get(ctx context.Context, name string, most int64) ([]byte, error) {
	b, a, o, err := s.reach(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := a.needsKey(); err != nil {
		return nil, err
	}
	data, err := get(ctx, b, a, most, o)
	return data, errorAt(a, err)
}

// get looks the object up and reads it; one that is replaced in between is looked up again.
func get(ctx context.Context, b bucket, a address, most int64, o Options) ([]byte, error) {
	for n := 1; ; n++ {
		found, err := lookUp(ctx, b, a.key, o)
		if err != nil {
			return nil, err
		}
		if found.size > most {
			return nil, &failure{kind: ErrLong, text: fmt.Sprintf("found %d bytes, expected at most %d", found.size, most)}
		}
		r := newReader(ctx, b, a, found, o)
		data := make([]byte, found.size)
		_, err = io.ReadFull(r, data)
		if err = errors.Join(err, r.Close()); err == nil {
			return data, nil
		}
		if ctx.Err() != nil {
			return nil, ended(ctx)
		}
		if !errors.Is(err, fault.Changed) || n >= o.Attempts {
			return nil, err
		}
		if err := o.pause(ctx, n); err != nil {
			return nil, err
		}
	}
}

// Remove removes an object; none there is fine.
func (s *Store) Remove(ctx context.Context, name string) error {
	b, a, o, err := s.reach(ctx, name)
	if err != nil {
		return err
	}
	if err := a.needsKey(); err != nil {
		return err
	}
	err = o.retry(ctx, func() error {
		inner, w := watched(ctx, o.Stall)
		defer w.stop()
		return cut(ctx, inner, o.Stall, b.remove(inner, a.key))
	})
	if isNotFound(err) {
		return nil
	}
	return errorAt(a, err)
}

// OpenVersion is Open for the version that has this ETag, as Reader.ETag tells it; if there is another, it is fault.Changed.
func (s *Store) OpenVersion(ctx context.Context, name, etag string) (*Reader, error) {
	r, err := s.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	if found := r.ETag(); found != etag {
		err := errorAt(r.address, &failure{kind: fault.Changed, text: fmt.Sprintf("found the version %s, expected %s", scrub(found), scrub(etag))})
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}
