package arrow

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sourcetest"
)

// windowed returns an Arrow stream of two columns of int64 as one record batch: the values, and
// small numbers.
func windowed(t *testing.T, values []int64, option ipc.Option) []byte {
	t.Helper()
	fields := []arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int64},
		{Name: "label", Type: arrow.PrimitiveTypes.Int64}}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	for i, v := range values {
		b.Field(0).(*array.Int64Builder).Append(v)
		b.Field(1).(*array.Int64Builder).Append(int64(i % 10))
	}
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(b.Schema()), option)
	must.Do(t, w.Write(b.NewRecordBatch()))
	must.Do(t, w.Close())
	return out.Bytes()
}

// TestWindows reads large record batches in windows, which keep values of all sizes: the first
// value that needs more bytes than those before it is anywhere.
func TestWindows(t *testing.T) {
	t.Parallel()
	for codec, option := range map[string]ipc.Option{"lz4": ipc.WithLZ4(), "zstd": ipc.WithZstd()} {
		for _, large := range []int64{255, 256, -1, math.MaxInt32, math.MinInt32, math.MaxInt32 + 1, math.MinInt64} {
			for at := range 5 {
				values, x, labels := make([]int64, 500), []byte{}, []byte{}
				values[at*124] = large
				for i, v := range values {
					x = binary.LittleEndian.AppendUint32(x, uint32(v))
					labels = binary.LittleEndian.AppendUint32(labels, uint32(i%10))
				}
				table := must.Get(Open(save(t, windowed(t, values, option)), source.ReadOptions{}))(t)
				if int64(int32(large)) == large {
					sourcetest.Expect(t, table, 1+97*at,
						[]source.Column{{Name: "x", DType: idx.Int32}, {Name: "label", DType: idx.Int32}},
						[][]byte{x, labels})
				} else if _, err := sourcetest.ReadAll(table, 1+97*at); err == nil ||
					!strings.Contains(err.Error(), "column x, row") {
					t.Errorf("%s, %d: found %v, expected that the value is too large", codec, large, err)
				}
				must.Do(t, table.Close())
			}
		}
	}
}
