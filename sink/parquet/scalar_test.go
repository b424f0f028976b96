package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/internal/compressed"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
)

// elements packs values as elements of d.
func elements(d idx.DType, values ...float64) []byte {
	var packed []byte
	for _, v := range values {
		switch d {
		case idx.Float32:
			packed = binary.LittleEndian.AppendUint32(packed, math.Float32bits(float32(v)))
		case idx.Float64:
			packed = binary.LittleEndian.AppendUint64(packed, math.Float64bits(v))
		default:
			packed = append(packed, binary.LittleEndian.AppendUint32(nil, uint32(int32(v)))[:d.Size()]...)
		}
	}
	return packed
}

// scalars returns a table of one scalar column.
func scalars(d idx.DType, packed []byte) layouttest.Table {
	return layouttest.Table{
		Columns: []source.Column{{Name: "x", DType: d}},
		Rows:    len(packed) / d.Size(),
		Data:    [][]byte{packed},
	}
}

// TestStatistics compares with bounds in the order that the Parquet specification defines for each
// type, as PLAIN values.
func TestStatistics(t *testing.T) {
	t.Parallel()
	nan, negativeZero := math.NaN(), math.Copysign(0, -1)
	for _, test := range []struct {
		name   string
		dtype  idx.DType
		values []float64
		bounds string // minimum and maximum in hexadecimal
	}{
		{"unsigned bytes have unsigned order", idx.Uint8, []float64{128, 3, 255, 127}, "03000000 ff000000"},
		{"signed bytes", idx.Int8, []float64{5, -128, 127, -1}, "80ffffff 7f000000"},
		{"shorts", idx.Int16, []float64{-2, 300}, "feffffff 2c010000"},
		{"ints", idx.Int32, []float64{math.MinInt32, math.MaxInt32, 0}, "00000080 ffffff7f"},
		{"zero of integers has no sign", idx.Int32, []float64{0}, "00000000 00000000"},
		{"floats", idx.Float32, []float64{1.5, -2, math.Inf(1)}, "000000c0 0000807f"},
		{"positive zero as minimum is written as negative", idx.Float32, []float64{0, 1}, "00000080 0000803f"},
		{"negative zero as maximum is written as positive", idx.Float64, []float64{negativeZero, -1},
			"000000000000f0bf 0000000000000000"},
		{"zeros", idx.Float64, []float64{negativeZero}, "0000000000000080 0000000000000000"},
		{"no bounds with a NaN first", idx.Float64, []float64{nan, 1}, " "},
		{"no bounds with a NaN last", idx.Float32, []float64{1, nan}, " "},
	} {
		written := scalars(test.dtype, elements(test.dtype, test.values...))
		file := write(t, written, sink.Options{}, 2)
		check(t, written, file, "list")
		f := open(t, file)
		s := f.Metadata().RowGroups[0].Columns[0].MetaData.Statistics
		if found := fmt.Sprintf("%x %x", s.MinValue, s.MaxValue); found != test.bounds || s.NullCount != 0 {
			t.Errorf("%s: found the bounds %s, %d nulls, expected %s and 0", test.name, found, s.NullCount, test.bounds)
		}
		indexed := f.Metadata().RowGroups[0].Columns[0].ColumnIndexOffset != 0
		if indexed != (test.bounds != " ") {
			t.Fatalf("%s: found a column index: %v", test.name, indexed)
		}
		if indexed {
			index := f.ColumnIndexes()[0]
			if found := fmt.Sprintf("%x %x", index.MinValues[0], index.MaxValues[0]); found != test.bounds {
				t.Errorf("%s: found %s in the column index, expected %s", test.name, found, test.bounds)
			}
		}
	}
}

