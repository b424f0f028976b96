package sinktest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// Open returns a sink for tables of the schema s, with an output of its own. finish is called once,
// after Close, and returns what was written, by file name. After a failure it is not called; use
// t.Cleanup to remove files. err is the error of the sink's New.
type Open func(t *testing.T, s *schema.Schema) (k sink.Sink, finish func() map[string][]byte, err error)

// Run tests the sinks that open returns with each of the tables, which the sinks must support.
func Run(t *testing.T, open Open, tables ...Table) {
	t.Helper()
	for _, table := range tables {
		t.Run(table.Name, func(t *testing.T) {
			t.Parallel()
			c := &contract{table: table.fill(), open: open}
			if len(c.table.batches()) < 2 {
				t.Fatal("the table has one batch: nothing can be confused")
			}
			var err error
			if c.want, err = c.serial(t, c.table.batches()); err != nil {
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

// RunWriter tests the sinks that open returns as Run does, and checks that no error of their writer
// is lost. A sink.Splitter must be tested with it.
func RunWriter(t *testing.T, open func(w io.Writer, s *schema.Schema) (sink.Sink, error), tables ...Table) {
	t.Helper()
	Run(t, func(_ *testing.T, s *schema.Schema) (sink.Sink, func() map[string][]byte, error) {
		var out bytes.Buffer
		k, err := open(&out, s)
		return k, func() map[string][]byte { return map[string][]byte{"out": out.Bytes()} }, err
	}, tables...)
	for _, table := range tables {
		for _, rows := range []int{0, 25} {
			t.Run(fmt.Sprintf("%s, write errors of %d rows", table.Name, rows), func(t *testing.T) {
				t.Parallel()
				few := table
				few.Rows = rows
				if err := writeErrors(open, few.fill()); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// A WriterFunc is a function used as an io.Writer.
type WriterFunc func(p []byte) (int, error)

// Write calls f.
func (f WriterFunc) Write(p []byte) (int, error) { return f(p) }

var errFull = errors.New("no space")

// writeErrors writes the table once for each write, which fails: a step or Close must return its
// error. If there are many writes, or with -short, only some of them fail.
func writeErrors(open func(w io.Writer, s *schema.Schema) (sink.Sink, error), table filled) error {
	step := 1
	if testing.Short() {
		step = 7
	}
	for failing := 1; ; failing += step + failing/100*10 {
		calls := 0
		err := table.write(WriterFunc(func(p []byte) (int, error) {
			if calls++; calls == failing {
				return 0, errFull
			}
			return len(p), nil
		}), open)
		if calls < failing {
			return err
		}
		if !errors.Is(err, errFull) {
			return fmt.Errorf("write %d failed: found the error %w, expected %w", failing, err, errFull)
		}
	}
}

// write writes t in batches of 10 rows. A sink.Splitter begins a new output after each.
func (t filled) write(w io.Writer, open func(w io.Writer, s *schema.Schema) (sink.Sink, error)) error {
	k, err := open(w, t.schema())
	if err != nil {
		return err
	}
	for first := 0; first < t.Rows; first += 10 {
		step, err := encode(k, t.batch(first, min(10, t.Rows-first)))
		if err == nil {
			err = step()
		}
		if s, ok := k.(sink.Splitter); ok && err == nil {
			if err = s.Close(); err == nil {
				err = s.Next(w)
			}
		}
		if err != nil {
			return err
		}
	}
	return k.Close()
}

// Counted tests sinks of one column whose header contains the number of rows: Close must fail if
// another number was written.
func Counted(t *testing.T, open func(w io.Writer, s *schema.Schema) (sink.Sink, error)) {
	t.Helper()
	for _, rows := range []int{0, 2, 4} {
		table := Table{Rows: 3, Columns: []source.Column{{DType: idx.Uint8}}}.fill()
		k, err := open(io.Discard, table.schema())
		for range rows {
			if err == nil {
				var step func() error
				if step, err = encode(k, table.batch(0, 1)); err == nil {
					err = step()
				}
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := k.Close(); err == nil || !strings.Contains(err.Error(), fmt.Sprint("wrote ", rows, " rows")) {
			t.Errorf("%d rows for a header that says 3: found the error %v", rows, err)
		}
	}
}

// A contract checks the sinks that open returns with one table.
type contract struct {
	table filled
	open  Open
	want  output // the output of serial
}

// An output is the contents of files by name.
type output map[string][]byte

// serial writes one batch after another.
func (c *contract) serial(t *testing.T, batches []schema.Batch) (output, error) {
	k, finish, err := c.open(t, c.table.schema())
	if err != nil {
		return nil, err
	}
	for _, b := range batches {
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

// encode calls k.Encode with a context that is never canceled.
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

// finishBatch runs the step of b. Then it checks that the sink did not write to b's buffers, and
// overwrites them.
func (c *contract) finishBatch(step func() error, b schema.Batch) error {
	if err := step(); err != nil {
		return fmt.Errorf("batch at row %d: step: %w", b.First, err)
	}
	var err error
	for k, data := range b.Columns {
		if !bytes.Equal(data, c.table.column(k, b.First, b.Rows)) {
			err = fmt.Errorf("batch at row %d: the sink changed column %d of the batch", b.First, k)
		}
		copy(data, bytes.Repeat([]byte{0xA5}, len(data)))
	}
	return err
}

// closed closes k and returns its output.
func closed(k sink.Sink, finish func() map[string][]byte) (output, error) {
	if err := k.Close(); err != nil {
		return nil, fmt.Errorf("Close: %w", err)
	}
	return finish(), nil
}

// compare returns an error unless the outputs are equal.
func compare(found, expected output) error {
	var errs []error
	for name, want := range expected {
		got, ok := found[name]
		switch {
		case !ok:
			errs = append(errs, fmt.Errorf("%s is missing", name))
		case !bytes.Equal(got, want):
			errs = append(errs, fmt.Errorf("%s: found %d bytes, expected %d, first difference at byte %d",
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
