package pipeline

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
)

// Options of a run. The zero value uses every processor that Go may use.
type Options struct {
	// Workers is the number of goroutines that decode and encode; 0 means GOMAXPROCS.
	Workers int
	// Progress is called once a batch with the number of rows that all sinks have written so far: in increasing order, never from two
	// goroutines at once. It must not block.
	Progress func(rows int64)
}

// Stats says what a run did.
type Stats struct {
	Rows    int64 // rows that were read
	Batches int64
}

// grace is how long Run waits, once it was cancelled or has failed, for its goroutines to notice. One that is still stuck in a read or a
// write after that is left behind: nobody wants its result.
const grace = 500 * time.Millisecond

// Run reads t to its end through the sinks, of which there is at least one, and closes each after its last step. s must describe t. Run
// returns the first error; after one, the outputs are worthless. When ctx is done it returns the cause soon, even if a read or a write
// blocks for ever.
func Run(ctx context.Context, t source.Table, s *schema.Schema, sinks []sink.Sink, o Options) (Stats, error) {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	r := newRun(t, s, sinks, o)
	ctx, fail := context.WithCancelCause(ctx) // not the group's own, which is done on success too
	defer fail(nil)
	var g errgroup.Group
	g.Go(guard(fail, func() error { return r.read(ctx) }))
	for range min(o.Workers, r.slots) { // more would never all have a batch
		g.Go(guard(fail, func() error { return r.work(ctx) }))
	}
	for k := range sinks {
		g.Go(guard(fail, func() error { return r.write(ctx, k) }))
	}
	err := wait(ctx, &g)
	return Stats{Rows: r.rows.Load(), Batches: r.batches.Load()}, err
}

// wait waits for the group, but not longer than grace once ctx is done. Its error is what ended ctx first: a failure, or what cancelled the run, such
// as a signal.
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

// Recovering is f with a panic turned into an error: a defect of the program, not of its input. The
// text of the error's cause is the stack.
func Recovering(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fault.New(fault.Internal, "internal error: %v", v).Because(errors.New(string(debug.Stack()))).
				WithHint("this is a defect of idxport: please report it with the command and, if you can, the file")
		}
	}()
	return f()
}

// guard is f with a panic turned into an error, as the caller of Run cannot recover in f's goroutine. An error ends the run through fail.
func guard(fail context.CancelCauseFunc, f func() error) func() error {
	return func() (err error) {
		if err = Recovering(f); err != nil {
			fail(err)
		}
		return err
	}
}
