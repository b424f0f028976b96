package schema

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/idxport/idxport/source/idx"
)

// TestAppendNumber writes the second of two elements.
func TestAppendNumber(t *testing.T) {
	t.Parallel()
	order := binary.LittleEndian
	single := func(v float64) []byte { return order.AppendUint32(make([]byte, 4), math.Float32bits(float32(v))) }
	double := func(v float64) []byte { return order.AppendUint64(make([]byte, 8), math.Float64bits(v)) }
	for _, test := range []struct {
		d    idx.DType
		data []byte
		want string
	}{
		{idx.Uint8, []byte{0, 200}, "200"},
		{idx.Int8, []byte{0, 0x80}, "-128"},
		{idx.Int16, []byte{0, 0, 0x38, 0xff}, "-200"},
		{idx.Int32, []byte{0, 0, 0, 0, 0, 0, 0, 0x80}, "-2147483648"},
		{idx.Float32, single(0.1), "0.1"},
		{idx.Float64, double(0.1), "0.1"},
		{idx.Float64, double(float64(float32(0.1))), "0.10000000149011612"},
		{idx.Float32, single(7), "7.0"},
		{idx.Float32, single(999999), "999999.0"},
		{idx.Float64, double(1e6), "1e+06"},
		{idx.Float64, double(math.Copysign(0, -1)), "-0.0"},
		{idx.Float64, double(-math.SmallestNonzeroFloat64), "-5e-324"},
		{idx.Float64, double(-2.2250738585072014e-308), "-2.2250738585072014e-308"},
		{idx.Float32, single(math.Inf(1)), "oo"},
		{idx.Float64, double(math.Inf(-1)), "-oo"},
		{idx.Float64, double(math.NaN()), "NaN"},
	} {
		if got := string(AppendNumber([]byte("x"), test.d, test.data, 1, "oo")); got != "x"+test.want ||
			len(test.want) > MaxNumber {
			t.Errorf("%v %x: found %s, expected x%s", test.d, test.data, got, test.want)
		}
	}
}
