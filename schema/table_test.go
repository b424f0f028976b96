package schema

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// little is values as Arrow keeps them in memory.
func little(t testing.TB, values any) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := binary.Write(&out, binary.LittleEndian, values); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// file makes an IDX file with encoding/binary alone.
func file(t testing.TB, d idx.DType, dims []int, values any) []byte {
	t.Helper()
	var out bytes.Buffer
	parts := []any{uint32(d)<<8 | uint32(len(dims))}
	for _, n := range dims {
		parts = append(parts, uint32(n))
	}
	for _, part := range append(parts, values) {
		if err := binary.Write(&out, binary.BigEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// table is a column of that name over an IDX file in memory.
func table(t testing.TB, name string, data []byte, salvage bool) source.Table {
	t.Helper()
	in, err := source.NewIDX(bytes.NewReader(data), name+".idx", source.Options{Name: name, Salvage: salvage})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	return in
}

// values are n elements of d, extremes among them.
func values(t testing.TB, d idx.DType, n int) any {
	t.Helper()
	switch d {
	case idx.Uint8:
		return fill(n, func(i int) uint8 { return uint8(i * 37) }, 255)
	case idx.Int8:
		return fill(n, func(i int) int8 { return int8(i * 37) }, -128, 127)
	case idx.Int16:
		return fill(n, func(i int) int16 { return int16(i * 0x0315) }, math.MinInt16, math.MaxInt16)
	case idx.Int32:
		return fill(n, func(i int) int32 { return int32(i * 0x01030507) }, math.MinInt32, math.MaxInt32)
	case idx.Float32:
		return fill(n, func(i int) float32 { return float32(i) / 7 }, float32(math.Inf(-1)), math.SmallestNonzeroFloat32)
	case idx.Float64:
		return fill(n, func(i int) float64 { return float64(i) / 7 }, math.Inf(1), math.SmallestNonzeroFloat64)
	}
	t.Fatalf("no values of %v", d)
	return nil
}

func fill[T any](n int, at func(int) T, first ...T) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = at(i)
	}
	copy(all, first)
	return all
}
