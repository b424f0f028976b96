package sinktest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/pipeline"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
)

// A check is one way to use a sink. run uses t only to open sinks; its caller reports the error.
type check struct {
	name string
	run  func(c *contract, t *testing.T) error
}

func checks() []check {
	return []check{
		{"batches backwards", (*contract).backwards},
		{"batches at once", (*contract).atOnce},
		{"steps that never run", (*contract).abandoned},
		{"cancelled", (*contract).cancelled},
		{"a label without a name", (*contract).unnamed},
		{"no rows", (*contract).noRows},
		{"workers", (*contract).workers},
		{"range", (*contract).ranges},
		{"rows unknown", (*contract).unknown},
		{"batch size", (*contract).size},
		{"next", (*contract).next},
		{"next at once", (*contract).nextAtOnce},
	}
}

// backwards encodes the last batch first, which reveals state that Encode keeps between batches.
func (c *contract) backwards(t *testing.T) error {
	k, finish, err := c.open(t, c.table.schema())
	if err != nil {
		return err
	}
	batches := c.table.batches()
	steps := make([]func() error, len(batches))
	for i := len(batches) - 1; i >= 0; i-- {
		if steps[i], err = encode(k, batches[i]); err != nil {
			return err
		}
	}
	for i, step := range steps {
		if err := c.finishBatch(step, batches[i]); err != nil {
			return err
		}
	}
	return c.compareClosed(k, finish)
}

// atOnce encodes each batch on its own goroutine. A step runs as soon as all rows before it are
// written, while later batches are still being encoded.
func (c *contract) atOnce(t *testing.T) error {
	k, finish, err := c.open(t, c.table.schema())
	if err != nil {
		return err
	}
	batches := c.table.batches()
	var errs []error
	for i, result := range encodeAll(k, batches) {
		r, b := <-result, batches[i]
		if r.err == nil && errs == nil {
			r.err = c.finishBatch(r.step, b)
		}
		if r.err != nil {
			errs = append(errs, r.err)
		}
	}
	if errs != nil {
		return errors.Join(errs...)
	}
	return c.compareClosed(k, finish)
}

// An encoded batch is what Encode returned.
type encoded struct {
	step func() error
	err  error
}

// encodeAll encodes all batches at once, each on its own goroutine.
func encodeAll(k sink.Sink, batches []schema.Batch) []chan encoded {
	results := make([]chan encoded, len(batches))
	begin := make(chan struct{})
	defer close(begin)
	for i, b := range batches {
		results[i] = make(chan encoded, 1)
		go func() {
			<-begin
			step, err := encode(k, b)
			results[i] <- encoded{step, err}
		}()
	}
	return results
}

func (c *contract) compareClosed(k sink.Sink, finish func() map[string][]byte) error {
	found, err := closed(k, finish)
	if err != nil {
		return err
	}
	return compare(found, c.want)
}

