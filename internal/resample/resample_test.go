package resample

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"
)

// keys is the kernel of Keys' paper, equation 15.
func keys(s float64) float64 {
	switch s = math.Abs(s); {
	case s < 1:
		return 1.5*s*s*s - 2.5*s*s + 1
	case s < 2:
		return -0.5*s*s*s + 2.5*s*s - 4*s + 2
	}
	return 0
}

// exact scales pixels along one axis, by the definition: every new one is the mean of all old ones,
// weighted by the kernel. There are stride numbers from one to the next.
func exact(pixels []float64, stride, from, to int) []float64 {
	scaled := make([]float64, len(pixels)/from*to)
	ratio := float64(from) / float64(to)
	for i := range to {
		weights, total := make([]float64, from), 0.0
		for k := range weights {
			weights[k] = keys((float64(k) + 0.5 - (float64(i)+0.5)*ratio) / max(ratio, 1))
			total += weights[k]
		}
		for at := range scaled {
			if at/stride%to != i {
				continue
			}
			for k, w := range weights {
				scaled[at] += w / total * pixels[(at/stride/to*from+k)*stride+at%stride]
			}
		}
	}
	return scaled
}

// TestAppend scales what weights matter most for: noise of bytes, noise of black and white, and
// stripes.
func TestAppend(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	sample := map[string]func(i int) byte{
		"bytes":   func(int) byte { return byte(r.IntN(256)) },
		"bits":    func(int) byte { return byte(r.IntN(2) * 255) },
		"stripes": func(i int) byte { return byte(i % 3 / 2 * 255) },
	}
	for _, c := range []struct {
		from, to  [2]int
		tolerance float64
	}{
		{[2]int{64, 48}, [2]int{28, 28}, 1}, {[2]int{200, 150}, [2]int{28, 20}, 1}, {[2]int{9, 9}, [2]int{9, 9}, 0.001},
		{[2]int{28, 28}, [2]int{61, 64}, 1}, {[2]int{3, 4}, [2]int{5, 7}, 1}, {[2]int{1, 1}, [2]int{4, 4}, 0.001},
		{[2]int{5, 2}, [2]int{1, 1}, 1}, {[2]int{2, 1}, [2]int{3, 100}, 1}, {[2]int{7, 50}, [2]int{300, 3}, 1},
		{[2]int{280, 301}, [2]int{10, 10}, 1}, {[2]int{1000, 10}, [2]int{10, 10}, 3},
		{[2]int{10, 1000}, [2]int{10, 10}, 3},
	} {
		for _, channels := range []int{1, 3} {
			for kind, of := range sample {
				picture := make([]byte, c.from[0]*c.from[1]*channels)
				want := make([]float64, len(picture))
				for i := range picture {
					picture[i] = of(i)
					want[i] = float64(picture[i])
				}
				want = exact(want, channels*c.from[0], c.from[1], c.to[1])
				want = exact(want, channels, c.from[0], c.to[0])
				got := Append([]byte("x"), picture, channels, c.from, c.to)
				if len(got) != 1+len(want) || got[0] != 'x' {
					t.Fatalf("%v: found %d bytes, expected x and %d", c, len(got), len(want))
				}
				for i, v := range got[1:] {
					if w := max(0, min(want[i], 255)); math.Abs(float64(v)-w) >= c.tolerance {
						t.Fatalf("%v, %d channels of %s: found %d, expected %.2f", c, channels, kind, v, w)
					}
				}
			}
		}
	}
}

// TestEvenPictures has pictures of one value, which they keep at every size, whatever the weights.
func TestEvenPictures(t *testing.T) {
	t.Parallel()
	for from := 1; from < 40; from++ {
		for to := 1; to < 40; to++ {
			for _, v := range []byte{0, 1, 127, 254, 255} {
				got := Append(nil, bytes.Repeat([]byte{v}, 3*from*to), 3, [2]int{from, to}, [2]int{to, from})
				if string(got) != string(bytes.Repeat([]byte{v}, 3*from*to)) {
					t.Fatalf("%d×%d of %d to %d×%d: found %v", from, to, v, to, from, got)
				}
			}
		}
	}
}
