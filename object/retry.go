package object

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/idxport/idxport/fault"
)

// Options say how patient a store is. The zero value is right for the networks of clouds.
type Options struct {
	Attempts int           // at one request; 0: 8
	Pause    time.Duration // before the second attempt; it doubles up to 10 s, and a random part of it is left out; 0: 100 ms
	Stall    time.Duration // without a byte, after which a request is given up; 0: 30 s

	part int // bytes of the first parts; 0: partSize
}

// maxPause bounds the pauses between attempts.
const maxPause = 10 * time.Second

// withDefaults fills in what is zero.
func (o Options) withDefaults() Options {
	return Options{cmp.Or(o.Attempts, 8), cmp.Or(o.Pause, 100*time.Millisecond), cmp.Or(o.Stall, 30*time.Second), cmp.Or(o.part, partSize)}
}

// retry runs f until it succeeds, fails for good, or has failed as often as it may.
func (o Options) retry(ctx context.Context, f func() error) error {
	return o.settle(ctx, f, func(error) (bool, error) { return false, nil })
}

// retried is retry for a request that finds something.
func retried[T any](ctx context.Context, o Options, f func() (T, error)) (found T, err error) {
	err = o.retry(ctx, func() (err error) {
		found, err = f()
		return err
	})
	return found, err
}

// settle is retry for a request that makes an object visible. An attempt may have succeeded although
// it seemed to fail: done looks for that after each failure.
func (o Options) settle(ctx context.Context, f func() error, done func(error) (bool, error)) error {
	for n := 1; ; n++ {
		err := f()
		if err == nil {
			return nil
		}
		if is, lookErr := done(err); is || lookErr != nil {
			return lookErr
		}
		if !passing(err) || n >= o.Attempts {
			return given(err, n)
		}
		if err := o.pause(ctx, n); err != nil {
			return err
		}
	}
}

// passing reports whether an error may be gone at the next attempt.
func passing(err error) bool { return errors.Is(err, errAgain) }

// given is err after n attempts in vain.
func given(err error, n int) error {
	var e *fault.Error
	if n > 1 && passing(err) && errors.As(err, &e) {
		tired := *e
		tired.Msg = fmt.Sprintf("%s, after %d attempts", e.Msg, n)
		return &tired
	}
	return err
}

// pause waits before attempt n+1: between a half and the whole of a time that doubles, so that many
// processes do not come back at once.
func (o Options) pause(ctx context.Context, n int) error {
	d := min(o.Pause<<min(n-1, 20), maxPause)
	timer := time.NewTimer(d/2 + rand.N(d/2+1))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ended(ctx)
	}
}

// An abandoned error is the cause for which the caller's context has ended, which is returned as it is.
type abandoned struct{ cause error }

func (e *abandoned) Error() string { return e.cause.Error() }

func (e *abandoned) Unwrap() error { return e.cause }

func ended(ctx context.Context) error { return &abandoned{context.Cause(ctx)} }

// errStalled is the cause of a request's context that went without a byte for too long.
var errStalled = errors.New("no bytes came")

// A watch ends a request that stands still.
type watch struct {
	stall  time.Duration
	timer  *time.Timer
	cancel context.CancelCauseFunc
}

// watched is a context that ends when nothing was reported to the watch for stall, or by stop.
func watched(parent context.Context, stall time.Duration) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(parent)
	return ctx, &watch{stall, time.AfterFunc(stall, func() { cancel(errStalled) }), cancel}
}

// alive tells that something moved. A watch that has ended stays so.
func (w *watch) alive() { w.timer.Reset(w.stall) }

func (w *watch) stop() {
	w.timer.Stop()
	w.cancel(nil)
}

// cut is err, or the error of a request that the watch ended or the caller gave up.
func (w *watch) cut(parent, ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case parent.Err() != nil:
		return ended(parent)
	case errors.Is(context.Cause(ctx), errStalled):
		return again("no bytes for %v", w.stall)
	}
	return err
}

// Limits of uploads in parts, in bytes and numbers; S3 takes 10,000 of 5 MiB to 5 GiB, so objects end
// at 285 GB.
const (
	partSize  = 8 << 20  // of the first parts; less than a part is sent at the end
	laterSize = 32 << 20 // of those after the first manySmall
	manySmall = 2000
	maxParts  = 10000
	atOnce    = 2 // requests; one more part is being filled, and no more are in memory
)
