package source

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
)

// TestConvertChecksLimits uses the limits of Go's types.
func TestConvertChecksLimits(t *testing.T) {
	t.Parallel()
	for d, limits := range map[idx.DType][2]int64{
		idx.Uint8: {0, math.MaxUint8}, idx.Int8: {math.MinInt8, math.MaxInt8},
		idx.Int16: {math.MinInt16, math.MaxInt16}, idx.Int32: {math.MinInt32, math.MaxInt32},
	} {
		for value, fits := range map[int64]bool{limits[0]: true, limits[1]: true, limits[0] - 1: false,
			limits[1] + 1: false} {
			src := binary.LittleEndian.AppendUint64(make([]byte, 8), uint64(value))
			dst := make([]byte, 2*d.Size())
			bad := NumberInt64.Convert(dst, d, src, 2)
			if fits && (bad != -1 || Int(d, dst, 1) != value) || !fits && bad != 1 {
				t.Errorf("%v %d: found the bad index %d, bytes % x", d, value, bad, dst)
			}
		}
	}
	large := binary.LittleEndian.AppendUint64(nil, math.MaxUint64)
	if bad := NumberUint64.Convert(make([]byte, 4), idx.Int32, large, 1); bad != 0 {
		t.Error("the largest uint64 fits an int32")
	}
	if found := NumberUint64.Text(large) + " " + NumberInt8.Text([]byte{0xff}); found != "18446744073709551615 -1" {
		t.Errorf("the largest uint64 and the int8 −1 are shown as %s", found)
	}
}

// TestHalves compares all half-precision numbers with their definition in IEEE 754, and checks
// the payload of a NaN.
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
		if found != expected && !(found != found && expected != expected) ||
			math.Signbit(found) != math.Signbit(expected) {
			t.Fatalf("%04x: found %v, expected %v", bits, found, expected)
		}
	}
	dst := make([]byte, 8)
	bad := NumberFloat16.Convert(dst, idx.Float32, []byte{0x00, 0x3c, 0x00, 0xc0}, 2)
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

func TestCheckedLabels(t *testing.T) {
	t.Parallel()
	classes := []string{"", "A", "B", "", "D"} // 0 and 3 have no name
	for name, test := range map[string]struct {
		dtype  idx.DType
		dims   []int
		values any
		names  []string
		row    int64 // −1: all is well
		label  int64
	}{
		"all named":           {idx.Uint8, []int{4}, []uint8{1, 2, 4, 1}, classes, -1, 0},
		"beyond the names":    {idx.Uint8, []int{4}, []uint8{1, 2, 4, 5}, classes, 3, 5},
		"255":                 {idx.Uint8, []int{1}, []uint8{255}, classes, 0, 255},
		"0 without a name":    {idx.Int32, []int{3}, []int32{1, 2, 0}, classes, 2, 0},
		"a hole":              {idx.Int16, []int{3}, []int16{1, 3, 0}, classes, 1, 3},
		"negative byte":       {idx.Int8, []int{2}, []int8{1, -2}, classes, 1, -2},
		"negative short":      {idx.Int16, []int{2}, []int16{1, -2}, classes, 1, -2},
		"most negative int":   {idx.Int32, []int{2}, []int32{1, math.MinInt32}, classes, 1, math.MinInt32},
		"large int":           {idx.Int32, []int{2}, []int32{1, 1 << 24}, classes, 1, 1 << 24},
		"no names at all":     {idx.Uint8, []int{1}, []uint8{0}, []string{}, 0, 0},
		"nothing known":       {idx.Uint8, []int{1}, []uint8{9}, nil, -1, 0},
		"floats":              {idx.Float32, []int{1}, []float32{9}, classes, -1, 0},
		"more than one a row": {idx.Uint8, []int{1, 2}, []uint8{9, 9}, classes, -1, 0},
		"no records":          {idx.Uint8, []int{0}, []uint8{}, classes, -1, 0},
	} {
		for _, batch := range []int{1, 2, 100} {
			t.Run(fmt.Sprintf("%s, %d at a time", name, batch), func(t *testing.T) {
				t.Parallel()
				table := CheckedLabels(fromBytes(t, "labels", file(t, test.dtype, test.dims, test.values),
					Options{Name: "label", Classes: test.names}), false)
				_, err := readAll(table, batch)
				want := fmt.Sprintf("column label, row %d: label %d has no class name", test.row, test.label)
				switch {
				case test.row < 0 && err != nil:
					t.Errorf("found %v, expected none", err)
				case test.row >= 0 && (!errors.Is(err, fault.Malformed) || !strings.HasPrefix(err.Error(), want)):
					t.Errorf("found %v, expected %s", err, want)
				}
			})
		}
	}
}

// The row of the error counts from the start of the file, in a slice too, and the labels of the
// second column are checked as well.
func TestCheckedLabelsNameTheRowOfTheFile(t *testing.T) {
	t.Parallel()
	labels := fromBytes(t, "labels", file(t, idx.Uint8, []int{8}, []uint8{9, 0, 0, 0, 0, 0, 7, 0}),
		Options{Name: "label", Classes: []string{"zero", "one"}})
	joined := must.Get(Join(false, scalars(t, "image", 8), labels))(t)
	slice := must.Get(Slice(joined, 2, 8))(t)
	_, err := readAll(CheckedLabels(slice, true), 3)
	if err == nil || err.Error() != "labels: column label, row 6: label 7 has no class name (2 known)" ||
		!strings.Contains(fault.HintOf(err), "--classes") {
		t.Errorf("found %v", err)
	}
}

// TestHubFeatures reads the class names of Hugging Face's datasets, where every label has a name.
func TestHubFeatures(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`{"names":["b","a"],"_type":"ClassLabel"}`:                   {"b", "a"},
		`{"names":["N/A","a"],"_type":"ClassLabel","num_classes":2}`: {"", "a"},
		`{"names":["a","N/A","N/A-2","N/A-2"],"_type":"ClassLabel"}`: {"a", "", "", "N/A-2"},
		`{"names":["N/A-0","N/A"],"_type":"ClassLabel"}`:             {"", ""},
		`{"names":[],"_type":"ClassLabel"}`:                          nil,
		`{"names":[1],"_type":"ClassLabel"}`:                         {""},
		`[]`:                                                         nil,
		`[[{"names":["a","b"]}]]`:                                    {"a", "b"},
		`{"feature":[{"feature":{"names":["N/A","b"],"_type":"ClassLabel"}}],"_type":"List"}`: {"", "b"},
	} {
		found := HubFeatures(map[string]string{HubKey: `{"info":{"features":{"label":` + text + `}}}`, KeyDataset: "d"})
		if !slices.Equal(found["label"].Names, want) {
			t.Errorf("%s: found %v, expected %q", text, found, want)
		}
	}
	other := HubFeatures(map[string]string{HubKey: `{"info":{"features":{"label":{"names":["N/A"]}}}}`})
	if found := HubFeatures(map[string]string{HubKey: "[[[["}); len(found) > 0 || other["label"].Names[0] != "N/A" {
		t.Errorf("found %v in what is no JSON, and %v, expected a class N/A", found, other)
	}
}
