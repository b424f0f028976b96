package samples

import "golang.org/x/sys/cpu"

var vectors = cpu.X86.HasAVX2

// transformVectors is transformRows and transformColumns of the transposed block.
//
//go:noescape
func transformVectors(b *Block, out *[120]byte, f *numbers)

// convertVectors is convert1 or convert2, by h.
//
//go:noescape
func convertVectors(to *[24]byte, luma, chroma *[16]byte, h int, f *numbers)

// numbers are what the functions above need eight of: the factors of odd first; quarters are the
// places of numbers in lines, pixels those of bytes in pixels, and places those in chroma, of 8
// pixels and of 16.
type numbers struct {
	cos3, cos1, cos3MinusSin3, cos1MinusSin1, cos1PlusSin1, cos3PlusSin3 [8]int32
	root8, root14, half, levelShift, quarters                            [8]int32
	middle, whole, redCr, greenCb, greenCr, blueCb, pixels               [8]int32
	rotateRows, rotateColumns, places                                    [3][8]int32
}

var eights = numbers{
	cos3: eight(cos3x12), cos3MinusSin3: eight(cos3x12 - sin3x12), cos3PlusSin3: eight(cos3x12 + sin3x12),
	cos1: eight(cos1x12), cos1MinusSin1: eight(cos1x12 - sin1x12), cos1PlusSin1: eight(cos1x12 + sin1x12),
	root8: eight(rootx8), root14: eight(rootx14), half: eight(1 << 19), levelShift: eight(-0x7f7f7f80),
	middle: eight(128), whole: eight(whole), redCr: eight(redCr), blueCb: eight(blueCb),
	greenCb: eight(greenCb), greenCr: eight(greenCr),
	rotateRows:    [3][8]int32{eight(cos6x18), eight(cos6x18 + sin6x18), eight(sin6x18 - cos6x18)},
	rotateColumns: [3][8]int32{eight(cos6x12), eight(cos6x12 + sin6x12), eight(sin6x12 - cos6x12)},
	quarters:      [8]int32{0, 4, 1, 5, 2, 6, 3, 7},
	pixels:        [8]int32{0x01080400, 0x06020905, 0x0b07030a, 0, 0x01080400, 0x06020905, 0x0b07030a, 0},
	places:        [3][8]int32{{0, 1, 2, 3, 4, 5, 6, 7}, {0, 0, 1, 1, 2, 2, 3, 3}, {4, 4, 5, 5, 6, 6, 7, 7}},
}

func eight(v int32) [8]int32 { return [8]int32{v, v, v, v, v, v, v, v} }
