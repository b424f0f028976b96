package csv

import (
	"flag"
	"math"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
)

var exhaustive = flag.Bool("exhaustive", false, "compare all floats of 32 bits with strconv, which takes minutes")

// TestEveryFloat32 renders all 2³² values; without -exhaustive every 4,099th. The text must be a number for strconv.ParseFloat that has the same
// bits, and as short as strconv's own.
func TestEveryFloat32(t *testing.T) {
	t.Parallel()
	step := uint64(4099) // a prime
	if *exhaustive {
		step = 1
	}
	render := floatText(',')
	var g sync.WaitGroup
	for part := range uint64(16) {
		g.Go(func() {
			src, dst := make([]byte, 4), make([]byte, 0, 64)
			for v := part << 28; v < (part+1)<<28; v += step {
				src[0], src[1], src[2], src[3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
				dst = render.append32(dst[:0], src)
				checkFloat32(t, uint32(v), strings.TrimSuffix(string(dst), ","))
			}
		})
		if runtime.GOMAXPROCS(0) == 1 {
			g.Wait()
		}
	}
	g.Wait()
}

func checkFloat32(t *testing.T, bits uint32, text string) {
	want := math.Float32frombits(bits)
	got, err := strconv.ParseFloat(text, 32)
	if err != nil && !math.IsInf(float64(want), 0) {
		t.Errorf("%08x: found %q: %v", bits, text, err)
	}
	if want != want {
		if got == got {
			t.Errorf("%08x: found %q, expected NaN", bits, text)
		}
		return
	}
	if math.Float32bits(float32(got)) != bits {
		t.Errorf("%08x: found %q, which is %08x", bits, text, math.Float32bits(float32(got)))
	}
	own := strconv.FormatFloat(float64(want), 'g', -1, 32)
	if text != own && !math.IsInf(float64(want), 0) && strings.TrimSuffix(text, ".0") != own && bits&^(1<<31) != tie32 {
		t.Errorf("%08x: found %q, expected as strconv %q", bits, text, own)
	}
}

// tie32 is 2⁻¹², which lies in the middle of two decimals of equal length.
const tie32 = (127 - 12) << 23
