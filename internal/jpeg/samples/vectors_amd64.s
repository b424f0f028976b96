#include "go_asm.h"
#include "textflag.h"

// BUTTERFLY sets sum to a+b, and then difference to a-b.
#define BUTTERFLY(a, b, sum, difference) \
	VPADDD b, a, sum \
	VPSUBD b, a, difference

// ROTATE does what rotate does, by three factors from f on: Y2 and Y6 become v and u.
#define ROTATE(f) \
	VPADDD  Y6, Y2, Y8 \
	VPMULLD f+0(CX), Y8, Y8 \
	VPMULLD f+32(CX), Y6, Y6 \
	VPMULLD f+64(CX), Y2, Y2 \
	VPSUBD  Y6, Y8, Y6 \
	VPADDD  Y2, Y8, Y2

// ODD does what odd does: Y1, Y3, Y5 and Y7 become s, q, r and p.
#define ODD(shift) \
	BUTTERFLY(Y1, Y7, Y8, Y9) \
	BUTTERFLY(Y8, Y3, Y1, Y3) \
	BUTTERFLY(Y9, Y5, Y7, Y5) \
	VPSRAD  shift, Y1, Y1 \
	VPSRAD  shift, Y3, Y3 \
	VPSRAD  shift, Y5, Y5 \
	VPSRAD  shift, Y7, Y7 \
	VPADDD  Y7, Y1, Y8 \
	VPADDD  Y5, Y3, Y9 \
	VPMULLD numbers_cos3(CX), Y8, Y8 \
	VPMULLD numbers_cos1(CX), Y9, Y9 \
	VPMULLD numbers_cos3MinusSin3(CX), Y7, Y7 \
	VPMULLD numbers_cos1MinusSin1(CX), Y3, Y3 \
	VPMULLD numbers_cos1PlusSin1(CX), Y5, Y5 \
	VPMULLD numbers_cos3PlusSin3(CX), Y1, Y1 \
	VPSUBD  Y7, Y8, Y7 \
	VPSUBD  Y3, Y9, Y3 \
	VPSUBD  Y5, Y9, Y5 \
	VPSUBD  Y1, Y8, Y1

// SUMS sets Y10, Y11, Y12, Y2, Y6, Y13, Y14 and Y15 to the sums of what ODD left and e, f, g and h,
// which are in Y0, Y4, Y6 and Y2.
#define SUMS \
	BUTTERFLY(Y0, Y2, Y8, Y0) \
	BUTTERFLY(Y4, Y6, Y9, Y4) \
	BUTTERFLY(Y8, Y7, Y10, Y15) \
	BUTTERFLY(Y9, Y3, Y11, Y14) \
	BUTTERFLY(Y4, Y5, Y12, Y13) \
	BUTTERFLY(Y0, Y1, Y2, Y6)

// ZIP sets low to the low halves of a and b in turns, and high to the others.
#define ZIP(unpackLow, unpackHigh, a, b, low, high) \
	unpackLow  b, a, low \
	unpackHigh b, a, high

// LEVEL packs two lines, as level does but for the level shift.
#define LEVEL(a, b, to) \
	VPSRAD    $18, a, a \
	VPSRAD    $18, b, b \
	VPACKSSDW b, a, to

