package source

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/idxport/idxport/source/idx"
)

// TestConvertChecksLimits tries the limits of each type as the language has them.
func TestConvertChecksLimits(t *testing.T) {
	t.Parallel()
	tests := []struct {
		dtype idx.DType
		value int64
		fits  bool
	}{
		{idx.Uint8, 0, true}, {idx.Uint8, math.MaxUint8, true}, {idx.Uint8, -1, false}, {idx.Uint8, math.MaxUint8 + 1, false},
		{idx.Int8, math.MinInt8, true}, {idx.Int8, math.MaxInt8, true}, {idx.Int8, math.MinInt8 - 1, false}, {idx.Int8, math.MaxInt8 + 1, false},
		{idx.Int16, math.MinInt16, true}, {idx.Int16, math.MaxInt16, true}, {idx.Int16, math.MinInt16 - 1, false}, {idx.Int16, math.MaxInt16 + 1, false},
		{idx.Int32, math.MinInt32, true}, {idx.Int32, math.MaxInt32, true}, {idx.Int32, math.MinInt32 - 1, false}, {idx.Int32, math.MaxInt32 + 1, false},
	}
	for _, test := range tests {
		src := binary.LittleEndian.AppendUint64(make([]byte, 8), uint64(test.value))
		dst := make([]byte, 2*test.dtype.Size())
		bad, value := NumberInt64.Convert(dst, test.dtype, src, 0, 2)
		if test.fits && (bad != -1 || Int(test.dtype, dst, 1) != test.value) || !test.fits && (bad != 1 || value != test.value) {
			t.Errorf("%v %d: found the bad index %d, value %d, bytes % x", test.dtype, test.value, bad, value, dst)
		}
	}
	large := binary.LittleEndian.AppendUint64(nil, math.MaxUint64)
	if bad, _ := NumberUint64.Convert(make([]byte, 4), idx.Int32, large, 0, 1); bad != 0 {
		t.Error("the largest uint64 fits an int32")
	}
}

// TestNumbersHaveTheSizeOfTheirNames compares with the number of bits that Arrow and NumPy have in a type's name.
func TestNumbersHaveTheSizeOfTheirNames(t *testing.T) {
	t.Parallel()
	if NumberBool.Size() != 0 || NumberBool8.Size() != 1 { // bits, and bytes
		t.Errorf("found truth values of %d and %d bytes", NumberBool.Size(), NumberBool8.Size())
	}
	for s := NumberUint8; s <= NumberFloat16; s++ {
		if s == NumberBool || s == NumberBool8 {
			continue
		}
		bits, _ := strconv.Atoi(strings.TrimLeft(s.String(), "abcdefghijklmnopqrstuvwxyz"))
		if s.Size() != bits/8 || bits == 0 {
			t.Errorf("%s: found %d bytes, expected %d", s, s.Size(), bits/8)
		}
	}
}

// TestConvertBits starts inside of a byte.
func TestConvertBits(t *testing.T) {
	t.Parallel()
	dst := make([]byte, 7)
	bad, _ := NumberBool.Convert(dst, idx.Uint8, []byte{0b1010_0000, 0b0000_0011}, 5, 7)
	if string(dst) != "\x01\x00\x01\x01\x01\x00\x00" || bad != -1 {
		t.Errorf("found % x and the bad index %d, expected none", dst, bad)
	}
}

// TestHalves are the examples of IEEE 754-2008's binary16, and a NaN with its payload.
func TestHalves(t *testing.T) {
	t.Parallel()
	for half, want := range map[uint16]float32{
		0x3c00: 1, 0xc000: -2, 0x7bff: 65504, 0x0400: 6.103515625e-05, 0x03ff: 6.097555160522461e-05, 0x0001: 5.960464477539063e-08,
		0x3555: 0.333251953125, 0x7c00: float32(math.Inf(1)), 0xfc00: float32(math.Inf(-1)),
	} {
		if found := math.Float32frombits(float32Bits(half)); found != want {
			t.Errorf("%#x: found %v, expected %v", half, found, want)
		}
	}
	dst := make([]byte, 8)
	bad, _ := NumberFloat16.Convert(dst, idx.Float32, []byte{0x00, 0x3c, 0x00, 0xc0}, 0, 2)
	if string(dst) != "\x00\x00\x80\x3f\x00\x00\x00\xc0" || bad != -1 { // 1 and −2
		t.Errorf("found % x and the bad index %d, expected none", dst, bad)
	}
	if found := float32Bits(0x8000); found != 1<<31 {
		t.Errorf("found %#x, expected −0", found)
	}
	if found := float32Bits(0x7e01); found != 0x7fc02000 {
		t.Errorf("found %#x, expected the NaN with its payload", found)
	}
}
