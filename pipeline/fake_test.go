package pipeline_test

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/idxport/idxport/pipeline"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

var (
	errBroken = errors.New("broken")
	errLater  = errors.New("a consequence")
	errSignal = errors.New("interrupted")
)

// A stage is a method that the pipeline calls.
type stage string

const (
	atRead   stage = "Read"
	atDecode stage = "Decode"
	atEncode stage = "Encode"
	atStep   stage = "step"
	atClose  stage = "Close"
)

// A hook is called at every stage of every batch, on the pipeline's goroutine; the stage returns
// its error. Close has batch 0.
type hook func(ctx context.Context, at stage, batch int) error

// nothing is a hook that does nothing.
func nothing(context.Context, stage, int) error { return nil }

// A table pretends to have records of 256 KiB, so that batches have 4 rows. A batch really contains
// 8 bytes per row: the row's index.
type table struct {
	hook  hook
	first int64 // index of the first row, if this is a range
	rows  int64
	next  int64
	size  int // bytes of a record, if it is another
}

const batchRows = 4

func newTable(rows int64, h hook) *table { return &table{rows: rows, hook: h} }

func (f *table) Columns() []source.Column {
	return []source.Column{{Name: "data", DType: idx.Uint8, Shape: []int{cmp.Or(f.size, 1<<18)}}}
}

func (f *table) Rows() int64 { return f.rows }

func (f *table) Read(ctx context.Context, b *source.Raw) error {
	if err := f.hook(ctx, atRead, int(f.next/batchRows)); err != nil {
		return err
	}
	if f.next == f.rows {
		b.Rows = 0
		return io.EOF
	}
	b.First, b.Rows = f.first+f.next, int(min(int64(b.Cap), f.rows-f.next))
	f.next += int64(b.Rows)
	return nil
}

func (f *table) Decode(b *source.Raw) error {
	if err := f.hook(context.Background(), atDecode, int((b.First-f.first)/batchRows)); err != nil {
		return err
	}
	data := []byte(nil)
	if len(b.Columns) > 0 {
		data = b.Columns[0][:0] // reuses the buffer of an earlier batch
	}
	for row := range b.Rows {
		data = binary.LittleEndian.AppendUint64(data, uint64(b.First)+uint64(row))
	}
	b.Columns = [][]byte{data}
	return nil
}

func (f *table) Close() error { return nil }

// An output is a sink that collects its input. It must not be called after its first failure.
type output struct {
	t    *testing.T
	hook hook
	size int64 // BatchSize

	mu     sync.Mutex // so that the race detector stays quiet if the contract is broken
	data   []byte
	failed atomic.Bool
	closed atomic.Bool
}

func (o *output) Encode(ctx context.Context, b schema.Batch) (func() error, error) {
	batch := int(b.First / batchRows)
	if err := o.hook(ctx, atEncode, batch); err != nil {
		return nil, err
	}
	return func() error {
		o.check(atStep)
		if err := o.hook(ctx, atStep, batch); err != nil {
			o.failed.Store(true)
			return err
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		o.data = append(o.data, b.Columns[0]...)
		return nil
	}, nil
}

func (o *output) Close() error {
	o.check(atClose)
	if err := o.hook(context.Background(), atClose, 0); err != nil {
		o.failed.Store(true)
		return err
	}
	o.closed.Store(true)
	return nil
}

func (o *output) BatchSize(int) int64 { return o.size }

func (o *output) check(at stage) {
	if o.failed.Load() || o.closed.Load() {
		o.t.Errorf("%s was called after a failure or after Close", at)
	}
}

// rows checks that o has the rows from first on, in order and without gaps, and returns their
// number.
func (o *output) rows(t *testing.T, first int64) int64 {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := 0; i < len(o.data); i += 8 {
		if got, want := int64(binary.LittleEndian.Uint64(o.data[i:])), first+int64(i/8); got != want {
			t.Fatalf("found row %d, expected %d", got, want)
		}
	}
	return int64(len(o.data) / 8)
}

func newOutputs(t *testing.T, n int, h hook) []*output {
	outputs := make([]*output, n)
	for i := range outputs {
		outputs[i] = &output{t: t, hook: h}
	}
	return outputs
}

// run calls pipeline.Run with fakes.
func run(ctx context.Context, f source.Table, outputs []*output, o pipeline.Options) (int64, error) {
	sinks := make([]sink.Sink, len(outputs))
	for i, out := range outputs {
		sinks[i] = out
	}
	return pipeline.Run(ctx, f, schema.Of(f), sinks, o)
}
