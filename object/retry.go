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

// Options control how requests are repeated. The zero value suits cloud networks.
type Options struct {
	Attempts int           // maximum for each request; 0 means 8
	Pause    time.Duration // before the second attempt, doubled for each later one up to 10 s; 0 means 100 ms
	Stall    time.Duration // a request fails after this time without a byte; 0 means 30 s

	partSize int // bytes of the first parts; 0 means the constant partSize
}

// maxPause bounds the pauses between attempts.
const maxPause = 10 * time.Second

// withDefaults replaces zeros by the defaults.
func (o Options) withDefaults() Options {
	return Options{cmp.Or(o.Attempts, 8), cmp.Or(o.Pause, 100*time.Millisecond), cmp.Or(o.Stall, 30*time.Second), cmp.Or(o.partSize, partSize)}
}

// retry calls f until it succeeds, its error is not temporary, or o.Attempts are used up.
func (o Options) retry(ctx context.Context, f func() error) error {
	return o.retryUntil(ctx, f, func(error) (bool, error) { return false, nil })
}

// retried is retry for a function with a result.
func retried[T any](ctx context.Context, o Options, f func() (T, error)) (found T, err error) {
	err = o.retry(ctx, func() (err error) {
		found, err = f()
		return err
	})
	return found, err
}

// retryUntil is retry for a request that may take effect although it fails: tookEffect, called with
// each error of f, reports whether it did. An error of tookEffect ends the attempts.
func (o Options) retryUntil(ctx context.Context, f func() error, tookEffect func(error) (bool, error)) error {
	for n := 1; ; n++ {
		err := f()
		if err == nil {
			return nil
		}
		if ok, checkErr := tookEffect(err); ok || checkErr != nil {
			return checkErr
		}
		if !isTemporary(err) || n >= o.Attempts {
			return afterAttempts(err, n)
		}
		if err := o.pause(ctx, n); err != nil {
			return err
		}
	}
}

// isTemporary reports whether the next attempt may succeed.
func isTemporary(err error) bool { return errors.Is(err, errTemporary) }

// afterAttempts adds the number of attempts to a temporary error.
func afterAttempts(err error, n int) error {
	var e *fault.Error
	if n > 1 && isTemporary(err) && errors.As(err, &e) {
		counted := *e
		counted.Msg = fmt.Sprintf("%s, after %d attempts", e.Msg, n)
		return &counted
	}
	return err
}

// pause waits before attempt n+1. The time doubles with n; it is shortened at random by up to half,
// so that many processes do not repeat their requests at the same moment.
func (o Options) pause(ctx context.Context, n int) error {
	d := min(o.Pause<<min(n-1, 20), maxPause)
	timer := time.NewTimer(d/2 + rand.N(d/2+1))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return canceled(ctx)
	}
}

// A canceledError is the error of a request whose caller's context has ended. errorAt returns the
// cause itself.
type canceledError struct{ cause error }

func (e *canceledError) Error() string { return e.cause.Error() }

func (e *canceledError) Unwrap() error { return e.cause }

// canceled returns the error for a context that has ended.
func canceled(ctx context.Context) error { return &canceledError{context.Cause(ctx)} }

// errStalled is the cause of the context of a stalled request.
var errStalled = errors.New("no bytes came")

// A watch cancels a request that stalls.
type watch struct {
	stall  time.Duration
	timer  *time.Timer
	cancel context.CancelCauseFunc
}

// watched returns a context and its watch. The context ends when the watch is stopped, or when
// progress was not called for the time stall.
func watched(parent context.Context, stall time.Duration) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(parent)
	return ctx, &watch{stall, time.AfterFunc(stall, func() { cancel(errStalled) }), cancel}
}

// progress reports that bytes were sent or received.
func (w *watch) progress() { w.timer.Reset(w.stall) }

func (w *watch) stop() {
	w.timer.Stop()
	w.cancel(nil)
}

// explain returns err or, if the caller or the watch canceled the request, an error that says so.
func (w *watch) explain(parent, ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case parent.Err() != nil:
		return canceled(parent)
	case errors.Is(context.Cause(ctx), errStalled):
		return temporary("no bytes were transferred for %v", w.stall)
	}
	return err
}

// Limits of uploads. S3 accepts 10,000 parts of 5 MiB to 5 GiB; with these sizes an object may have
// 285 GB.
const (
	partSize   = 8 << 20  // bytes of the first parts; only the last part may be smaller
	laterSize  = 32 << 20 // bytes of the parts after the first smallParts
	smallParts = 2000
	maxParts   = 10000
	maxSends   = 2 // concurrent requests; a third part is filled meanwhile
)