// TestColumnIndex writes pages of 20,000 rows with different ranges.
func TestColumnIndex(t *testing.T) {
	t.Parallel()
	type test struct {
		name       string
		value      func(row int) float64
		order      format.BoundaryOrder
		mins, maxs []float64
	}
	bounded := func(name string, order format.BoundaryOrder, mins, maxs []float64) test {
		value := func(row int) float64 { return [][]float64{mins, maxs}[row%2][row/20_000] }
		return test{name, value, order, mins, maxs}
	}
	for _, test := range []test{
		{"ascending", func(row int) float64 { return float64(row) }, format.Ascending, []float64{0, 20_000, 40_000},
			[]float64{19_999, 39_999, 44_999}},
		{"descending", func(row int) float64 { return float64(-row) }, format.Descending,
			[]float64{-19_999, -39_999, -44_999}, []float64{0, -20_000, -40_000}},
		{"unordered", func(row int) float64 { return float64(row / 20_000 % 2) }, format.Unordered, []float64{0, 1, 0},
			[]float64{0, 1, 0}},
		bounded("ascending with equal bounds", format.Ascending, []float64{0, 0, 1}, []float64{1, 1, 2}),
		bounded("descending with equal bounds", format.Descending, []float64{1, 0, 0}, []float64{2, 1, 1}),
		bounded("minima descend, maxima ascend", format.Unordered, []float64{0, -1, -2}, []float64{0, 1, 2}),
		bounded("minima ascend, maxima descend", format.Unordered, []float64{-2, -1, 0}, []float64{2, 1, 0}),
	} {
		var values []float64
		for row := range 45_000 {
			values = append(values, test.value(row))
		}
		index := open(t, write(t, scalars(idx.Int32, elements(idx.Int32, values...)), sink.Options{},
			45_000)).ColumnIndexes()[0]
		if index.BoundaryOrder != test.order || len(index.MinValues) != 3 {
			t.Errorf("%s: found %v order of %d pages, expected %v of 3", test.name,
				index.BoundaryOrder, len(index.MinValues), test.order)
		}
		if fmt.Sprint(index.NullPages, index.NullCounts) != "[false false false] [0 0 0]" {
			t.Errorf("%s: found the null pages %v and null counts %v, expected three pages without nulls", test.name,
				index.NullPages, index.NullCounts)
		}
		for i := range index.MinValues {
			least, greatest := elements(idx.Int32, test.mins[i]), elements(idx.Int32, test.maxs[i])
			if !bytes.Equal(index.MinValues[i], least) || !bytes.Equal(index.MaxValues[i], greatest) {
				t.Errorf("%s: page %d: found %x to %x, expected %x to %x", test.name,
					i, index.MinValues[i], index.MaxValues[i], least, greatest)
			}
		}
	}
}

// TestTensorsHaveNoBounds checks that pixels have no bounds: nobody searches for pixels, and
// finding the bounds takes time.
func TestTensorsHaveNoBounds(t *testing.T) {
	t.Parallel()
	written := layouttest.Random(100, source.Column{Name: "image", DType: idx.Uint8, Shape: []int{4}},
		source.Column{Name: "empty", DType: idx.Uint8, Shape: []int{0}})
	file := write(t, written, sink.Options{}, 100)
	for i, nulls := range []int64{0, 100} {
		chunk := open(t, file).Metadata().RowGroups[0].Columns[i]
		if s := chunk.MetaData.Statistics; s.MinValue != nil || s.MaxValue != nil || s.NullCount != nulls ||
			chunk.ColumnIndexOffset != 0 {
			t.Errorf("leaf %d: found %+v, expected no bounds and %d nulls", i, s, nulls)
		}
	}
}

func TestScalarEncodings(t *testing.T) {
	t.Parallel()
	counting := func(d idx.DType, n, distinct int) []byte {
		var values []float64
		for i := range n {
			values = append(values, float64(i%distinct))
		}
		return elements(d, values...)
	}
	for _, test := range []struct {
		name       string
		dtype      idx.DType
		packed     []byte
		dictionary int32 // entries, 0 for PLAIN
	}{
		{"ten classes", idx.Uint8, counting(idx.Uint8, 1000, 10), 10},
		{"one value", idx.Float64, counting(idx.Float64, 1000, 1), 1},
		{"all bytes", idx.Uint8, counting(idx.Uint8, 60_000, 256), 256},
		{"65,536 values", idx.Float64, counting(idx.Float64, 120_000, 65_536), 65_536},
		{"65,537 values", idx.Float64, counting(idx.Float64, 120_000, 65_537), 0},
		{"600 of 1000: less than 4·1000 bytes", idx.Int32, counting(idx.Int32, 1000, 600), 600}, // 4·600 + 1000·10/8
		{"720 of 1000: more than 4·1000 bytes", idx.Int32, counting(idx.Int32, 1000, 720), 0},
		{"as many values as rows", idx.Int32, counting(idx.Int32, 1000, 1000), 0},
		{"single row", idx.Int16, counting(idx.Int16, 1, 1), 0},
	} {
		written := scalars(test.dtype, test.packed)
		file := write(t, written, sink.Options{}, 50_000)
		check(t, written, file, "list")
		group := open(t, file).Metadata().RowGroups[0]
		m := group.Columns[0].MetaData
		found := int32(0)
		if m.DictionaryPageOffset != 0 {
			found = pageAt(t, file, m.DictionaryPageOffset).header.DictionaryPageHeader.V.NumValues
		}
		if found != test.dictionary {
			t.Errorf("%s: found a dictionary of %d entries, expected %d", test.name, found, test.dictionary)
		}
		pages := m.EncodingStats[len(m.EncodingStats)-1]
		if want := int32((group.NumRows + 19_999) / 20_000); pages.PageType != format.DataPage || pages.Count != want {
			t.Errorf("%s: found %+v, expected %d data pages", test.name, pages, want)
		}
	}
}

