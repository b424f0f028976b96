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

// transform writes the samples of b to out, 16 bytes apart: the inverse DCT (A.3.3), with the
// arithmetic of image/jpeg to the bit. After the coefficient last, all are 0.
func (b *block) transform(out *[120]byte, last int) {
	b.transformRows(last)
	switch {
	case last >= 32:
		b.transformColumns(out)
	case last >= 8:
		b.transformHalf(out)
	default:
		for i := range 8 {
			out[i] = level((b[i] + 1<<19) >> 2)
		}
		for i := 16; i < len(out); i += 16 {
			*(*[8]byte)(out[i:]) = *(*[8]byte)(out[:])
		}
	}
}

func (b *block) transformRows(last int) {
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

func (b *block) transformColumns(out *[120]byte) {
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

// transformHalf is transformColumns if the last four rows are 0.
func (b *block) transformHalf(out *[120]byte) {
	_, _ = b[0], out[0]
	for i := range 8 {
		e := (b[i] + 1<<19) >> 2 // rounds all sums
		g, h := b[16+i]>>13*cos6x12, b[16+i]>>13*sin6x12
		p, q, r, s := odd(b[8+i], b[24+i]>>13*rootx14, 0, 0, 14)
		out[i], out[112+i] = level(e+h+p), level(e+h-p)
		out[16+i], out[96+i] = level(e+g+q), level(e+g-q)
		out[32+i], out[80+i] = level(e-g+r), level(e-g-r)
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

// Tables take less time than what they replace. Those of levels and samples are by a value without
// the bits after the point, 18 and 16; levels have the level shift (A.3.1).
var (
	levels      [1 << 14]byte
	samples     [1 << 16]byte
	greens      [256]int32     // what Cr adds to green, and a Cb of 0
	reds, blues [256][256]byte // by Cr or Cb, and Y
)

// makeTables fills the tables, which takes half a millisecond.
var makeTables = sync.OnceFunc(func() {
	clamp := func(v int16) byte { return byte(max(0, min(255, v))) }
	for v := range levels {
		levels[v] = clamp(int16(v<<2)>>2 + 128)
	}
	for v := range samples {
		samples[v] = clamp(int16(v))
	}
	for c := range int32(256) {
		greens[c] = 22554*128 - 46802*(c-128)
		for y := range int32(256) {
			reds[c][y], blues[c][y] = sample(y*0x10101+91881*(c-128)), sample(y*0x10101+116130*(c-128))
		}
	}
})

func level(v int32) byte  { return levels[uint32(v)>>18] }
func sample(v int32) byte { return samples[uint32(v)>>16] }

// appendLines appends the pixels of a line, or of two, as color.YCbCrToRGB converts them. h pixels
// in each line have the same chroma.
func appendLines(dst, luma, chroma []byte, width, h, lines int) []byte {
	units := (width + 8*h - 1) / (8 * h)
	room := dst[len(dst):cap(dst)]
	if size := 3*width*(lines-1) + 24*h*units; len(room) < size { // the last unit may be wider than the line
		return append(dst, appendLines(make([]byte, 0, size), luma, chroma, width, h, lines)...)
	}
	below := room[3*width*(lines-1):]
	for i := units - 1; i >= 0; i-- { // the last unit of a line goes on into the next line
		y, c := (*[32]byte)(luma[128*i:]), (*[16]byte)(chroma[128*i:])
		switch {
		case lines == 2:
			convert4((*[48]byte)(room[48*i:]), (*[48]byte)(below[48*i:]), y, c)
		case h == 2:
			convert2((*[48]byte)(room[48*i:]), y, c)
		default:
			convert1((*[24]byte)(room[24*i:]), y, c)
		}
	}
	return dst[:len(dst)+3*width*lines]
}

func convert4(to, below *[48]byte, luma *[32]byte, chroma *[16]byte) {
	_, _, _, _ = to[0], below[0], luma[0], chroma[0] // not nil
	for x := 0; x < 16; x += 2 {
		c := tintOf(chroma[x/2], chroma[8+x/2])
		c.set((*[3]byte)(to[3*x:]), luma[x])
		c.set((*[3]byte)(to[3*x+3:]), luma[x+1])
		c.set((*[3]byte)(below[3*x:]), luma[x+16])
		c.set((*[3]byte)(below[3*x+3:]), luma[x+17])
	}
}

func convert2(to *[48]byte, luma *[32]byte, chroma *[16]byte) {
	_, _, _ = to[0], luma[0], chroma[0]
	for x := 0; x < 16; x += 2 {
		c := tintOf(chroma[x/2], chroma[8+x/2])
		c.set((*[3]byte)(to[3*x:]), luma[x])
		c.set((*[3]byte)(to[3*x+3:]), luma[x+1])
	}
}

func convert1(to *[24]byte, luma *[32]byte, chroma *[16]byte) {
	_, _, _ = to[0], luma[0], chroma[0]
	for i := range 8 {
		c := tintOf(chroma[i], chroma[8+i])
		c.set((*[3]byte)(to[3*i:]), luma[i])
	}
}

// A tint is what pixels of one Cb and Cr have in common.
type tint struct {
	red, blue *[256]byte // by Y
	green     int32
}

func tintOf(cb, cr byte) tint { return tint{&reds[cr], &blues[cb], greens[cr] - 22554*int32(cb)} }

func (t tint) set(to *[3]byte, y byte) {
	to[0], to[1], to[2] = t.red[y], sample(int32(y)*0x10101+t.green), t.blue[y]
}
