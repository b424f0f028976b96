package pipeline

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
)

// Options configures a run. The zero value uses every processor that Go may use.
type Options struct {
	// Workers is the number of goroutines that decode and encode; 0 means GOMAXPROCS.
	Workers int
	// Progress is called once per batch with the number of rows that all sinks have written so far.
	// The numbers increase, and calls do not overlap. It must not block.
	Progress func(rows int64)
}

// grace is how long Run waits for its goroutines after it was canceled or has failed. If one is
// still blocked in a read or a write after that, Run leaves it behind: nobody needs its result.
const grace = 500 * time.Millisecond

// Run reads t to its end, writes it to all sinks, of which there must be at least one, and closes
// each sink after its last step. s must describe t. Run returns the number of rows read, and the
// first error; after an error the outputs are useless. When ctx is done, Run returns its cause
// soon, even if a read or a write blocks for ever.
func Run(ctx context.Context, t source.Table, s *schema.Schema, sinks []sink.Sink, o Options) (int64, error) {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	r := newRun(t, s, sinks, o)
	ctx, fail := context.WithCancelCause(ctx) // not the group's own, which is done on success too
	defer fail(nil)
	var g errgroup.Group
	g.Go(guard(fail, func() error { return r.read(ctx) }))
	for range min(o.Workers, r.slots) { // more workers could not all have a batch
		g.Go(guard(fail, func() error { return r.work(ctx) }))
	}
	for k := range sinks {
		g.Go(guard(fail, func() error { return r.write(ctx, k) }))
	}
	err := wait(ctx, &g)
	return r.rows.Load(), err
}

// wait waits for the group, but not longer than grace once ctx is done. The error is the first one
// that ended ctx: a failure of the run, or what canceled it, such as a signal.
func wait(ctx context.Context, g *errgroup.Group) error {
	done := make(chan error, 1)
	go func() { done <- g.Wait() }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		select {
		case err = <-done:
		case <-time.After(grace):
			err = ctx.Err()
		}
	}
	if err == nil {
		return nil
	}
	return context.Cause(ctx)
}

// Recover calls f and turns a panic into an error of the kind [fault.Internal], which is a
// defect of the program, not of its input. The cause of the error is the stack trace.
func Recover(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fault.New(fault.Internal, "internal error: %v", v).Because(errors.New(string(debug.Stack()))).
				WithHint("this is a defect of idxport: please report it with the command and, if you can, the file")
		}
	}()
	return f()
}

// guard returns f with panics turned into errors, as the caller of Run cannot recover in f's
// goroutine. An error ends the run through fail.
func guard(fail context.CancelCauseFunc, f func() error) func() error {
	return func() (err error) {
		if err = Recover(f); err != nil {
			fail(err)
		}
		return err
	}
}
