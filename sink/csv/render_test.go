package csv

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
)

type makeRenderer = func(idx.DType) (renderer, int)

// checkRender compares the renderer for d with the reference, and the reference's lengths with the
// width.
func checkRender(t *testing.T, r makeRenderer, d idx.DType, src []byte) {
	t.Helper()
	n := len(src) / d.Size()
	render, width := r(d)
	src = src[:n*d.Size()]
	const before = "before,"
	room := make([]byte, 0, len(before)+n*width+slack)
	got := string(render(append(room, before...), src))
	var want strings.Builder
	want.WriteString(before)
	for ; len(src) > 0; src = src[d.Size():] {
		value := referenceValue(d, src[:d.Size()])
		if len(value)+1 > width {
			t.Fatalf("%s: %q is longer than the width %d", d, value, width)
		}
		want.WriteString(value + ",")
	}
	if got != want.String() {
		t.Fatalf("%s: %s", d, difference(got, want.String()))
	}
}

// difference describes the first difference between got and want.
func difference(got, want string) string {
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	return "at byte " + strconv.Itoa(i) + ": got …" + got[max(0, i-20):min(len(got), i+20)] + "…, want …" +
		want[max(0, i-20):min(len(want), i+20)] + "…"
}

func TestEveryPairOfBytes(t *testing.T) {
	t.Parallel()
	r := renderers(',')
	src := make([]byte, 0, 2<<16)
	for i := range 1 << 16 {
		src = binary.LittleEndian.AppendUint16(src, uint16(i))
	}
	for _, d := range []idx.DType{idx.Uint8, idx.Int8, idx.Int16} {
		checkRender(t, r, d, src)
		checkRender(t, r, d, src[1:]) // pairs at odd offsets
	}
}

// TestRunsOfZeros tests the shortcut for eight zeros and the code for elements after whole words.
func TestRunsOfZeros(t *testing.T) {
	t.Parallel()
	r := renderers(',')
	for length := range 40 {
		for nonzero := range length + 1 {
			src := make([]byte, length)
			if nonzero < length {
				src[nonzero] = 200
			}
			for _, d := range idx.DTypes() {
				checkRender(t, r, d, src)
			}
		}
	}
}

// TestWidestTexts checks that the longest texts fit the buffer.
func TestWidestTexts(t *testing.T) {
	t.Parallel()
	r := renderers(',')
	for d, element := range map[idx.DType][]byte{
		idx.Uint8:   {255},
		idx.Int8:    bytesOf(t, int8(-128)),
		idx.Int16:   bytesOf(t, int16(-32768)),
		idx.Int32:   bytesOf(t, int32(-2147483648)),
		idx.Float32: bytesOf(t, float32(-0.000123456789)),
		idx.Float64: bytesOf(t, -1.2345678901234567e-308),
	} {
		for length := range 40 {
			src := slices.Repeat(element, length)
			checkRender(t, r, d, src)
			for i := len(element); i < len(src); i += 2 * len(element) {
				src[i] ^= 1 // no equal neighbours
			}
			checkRender(t, r, d, src)
		}
	}
}

func TestIntsAtEveryLength(t *testing.T) {
	t.Parallel()
	r := renderers(',')
	var values []int32
	for power := int64(1); power <= 10_000_000_000; power *= 10 {
		for digit := int64(1); digit <= 9; digit++ {
			for off := int64(-2); off <= 2; off++ {
				// some wrap, which does not matter
				values = append(values, int32(digit*power+off), int32(-digit*power+off))
			}
		}
	}
	for bit := range 32 {
		values = append(values, 1<<bit-1, 1<<bit, -1<<bit-1, -1<<bit)
	}
	for range 1 << 17 {
		values = append(values, int32(rand.Uint32()), int32(rand.Uint32())>>rand.Uint32N(32))
	}
	checkRender(t, r, idx.Int32, bytesOf(t, values))
}

// TestFloatsAtEveryExponent tests floats whose shortest text is hard to find: next to powers of
// two, where the distance to the neighbours changes, halfway between decimals, and with few bits.
func TestFloatsAtEveryExponent(t *testing.T) {
	t.Parallel()
	r := renderers(',')
	var singles, doubles []byte
	for exponent := range uint64(0x7ff) {
		for _, fraction := range []uint64{0, 1, 2, 3, 5, 1<<51 - 1, 1 << 51, 1<<51 + 1, 1<<52 - 2, 1<<52 - 1,
			rand.Uint64N(1 << 52), rand.Uint64N(1 << 52)} {
			value := exponent<<52 | fraction
			doubles = binary.LittleEndian.AppendUint64(doubles, value)
			singles = binary.LittleEndian.AppendUint32(singles, uint32(exponent<<23|fraction>>29))
			singles = binary.LittleEndian.AppendUint32(singles, uint32(exponent<<23|fraction&(1<<23-1)))
		}
	}
	for power := -330; power < 308; power++ {
		for digit := range 10 {
			v := must.Get(strconv.ParseFloat(fmt.Sprintf("%de%d", digit, power), 64))(t)
			doubles = append(doubles, bytesOf(t, []float64{v, v / 2, v + 1, v * 3})...)
			singles = append(singles, bytesOf(t, []float32{float32(v), float32(v / 2), float32(v + 1),
				float32(v * 3)})...)
		}
	}
	checkRender(t, r, idx.Float64, doubles)
	checkRender(t, r, idx.Float32, singles)
}

// FuzzRender compares the renderers with the reference. The first byte chooses the data type.
func FuzzRender(f *testing.F) {
	for i := range idx.DTypes() {
		f.Add(append([]byte{byte(i)}, "\x00\x00\x00\x00\x00\x00\x00\x00"+
			"\xff\x80\x7f\x01\xff\xff\xff\xff\x00\x00\x80\x7f"...))
	}
	r := renderers(',')
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 0 {
			all := idx.DTypes()
			checkRender(t, r, all[int(data[0])%len(all)], data[1:])
		}
	})
}
