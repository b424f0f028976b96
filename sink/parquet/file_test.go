package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source/idx"
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

// open reads the footer and the indexes with parquet-go.
func open(tb testing.TB, file []byte) *pq.File {
	tb.Helper()
	f, err := pq.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// A leafData is what parquet-go reads of a leaf: the level entries, and the values as the bytes that they have in an IDX file of d,
// turned to little-endian.
type leafData struct {
	rows    []int // entries of each row
	missing int   // entries without a value
	values  []byte
}

// read reads all pages of a leaf, whose CRCs parquet-go checks.
func read(tb testing.TB, f *pq.File, leaf int, d idx.DType) leafData {
	tb.Helper()
	var found leafData
	for _, group := range f.RowGroups() {
		pages := group.ColumnChunks()[leaf].Pages()
		for {
			page, err := pages.ReadPage()
			if err == io.EOF {
				break
			}
			if err != nil {
				tb.Fatal(err)
			}
			values := make([]pq.Value, page.NumValues())
			if n, _ := page.Values().ReadValues(values); n != len(values) {
				tb.Fatalf("read %d values of a page, expected %d", n, len(values))
			}
			for _, v := range values {
				found.add(v, d)
			}
		}
		if err := pages.Close(); err != nil {
			tb.Fatal(err)
		}
	}
	return found
}

func (l *leafData) add(v pq.Value, d idx.DType) {
	if v.RepetitionLevel() == 0 {
		l.rows = append(l.rows, 0)
	}
	l.rows[len(l.rows)-1]++
	switch {
	case v.IsNull():
		l.missing++
	case v.Kind() == pq.FixedLenByteArray || v.Kind() == pq.ByteArray:
		l.values = append(l.values, v.ByteArray()...)
	default:
		l.values = append(l.values, elementOf(v, d)...)
	}
}

// elementOf is v as an element of d; values that d does not have fail the comparison by their length.
func elementOf(v pq.Value, d idx.DType) []byte {
	switch d {
	case idx.Float32:
		return binary.LittleEndian.AppendUint32(nil, math.Float32bits(v.Float()))
	case idx.Float64:
		return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v.Double()))
	}
	n := int64(v.Int32())
	bits := 8 * d.Size()
	low, high := int64(-1)<<(bits-1), int64(1)<<(bits-1)-1
	if d == idx.Uint8 {
		low, high = 0, math.MaxUint8
	}
	if n < low || n > high {
		return []byte(fmt.Sprintf("%d is no %v", n, d))
	}
	return binary.LittleEndian.AppendUint32(nil, uint32(n))[:d.Size()]
}
