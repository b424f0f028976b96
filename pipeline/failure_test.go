package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/pipeline"
	"github.com/idxport/idxport/test/must"
)

// A spot is a point of a run at which a test can make something fail.
type spot struct {
	at    stage
	batch int
}

// spots returns every stage in the first of 100 batches, in one after all slots have been used, and
// in the last.
func spots() []spot {
	all := []spot{{atClose, 0}}
	for _, at := range []stage{atRead, atDecode, atEncode, atStep} {
		all = append(all, spot{at, 0}, spot{at, 30}, spot{at, 99})
	}
	return all
}

func (s spot) String() string { return fmt.Sprintf("%s, batch %d", s.at, s.batch) }

// hook returns a hook that calls do at the spot and does nothing elsewhere.
func (s spot) hook(do func(context.Context) error) hook {
	return func(ctx context.Context, at stage, batch int) error {
		if at == s.at && batch == s.batch {
			return do(ctx)
		}
		return nil
	}
}

// disturbed runs 100 batches through three sinks and calls do at the spot, in the table or in the
// second sink. It fails the test unless all sinks have rows in order, and the second sink was not
// closed and has no rows from the spot on.
func disturbed(t *testing.T, s spot, do func(context.Context) error, o pipeline.Options) error {
	t.Helper()
	h := s.hook(do)
	outputs := newOutputs(t, 3, nothing)
	outputs[1].hook = h
	_, err := run(context.Background(), newTable(100*batchRows, h), outputs, o)
	for _, out := range outputs {
		out.rows(t, 0)
	}
	if got := outputs[1].rows(t, 0); s.at != atClose && got > int64(s.batch*batchRows) {
		t.Errorf("found %d rows written, expected at most the %d before the failure", got, s.batch*batchRows)
	}
	if outputs[1].closed.Load() {
		t.Error("the sink was closed, expected it not to be")
	}
	return err
}

func TestPanics(t *testing.T) {
	t.Parallel()
	for _, s := range spots() {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			checkPanic(t, disturbed(t, s, func(context.Context) error { panic(errBroken) },
				pipeline.Options{Workers: 2}))
		})
	}
	t.Run("Progress", func(t *testing.T) {
		t.Parallel()
		_, err := run(context.Background(), newTable(40, nothing), newOutputs(t, 2, nothing),
			pipeline.Options{Progress: func(int64) { panic(errBroken) }})
		checkPanic(t, err)
	})
}

// checkPanic checks that err reports a panic with errBroken, with a stack trace that leads to this
// package and a hint.
func checkPanic(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, fault.Internal) || !strings.Contains(err.Error(), errBroken.Error()) {
		t.Fatalf("found the error %v, expected the panic %v", err, errBroken)
	}
	if stack := errors.Unwrap(err).Error(); !strings.Contains(stack, "pipeline_test") || fault.HintOf(err) == "" {
		t.Errorf("found the stack %q and the hint %q, expected the place of the panic and where to report it",
			stack, fault.HintOf(err))
	}
}

// TestFirstErrorWins makes a second call fail as a consequence of the first failure: it sees that
// the context is done and returns another error. The third time it fails before, in a later batch.
func TestFirstErrorWins(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ at, first stage }{{atRead, atStep}, {atEncode, atStep}, {atRead, atDecode}} {
		waiting := make(chan struct{})
		h := func(ctx context.Context, now stage, batch int) error {
			switch {
			case now == c.at && batch == 1:
				close(waiting)
				if c.first == atStep {
					<-ctx.Done()
				}
				return errLater
			case now == c.first && batch == 0:
				<-waiting
				time.Sleep(10 * time.Millisecond)
				return errBroken
			}
			return nil
		}
		_, err := run(context.Background(), newTable(40, h), newOutputs(t, 1, h), pipeline.Options{Workers: 2})
		if err != errBroken {
			t.Errorf("%v: found the error %v, expected the first, %v", c, err, errBroken)
		}
	}
}

// A stuck stage reports that it was reached and returns only when it is released, whatever happens
// to the context.
type stuck struct {
	reached, released chan struct{}
	once              sync.Once
}

func newStuck() *stuck { return &stuck{reached: make(chan struct{}), released: make(chan struct{})} }

func (s *stuck) wait(context.Context) error {
	s.once.Do(func() { close(s.reached) })
	<-s.released
	return nil
}

// cancelStuck cancels a run while a stage is stuck and returns the error of the run. The stage is
// released only after that.
func cancelStuck(t *testing.T, at spot) error {
	s := newStuck()
	defer close(s.released)
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	go func() {
		<-s.reached
		cancel(errSignal)
	}()
	h := at.hook(s.wait)
	_, err := run(ctx, newTable(100*batchRows, h), newOutputs(t, 2, h), pipeline.Options{Workers: 2})
	return err
}

