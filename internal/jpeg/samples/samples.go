package samples

import (
	"encoding/binary"
	"sync"
)

// A Block has the coefficients of 8×8 samples, in places that Order has.
type Block [64]int32

// Order has the places of coefficients in a block, by their order in a scan: by rows, or by columns
// for AVX2.
var Order = order(vectors)

func order(columns bool) [64]byte {
	places := [64]byte{0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20,
		13, 6, 7, 14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31,
		39, 46, 53, 60, 61, 54, 47, 55, 62, 63} // ITU-T T.81, figure A.6
	for i, at := range places {
		if columns {
			places[i] = at%8*8 + at/8
		}
	}
	return places
}

// Factors of the transform, as fixed-point numbers with as many bits as their names end with.
const (
	cos1x12, sin1x12 = 4017, 799     // of π/16
	cos3x12, sin3x12 = 3406, 2276    // of 3π/16
	cos6x12, sin6x12 = 1108, 2676    // of 6π/16, times √½
	cos6x18, sin6x18 = 70936, 171254 // the same
	rootx8, rootx14  = 181, 11585    // √½
)

// Factors of Cb-128 and Cr-128 in colours (ITU-T T.871), and 257/256 for Y, with 16 bits.
const (
	whole            = 0x10101
	redCr, blueCb    = 91881, 116130
	greenCb, greenCr = -22554, -46802
)

// Transform writes the samples of b to out, 16 bytes apart: the inverse DCT (A.3.3). All
// coefficients after the place last are 0.
func (b *Block) Transform(out *[120]byte, last int) {
	switch {
	case last == 0:
		line := 0x0101010101010101 * uint64(max(0, min(255, (b[0]<<17+1<<19)>>20+128)))
		for i := 0; i < len(out); i += 16 {
			binary.LittleEndian.PutUint64(out[i:], line)
		}
	case vectors:
		transformVectors(b, out, &eights)
	default:
		b.transformRows(last)
		b.transformColumns(out)
	}
}

func (b *Block) transformRows(last int) {
	_ = b[0] // not nil
	for i := 0; i < 64 && i <= last; i += 8 {
		x := (*[8]int32)(b[i:])
		e, f := (x[0]+x[4])<<17, (x[0]-x[4])<<17
		g, h := rotate(x[2], x[6], cos6x18, sin6x18)
		p, q, r, s := odd(x[1]<<7, x[3]*rootx8, x[5]*rootx8, x[7]<<7, 2)
		x[0], x[7] = e+h+p, e+h-p
		x[1], x[6] = f+g+q, f+g-q
		x[2], x[5] = f-g+r, f-g-r
		x[3], x[4] = e-h+s, e-h-s
	}
}

func (b *Block) transformColumns(out *[120]byte) {
	_, _ = b[0], out[0]
	for i := range 8 {
		x0 := b[i] + 1<<19 // rounds all sums
		e, f := (x0+b[32+i])>>2, (x0-b[32+i])>>2
		g, h := rotate(b[16+i]>>13, b[48+i]>>13, cos6x12, sin6x12)
		p, q, r, s := odd(b[8+i], b[24+i]>>13*rootx14, b[40+i]>>13*rootx14, b[56+i], 14)
		out[i], out[112+i] = level(e+h+p), level(e+h-p)
		out[16+i], out[96+i] = level(f+g+q), level(f+g-q)
		out[32+i], out[80+i] = level(f-g+r), level(f-g-r)
		out[48+i], out[64+i] = level(e-h+s), level(e-h-s)
	}
}

// odd returns what the coefficients 1, 3, 5 and 7 add to four samples, and take from the others.
func odd(x1, x3, x5, x7 int32, shift uint) (p, q, r, s int32) {
	a, b, c, d := (x1+x7+x3)>>shift, (x1+x7-x3)>>shift, (x1-x7+x5)>>shift, (x1-x7-x5)>>shift
	t, u := (a+c)*cos3x12, (b+d)*cos1x12
	return t - c*(cos3x12-sin3x12), u - b*(cos1x12-sin1x12), u - d*(cos1x12+sin1x12), t - a*(cos3x12+sin3x12)
}

// rotate returns x*cos - y*sin and y*cos + x*sin.
func rotate(x, y, cos, sin int32) (u, v int32) {
	z := (x + y) * cos
	return z - y*(cos+sin), z + x*(sin-cos)
}

// clamped has samples by numbers of 16 bits, which takes less time than comparisons.
var clamped [1 << 16]byte

// Prepare must be called before Transform and AppendLine.
var Prepare = sync.OnceFunc(func() {
	for i := range clamped {
		clamped[i] = byte(max(0, min(255, int16(i))))
	}
})

func level(v int32) byte  { return clamped[uint16(v>>18+128)] } // A.3.1
func sample(v int32) byte { return clamped[uint32(v)>>16] }

// AppendLine appends the red, green and blue of the pixels of a line. Its units are 128 bytes
// apart: 8*h samples of Y in luma, and 8 of Cb and 8 of Cr in chroma, each for h pixels.
func AppendLine(dst, luma, chroma []byte, width, h int) []byte {
	units := (width + 8*h - 1) / (8 * h)
	room := dst[len(dst):cap(dst)]
	if len(room) < 24*h*units { // the last unit may be wider than the line
		return append(dst, AppendLine(make([]byte, 0, 24*h*units), luma, chroma, width, h)...)
	}
	for i := range units {
		to, y, c := room[24*h*i:], (*[16]byte)(luma[128*i:]), (*[16]byte)(chroma[128*i:])
		switch {
		case vectors:
			convertVectors((*[24]byte)(to), y, c, h, &eights)
		case h == 2:
			convert2((*[48]byte)(to), y, c)
		default:
			convert1((*[24]byte)(to), y, c)
		}
	}
	return dst[:len(dst)+3*width]
}

func convert1(to *[24]byte, luma, chroma *[16]byte) {
	_, _, _ = to[0], luma[0], chroma[0]
	for i := range 8 {
		t := newTint(chroma[i], chroma[8+i])
		t.set((*[3]byte)(to[3*i:]), luma[i])
	}
}

func convert2(to *[48]byte, luma, chroma *[16]byte) {
	_, _, _ = to[0], luma[0], chroma[0]
	for i := range 8 {
		t := newTint(chroma[i], chroma[8+i])
		t.set((*[3]byte)(to[6*i:]), luma[2*i])
		t.set((*[3]byte)(to[6*i+3:]), luma[2*i+1])
	}
}

// A tint is what Cb and Cr add to colours.
type tint struct{ red, green, blue int32 }

func newTint(cb, cr byte) tint {
	b, r := int32(cb)-128, int32(cr)-128
	return tint{redCr * r, greenCb*b + greenCr*r, blueCb * b}
}

func (t tint) set(to *[3]byte, y byte) {
	v := int32(y) * whole
	to[0], to[1], to[2] = sample(v+t.red), sample(v+t.green), sample(v+t.blue)
}
