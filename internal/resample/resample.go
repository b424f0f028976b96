package resample

import (
	"math"
	"slices"
	"sync"
)

// The three samples of a pixel share a number, so that one multiplication weighs all of them. Each
// has 21 bits, of which the weights take 11. Between the passes, a number has twice the sample, to
// keep halves, and a bias, because some weights are negative.
const (
	green, blue = 21, 42 // bits below these samples
	each        = 1 | 1<<green | 1<<blue
	one         = 1 << 11 // the sum of the weights of a new pixel
	bias        = 192
)

// An axis has the weights that make new lines, or columns, of those of a picture.
type axis struct {
	from, to int
	taps     int      // weights of each new line: an even number, which may be one too many
	first    []int    // the line that has the first weight
	weights  []uint64 // of all new lines
	most     int      // new lines that some line of the picture, and the next, may be part of
}

// set makes a the axis from so many lines to so many, with weights of the given sum. The first ones
// are those of multiples of step, 1 or 2. Conversions to float64 keep processors from fusing
// operations, which would change a few weights.
func (a *axis) set(from, to, sum, step int) {
	if a.from == from && a.to == to {
		return
	}
	scale := float64(from) / float64(to)
	wide := max(scale, 1)
	*a = axis{from: from, to: to, first: a.first[:0], weights: a.weights[:0]}
	a.taps = (min(from, int(math.Ceil(4*wide))+step-1) + 1) &^ 1
	exact, oldest := make([]float64, a.taps), 0
	for i := range to {
		center := float64((float64(i)+0.5)*scale) - 0.5
		first := max(0, min((from+1)&^1-a.taps, int(math.Ceil(center-2*wide)))) / step * step
		a.first = append(a.first, first)
		for first >= a.first[oldest]+a.taps {
			oldest++
		}
		a.most = max(a.most, i-oldest+1)
		total, above, before := 0.0, 0.0, 0
		for k := range exact {
			if exact[k] = 0; first+k < from {
				exact[k] = kernel(math.Abs(float64(first+k)-center) / wide)
			}
			total += exact[k]
		}
		for _, w := range exact { // rounded so that the sum is as given
			above += w / total
			after := int(math.Round(above * float64(sum)))
			a.weights = append(a.weights, uint64(after-before))
			before = after
		}
	}
}

// kernel returns the weight of a line at a distance.
func kernel(distance float64) float64 {
	u, v := max(0, 1-distance), max(0, 2-distance)
	return float64(u*u*(1-2*u)) - float64(v*v*(1-v)/2)
}

// A scaler scales one picture at a time.
type scaler struct {
	vertical, horizontal axis
	lines                []uint64 // two of the picture, then sums of weighted lines
}

var scalers = sync.Pool{New: func() any { return new(scaler) }}

// Append appends to dst a picture of 1 or 3 channels, scaled from one width and height to another.
func Append(dst, picture []byte, channels int, from, to [2]int) []byte {
	s := scalers.Get().(*scaler)
	defer scalers.Put(s)
	s.horizontal.set(from[0], to[0], one, 1)
	s.vertical.set(from[1], to[1], 2*one, 2)
	v, size := &s.vertical, from[0]*channels
	width := from[0] + 1 // of the lines, with a pixel of no weight
	n := (2 + v.most) * width
	s.lines = slices.Grow(s.lines[:0], n)[:n]
	line := func(i int) []uint64 { return s.lines[i*width:][:width] }
	upper, lower := line(0)[:from[0]], line(1)[:from[0]]
	for y, done := 0, 0; done < to[1]; y += 2 {
		load(upper, picture[y*size:], channels)
		if y+1 < from[1] {
			load(lower, picture[(y+1)*size:], channels)
		}
		for i := done; i < to[1] && v.first[i] <= y; i++ {
			sum, at := line(2+i%v.most), i*v.taps+y-v.first[i]
			if y == v.first[i] {
				for x := range sum {
					sum[x] = each * (bias*one + one/2)
				}
			}
			add(sum, upper, lower, v.weights[at], v.weights[at+1])
			if y+2 == v.first[i]+v.taps {
				dst = s.appendLine(dst, sum, channels)
				done++
			}
		}
	}
	return dst
}

// load sets line to the first pixels of a picture.
func load(line []uint64, picture []byte, channels int) {
	if channels == 1 {
		for i, grey := range picture[:len(line)] {
			line[i] = uint64(grey)
		}
		return
	}
	for i := range line {
		p := picture[3*i : 3*i+3 : 3*i+3]
		line[i] = uint64(p[0]) | uint64(p[1])<<green | uint64(p[2])<<blue
	}
}

// add adds two lines of the picture to sum, with their weights.
func add(sum, upper, lower []uint64, v, w uint64) {
	if v|w == 0 {
		return
	}
	sum, lower = sum[:len(upper)], lower[:len(upper)]
	for x, pixel := range upper {
		sum[x] += pixel*v + lower[x]*w
	}
}

// appendLine appends a line of the scaled picture, which sum becomes.
func (s *scaler) appendLine(dst []byte, sum []uint64, channels int) []byte {
	for x, v := range sum {
		sum[x] = v / one & (each * 1023)
	}
	taps := s.horizontal.taps
	for i, first := range s.horizontal.first {
		w := s.horizontal.weights[i*taps:][:taps]
		p := sum[first:][:len(w)]
		v := uint64(each * one)
		for k := 1; k < len(w); k += 2 {
			v += p[k-1]*w[k-1] + p[k]*w[k]
		}
		dst = append(dst, sample(v))
		if channels == 3 {
			dst = append(dst, sample(v>>green), sample(v>>blue))
		}
	}
	return dst
}

// sample returns the sample that v has in its lowest bits.
func sample(v uint64) byte {
	n := int32(v/(2*one)&511) - bias/2
	if n < 0 || n > 255 {
		n = ^n >> 31 // 0, or a number that ends in 255
	}
	return byte(n)
}
