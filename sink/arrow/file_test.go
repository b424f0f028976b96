package arrow

import (
	"bytes"
	"io"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/test/layouttest"
)

// with makes sinks with the options o.
func with(o Options) layouttest.Open {
	return func(w io.Writer, s *schema.Schema) (sink.Sink, error) { return New(w, s, o) }
}

// write writes t in batches of up to batch rows.
func write(tb testing.TB, t layouttest.Table, o Options, batch int) []byte {
	tb.Helper()
	return t.Write(tb, with(o), t.Schema(), batch)
}

// read reads all record batches with arrow-go.
func read(tb testing.TB, file []byte, stream bool) (*arrow.Schema, []arrow.RecordBatch) {
	tb.Helper()
	var batches []arrow.RecordBatch
	if stream {
		r, err := ipc.NewReader(bytes.NewReader(file))
		if err != nil {
			tb.Fatal(err)
		}
		for r.Next() {
			r.RecordBatch().Retain()
			batches = append(batches, r.RecordBatch())
		}
		if r.Err() != nil && r.Err() != io.EOF {
			tb.Fatal(r.Err())
		}
		return r.Schema(), batches
	}
	r, err := ipc.NewFileReader(bytes.NewReader(file))
	if err != nil {
		tb.Fatal(err)
	}
	for i := range r.NumRecords() {
		b, err := r.RecordBatchAt(i)
		if err != nil {
			tb.Fatal(err)
		}
		batches = append(batches, b)
	}
	return r.Schema(), batches
}

// bytesOf is the values of an array without nulls, those of lists one after another.
func bytesOf(tb testing.TB, a arrow.Array) []byte {
	tb.Helper()
	if a.NullN() != 0 {
		tb.Errorf("found %d nulls, expected none", a.NullN())
	}
	switch a := a.(type) {
	case *array.FixedSizeList:
		return bytesOf(tb, a.ListValues())
	case *array.List:
		return bytesOf(tb, a.ListValues())
	case *array.Binary:
		return a.ValueBytes()
	}
	size := a.DataType().(arrow.FixedWidthDataType).BitWidth() / 8
	if a.Len() == 0 {
		return nil
	}
	return a.Data().Buffers()[1].Bytes()[:a.Len()*size]
}
