package jpeg

import "sync"

// A block has the coefficients of 8×8 samples, by rows.
type block [64]int32

// Factors of the transform, as fixed-point numbers with as many bits as their names end with.
const (
	cos1x12, sin1x12 = 4017, 799     // of π/16
	cos3x12, sin3x12 = 3406, 2276    // of 3π/16
	cos6x12, sin6x12 = 1108, 2676    // of 6π/16, times √½
	cos6x18, sin6x18 = 70936, 171254 // the same
	rootx8, rootx14  = 181, 11585    // √½
)

// transform writes the samples of b to lines of dst: the inverse DCT (A.3.3), with the arithmetic
// of image/jpeg to the bit. rows has a bit for each row with coefficients other than the DC one.
func (b *block) transform(dst []byte, stride, rows int) {
	for i := range 8 {
		if i > 0 && rows>>i&1 == 0 {
			continue
		}
		x := (*[8]int32)(b[8*i:])
		e, f := (x[0]+x[4])<<17, (x[0]-x[4])<<17
		g, h := x[2]*cos6x18-x[6]*sin6x18, x[6]*cos6x18+x[2]*sin6x18
		p, q, r, s := odd(x[1]<<7, x[3]*rootx8, x[5]*rootx8, x[7]<<7, 2)
		x[0], x[7] = e+h+p, e+h-p
		x[1], x[6] = f+g+q, f+g-q
		x[2], x[5] = f-g+r, f-g-r
		x[3], x[4] = e-h+s, e-h-s
	}
	var out [64]byte
	if rows <= 1 {
		for i := range 8 {
			out[i] = level((b[i] + 1<<19) >> 2)
		}
		for i := range 8 {
			*(*[8]byte)(dst[i*stride:]) = *(*[8]byte)(out[:])
		}
		return
	}
	for i := range 8 {
		x0 := b[i] + 1<<19 // rounds all sums
		e, f := (x0+b[32+i])>>2, (x0-b[32+i])>>2
		x2, x6 := b[16+i]>>13, b[48+i]>>13
		g, h := x2*cos6x12-x6*sin6x12, x6*cos6x12+x2*sin6x12
		p, q, r, s := odd(b[8+i], b[24+i]>>13*rootx14, b[40+i]>>13*rootx14, b[56+i], 14)
		out[i], out[56+i] = level(e+h+p), level(e+h-p)
		out[8+i], out[48+i] = level(f+g+q), level(f+g-q)
		out[16+i], out[40+i] = level(f-g+r), level(f-g-r)
		out[24+i], out[32+i] = level(e-h+s), level(e-h-s)
	}
	for i := range 8 {
		*(*[8]byte)(dst[i*stride:]) = *(*[8]byte)(out[8*i:])
	}
}

// odd returns what the coefficients 1, 3, 5 and 7 add to four samples, and take from the others.
func odd(x1, x3, x5, x7 int32, shift uint) (p, q, r, s int32) {
	a, b, c, d := (x1+x7+x3)>>shift, (x1+x7-x3)>>shift, (x1-x7+x5)>>shift, (x1-x7-x5)>>shift
	return a*cos3x12 + c*sin3x12, d*cos1x12 + b*sin1x12, b*cos1x12 - d*sin1x12, c*cos3x12 - a*sin3x12
}

// Tables of the samples for values without the bits after the point, which are 18 and 16: a look
// at them takes less time than two comparisons. Those of levels have the level shift (A.3.1).
var (
	levels  [1 << 14]byte
	samples [1 << 16]byte
)

// makeTables fills the tables, which takes as long as a small picture.
var makeTables = sync.OnceFunc(func() {
	clamp := func(v int16) byte { return byte(max(0, min(255, v))) }
	for v := range levels {
		levels[v] = clamp(int16(v<<2)>>2 + 128)
	}
	for v := range samples {
		samples[v] = clamp(int16(v))
	}
})

func level(v int32) byte  { return levels[uint32(v)>>18] }
func sample(v int32) byte { return samples[uint32(v)>>16] }

// appendRGB appends the pixels of a line, h of which have the same chroma, as color.YCbCrToRGB
// converts them. dst has the capacity for them.
func appendRGB(dst, luma, cbs, crs []byte, width, h int) []byte {
	line, pairs := dst[len(dst):][:3*width], width/2*(h-1)
	crs = crs[:len(cbs)]
	for i, cb := range cbs[:pairs] {
		u, v := int32(cb)-128, int32(crs[i])-128
		r, g, b := 91881*v, -22554*u-46802*v, 116130*u // 16 bits after the point
		pair, two := (*[2]byte)(luma[2*i:]), (*[6]byte)(line[6*i:])
		y, z := int32(pair[0])*0x10101, int32(pair[1])*0x10101
		two[0], two[1], two[2] = sample(y+r), sample(y+g), sample(y+b)
		two[3], two[4], two[5] = sample(z+r), sample(z+g), sample(z+b)
	}
	for x := 2 * pairs; x < width; x++ {
		u, v, y := int32(cbs[x/h])-128, int32(crs[x/h])-128, int32(luma[x])*0x10101
		one := (*[3]byte)(line[3*x:])
		one[0], one[1], one[2] = sample(y+91881*v), sample(y-22554*u-46802*v), sample(y+116130*u)
	}
	return dst[:len(dst)+3*width]
}