// func transformVectors(b *Block, out *[120]byte, f *numbers)
TEXT ·transformVectors(SB), NOSPLIT, $0-24
	MOVQ b+0(FP), AX
	MOVQ out+8(FP), DX
	MOVQ f+16(FP), CX

	// The rows: Y0 to Y7 are columns of coefficients.
	VMOVDQU 0(AX), Y0
	VMOVDQU 32(AX), Y1
	VMOVDQU 64(AX), Y2
	VMOVDQU 96(AX), Y3
	VMOVDQU 128(AX), Y4
	VMOVDQU 160(AX), Y5
	VMOVDQU 192(AX), Y6
	VMOVDQU 224(AX), Y7
	VPSLLD  $7, Y1, Y1
	VPSLLD  $7, Y7, Y7
	VPMULLD numbers_root8(CX), Y3, Y3
	VPMULLD numbers_root8(CX), Y5, Y5
	ODD($2)
	ROTATE(numbers_rotateRows)
	VPSLLD  $17, Y0, Y8
	VPSLLD  $17, Y4, Y4
	BUTTERFLY(Y8, Y4, Y0, Y4)
	SUMS

	// Y0 to Y7 become rows.
	ZIP(VPUNPCKLDQ, VPUNPCKHDQ, Y10, Y11, Y0, Y1)
	ZIP(VPUNPCKLDQ, VPUNPCKHDQ, Y12, Y2, Y3, Y4)
	ZIP(VPUNPCKLDQ, VPUNPCKHDQ, Y6, Y13, Y5, Y7)
	ZIP(VPUNPCKLDQ, VPUNPCKHDQ, Y14, Y15, Y8, Y9)
	ZIP(VPUNPCKLQDQ, VPUNPCKHQDQ, Y0, Y3, Y10, Y11)
	ZIP(VPUNPCKLQDQ, VPUNPCKHQDQ, Y1, Y4, Y12, Y13)
	ZIP(VPUNPCKLQDQ, VPUNPCKHQDQ, Y5, Y8, Y14, Y15)
	ZIP(VPUNPCKLQDQ, VPUNPCKHQDQ, Y7, Y9, Y8, Y9)
	VPERM2I128 $0x20, Y14, Y10, Y0
	VPERM2I128 $0x20, Y15, Y11, Y1
	VPERM2I128 $0x20, Y8, Y12, Y2
	VPERM2I128 $0x20, Y9, Y13, Y3
	VPERM2I128 $0x31, Y14, Y10, Y4
	VPERM2I128 $0x31, Y15, Y11, Y5
	VPERM2I128 $0x31, Y8, Y12, Y6
	VPERM2I128 $0x31, Y9, Y13, Y7

	// The columns.
	VPSRAD  $13, Y2, Y2
	VPSRAD  $13, Y3, Y3
	VPSRAD  $13, Y5, Y5
	VPSRAD  $13, Y6, Y6
	VPMULLD numbers_root14(CX), Y3, Y3
	VPMULLD numbers_root14(CX), Y5, Y5
	ODD($14)
	ROTATE(numbers_rotateColumns)
	VPADDD  numbers_half(CX), Y0, Y8
	BUTTERFLY(Y8, Y4, Y0, Y4)
	VPSRAD  $2, Y0, Y0
	VPSRAD  $2, Y4, Y4
	SUMS

	// Four lines in a register, where samples 4 to 7 follow samples 0 to 3 of all.
	LEVEL(Y10, Y11, Y0)
	LEVEL(Y12, Y2, Y1)
	LEVEL(Y6, Y13, Y2)
	LEVEL(Y14, Y15, Y3)
	VPACKSSWB    Y1, Y0, Y0
	VPACKSSWB    Y3, Y2, Y1
	VPXOR        numbers_levelShift(CX), Y0, Y0
	VPXOR        numbers_levelShift(CX), Y1, Y1
	VMOVDQU      numbers_quarters(CX), Y2
	VPERMD       Y0, Y2, Y0
	VPERMD       Y1, Y2, Y1
	VEXTRACTI128 $1, Y0, X2
	VEXTRACTI128 $1, Y1, X3
	VMOVLPS      X0, 0(DX)
	VMOVHPS      X0, 16(DX)
	VMOVLPS      X2, 32(DX)
	VMOVHPS      X2, 48(DX)
	VMOVLPS      X1, 64(DX)
	VMOVHPS      X1, 80(DX)
	VMOVLPS      X3, 96(DX)
	VMOVHPS      X3, 112(DX)
	VZEROUPPER
	RET

// func convertVectors(to *[24]byte, luma, chroma *[16]byte, h int, f *numbers)
TEXT ·convertVectors(SB), NOSPLIT, $0-40
	MOVQ      to+0(FP), DI
	MOVQ      luma+8(FP), SI
	MOVQ      chroma+16(FP), BX
	MOVQ      h+24(FP), AX
	MOVQ      f+32(FP), CX
	VPMOVZXBD 0(BX), Y1
	VPMOVZXBD 8(BX), Y2
	VPSUBD    numbers_middle(CX), Y1, Y1 // Cb
	VPSUBD    numbers_middle(CX), Y2, Y2 // Cr
	MOVQ      AX, DX
	SHLQ      $5, DX
	ADDQ      CX, DX

next:
	VMOVDQU      numbers_places-32(DX), Y3 // places in chroma
	VPERMD       Y1, Y3, Y4
	VPERMD       Y2, Y3, Y5
	VPMOVZXBD    (SI), Y0
	VPMULLD      numbers_whole(CX), Y0, Y0
	VPMULLD      numbers_redCr(CX), Y5, Y3
	VPMULLD      numbers_greenCb(CX), Y4, Y6
	VPMULLD      numbers_greenCr(CX), Y5, Y7
	VPMULLD      numbers_blueCb(CX), Y4, Y5
	VPADDD       Y3, Y0, Y3 // red
	VPADDD       Y6, Y7, Y4
	VPADDD       Y4, Y0, Y4 // green
	VPADDD       Y5, Y0, Y5 // blue
	VPSRAD       $16, Y3, Y3
	VPSRAD       $16, Y4, Y4
	VPSRAD       $16, Y5, Y5
	VPACKSSDW    Y4, Y3, Y3
	VPACKSSDW    Y5, Y5, Y5
	VPACKUSWB    Y5, Y3, Y3
	VPSHUFB      numbers_pixels(CX), Y3, Y3 // four pixels in each half
	VEXTRACTI128 $1, Y3, X4
	VMOVDQU      X3, 0(DI)
	VMOVQ        X4, 12(DI)
	VPEXTRD      $2, X4, 20(DI)
	ADDQ         $24, DI
	ADDQ         $8, SI
	ADDQ         $32, DX
	DECQ         AX
	JNZ          next
	VZEROUPPER
	RET
