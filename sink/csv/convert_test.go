package csv

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// convert writes a whole table in batches of batchRows rows, which workers goroutines encode at the same time. A batch's buffers are overwritten
// as soon as its step has returned.
func convert(t *testing.T, s *schema.Schema, columns [][]byte, o Options, batchRows, workers int) string {
	t.Helper()
	var out bytes.Buffer
	k, err := New(&out, s, o)
	if err != nil {
		t.Fatal(err)
	}
	runSink(t, k, s, columns, batchRows, workers)
	return out.String()
}

// runSink drives k as the pipeline does.
func runSink(t *testing.T, k *Sink, s *schema.Schema, columns [][]byte, batchRows, workers int) {
	t.Helper()
	batches := cut(s, columns, batchRows)
	steps := make([]chan func() error, len(batches))
	for i := range steps {
		steps[i] = make(chan func() error, 1)
	}
	var encoders sync.WaitGroup
	for worker := range workers {
		encoders.Go(func() {
			for i := worker; i < len(batches); i += workers {
				step, err := k.Encode(context.Background(), batches[i])
				if err != nil {
					t.Error(err)
					step = func() error { return err }
				}
				steps[i] <- step
			}
		})
	}
	for i, b := range batches {
		if err := (<-steps[i])(); err != nil {
			t.Error(err)
		}
		for _, column := range b.Columns {
			for j := range column {
				column[j] = 0xA5
			}
		}
	}
	encoders.Wait()
	if err := k.Close(); err != nil {
		t.Error(err)
	}
}

// cut cuts columns into batches, with buffers of their own.
func cut(s *schema.Schema, columns [][]byte, batchRows int) []schema.Batch {
	var batches []schema.Batch
	for first := 0; first < int(s.Rows); first += batchRows {
		b := schema.Batch{First: int64(first), Rows: min(batchRows, int(s.Rows)-first)}
		for i, c := range s.Columns {
			size := c.RecordSize()
			b.Columns = append(b.Columns, bytes.Clone(columns[i][first*size:(first+b.Rows)*size]))
		}
		batches = append(batches, b)
	}
	return batches
}

// randomTable is rows rows of random bits, zero in many places, for the columns.
func randomTable(rows int, columns ...source.Column) (*schema.Schema, [][]byte) {
	random := rand.New(rand.NewPCG(1, uint64(rows)))
	data := make([][]byte, len(columns))
	for i, c := range columns {
		data[i] = make([]byte, 0, rows*c.RecordSize()+8)
		for len(data[i]) < rows*c.RecordSize() {
			bits := random.Uint64() >> random.Uint64N(64) // of any magnitude
			if random.Uint64N(3) == 0 {
				bits = 0
			}
			data[i] = binary.LittleEndian.AppendUint64(data[i], bits)
		}
		data[i] = data[i][:rows*c.RecordSize()]
	}
	return &schema.Schema{Columns: columns, Rows: int64(rows)}, data
}

// column describes a column for a test.
func column(name string, d idx.DType, shape ...int) source.Column {
	return source.Column{Name: name, DType: d, Shape: shape}
}

// bytesOf is the little-endian image of values.
func bytesOf(t *testing.T, values any) []byte {
	t.Helper()
	b, err := binary.Append(nil, binary.LittleEndian, values)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
