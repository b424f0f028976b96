package source

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source/idx"
)

func TestCheckLabels(t *testing.T) {
	t.Parallel()
	classes := []string{"", "A", "B", "", "D"} // 0 and 3 have no name
	tests := map[string]struct {
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
		"negative byte":       {idx.Int8, []int{2}, []int8{1, -1}, classes, 1, -1},
		"negative short":      {idx.Int16, []int{2}, []int16{1, -2}, classes, 1, -2},
		"most negative int":   {idx.Int32, []int{2}, []int32{1, math.MinInt32}, classes, 1, math.MinInt32},
		"large int":           {idx.Int32, []int{2}, []int32{1, 1 << 24}, classes, 1, 1 << 24},
		"no names at all":     {idx.Uint8, []int{1}, []uint8{0}, []string{}, 0, 0},
		"nothing known":       {idx.Uint8, []int{1}, []uint8{9}, nil, -1, 0},
		"floats":              {idx.Float32, []int{1}, []float32{9}, classes, -1, 0},
		"more than one a row": {idx.Uint8, []int{1, 2}, []uint8{9, 9}, classes, -1, 0},
		"no records":          {idx.Uint8, []int{0}, []uint8{}, classes, -1, 0},
	}
	for name, test := range tests {
		for _, batch := range []int{1, 2, 100} {
			t.Run(fmt.Sprintf("%s, %d at a time", name, batch), func(t *testing.T) {
				t.Parallel()
				table := CheckLabels(fromBytes(t, "labels", file(t, test.dtype, test.dims, test.values), Options{Name: "label", Classes: test.names}))
				_, err := readAll(table, batch)
				want := fmt.Sprintf("column label, row %d: label %d has no name", test.row, test.label)
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

// The row is that of the file, in a slice too, and the second column's labels are looked at as well.
func TestCheckLabelsNamesTheRowOfTheFile(t *testing.T) {
	t.Parallel()
	labels := fromBytes(t, "labels", file(t, idx.Uint8, []int{8}, []uint8{9, 0, 0, 0, 0, 0, 7, 0}), Options{Name: "label", Classes: []string{"zero", "one"}})
	joined, err := Join(false, scalars(t, "image", 8), labels)
	if err != nil {
		t.Fatal(err)
	}
	slice, err := Slice(joined, 2, 8)
	if err != nil {
		t.Fatal(err)
	}
	_, err = readAll(CheckLabels(slice), 3)
	if err == nil || err.Error() != "column label, row 6: label 7 has no name, of 2 names that are known" || !strings.Contains(fault.HintOf(err), "--classes") {
		t.Errorf("found %v", err)
	}
}

// An error of the table inside comes before any check.
func TestCheckLabelsPassesErrors(t *testing.T) {
	t.Parallel()
	bad := func() Table {
		return fromBytes(t, "labels", file(t, idx.Uint8, []int{1}, []uint8{9}), Options{Name: "inner", Classes: []string{"zero"}})
	}
	joined, err := Join(false, CheckLabels(bad()), fromBytes(t, "o", file(t, idx.Uint8, []int{1}, []uint8{9}), Options{Name: "outer", Classes: []string{"zero"}}))
	if err != nil {
		t.Fatal(err)
	}
	_, err = readAll(CheckLabels(joined), 1)
	if err == nil || !strings.HasPrefix(err.Error(), "column inner, ") {
		t.Errorf("found %v, expected the error of the inner table", err)
	}
}

// TestHubClasses reads the names that Hugging Face's datasets keep, where every label must have one.
func TestHubClasses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`{"names":["b","a"],"_type":"ClassLabel"}`:                   {"b", "a"},
		`{"names":["N/A","a"],"_type":"ClassLabel","num_classes":2}`: {"", "a"},
		`{"names":["a","N/A","N/A-2","N/A-2"],"_type":"ClassLabel"}`: {"a", "", "", "N/A-2"},
		`{"names":["N/A-0","N/A"],"_type":"ClassLabel"}`:             {"", ""},
		`{"names":[],"_type":"ClassLabel"}`:                          nil,
		`{"names":[1],"_type":"ClassLabel"}`:                         nil,
		`{"names":["a"],"_type":"Value"}`:                            nil,
		`[]`:                                                         nil,
	} {
		found := HubClasses(map[string]string{HubKey: `{"info":{"features":{"label":` + text + `,"x":null}}}`})
		if !slices.Equal(found["label"], want) || len(found) > 1 || want == nil && len(found) > 0 {
			t.Errorf("%s: found %q, expected %q", text, found, want)
		}
	}
	if found := HubClasses(map[string]string{HubKey: "[[[["}); len(found) > 0 {
		t.Errorf("found %q in what is no JSON", found)
	}
}

func TestInt(t *testing.T) {
	t.Parallel()
	tests := map[idx.DType][]int64{
		idx.Uint8: {0, 1, 127, 128, 255},
		idx.Int8:  {0, 1, 127, -128, -1},
		idx.Int16: {0, 258, math.MaxInt16, math.MinInt16, -1},
		idx.Int32: {0, 0x01020304, math.MaxInt32, math.MinInt32, -1},
	}
	for d, want := range tests {
		var data []byte
		for _, v := range want {
			data = append(data, binary.LittleEndian.AppendUint64(nil, uint64(v))[:d.Size()]...) // two's complement
		}
		for i, v := range want {
			if found := Int(d, data, i); found != v {
				t.Errorf("%v, element %d: found %d, expected %d", d, i, found, v)
			}
		}
	}
}
