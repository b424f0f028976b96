package csv

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/idxport/idxport/source/idx"
)

// BenchmarkRender compares the renderers with the plain loop, in bytes of text.
func BenchmarkRender(b *testing.B) {
	const n = 1 << 16
	for _, bench := range []struct {
		name  string
		dtype idx.DType
		value func(i int) uint64 // bits of element i
	}{
		{"uint8/random", idx.Uint8, func(int) uint64 { return rand.Uint64() }},
		{"uint8/zeros", idx.Uint8, func(int) uint64 { return 0 }},
		{"int8/random", idx.Int8, func(int) uint64 { return rand.Uint64() }},
		{"int16/random", idx.Int16, func(int) uint64 { return rand.Uint64() }},
		{"int32/small", idx.Int32, func(int) uint64 { return rand.Uint64N(1000) }},
		{"int32/random", idx.Int32, func(int) uint64 { return rand.Uint64() }},
		{"float32/random", idx.Float32, func(int) uint64 { return uint64(math.Float32bits(rand.Float32())) }},
		{"float32/background", idx.Float32, func(int) uint64 { return uint64(math.Float32bits(-0.42421296)) }},
		{"float64/random", idx.Float64, func(int) uint64 { return math.Float64bits(rand.Float64()) }},
	} {
		src := make([]byte, 0, n*bench.dtype.Size())
		for i := range n {
			var element [8]byte
			binary.LittleEndian.PutUint64(element[:], bench.value(i))
			src = append(src, element[:bench.dtype.Size()]...)
		}
		dst := make([]byte, 0, n*width(bench.dtype)+slack)
		hot := (&renderers{comma: ','}).of(bench.dtype)
		for name, render := range map[string]renderer{"hot": hot, "plain": plain(bench.dtype)} {
			b.Run(bench.name+"/"+name, func(b *testing.B) {
				for b.Loop() {
					dst = render(dst[:0], src)
				}
				b.SetBytes(int64(len(dst)))
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/element")
			})
		}
	}
}

// BenchmarkTables shows what New costs.
func BenchmarkTables(b *testing.B) {
	b.Run("pairs", func(b *testing.B) {
		for b.Loop() {
			newPairTable(',')
		}
	})
	b.Run("shorts", func(b *testing.B) {
		for b.Loop() {
			newShortTable(',')
		}
	})
}

// plain is the renderer for d as one would write it without measuring.
func plain(d idx.DType) renderer {
	size := d.Size()
	return func(dst, src []byte) []byte {
		for ; len(src) > 0; src = src[size:] {
			switch d {
			case idx.Uint8:
				dst = strconv.AppendUint(dst, uint64(src[0]), 10)
			case idx.Int8:
				dst = strconv.AppendInt(dst, int64(int8(src[0])), 10)
			case idx.Int16:
				dst = strconv.AppendInt(dst, int64(int16(binary.LittleEndian.Uint16(src))), 10)
			case idx.Int32:
				dst = strconv.AppendInt(dst, int64(int32(binary.LittleEndian.Uint32(src))), 10)
			case idx.Float32:
				dst = strconv.AppendFloat(dst, float64(math.Float32frombits(binary.LittleEndian.Uint32(src))), 'g', -1, 32)
			default:
				dst = strconv.AppendFloat(dst, math.Float64frombits(binary.LittleEndian.Uint64(src)), 'g', -1, 64)
			}
			dst = append(dst, ',')
		}
		return dst
	}
}
