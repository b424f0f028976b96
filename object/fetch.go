package object

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/idxport/idxport/fault"
)

// fetch fills p with the object's bytes from offset on. What one request has brought is kept by the next, and the count of attempts begins anew
// whenever some bytes came.
func (r *Reader) fetch(ctx context.Context, p []byte, offset int64) error {
	got := 0
	for n := 1; got < len(p); n++ {
		more, err := r.attempt(ctx, p[got:], offset+int64(got))
		got += more
		if got == len(p) {
			return nil
		}
		if more > 0 {
			n = 1
		}
		if err == nil {
			err = &failure{kind: ErrTransfer, text: fmt.Sprintf("found %d bytes at offset %d, expected %d", more, offset+int64(got-more), len(p)-got+more), again: true}
		}
		if !passing(err) || n >= r.options.Attempts {
			return given(err, n)
		}
		if err := r.options.pause(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// attempt is one request for p; it tells how many bytes came, also with an error.
func (r *Reader) attempt(parent context.Context, p []byte, offset int64) (int, error) {
	ctx, watch := watched(parent, r.options.Stall)
	defer watch.stop()
	body, err := r.bucket.read(ctx, r.address.key, r.version, offset, int64(len(p)))
	if err != nil {
		if isNotFound(err) { // it was there
			err = &failure{kind: fault.Changed, text: "it is gone"}
		}
		return 0, cut(parent, ctx, r.options.Stall, err)
	}
	defer body.Close() // only read from
	got := 0
	for got < len(p) {
		n, err := body.Read(p[got:])
		got += n
		if n > 0 {
			watch.alive()
		}
		if err == io.EOF {
			return got, nil
		}
		if err != nil {
			return got, cut(parent, ctx, r.options.Stall, broken(err))
		}
	}
	return got, nil
}

// broken is the failure of a body that ended with err: whatever it was, the rest can be asked for again.
func broken(err error) error {
	var f *failure
	if errors.As(err, &f) {
		return err
	}
	return &failure{kind: ErrTransfer, text: "the connection broke: " + reason(err), again: true}
}
