package resample

import (
	"math"
	"slices"
	"sync"
)

// The three samples of a pixel share a number, so that one multiplication weighs all of them. Each
// has 21 bits, of which the weights take 11. The vertical pass makes twice the samples, for a half,
// and adds a bias, as some weights are negative.
const (
	green, blue = 21, 42 // bits below these samples
	each        = 1 | 1<<green | 1<<blue
	one         = 1 << 11 // the sum of the weights of a new pixel
	bias        = 192
)

// An axis has the weights that make new lines, or columns, of those of a picture.
type axis struct {
	from, to int
	taps     int      // weights of each new line: an even number, at most from+1
	first    []int    // the line that has the first weight
	weights  []uint64 // of all new lines
}

// set makes a the axis from so many lines to so many, with weights of the given sum. Conversions to
// float64 keep processors from fusing operations, which would change a few weights.
func (a *axis) set(from, to, sum int) {
	if a.from == from && a.to == to {
		return
	}
	scale := float64(from) / float64(to)
	wide := max(scale, 1)
	*a = axis{from: from, to: to, taps: (min(from, int(math.Ceil(4*wide))) + 1) &^ 1}
	exact := make([]float64, a.taps)
	for i := range to {
		center := float64((float64(i)+0.5)*scale) - 0.5
		first := max(0, min(from-a.taps, int(math.Ceil(center-2*wide))))
		a.first = append(a.first, first)
		total, above, before := 0.0, 0.0, 0
		for k := range min(from, a.taps) {
			exact[k] = kernel(math.Abs(float64(first+k)-center) / wide)
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
	lines                []uint64 // as many as the vertical taps, one after another
	sum                  []uint64 // a new line as wide as the picture, and a pixel of no weight
}

var scalers = sync.Pool{New: func() any { return new(scaler) }}

// Append appends to dst a picture of 1 or 3 channels, scaled between two sizes, which are its width
// and height.
func Append(dst, picture []byte, channels int, from, to [2]int) []byte {
	s := scalers.Get().(*scaler)
	defer scalers.Put(s)
	s.horizontal.set(from[0], to[0], one)
	s.vertical.set(from[1], to[1], 2*one)
	taps, width := s.vertical.taps, from[0]
	s.lines = slices.Grow(s.lines[:0], taps*width)[:taps*width]
	s.sum = slices.Grow(s.sum[:0], width+1)[:width+1]
	dst = slices.Grow(dst, to[0]*to[1]*channels)
	next := 0
	for y, first := range s.vertical.first {
		for ; next < min(first+taps, from[1]); next++ {
			load(s.lines[next%taps*width:][:width], picture[next*width*channels:], channels)
		}
		s.add(first, s.vertical.weights[y*taps:][:taps])
		dst = s.appendLine(dst, channels)
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

// add sets s.sum to the weighted sum of the lines from first on, with the bias.
func (s *scaler) add(first int, weights []uint64) {
	sum, taps := s.sum[:s.horizontal.from], len(weights)
	for i := range sum {
		sum[i] = each * (bias*one + one/2)
	}
	for k := 0; k < taps; k += 2 { // two at a time, to write sum half as often
		a := s.lines[(first+k)%taps*len(sum):][:len(sum)]
		b := s.lines[(first+k+1)%taps*len(sum):][:len(sum)]
		v, w := weights[k], weights[k+1]
		for i := range sum {
			sum[i] += a[i]*v + b[i]*w
		}
	}
	for i, v := range sum {
		sum[i] = v / one & (each * 1023)
	}
}

// appendLine appends a line of the scaled picture, which s.sum becomes.
func (s *scaler) appendLine(dst []byte, channels int) []byte {
	taps := s.horizontal.taps
	for i, first := range s.horizontal.first {
		w := s.horizontal.weights[i*taps:][:taps]
		p := s.sum[first:][:len(w)]
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
