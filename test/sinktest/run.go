package sinktest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
)

// Open makes a sink for tables of the schema s, whose output goes to a place of its own. finish is called once, after Close: it returns what was
// written, by file name. After a failure it is not called; then t.Cleanup must do. err is the error of the sink's New.
type Open func(t *testing.T, s *schema.Schema) (k sink.Sink, finish func() map[string][]byte, err error)

// Run tests the sinks that open makes with each of the tables, which the sinks must support.
func Run(t *testing.T, open Open, tables ...Table) {
	t.Helper()
	for _, table := range tables {
		t.Run(table.Name, func(t *testing.T) {
			t.Parallel()
			c := &contract{table: table.fill(), open: open}
			var err error
			if c.want, err = c.serial(t); err != nil {
				t.Fatalf("one batch after another: %v", err)
			}
			for _, check := range checks() {
				t.Run(check.name, func(t *testing.T) {
					t.Parallel()
					if err := check.run(c, t); err != nil {
						t.Error(err)
					}
				})
			}
		})
	}
}

// contract is one table for the sinks that open makes.
type contract struct {
	table filled
	open  Open
	want  output // of one batch after another
}

// An output is the contents of files by name.
type output map[string][]byte

// serial writes one batch after another, each in buffers of its own.
func (c *contract) serial(t *testing.T) (output, error) {
	k, finish, err := c.open(t, c.table.schema())
	if err != nil {
		return nil, err
	}
	for _, b := range c.table.batches() {
		step, err := encode(k, b)
		if err != nil {
			return nil, err
		}
		if err := step(); err != nil {
			return nil, fmt.Errorf("step: %w", err)
		}
	}
	return closed(k, finish)
}

// encode is k.Encode, where nothing cancels it.
func encode(k sink.Sink, b schema.Batch) (func() error, error) {
	step, err := k.Encode(context.Background(), b)
	if err != nil {
		return nil, fmt.Errorf("batch at row %d: Encode: %w", b.First, err)
	}
	if step == nil {
		return nil, fmt.Errorf("batch at row %d: Encode returned no step", b.First)
	}
	return step, nil
}

// finishBatch runs the step of b. Then it overwrites b, whose buffers are used again from then on; before, it looks whether the sink wrote to them.
func (c *contract) finishBatch(step func() error, b schema.Batch) error {
	if err := step(); err != nil {
		return fmt.Errorf("batch at row %d: step: %w", b.First, err)
	}
	return c.spoil(b)
}

// spoil overwrites b. It fails if b was not what it was before.
func (c *contract) spoil(b schema.Batch) error {
	var err error
	for k, data := range b.Columns {
		if !bytes.Equal(data, c.table.column(k, b.First, b.Rows)) {
			err = fmt.Errorf("batch at row %d: the sink changed column %d, expected it to be only read", b.First, k)
		}
		copy(data, bytes.Repeat([]byte{0xA5}, len(data)))
	}
	return err
}

// closed closes k and returns the output.
func closed(k sink.Sink, finish func() map[string][]byte) (output, error) {
	if err := k.Close(); err != nil {
		return nil, fmt.Errorf("Close: %w", err)
	}
	return finish(), nil
}

// compare demands equal outputs.
func compare(found, expected output) error {
	var errs []error
	for name, want := range expected {
		got, ok := found[name]
		switch {
		case !ok:
			errs = append(errs, fmt.Errorf("%s is missing", name))
		case !bytes.Equal(got, want):
			errs = append(errs, fmt.Errorf("%s: found %d bytes, expected %d; they differ from byte %d on",
				name, len(got), len(want), firstDifference(got, want)))
		}
	}
	for name := range found {
		if _, ok := expected[name]; !ok {
			errs = append(errs, fmt.Errorf("found %s, expected no such file", name))
		}
	}
	return errors.Join(errs...)
}

func firstDifference(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
