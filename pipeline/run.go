package pipeline

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
)

// budget limits the memory of a run's slots, including the encoded batches of all sinks, in bytes.
// Because of the encoders of zstd, 64 workers took 108 MB for 3,072 columns of bytes.
const budget = 32 << 20

// A slot holds one batch in flight.
type slot struct {
	raw     source.Raw
	pending atomic.Int32        // sinks whose step has not yet returned
	steps   []chan func() error // for each sink, a channel with room for its step
}

// run is the state shared by the goroutines of one Run.
type run struct {
	table    source.Table
	sinks    []sink.Sink
	progress func(rows int64)

	rowsPerBatch int
	slots        int // limit
	made         int // slots made so far; used by the reader only

	free  chan *slot
	queue chan *slot   // to the workers
	order []chan *slot // to the writer of each sink

	rows    atomic.Int64 // rows read
	written atomic.Int64 // rows written by all sinks
}

func newRun(t source.Table, s *schema.Schema, sinks []sink.Sink, o Options) *run {
	n := slots(s, sinks, o.Workers)
	r := &run{table: t, sinks: sinks, progress: o.Progress, rowsPerBatch: s.BatchRows(), slots: n,
		free: make(chan *slot, n), queue: make(chan *slot, n)}
	for range sinks {
		r.order = append(r.order, make(chan *slot, n))
	}
	return r
}

// slots returns the number of batches in flight: two more than workers, as far as the budget
// allows, but at least 1. With two workers, more do not fit the cache, and are no faster.
func slots(s *schema.Schema, sinks []sink.Sink, workers int) int {
	rows := s.BatchRows()
	size := int64(rows)*s.RowSize() + 1
	if rows == 1 {
		size *= 2 // a large image is in memory twice: as its file, and decoded
	}
	for _, k := range sinks {
		if z, ok := k.(sink.Sizer); ok {
			size += z.BatchSize(rows)
		}
	}
	return max(1, int(min(int64(workers+2), budget/size)))
}

// read fills slots with batches and sends each to the workers and to every writer. No send blocks,
// as the queues have room for all slots.
func (r *run) read(ctx context.Context) error {
	for {
		s, err := r.take(ctx)
		if err != nil {
			return err
		}
		err = r.table.Read(ctx, &s.raw)
		if err == nil && s.raw.Rows < 1 {
			err = fmt.Errorf("the table returned a batch of %d rows", s.raw.Rows)
		}
		if err != nil {
			for k, q := range r.order {
				if err != io.EOF { // one that wraps it is a failure, which follows those of earlier batches
					s.steps[k] <- func() error { return err }
					q <- s
				}
				close(q)
			}
			close(r.queue)
			return nil
		}
		r.rows.Add(int64(s.raw.Rows))
		s.pending.Store(int32(len(r.sinks)))
		for _, q := range r.order {
			q <- s
		}
		r.queue <- s
	}
}

// take returns a free slot, or a new one if the limit is not reached; otherwise it waits.
func (r *run) take(ctx context.Context) (*slot, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(r.free) == 0 && r.made < r.slots {
		r.made++
		s := &slot{raw: source.Raw{Cap: r.rowsPerBatch}}
		for range r.sinks {
			s.steps = append(s.steps, make(chan func() error, 1))
		}
		return s, nil
	}
	s, _, err := receive(ctx, r.free)
	return s, err
}

// work decodes batches and lets every sink encode them.
func (r *run) work(ctx context.Context) error {
	for {
		s, ok, err := receive(ctx, r.queue)
		if !ok {
			return err
		}
		if err := r.encode(ctx, s); err != nil {
			return err
		}
		runtime.Gosched() // lets writers run, which might wait for 10 ms, and the workers then for free slots
	}
}

// encode decodes the batch of s and sends a step to the writer of every sink: if the batch is
// damaged, its error, so that the first of several is reported.
func (r *run) encode(ctx context.Context, s *slot) error {
	damage := r.table.Decode(&s.raw)
	batch := schema.Batch{First: s.raw.First, Rows: s.raw.Rows, Columns: s.raw.Columns}
	for k, out := range r.sinks {
		if damage != nil {
			s.steps[k] <- func() error { return damage }
			continue
		}
		step, err := out.Encode(ctx, batch)
		if err != nil {
			return err
		}
		s.steps[k] <- step
	}
	return nil
}

// write runs the steps of sink k in row order, then closes the sink.
func (r *run) write(ctx context.Context, k int) error {
	for {
		s, ok, err := receive(ctx, r.order[k])
		if err != nil {
			return err
		}
		if !ok {
			return r.sinks[k].Close()
		}
		step, _, err := receive(ctx, s.steps[k])
		if err != nil {
			return err
		}
		if err := step(); err != nil {
			return err
		}
		rows := int64(s.raw.Rows)
		if s.pending.Add(-1) > 0 {
			continue
		}
		// No later batch can be complete yet: this goroutine still has to run its step for it. So
		// slots become free in the order of the rows, and the calls of progress do not overlap.
		r.free <- s
		if r.progress != nil {
			r.progress(r.written.Add(rows))
		}
	}
}

// receive returns the next value of c; ok is false if c is closed and empty or ctx is done.
func receive[T any](ctx context.Context, c <-chan T) (v T, ok bool, err error) {
	select {
	case v, ok = <-c:
		return v, ok, nil
	case <-ctx.Done():
		return v, false, ctx.Err()
	}
}
