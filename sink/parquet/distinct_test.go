package parquet

import (
	"encoding/binary"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
)

// TestDistinct compares with a map: values numbered at once, and batches of them numbered on their own and merged.
func TestDistinct(t *testing.T) {
	t.Parallel()
	source := rand.New(rand.NewPCG(3, 4))
	var whole, merged, batch distinct
	for _, size := range []int{1, 2, 4, 8, 4} { // the tables are used again
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
		whole.reset(maxDistinct)
		whole.add(packed, size)
		merged.reset(maxDistinct)
		for rest := packed; len(rest) > 0; {
			n := min(7_001*size, len(rest))
			batch.reset(maxDistinct)
			batch.add(rest[:n], size)
			merged.merge(&batch)
			rest = rest[n:]
		}
		for name, d := range map[string]*distinct{"whole": &whole, "merged": &merged} {
			if d.full || !slices.Equal(d.indices, want) || len(d.keys) != len(numbers) {
				t.Errorf("elements of %d bytes, %s: the indices differ from the map's", size, name)
			}
		}
	}
}

// TestDistinctGivesUp: as many values as the limit are numbered, one more is not, whether it comes in a batch or from another.
func TestDistinctGivesUp(t *testing.T) {
	t.Parallel()
	values := func(from, to int) []byte { // of two bytes each
		var packed []byte
		for i := from; i < to; i++ {
			packed = binary.LittleEndian.AppendUint16(packed, uint16(i))
		}
		return packed
	}
	for name, fill := range map[string]func(d *distinct, n int){
		"added": func(d *distinct, n int) { d.add(values(0, n), 2) },
		"merged": func(d *distinct, n int) {
			for _, ends := range [][2]int{{0, 600}, {300, n}} {
				var batch distinct
				batch.reset(2_000)
				batch.add(values(ends[0], ends[1]), 2)
				d.merge(&batch)
			}
		},
	} {
		for _, n := range []int{1_000, 1_001} {
			var d distinct
			d.reset(1_000)
			if fill(&d, n); d.full != (n > 1_000) {
				t.Errorf("%s: %d values with a limit of 1000: found full %v", name, n, d.full)
			}
		}
	}
}

// TestSketch: it never counts more than there are, and of twice as many values as a dictionary may have it counts more than those.
func TestSketch(t *testing.T) {
	t.Parallel()
	source := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 1_000, maxDistinct, 2 * maxDistinct} {
		for name, value := range map[string]func(i int) uint32{
			"counted":  func(i int) uint32 { return uint32(i) },
			"random":   func(int) uint32 { return source.Uint32() },
			"multiple": func(i int) uint32 { return uint32(i) << 12 },
		} {
			var halves [2]sketch
			different := map[uint32]bool{}
			for k := range halves {
				halves[k].reset()
			}
			for i := range n {
				v := value(i)
				different[v] = true
				halves[i%2].add(binary.LittleEndian.AppendUint32(nil, v), 4)
			}
			halves[0].union(halves[1])
			found := halves[0].count()
			if found > len(different) || n > maxDistinct && found <= maxDistinct {
				t.Errorf("%d %s values, %d of them different: found %d", n, name, len(different), found)
			}
		}
	}
}

// TestSketchesOfManyBatches has batches of few rows beside large images: what is kept until the row group ends is their values and one sketch a
// column, not one a batch.
func TestSketchesOfManyBatches(t *testing.T) {
	t.Parallel()
	columns := []source.Column{{Name: "image", DType: idx.Uint8, Shape: []int{224, 224}}, {Name: "x", DType: idx.Int32}, {Name: "y", DType: idx.Uint8}}
	table := layouttest.Random((&schema.Schema{Columns: columns}).BatchRows(), columns...)
	clear(table.Data[2]) // few values: numbers, but not with the sketches that x has had
	s := table.Schema()
	s.Rows = -1
	k, err := New(io.Discard, s, Options{Compression: "none"})
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		step, err := k.Encode(t.Context(), schema.Batch{Rows: table.Rows, Columns: table.Data})
		if err == nil {
			err = step()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	kept := 0
	for i := range k.chunks {
		kept += 8 * cap(k.chunks[i].sketch)
		for _, batch := range k.chunks[i].numbered {
			kept += 8 * cap(batch.sketch)
		}
	}
	if kept > 2*sketchSize {
		t.Errorf("found %d bytes of sketches after 50 batches, expected those of a column, about %d", kept, sketchSize)
	}
}

// TestBatchesOfManyValues: a batch that is not numbered in Encode must not change what its chunk becomes.
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
