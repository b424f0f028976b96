package pipeline_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/idxport/idxport/pipeline"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/test/must"
)

func TestRowsArriveInOrder(t *testing.T) {
	t.Parallel()
	if got := schema.Of(newTable(1, nothing)).BatchRows(); got != batchRows {
		t.Fatalf("the fake's batches have %d rows, expected %d", got, batchRows)
	}
	for _, rows := range []int64{0, 1, 4, 5, 403} {
		for workers := range 9 { // 0 is GOMAXPROCS
			t.Run(fmt.Sprintf("%d rows, %d workers", rows, workers), func(t *testing.T) {
				t.Parallel()
				outputs := newOutputs(t, 4, nothing)
				read, err := run(context.Background(), newTable(rows, nothing), outputs,
					pipeline.Options{Workers: workers})
				must.Do(t, err)
				if read != rows {
					t.Errorf("found %d rows read, expected %d", read, rows)
				}
				for i, out := range outputs {
					if got := out.rows(t, 0); got != rows || !out.closed.Load() {
						t.Errorf("sink %d: found %d rows, closed %v, expected %d, true",
							i, got, out.closed.Load(), rows)
					}
				}
			})
		}
	}
}

// TestLaterBatchFirst lets the second batch be encoded before the first.
func TestLaterBatchFirst(t *testing.T) {
	t.Parallel()
	second := make(chan struct{})
	var once sync.Once
	outputs := newOutputs(t, 2, func(_ context.Context, at stage, batch int) error {
		switch {
		case at == atEncode && batch == 0:
			<-second
		case at == atEncode && batch == 1:
			once.Do(func() { close(second) })
		}
		return nil
	})
	must.Get(run(context.Background(), newTable(40, nothing), outputs, pipeline.Options{Workers: 2}))(t)
	for i, out := range outputs {
		if got := out.rows(t, 0); got != 40 {
			t.Errorf("sink %d: found %d rows, expected 40", i, got)
		}
	}
}

// TestSlotsBoundMemory blocks the first step until the maximum number of batches is in flight, and
// counts the batches in flight throughout.
func TestSlotsBoundMemory(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		workers int
		size    int64 // bytes that the sink makes of a batch
		slots   int64 // min(workers + 2, 32 MiB / (1 MiB + size)), at least 1
		record  int   // bytes of a record, if it is another
	}{
		"one worker":    {1, 0, 3, 0},
		"three workers": {3, 0, 5, 0},
		"many workers":  {100, 0, 31, 0}, // a batch takes a byte more than 1 MiB
		"sink of 3 MiB": {100, 3 << 20, 7, 0},
		"huge batches":  {8, 1 << 40, 1, 0},
		"large images":  {100, 0, 3, 4 << 20}, // are in memory twice
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var read, written atomic.Int64
			full := make(chan struct{})
			in := newTable(60*batchRows, func(_ context.Context, at stage, _ int) error {
				if at == atRead {
					n := read.Add(1)
					if flight := n - written.Load(); flight > tt.slots {
						t.Errorf("found %d batches in flight, expected at most %d", flight, tt.slots)
					}
					if n == tt.slots {
						close(full)
					}
				}
				return nil
			})
			in.size = tt.record
			slow := newOutputs(t, 1, func(_ context.Context, at stage, _ int) error {
				if at == atStep {
					<-full
					written.Add(1) // the batch is still in flight: the count is too low, never too high
				}
				return nil
			})
			slow[0].size = tt.size
			must.Get(run(context.Background(), in, slow, pipeline.Options{Workers: tt.workers}))(t)
		})
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]int64{"whole": 0, "range": 1000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const rows = 403
			var calls int
			var last int64 // not atomic, so that the race detector finds overlapping calls
			in := newTable(rows, nothing)
			in.first = first
			outputs := newOutputs(t, 4, nothing)
			_, err := run(context.Background(), in, outputs, pipeline.Options{Workers: 3, Progress: func(n int64) {
				if n <= last {
					t.Errorf("found progress %d after %d, expected more", n, last)
				}
				last = n
				calls++
			}})
			must.Do(t, err)
			for _, out := range outputs {
				out.rows(t, first)
			}
			if last != rows || calls != 101 {
				t.Errorf("found %d calls, the last with %d rows, expected 101 and %d", calls, last, rows)
			}
		})
	}
}

// TestProgressIsWritten delays one of two sinks: a row counts once all sinks have written it.
func TestProgressIsWritten(t *testing.T) {
	t.Parallel()
	outputs := newOutputs(t, 2, nothing)
	var written atomic.Int64
	outputs[1].hook = func(_ context.Context, at stage, batch int) error {
		if at == atStep {
			runtime.Gosched() // the first sink gets ahead
			written.Store(int64(batch+1) * batchRows)
		}
		return nil
	}
	_, err := run(context.Background(), newTable(100*batchRows, nothing), outputs,
		pipeline.Options{Progress: func(n int64) {
			if limit := written.Load(); n > limit {
				t.Errorf("found progress %d, expected at most the %d rows of the second sink", n, limit)
			}
		}})
	must.Do(t, err)
}

// An endless table violates its contract: it returns empty batches and never ends.
type endless struct{ *table }

func (endless) Read(_ context.Context, b *source.Raw) error {
	b.Rows = 0
	return nil
}

func TestEmptyBatch(t *testing.T) {
	t.Parallel()
	_, err := run(context.Background(), endless{newTable(5, nothing)}, newOutputs(t, 1, nothing), pipeline.Options{})
	if err == nil || !strings.Contains(err.Error(), "batch of 0 rows") {
		t.Errorf("found the error %v, expected one about a batch of 0 rows", err)
	}
}
