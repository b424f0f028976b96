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
