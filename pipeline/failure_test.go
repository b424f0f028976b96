package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/pipeline"
)

// A spot is where one thing can go wrong.
type spot struct {
	at    stage
	batch int
}

// spots are every stage, in the first of 100 batches, in one when all slots have been used, and in the last.
func spots() []spot {
	all := []spot{{atClose, 0}}
	for _, at := range []stage{atRead, atDecode, atEncode, atStep} {
		all = append(all, spot{at, 0}, spot{at, 30}, spot{at, 99})
	}
	return all
}

func (s spot) String() string { return fmt.Sprintf("%s, batch %d", s.at, s.batch) }

// hook does something at the spot alone.
func (s spot) hook(do func(context.Context) error) hook {
	return func(ctx context.Context, at stage, batch int) error {
		if at == s.at && batch == s.batch {
			return do(ctx)
		}
		return nil
	}
}

// disturbed runs 100 batches through three sinks; do happens at the spot, be it the table's or the second sink's. It demands that the sinks have rows in
// order, and that the second one was not closed and has the rows before the spot at most.
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
		t.Errorf("found %d rows written, expected at most the %d before", got, s.batch*batchRows)
	}
	if outputs[1].closed {
		t.Error("the sink was closed, expected it to be dropped")
	}
	return err
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for _, s := range spots() {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			for _, workers := range []int{1, 3} {
				err := disturbed(t, s, func(context.Context) error { return errBroken }, pipeline.Options{Workers: workers})
				if err != errBroken {
					t.Errorf("%d workers: found the error %v, expected %v itself", workers, err, errBroken)
				}
			}
		})
	}
}

func TestPanics(t *testing.T) {
	t.Parallel()
	for _, s := range spots() {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			checkPanic(t, disturbed(t, s, func(context.Context) error { panic(errBroken) }, pipeline.Options{Workers: 2}))
		})
	}
	t.Run("Progress", func(t *testing.T) {
		t.Parallel()
		_, err := run(context.Background(), newTable(40, nothing), newOutputs(t, 2, nothing),
			pipeline.Options{Progress: func(int64) { panic(errBroken) }})
		checkPanic(t, err)
	})
}

// checkPanic demands the error for a panic with errBroken, with a stack that leads here and a hint.
func checkPanic(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, fault.Internal) || !strings.Contains(err.Error(), errBroken.Error()) {
		t.Fatalf("found the error %v, expected the panic %v", err, errBroken)
	}
	if stack := errors.Unwrap(err).Error(); !strings.Contains(stack, "pipeline_test") || fault.HintOf(err) == "" {
		t.Errorf("found the stack %q and the hint %q, expected where it happened and whom to tell", stack, fault.HintOf(err))
	}
}

// TestFirstErrorWins has another call fail because of the first failure: it sees the context done and says something else.
func TestFirstErrorWins(t *testing.T) {
	t.Parallel()
	for _, at := range []stage{atRead, atEncode} {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			waiting := make(chan struct{})
			h := func(ctx context.Context, now stage, batch int) error {
				switch {
				case now == at && batch == 1:
					close(waiting)
					<-ctx.Done()
					return errLater
				case now == atStep && batch == 0:
					<-waiting
					return errBroken
				}
				return nil
			}
			_, err := run(context.Background(), newTable(40, h), newOutputs(t, 1, h), pipeline.Options{Workers: 2})
			if err != errBroken {
				t.Errorf("found the error %v, expected the first, %v", err, errBroken)
			}
		})
	}
}