// TestAppendPacked compares with the definition, bit by bit: bit k of index i is bit i·width+k of
// the run.
func TestAppendPacked(t *testing.T) {
	t.Parallel()
	source := rand.New(rand.NewPCG(1, 2))
	for width := 1; width <= 16; width++ {
		for _, n := range []int{0, 1, 7, 8, 9, 100} {
			want := make([]byte, (n+7)/8*width)
			indices := make([]uint16, n)
			for i := range indices {
				indices[i] = uint16(source.IntN(1 << width))
				for k := range width {
					at := i*width + k
					want[at/8] |= byte(indices[i]>>k&1) << (at % 8)
				}
			}
			if found := appendPacked([]byte{9}, indices, width); !bytes.Equal(found, append([]byte{9}, want...)) {
				t.Errorf("%d indices of %d bits: found %x, expected 09%x", n, width, found, want)
			}
		}
	}
}

// TestDistinct compares with a map.
func TestDistinct(t *testing.T) {
	t.Parallel()
	source := rand.New(rand.NewPCG(3, 4))
	var d distinct
	for _, size := range []int{1, 2, 4, 8, 4} { // the table is reused
		var packed []byte
		numbers := map[uint64]uint16{}
		var want []uint16
		for range 30_000 {
			key := uint64(source.ExpFloat64()*2000) & (1<<(8*min(size, 7)) - 1)
			if _, ok := numbers[key]; !ok {
				numbers[key] = uint16(len(numbers))
			}
			want = append(want, numbers[key])
			packed = append(packed, binary.LittleEndian.AppendUint64(nil, key)[:size]...)
		}
		d.reset(maxDistinct)
		d.add(packed, size)
		if d.full || !slices.Equal(d.indices, want) || len(d.keys) != len(numbers) {
			t.Errorf("elements of %d bytes: the indices differ from the map's", size)
		}
	}
}

// named returns a table of labels of d with names; the labels cycle from first to last.
func named(d idx.DType, rows, first, last int, names ...string) layouttest.Table {
	t := layouttest.Table{Named: true, Rows: rows, Columns: []source.Column{{Name: "label", DType: d, Classes: names}},
		Data: [][]byte{nil}}
	for row := range rows {
		t.Data[0] = append(t.Data[0], elements(d, float64(first+row%(last-first+1)))...)
	}
	return t
}

// numbered returns n names.
func numbered(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("class %d", i)
	}
	return names
}

// TestNames reads the names back with parquet-go, for all widths of an index, several pages and row
// groups.
func TestNames(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		table  layouttest.Table
		bounds string
		values int // entries of the dictionary
	}{
		"one name":         {named(idx.Uint8, 5, 0, 0, "only"), "only only", 1},
		"label order":      {named(idx.Uint8, 45_000, 0, 2, "pear", "Zebra", "apple"), "Zebra pear", 3},
		"names that occur": {named(idx.Int32, 9, 1, 2, "a", "c", "b", "d"), "b c", 4},
		"unsigned bytes":   {named(idx.Int8, 9, 0, 1, "z", "é"), "z é", 2},
		"300 names":        {named(idx.Int16, 1_000, 1, 299, numbered(300)...), "class 1 class 99", 300},
		"65,536 names": {named(idx.Int32, 3, 65_533, 65_535, numbered(65_536)...), "class 65533 class 65535",
			65_536},
		// A dictionary larger than a page would be overwritten if its memory were recycled.
		"two row groups": {named(idx.Int16, 100_000, 0, 4_095, numbered(4_096)...), "class 0 class 999", 4_096},
		"a long name": {named(idx.Uint8, 9, 0, 1, "a", strings.Repeat("b", 1024)), "a " + strings.Repeat("b", 1024),
			2},
		"a name too long": {named(idx.Uint8, 9, 0, 1, "a", strings.Repeat("b", 1025)), " ", 2},
	} {
		for _, codec := range []string{"none", "zstd"} {
			file := write(t, test.table, sink.Options{Compression: compressed.Codec{Name: codec}}, 700)
			f := open(t, file)
			column := test.table.Columns[0]
			rows := rowsOf(t, f)
			if len(rows) != test.table.Rows {
				t.Fatalf("%s: found %d rows, expected %d", name, len(rows), test.table.Rows)
			}
			for i, row := range rows {
				want := column.Classes[source.Int(column.DType, test.table.Data[0], i)]
				if len(row) != 2 || row[1].String() != want {
					t.Fatalf("%s: row %d: found %v, expected the class %q", name, i, row, want)
				}
			}
			for _, group := range f.Metadata().RowGroups {
				m := group.Columns[1].MetaData
				if found := fmt.Sprintf("%s %s", m.Statistics.MinValue, m.Statistics.MaxValue); found != test.bounds {
					t.Errorf("%s: found the bounds %s, expected %s", name, found, test.bounds)
				}
				if indexed := group.Columns[1].ColumnIndexOffset != 0; indexed != (test.bounds != " ") {
					t.Errorf("%s: found a column index: %v", name, indexed)
				}
				p := pageAt(t, file, m.DictionaryPageOffset)
				if p.header.Type != format.DictionaryPage ||
					int(p.header.DictionaryPageHeader.V.NumValues) != test.values {
					t.Errorf("%s: found %v, expected a dictionary of %d values", name, p.header, test.values)
				}
			}
		}
	}
}
