package arrow

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/columnar"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sourcetest"
)

// windowed returns an Arrow stream of two columns of int64 as one record batch: the values, and
// small numbers.
func windowed(t *testing.T, values []int64, options ...ipc.Option) []byte {
	t.Helper()
	x := arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int64}
	fields := []arrow.Field{x, {Name: "label", Type: x.Type}}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	b.Field(0).(*array.Int64Builder).AppendValues(values, nil)
	for i := range values {
		b.Field(1).(*array.Int64Builder).Append(int64(i % 10))
	}
	var out bytes.Buffer
	w := ipc.NewWriter(&out, append(options, ipc.WithSchema(b.Schema()))...)
	must.Do(t, w.Write(b.NewRecordBatch()))
	must.Do(t, w.Close())
	return out.Bytes()
}

var windowCodecs = map[string][]ipc.Option{"none": nil, "lz4": {ipc.WithLZ4()}, "zstd": {ipc.WithZstd()},
	"stored": {ipc.WithZstd(), ipc.WithMinSpaceSavings(1)}} // each buffer without compression, and -1 before it

// TestWindows reads large record batches in windows, which keep values of all sizes: the first
// value that needs more bytes than those before it is anywhere.
func TestWindows(t *testing.T) {
	t.Parallel()
	for codec, options := range windowCodecs {
		for _, large := range []int64{255, 256, -1, math.MaxInt32, math.MinInt32, math.MaxInt32 + 1, math.MinInt64} {
			for at := range 5 {
				values, x, labels := make([]int64, 500), make([]byte, 4*500), []byte{}
				values[at*124] = large
				binary.LittleEndian.PutUint32(x[at*496:], uint32(large))
				for i := range values {
					labels = append(labels, byte(i%10), 0, 0, 0)
				}
				table := must.Get(Open(save(t, windowed(t, values, options...)), source.ReadOptions{}))(t)
				if int64(int32(large)) == large {
					columns := []source.Column{{Name: "x", DType: idx.Int32}, {Name: "label", DType: idx.Int32}}
					sourcetest.Expect(t, table, 1+97*at, columns, [][]byte{x, labels})
				} else if _, err := sourcetest.ReadAll(table, 1+97*at); err == nil ||
					!strings.Contains(err.Error(), "column x, row") {
					t.Errorf("%s, %d: found %v, expected that the value is too large", codec, large, err)
				}
				must.Do(t, table.Close())
			}
		}
	}
}

// TestColumnsOfWindows: tensors have windows, but not beside bits or unknown lengths.
func TestColumnsOfWindows(t *testing.T) {
	t.Parallel()
	schema := arrow.NewSchema(slices.Repeat([]arrow.Field{{Type: arrow.PrimitiveTypes.Int16}}, 2), nil)
	tensor := columnar.Field{Number: source.NumberInt16, Lengths: []int{2, 3}}
	for i, other := range []columnar.Field{tensor, {Number: source.NumberBool}, {Kind: columnar.Text},
		{Number: source.NumberInt16, Lengths: []int{-1, -1}}, {Number: source.NumberInt16, Lengths: []int{0}}} {
		w := newWindows(schema, []columnar.Field{tensor, other})
		if all := w.columns; (all != nil) != (i == 0) || i == 0 && (all[1].buffer != 7 || all[1].width != 12 ||
			w.size != 24 || !slices.Equal(w.perRow, []int64{1, 2, 6, 1, 2, 6})) {
			t.Errorf("%+v: found %+v", other, w)
		}
	}
}

// TestDamagedWindows changes the number of rows, and the size that each buffer, of 500 values, says
// that it has. There may be 256 bytes of padding.
func TestDamagedWindows(t *testing.T) {
	t.Parallel()
	long := func(n int64) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(n)) }
	for _, codec := range []string{"lz4", "zstd"} {
		file := windowed(t, make([]int64, 500), windowCodecs[codec]...)
		for size, want := range map[[2]int64]string{{500, 4000}: "", {499, 4000}: "", {468, 4000}: "",
			{467, 4000}: "found a buffer of 4000 bytes, expected 3736", {500, 3999}: "expected 4000",
			{500, 4256}: "cannot be decompressed", {499, 3992}: "cannot be decompressed"} {
			changed := bytes.ReplaceAll(bytes.ReplaceAll(file, long(500), long(size[0])), long(4000), long(size[1]))
			if _, err := try(t, nil, save(t, changed)); (err == nil) != (want == "") ||
				err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s, %v: found %v, expected %q", codec, size, err, want)
			}
		}
	}
}
