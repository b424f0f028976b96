package pipeline_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/idxport/idxport/pipeline"
	"github.com/idxport/idxport/source"
)

// A watched table notes what each Read is told.
type watched struct {
	*table
	busy []bool
}

func (w *watched) Read(ctx context.Context, b *source.Raw) error {
	w.busy = append(w.busy, b.Busy)
	return w.table.Read(ctx, b)
}

// TestTablesAreToldWhetherCoresAreIdle holds every worker in its first batch until the batch after all of these is read, and then
// lets none have another.
func TestTablesAreToldWhetherCoresAreIdle(t *testing.T) {
	t.Parallel()
	workers := runtime.GOMAXPROCS(0)
	encoding, read := make(chan struct{}), make(chan struct{})
	h := func(_ context.Context, at stage, batch int) error {
		switch {
		case at == atEncode && batch < workers:
			encoding <- struct{}{}
			<-read
		case at == atRead && batch == workers:
			for range workers {
				<-encoding
			}
		case at == atRead && batch == workers+1:
			close(read)
		}
		return nil
	}
	in := &watched{table: newTable(int64(workers+2)*batchRows, h)}
	out := &output{t: t, hook: h}
	if _, err := run(t.Context(), in, []*output{out}, pipeline.Options{Workers: workers}); err != nil {
		t.Fatal(err)
	}
	if first := in.busy[0]; first != (workers == 1) {
		t.Errorf("the first Read was told %v with %d cores and no worker active", first, workers)
	}
	if !in.busy[workers+1] {
		t.Error("a Read was told that a core is idle, expected that none is: all workers have a batch")
	}
}
