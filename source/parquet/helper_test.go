package parquet

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	sinkparquet "github.com/idxport/idxport/sink/parquet"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/test/layouttest"
)

// written is what sink/parquet makes of t, in batches of batch rows.
func written(tb testing.TB, t layouttest.Table, o sinkparquet.Options, batch int) []byte {
	tb.Helper()
	open := func(w io.Writer, s *schema.Schema) (sink.Sink, error) { return sinkparquet.New(w, s, o) }
	return t.Write(tb, open, t.Schema(), batch)
}

// fromBytes opens file, which is in memory.
func fromBytes(file []byte, o source.ReadOptions) (source.Table, error) {
	t, err := newTable(bytes.NewReader(file), int64(len(file)), "test.parquet", o)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// readAll reads t to its end in batches of rows, two of which are under way at a time and are decoded the wrong way round, and returns the data of all
// columns.
func readAll(t source.Table, rows int) ([][]byte, error) {
	data := make([][]byte, len(t.Columns()))
	slots := [2]source.Raw{{Cap: rows}, {Cap: rows}}
	for next, ended := int64(0), false; !ended; {
		n := 0
		for ; n < len(slots); n++ {
			b := &slots[n]
			err := t.Read(context.Background(), b)
			if err == io.EOF {
				ended = true
				break
			}
			if err != nil {
				return nil, err
			}
			if b.First != next || b.Rows < 1 || b.Rows > rows {
				return nil, fmt.Errorf("found a batch of %d rows from %d on, expected it from %d on", b.Rows, b.First, next)
			}
			next += int64(b.Rows)
		}
		var wait sync.WaitGroup
		var errs [len(slots)]error
		for i := n - 1; i >= 0; i-- {
			wait.Go(func() { errs[i] = t.Decode(&slots[i]) })
		}
		wait.Wait()
		for i := range n {
			if errs[i] != nil {
				return nil, errs[i]
			}
			for k, c := range t.Columns() {
				if len(slots[i].Columns[k]) != slots[i].Rows*c.RecordSize() {
					return nil, fmt.Errorf("found %d bytes for %d rows", len(slots[i].Columns[k]), slots[i].Rows)
				}
				data[k] = append(data[k], slots[i].Columns[k]...)
			}
		}
	}
	return data, nil
}

// expect reads t in batches of rows and compares what it has with columns and data.
func expect(tb testing.TB, t source.Table, rows int, columns []source.Column, data [][]byte) {
	tb.Helper()
	found, err := readAll(t, rows)
	if err != nil {
		tb.Fatal(err)
	}
	if len(t.Columns()) != len(columns) {
		tb.Fatalf("found the columns %v, expected %v", t.Columns(), columns)
	}
	for i, c := range t.Columns() {
		e := columns[i]
		if c.Name != e.Name || c.DType != e.DType || fmt.Sprint(c.Shape) != fmt.Sprint(e.Shape) {
			tb.Errorf("found the column %s of %s %v, expected %s of %s %v", c.Name, c.DType, c.Shape, e.Name, e.DType, e.Shape)
		}
		if !bytes.Equal(found[i], data[i]) {
			tb.Errorf("column %s: found other values, %d bytes, expected %d", c.Name, len(found[i]), len(data[i]))
		}
	}
}

// kindNode is a leaf of the schema, of the physical type.
func kindNode(kind format.Type) *node {
	return &node{SchemaElement: &format.SchemaElement{Type: thrift.New(kind)}}
}
