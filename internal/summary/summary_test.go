package summary

import (
	"context"
	"encoding/binary"
	"maps"
	"math"
	"testing"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
)

// summarize passes the batches of one column through a sink.
func summarize(t *testing.T, c source.Column, batches ...[]byte) Column {
	t.Helper()
	k := New(&schema.Schema{Columns: []source.Column{c}})
	for _, data := range batches {
		step := must.Get(
			k.Encode(context.Background(), schema.Batch{Rows: len(data) / c.RecordSize(), Columns: [][]byte{data}}))(t)
		must.Do(t, step())
	}
	must.Do(t, k.Close())
	return k.Columns[0]
}

func TestIntegers(t *testing.T) {
	t.Parallel()
	little := func(values any) []byte { return must.Get(binary.Append(nil, binary.LittleEndian, values))(t) }
	le16 := func(values ...int16) []byte { return little(values) }
	le32 := func(values ...int32) []byte { return little(values) }
	type counts = map[int64]int64
	for name, test := range map[string]struct {
		dtype          idx.DType
		batches        [][]byte
		min, max, mean float64
		zeros          int64
		counts         counts
	}{
		"unsigned bytes": {idx.Uint8, [][]byte{{0, 255, 0}, {3}}, 0, 255, 64.5, 2, counts{0: 2, 3: 1, 255: 1}},
		"signed bytes": {idx.Int8, [][]byte{{0x80, 0x7f}, {0xff, 0}}, -128, 127, -0.5, 1,
			counts{-128: 1, 127: 1, -1: 1, 0: 1}},
		"shorts": {idx.Int16, [][]byte{le16(-32768, 32767), le16(1)}, -32768, 32767, 0, 0,
			counts{-32768: 1, 32767: 1, 1: 1}},
		"ints": {idx.Int32, [][]byte{le32(math.MinInt32), le32(math.MaxInt32, 1)}, math.MinInt32, math.MaxInt32, 0, 0,
			counts{math.MinInt32: 1, math.MaxInt32: 1, 1: 1}},
		"all above zero":    {idx.Uint8, [][]byte{{7}, {5, 6}}, 5, 7, 6, 0, counts{5: 1, 6: 1, 7: 1}},
		"empty first batch": {idx.Uint8, [][]byte{{}, {5}}, 5, 5, 5, 0, counts{5: 1}},
	} {
		c := summarize(t, source.Column{DType: test.dtype}, test.batches...)
		if c.Min != test.min || c.Max != test.max || c.Mean() != test.mean || c.Zeros != test.zeros ||
			!maps.Equal(c.Counts, test.counts) {
			t.Errorf("%s: found %+v, mean %v, expected %+v", name, c, c.Mean(), test)
		}
	}
}

func TestFloats(t *testing.T) {
	t.Parallel()
	var data []byte
	for _, v := range []float64{math.NaN(), math.Inf(1), -2.5, math.Copysign(0, -1), 4, math.Inf(-1)} {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
	}
	c := summarize(t, source.Column{DType: idx.Float64}, data[:16], data[16:])
	if c.Min != -2.5 || c.Max != 4 || c.Mean() != 0.5 || c.Zeros != 1 || c.NaNs != 1 || c.Infs != 2 ||
		c.Elements != 6 || c.Counts != nil {
		t.Errorf("found %+v, mean %v", c, c.Mean())
	}
}

// Tensors have no labels, nor do columns with too many values.
func TestNoLabels(t *testing.T) {
	t.Parallel()
	tensor := source.Column{DType: idx.Uint8, Shape: []int{2}}
	if c := summarize(t, tensor, []byte{1, 2}); c.Counts != nil || c.Sum != 3 {
		t.Errorf("found %+v", c)
	}
	var data []byte
	for v := range uint32(MaxLabels + 1) {
		data = binary.LittleEndian.AppendUint32(data, v)
	}
	if c := summarize(t, source.Column{DType: idx.Int32}, data[:4*MaxLabels]); len(c.Counts) != MaxLabels {
		t.Errorf("found %d counts, expected %d", len(c.Counts), MaxLabels)
	}
	if c := summarize(t, source.Column{DType: idx.Int32}, data[:4*MaxLabels], data[4*MaxLabels:]); c.Counts != nil {
		t.Errorf("found %d counts, expected none", len(c.Counts))
	}
}
