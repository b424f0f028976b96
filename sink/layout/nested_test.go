package layout

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// TestNestedLevels compares with levels worked out by hand from the Parquet specification's "Nested Encoding" and "RLE" sections.
func TestNestedLevels(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		shape []int
		want  []byte
	}{
		{"2×3: 0 22 1 22", []int{2, 3}, []byte{0x02, 0, 0x04, 2, 0x02, 1, 0x04, 2}},
		{"4×1: 0 111", []int{4, 1}, []byte{0x02, 0, 0x06, 1}},
		{"1×4: 0 222", []int{1, 4}, []byte{0x02, 0, 0x06, 2}},
		{"1×1×1: 0", []int{1, 1, 1}, []byte{0x02, 0}},
		{"28×28: 0 and 27 twos, then 27 times 1 and 27 twos", []int{28, 28},
			append([]byte{0x02, 0, 0x36, 2}, bytes.Repeat([]byte{0x02, 1, 0x36, 2}, 27)...)},
		{"2×2×2: one group of 0323 1323 in 2 bits each", []int{2, 2, 2}, []byte{0x03, 0b11_10_11_00, 0b11_10_11_01}},
		{"3×3: one group of 0221 2212, then a run of one 2", []int{3, 3}, []byte{0x03, 0b01_10_10_00, 0b10_01_10_10, 0x02, 2}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := one(t, "nested", source.Column{Name: "image", DType: idx.Uint8, Shape: test.shape}).Leaves[0]
			if depth := byte(len(test.shape)); l.MaxRepetition != depth || l.MaxDefinition != 2*depth || l.Definition != 2*depth {
				t.Errorf("found the maximum levels %d and %d, definition %d", l.MaxRepetition, l.MaxDefinition, l.Definition)
			}
			if !bytes.Equal(l.Repetition, test.want) {
				t.Errorf("found % x, expected % x", l.Repetition, test.want)
			}
		})
	}
}

// TestNestedLevelsOfManyShapes decodes the levels and compares them with those of plain loops over the dimensions.
func TestNestedLevelsOfManyShapes(t *testing.T) {
	t.Parallel()
	sizes := []int{1, 2, 3, 8, 9}
	shapes := [][]int{{40, 40, 3}, {3, 200}, {257, 1}, {2, 2, 2, 2, 2, 2, 2, 2}}
	for _, a := range sizes {
		for _, b := range sizes {
			shapes = append(shapes, []int{a, b})
			for _, c := range sizes {
				shapes = append(shapes, []int{a, b, c}, []int{a, b, c, a})
			}
		}
	}
	for _, shape := range shapes {
		var want []byte
		var descend func(dimension int, level byte)
		descend = func(dimension int, level byte) {
			if dimension == len(shape) {
				want = append(want, level)
				return
			}
			for i := range shape[dimension] {
				if i > 0 {
					level = byte(dimension + 1)
				}
				descend(dimension+1, level)
			}
		}
		descend(0, 0)
		encoded := nestedRepetition(shape)
		if found := decodeLevels(t, encoded, bits.Len(uint(len(shape)))); !bytes.Equal(found, want) {
			t.Errorf("%v: found the levels %v, expected %v", shape, found, want)
		}
	}
}

// decodeLevels decodes the RLE and bit-packing hybrid, as the Parquet specification has it.
func decodeLevels(t *testing.T, encoded []byte, width int) []byte {
	t.Helper()
	var levels []byte
	for len(encoded) > 0 {
		head, n := binary.Uvarint(encoded)
		encoded = encoded[n:]
		if head == 0 || n <= 0 {
			t.Fatalf("found the head % x of a run", head)
		}
		if head&1 == 0 {
			levels = append(levels, bytes.Repeat(encoded[:1], int(head>>1))...)
			encoded = encoded[1:]
			continue
		}
		packed := encoded[:int(head>>1)*width]
		for bit := 0; bit < 8*len(packed); bit += width {
			level := byte(0)
			for k := range width {
				level |= packed[(bit+k)/8] >> ((bit + k) % 8) & 1 << k
			}
			levels = append(levels, level)
		}
		encoded = encoded[len(packed):]
	}
	return levels
}

func TestNestedSchema(t *testing.T) {
	t.Parallel()
	column := one(t, "nested", source.Column{Name: "image", DType: idx.Int16, Shape: []int{4, 5, 3}})
	if want := []string{"image", "list", "element", "list", "element", "list", "element"}; !slices.Equal(column.Leaves[0].Path, want) {
		t.Errorf("found the path %v, expected %v", column.Leaves[0].Path, want)
	}
	var found []string
	for _, e := range column.Elements {
		found = append(found, fmt.Sprint(e.RepetitionType.V, " ", e.Name, " ", e.LogicalType.String()))
	}
	want := []string{
		fmt.Sprint(format.Required, " image LIST"), fmt.Sprint(format.Repeated, " list "),
		fmt.Sprint(format.Optional, " element LIST"), fmt.Sprint(format.Repeated, " list "),
		fmt.Sprint(format.Optional, " element LIST"), fmt.Sprint(format.Repeated, " list "),
		fmt.Sprint(format.Optional, " element INT(16,true)"),
	}
	if !slices.Equal(found, want) {
		t.Errorf("found the nodes %v, expected %v", found, want)
	}
}

func TestNestedValues(t *testing.T) {
	t.Parallel()
	c := source.Column{Name: "image", DType: idx.Uint8, Shape: []int{2, 1, 3}}
	lists := array.MakeFromData(one(t, "nested", c).Data([]byte("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b"), 2))
	for i, want := range []string{"[[[0,1,2]],[[3,4,5]]]", "[[[6,7,8]],[[9,10,11]]]"} {
		if found := lists.ValueStr(i); found != want {
			t.Errorf("row %d: found %s, expected %s", i, found, want)
		}
	}
	if found := lists.DataType().(interface{ Len() int32 }).Len(); found != 2 {
		t.Errorf("found the outermost size %d, expected 2", found)
	}
}

func TestNestedLimit(t *testing.T) {
	t.Parallel()
	l, _ := Get("nested")
	for dimensions, supported := range map[int]bool{16: true, 17: false, 254: false} {
		shape := slices.Repeat([]int{1}, dimensions)
		_, err := l.Columns(&schema.Schema{Columns: []source.Column{{Name: "x", DType: idx.Uint8, Shape: shape}}})
		var typed *fault.Error
		if supported && err != nil || !supported && (!errors.As(err, &typed) || typed.Hint == "" || !errors.Is(err, fault.Usage)) {
			t.Errorf("%d dimensions: found the error %v; expected one with a hint: %v", dimensions, err, !supported)
		}
	}
}