// TestCanceledWhileStuck would not end if Run waited for the stuck stage. All spots run at the
// same time, as each takes the grace period.
func TestCanceledWhileStuck(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	for _, s := range spots() {
		all.Go(func() {
			if err := cancelStuck(t, s); !errors.Is(err, errSignal) {
				t.Errorf("%v: found the error %v, expected the cause %v", s, err, errSignal)
			}
		})
	}
	all.Wait()
}

// TestFailedWhileStuck checks that an error ends the run although a read blocks for ever.
func TestFailedWhileStuck(t *testing.T) {
	t.Parallel()
	s := newStuck()
	defer close(s.released)
	outputs := newOutputs(t, 2, spot{atStep, 0}.hook(func(context.Context) error {
		<-s.reached
		return errBroken
	}))
	_, err := run(context.Background(), newTable(100*batchRows, spot{atRead, 1}.hook(s.wait)), outputs,
		pipeline.Options{})
	if err != errBroken {
		t.Errorf("found the error %v, expected %v itself", err, errBroken)
	}
}

// TestCanceledWhileWaiting checks that Run returns the cause when a stage that waits for the
// context returns the context's error.
func TestCanceledWhileWaiting(t *testing.T) {
	t.Parallel()
	for _, at := range []stage{atRead, atEncode} {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(context.Background())
			h := spot{at, 5}.hook(func(ctx context.Context) error {
				cancel(errSignal)
				<-ctx.Done()
				return ctx.Err()
			})
			_, err := run(ctx, newTable(100*batchRows, h), newOutputs(t, 2, h), pipeline.Options{Workers: 2})
			if !errors.Is(err, errSignal) {
				t.Errorf("found the error %v, expected the cause %v", err, errSignal)
			}
		})
	}
}

// TestCanceledAtTheEnd cancels a run when all rows are read. The run either fails with the cause
// or has written and closed everything; which of the two happens differs from run to run.
func TestCanceledAtTheEnd(t *testing.T) {
	t.Parallel()
	for _, at := range []stage{atEncode, atStep} {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			for range 100 {
				cancelAtTheEnd(t, at)
			}
		})
	}
}

func cancelAtTheEnd(t *testing.T, at stage) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	ended := make(chan struct{})
	h := func(_ context.Context, now stage, batch int) error {
		switch {
		case now == atRead && batch == 2:
			close(ended)
		case now == at && batch == 1:
			<-ended
			time.Sleep(100 * time.Microsecond) // the reader closes the queues, and the other goroutines wait
			cancel(errSignal)
		}
		return nil
	}
	out := newOutputs(t, 1, h)[0]
	_, err := run(ctx, newTable(2*batchRows, h), []*output{out}, pipeline.Options{Workers: 2})
	if err != nil && !errors.Is(err, errSignal) {
		t.Errorf("found the error %v, expected none or the cause %v", err, errSignal)
	}
	if rows := out.rows(t, 0); err == nil && (rows != 2*batchRows || !out.closed.Load()) {
		t.Errorf("found no error, %d rows, closed %v; expected %d rows, closed true",
			rows, out.closed.Load(), 2*batchRows)
	}
}

func TestCanceledBefore(t *testing.T) {
	t.Parallel()
	cancelled, cancel := context.WithCancelCause(context.Background())
	cancel(errSignal)
	late, end := context.WithDeadlineCause(context.Background(), time.Unix(0, 0), errSignal)
	defer end()
	for name, ctx := range map[string]context.Context{"cancelled": cancelled, "deadline": late} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			never := func(_ context.Context, at stage, _ int) error {
				t.Errorf("%s was called", at)
				return nil
			}
			rows, err := run(ctx, newTable(40, never), newOutputs(t, 2, never), pipeline.Options{})
			if !errors.Is(err, errSignal) || rows != 0 {
				t.Errorf("found %d rows and the error %v, expected none and the cause %v", rows, err, errSignal)
			}
		})
	}
}

// TestErrors checks that Run returns the error itself, and that no goroutine stays. It is not
// parallel, so that goroutines of other tests do not disturb the count.
func TestErrors(t *testing.T) {
	before := runtime.NumGoroutine()
	settle := func() {
		for runtime.NumGoroutine() > before { // if one stays, the test times out and prints all stacks
			time.Sleep(time.Millisecond)
		}
	}
	all := newOutputs(t, 3, nothing)
	must.Get(run(context.Background(), newTable(400, nothing), all, pipeline.Options{Workers: 3}))(t)
	settle()
	for _, s := range spots() {
		for _, workers := range []int{1, 3} {
			err := disturbed(t, s, func(context.Context) error { return errBroken }, pipeline.Options{Workers: workers})
			if err != errBroken {
				t.Errorf("%v, %d workers: found the error %v, expected %v itself", s, workers, err, errBroken)
			}
			settle()
		}
	}
	if err := cancelStuck(t, spot{atStep, 7}); !errors.Is(err, errSignal) { // released when cancelStuck returns
		t.Errorf("found the error %v, expected %v", err, errSignal)
	}
	settle()
}
