package csv

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/idxport/idxport/pipeline"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	sinkcsv "github.com/idxport/idxport/sink/csv"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// readAll reads t to its end in batches of rows, and returns the data of all columns.
func readAll(t source.Table, rows int) ([][]byte, error) {
	data := make([][]byte, len(t.Columns()))
	b := &source.Raw{Cap: rows}
	for next := int64(0); ; {
		err := t.Read(context.Background(), b)
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		if b.First != next || b.Rows < 1 || b.Rows > rows {
			panic("a batch is out of place")
		}
		if err := t.Decode(b); err != nil {
			return nil, err
		}
		for i := range data {
			data[i] = append(data[i], b.Columns[i]...)
		}
		next += int64(b.Rows)
	}
}

// parse reads a whole file from text.
func parse(text string, o source.ReadOptions) (*Table, [][]byte, error) {
	t, err := newTable(strings.NewReader(text), "test.csv", nil, o)
	if err != nil {
		return nil, nil, err
	}
	data, err := readAll(t, 3)
	return t, data, err
}

// openIDX is the IDX files of testdata joined: name=path below testdata.
func openIDX(t testing.TB, files ...string) source.Table {
	t.Helper()
	var parts []source.Table
	for _, f := range files {
		name, path, _ := strings.Cut(f, "=")
		part, err := source.OpenIDX("../../"+path, source.Options{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, part)
	}
	all, err := source.Join(false, parts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { all.Close() })
	return all
}

// written is what sink/csv makes of table.
func written(t testing.TB, table source.Table, o sinkcsv.Options) string {
	t.Helper()
	var out bytes.Buffer
	s := schema.Of(table)
	k, err := sinkcsv.New(&out, s, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pipeline.Run(context.Background(), table, s, []sink.Sink{k}, pipeline.Options{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// float is the number at the start of p.
func float(d idx.DType, p []byte) float64 {
	if d == idx.Float32 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(p)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(p))
}