// abandoned leaves sinks as they are left after an error elsewhere: at most the first step runs,
// and Close is not called. Nothing may panic, and the sink must not write to the batches.
func (c *contract) abandoned(t *testing.T) error {
	for stepsRun := range 2 {
		k, _, err := c.open(t, c.table.schema())
		if err != nil {
			return err
		}
		for i, b := range c.table.batches() {
			step, err := encode(k, b)
			if err != nil {
				return err
			}
			if i >= stepsRun {
				step = func() error { return nil }
			}
			if err := c.finishBatch(step, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// cancelled encodes after the run was canceled: Encode must return, with the context's error or
// without one.
func (c *contract) cancelled(t *testing.T) error {
	k, _, err := c.open(t, c.table.schema())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, b := range c.table.batches() {
		step, err := k.Encode(ctx, b)
		if err != nil && !errors.Is(err, context.Canceled) {
			return fmt.Errorf("batch at row %d: found the error %w, expected none or %w", b.First, err, ctx.Err())
		}
		if err == nil && step == nil {
			return fmt.Errorf("batch at row %d: found neither a step nor an error", b.First)
		}
	}
	return nil
}

// unnamed encodes a label beyond the class names, if the table has a column of them.
func (c *contract) unnamed(t *testing.T) error {
	s, b := c.table.schema(), c.table.batch(0, 1)
	k, _, err := c.open(t, s)
	if err != nil || s.Classes == nil {
		return err
	}
	b.Columns[s.Classes.Label][0] = byte(len(s.Columns[s.Classes.Label].Classes))
	if _, err := k.Encode(context.Background(), b); !errors.Is(err, fault.Malformed) {
		return fmt.Errorf("found the error %v, expected %w", err, fault.Malformed)
	}
	return nil
}

// noRows closes sinks that received no batch.
func (c *contract) noRows(t *testing.T) error {
	empty := &contract{table: c.table, open: c.open}
	empty.table.Rows = 0
	var err error
	if empty.want, err = empty.serial(t, nil); err != nil {
		return err
	}
	return empty.workers(t)
}

// workers runs the pipeline.
func (c *contract) workers(t *testing.T) error {
	return c.compareRuns(t, func() (source.Table, error) { return c.table.open(false), nil }, c.want)
}

// ranges runs the pipeline over a range of rows that does not begin with the first.
func (c *contract) ranges(t *testing.T) error {
	return c.compareRuns(t, func() (source.Table, error) {
		return source.Slice(c.table.open(false), 3, int64(c.table.Rows)-1)
	}, nil)
}

// unknown writes a table whose number of rows is known only at its end. The sink's New may also
// return an error for it.
func (c *contract) unknown(t *testing.T) error {
	if _, _, err := c.open(t, schema.Of(c.table.open(true))); errors.Is(err, fault.Usage) {
		return nil
	}
	return c.compareRuns(t, func() (source.Table, error) { return c.table.open(true), nil }, nil)
}

// compareRuns checks that runs with one and with four workers give the same output, which must
// equal want unless that is nil.
func (c *contract) compareRuns(t *testing.T, open func() (source.Table, error), want output) error {
	for _, workers := range []int{1, 4} {
		in, err := open()
		if err != nil {
			return err
		}
		found, err := c.pipeline(t, in, workers)
		if err != nil {
			return fmt.Errorf("%d workers: %w", workers, err)
		}
		if want == nil {
			want = found
		}
		if err := compare(found, want); err != nil {
			return fmt.Errorf("%d workers: %w", workers, err)
		}
	}
	return nil
}

// pipeline writes in through pipeline.Run.
func (c *contract) pipeline(t *testing.T, in source.Table, workers int) (output, error) {
	s := schema.Of(in, c.table.schema().Meta...)
	s.Classes = c.table.schema().Classes
	k, finish, err := c.open(t, s)
	if err != nil {
		return nil, err
	}
	o := pipeline.Options{Workers: workers}
	if _, err := pipeline.Run(context.Background(), in, s, []sink.Sink{k}, o); err != nil {
		return nil, err
	}
	return finish(), nil
}

// size checks BatchSize, if the sink has it: it must not be negative, and more rows must not take
// less memory.
func (c *contract) size(t *testing.T) error {
	s := c.table.schema()
	k, _, err := c.open(t, s)
	if err != nil {
		return err
	}
	z, ok := k.(sink.Sizer)
	if !ok {
		return nil
	}
	least := int64(0)
	for rows := 1; rows <= s.BatchRows(); rows *= 2 {
		size := z.BatchSize(rows)
		if size < least {
			return fmt.Errorf("BatchSize(%d): found %d, expected at least the %d of fewer rows", rows, size, least)
		}
		least = size
	}
	return nil
}

// next writes the batches that a sink.Splitter has encoded to two outputs. Each must equal the
// output of a sink that gets only its rows.
func (c *contract) next(t *testing.T) error {
	batches := c.table.batches()
	for cut := range len(batches) + 1 {
		k, finish, err := c.open(t, c.table.schema())
		if err != nil {
			return err
		}
		s, ok := k.(sink.Splitter)
		if !ok {
			return nil
		}
		var steps []func() error
		for _, b := range batches { // all before the first step
			step, err := encode(k, b)
			if err != nil {
				return err
			}
			steps = append(steps, step)
		}
		var second bytes.Buffer
		next := func() error { return s.Next(&second) }
		for i, step := range slices.Insert(steps, cut, s.Close, next) {
			if err := step(); err != nil {
				return fmt.Errorf("step %d, next before batch %d: %w", i, cut, err)
			}
		}
		first, err := closed(k, finish)
		if err != nil {
			return err
		}
		if err := c.checkAlone(t, batches[:cut], first["out"]); err != nil {
			return fmt.Errorf("before batch %d: %w", cut, err)
		}
		if err := c.checkAlone(t, batches[cut:], second.Bytes()); err != nil {
			return fmt.Errorf("from batch %d on: %w", cut, err)
		}
	}
	return nil
}

// nextAtOnce calls Close and Next before every step while later batches are being encoded; -race
// finds what they share. Each output must equal that of a sink that gets only its batch.
func (c *contract) nextAtOnce(t *testing.T) error {
	k, _, err := c.open(t, c.table.schema())
	if err != nil {
		return err
	}
	s, ok := k.(sink.Splitter)
	if !ok {
		return nil
	}
	batches := c.table.batches()
	outputs := make([]bytes.Buffer, len(batches))
	for i, result := range encodeAll(k, batches) {
		if err := errors.Join(s.Close(), s.Next(&outputs[i])); err != nil {
			return fmt.Errorf("next: %w", err)
		}
		made := <-result
		if made.err == nil {
			made.err = made.step()
		}
		if made.err != nil {
			return made.err
		}
	}
	if err := s.Close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	for i := range batches {
		if err := c.checkAlone(t, batches[i:i+1], outputs[i].Bytes()); err != nil {
			return fmt.Errorf("batch %d: %w", i, err)
		}
	}
	return nil
}

// checkAlone checks that found is the output of a sink that gets only batches.
func (c *contract) checkAlone(t *testing.T, batches []schema.Batch, found []byte) error {
	expected, err := c.serial(t, batches)
	if err != nil {
		return err
	}
	return compare(output{"out": found}, expected)
}
