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

// TestHalves compares all half-precision numbers with their definition in IEEE 754, and has a NaN with its payload.
func TestHalves(t *testing.T) {
	t.Parallel()
	for bits := range 1 << 16 {
		exponent, fraction := bits>>10&31, float64(bits&1023)
		var expected float64
		switch {
		case exponent == 0:
			expected = math.Ldexp(fraction, -24)
		case exponent < 31:
			expected = math.Ldexp(1024+fraction, exponent-25)
		case fraction == 0:
			expected = math.Inf(1)
		default:
			expected = math.NaN()
		}
		expected = math.Copysign(expected, 1-2*float64(bits>>15))
		found := float64(math.Float32frombits(float32Bits(uint16(bits))))
		if found != expected && !(found != found && expected != expected) || math.Signbit(found) != math.Signbit(expected) {
			t.Fatalf("%04x: found %v, expected %v", bits, found, expected)
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
