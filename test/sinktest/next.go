package sinktest

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
)

// next writes the batches that a sink.Splitter has encoded into two outputs. Each must be what a sink of its own makes of its rows.
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
		for i, step := range steps {
			if i == cut {
				if err := s.Next(&second); err != nil {
					return fmt.Errorf("next: %w", err)
				}
			}
			if err := step(); err != nil {
				return err
			}
		}
		if cut == len(batches) {
			if err := s.Next(&second); err != nil {
				return fmt.Errorf("next: %w", err)
			}
		}
		first, err := closed(k, finish)
		if err != nil {
			return err
		}
		if err := c.alone(t, batches[:cut], first); err != nil {
			return fmt.Errorf("before batch %d: %w", cut, err)
		}
		for name := range first { // there is one
			if err := c.alone(t, batches[cut:], output{name: second.Bytes()}); err != nil {
				return fmt.Errorf("from batch %d on: %w", cut, err)
			}
		}
	}
	return nil
}

// nextAtOnce calls Next before every step while the later batches are encoded, which -race watches. Each output must be what a sink of its own
// makes of the batch.
func (c *contract) nextAtOnce(t *testing.T) error {
	k, _, err := c.open(t, c.table.schema())
	if err != nil {
		return err
	}
	s, ok := k.(sink.Splitter)
	if !ok {
		return nil
	}
	type result struct {
		step func() error
		err  error
	}
	batches := c.table.batches()
	results := make([]chan result, len(batches))
	for i, b := range batches {
		results[i] = make(chan result, 1)
		go func() {
			step, err := encode(k, b)
			results[i] <- result{step, err}
		}()
	}
	outputs := make([]bytes.Buffer, len(batches)+1) // the last ends the one before
	for i := range outputs {
		if err := s.Next(&outputs[i]); err != nil {
			return fmt.Errorf("next: %w", err)
		}
		if i == len(batches) {
			break
		}
		made := <-results[i]
		if made.err == nil {
			made.err = made.step()
		}
		if made.err != nil {
			return made.err
		}
	}
	return c.aloneEach(t, batches, outputs)
}

// aloneEach demands that each of outputs is what a sink makes of its batch.
func (c *contract) aloneEach(t *testing.T, batches []schema.Batch, outputs []bytes.Buffer) error {
	for i := range batches {
		k, finish, err := c.open(t, c.table.schema())
		if err != nil {
			return err
		}
		expected, err := closed(k, finish)
		if err != nil {
			return err
		}
		for name := range expected { // there is one
			if err := c.alone(t, batches[i:i+1], output{name: outputs[i].Bytes()}); err != nil {
				return fmt.Errorf("batch %d: %w", i, err)
			}
		}
	}
	return nil
}

// alone demands that found is what a sink makes of batches, and nothing else.
func (c *contract) alone(t *testing.T, batches []schema.Batch, found output) error {
	k, finish, err := c.open(t, c.table.schema())
	if err != nil {
		return err
	}
	for _, b := range batches {
		step, err := encode(k, b)
		if err == nil {
			err = step()
		}
		if err != nil {
			return err
		}
	}
	expected, err := closed(k, finish)
	if err != nil {
		return err
	}
	return compare(found, expected)
}
