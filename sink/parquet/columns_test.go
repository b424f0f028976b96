package parquet

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
)

// TestColumnsAreScalars looks for what scalars have in the layout columns.
func TestColumnsAreScalars(t *testing.T) {
	t.Parallel()
	const elements, rows = 64, 25_000 // two pages
	written := layouttest.Random(rows, source.Column{Name: "x", DType: idx.Uint8, Shape: []int{elements}}, source.Column{Name: "y", DType: idx.Int8})
	for i := range written.Data[0] { // element k has the values from k to k+9
		written.Data[0][i] = byte(i%elements + int(written.Data[0][i])%10)
	}
	file := write(t, written, Options{Layout: "columns"}, 1_000)
	check(t, written, file, "columns")
	group := open(t, file).Metadata().RowGroups[0]
	if len(group.Columns) != elements+1 {
		t.Fatalf("found %d chunks, expected %d", len(group.Columns), elements+1)
	}
	for k := range elements {
		m := group.Columns[k].MetaData
		number := func(plain []byte) int { return int(int32(binary.LittleEndian.Uint32(plain))) }
		if s := m.Statistics; number(s.MinValue) != k || number(s.MaxValue) != k+9 {
			t.Errorf("element %d: found the bounds % x and % x, expected %d and %d", k, s.MinValue, s.MaxValue, k, k+9)
		}
		p := pageAt(t, file, m.DictionaryPageOffset)
		if p.header.Type != format.DictionaryPage || p.header.DictionaryPageHeader.V.NumValues != 10 {
			t.Errorf("element %d: found %v, expected a dictionary of 10 values", k, p.header)
		}
	}
}

// TestColumnsEndRowGroups writes more than the 32 MiB that are held back: a row group ends with the batch that reaches them.
func TestColumnsEndRowGroups(t *testing.T) {
	t.Parallel()
	const batch, rowSize = 100, 1024 * 8
	written := layouttest.Random(4_500, source.Column{Name: "x", DType: idx.Float64, Shape: []int{32, 32}})
	file := write(t, written, Options{Layout: "columns", Compression: "none"}, batch)
	groups := open(t, file).Metadata().RowGroups
	const want = (32<<20/rowSize + batch - 1) / batch * batch // 4,100
	if len(groups) != 2 || groups[0].NumRows != want || groups[1].NumRows != 4_500-want {
		t.Errorf("found %d row groups, the first of %d rows, expected 2, the first of %d", len(groups), groups[0].NumRows, want)
	}
	check(t, written, file, "columns")
}

// TestColumnsAreLikeScalars compares with the scalars themselves as inputs: the same chunks.
func TestColumnsAreLikeScalars(t *testing.T) {
	t.Parallel()
	for _, d := range idx.DTypes() {
		const rows = 3_000
		tensor := layouttest.Random(rows, source.Column{Name: "x", DType: d, Shape: []int{2}})
		if d != idx.Float32 { // a few values, so that dictionaries pay
			for i := range tensor.Data[0] {
				tensor.Data[0][i] &= 1
			}
		}
		scalars := layouttest.Random(rows, source.Column{Name: "pixel0", DType: d}, source.Column{Name: "pixel1", DType: d})
		size := d.Size()
		for row := range rows {
			for k := range 2 {
				copy(scalars.Data[k][row*size:], tensor.Data[0][(2*row+k)*size:][:size])
			}
		}
		a, b := write(t, tensor, Options{Layout: "columns"}, 500), write(t, scalars, Options{}, 500)
		end := open(t, a).Metadata().RowGroups[0].TotalCompressedSize + 4
		if len(b) < int(end) || !bytes.Equal(a[:end], b[:end]) {
			t.Errorf("%v: found other pages than those of two columns of scalars", d)
		}
	}
}
