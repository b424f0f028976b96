package parquet

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/source/idx"
)

// TestDistinct compares with a map.
func TestDistinct(t *testing.T) {
	t.Parallel()
	source := rand.New(rand.NewPCG(3, 4))
	var d distinct
	for _, size := range []int{1, 2, 4, 8, 4} { // the table is used again
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

// TestDistinctGivesUp: as many values as the limit are numbered, one more is not.
func TestDistinctGivesUp(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1_000, 1_001} {
		var packed []byte
		for i := range n {
			packed = binary.LittleEndian.AppendUint16(packed, uint16(i))
		}
		var d distinct
		d.reset(1_000)
		if d.add(packed, 2); d.full != (n > 1_000) {
			t.Errorf("%d values with a limit of 1000: found full %v", n, d.full)
		}
	}
}

// TestMostEntries: a dictionary of so many values pays, if any does, and none of more.
func TestMostEntries(t *testing.T) {
	t.Parallel()
	for _, d := range []idx.DType{idx.Uint8, idx.Int16, idx.Int32, idx.Float64} {
		l := &leaf{valueSize: max(4, d.Size())}
		l.Element = d
		for rows := 1; rows < 400_000; rows += 1 + rows/3 {
			most, want := l.mostEntries(rows), 0
			for n := 1; n <= min(maxDistinct, rows) && n < 1<<(8*min(d.Size(), 4)); n++ {
				if l.dictionaryPays(n, rows) {
					want = n
				}
			}
			if most < want {
				t.Errorf("%v, %d rows: found %d, expected at least %d", d, rows, most, want)
			}
		}
	}
}

// TestBatchesOfManyValues: batches with many values do not decide what their chunk becomes.
func TestBatchesOfManyValues(t *testing.T) {
	t.Parallel()
	const rows = 120_000
	for name, test := range map[string]struct {
		value      func(row int) float64
		dictionary bool
	}{
		"few values, then many":        {func(row int) float64 { return float64(max(row-60_000, 0) % 30_000) }, true},
		"many values, then few":        {func(row int) float64 { return float64(min(row, 50_000)) }, true},
		"many values, the same again":  {func(row int) float64 { return float64(row % 60_000) }, true},
		"many values, then other ones": {func(row int) float64 { return float64(row) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var values []float64
			for row := range rows {
				values = append(values, test.value(row))
			}
			written := scalars(idx.Float64, elements(idx.Float64, values...))
			s := written.Schema()
			s.Rows = -1 // one row group
			file := written.Write(t, with(Options{Compression: "none"}), s, s.BatchRows())
			check(t, written, file, "list")
			found := open(t, file).Metadata().RowGroups[0].Columns[0].MetaData
			if slices.Contains(found.Encoding, format.RLEDictionary) != test.dictionary {
				t.Errorf("found the encodings %v, expected a dictionary: %v", found.Encoding, test.dictionary)
			}
		})
	}
}
