package layout

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/rle"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// one returns the representation of a single column.
func one(t *testing.T, name string, c source.Column) Column {
	t.Helper()
	columns, _, err := Represent(&schema.Schema{Columns: []source.Column{c}}, name)
	if err != nil || len(columns) != 1 {
		t.Fatalf("found %d columns, %v, expected 1", len(columns), err)
	}
	return columns[0]
}

// refused reports whether err is a fault.Usage with the given parts of message and hint.
func refused(err error, message, hint string) bool {
	var typed *fault.Error
	return errors.As(err, &typed) && errors.Is(err, fault.Usage) && strings.Contains(err.Error(), message) &&
		strings.Contains(typed.Hint, hint)
}

// TestTypes compares the types in Arrow and the nodes in Parquet with the documentation: Schema.fbs
// and "Fixed shape tensor" in the Arrow specification, and LogicalTypes.md in Parquet's.
func TestTypes(t *testing.T) {
	t.Parallel()
	const inList = "LIST, repeated list, optional element "
	list := func(element string) string { return "required image " + inList + element }
	fixed := func(element string, n int) string {
		return fmt.Sprintf("fixed_size_list<element: %s, nullable>[%d]", element, n)
	}
	type test struct {
		layouts string
		dtype   idx.DType
		shape   []int
		arrow   string
		nodes   string
	}
	tests := []test{
		{"list tensor", idx.Uint8, []int{28, 28}, fixed("uint8", 784), list("INT32 INT(8,false)")},
		{"list nested tensor", idx.Int8, []int{5}, fixed("int8", 5), list("INT32 INT(8,true)")},
		{"list tensor", idx.Int16, []int{4, 5, 3}, fixed("int16", 60), list("INT32 INT(16,true)")},
		{"list tensor", idx.Int32, []int{2, 2}, fixed("int32", 4), list("INT32")},
		{"list tensor", idx.Float32, []int{2, 2}, fixed("float32", 4), list("FLOAT")},
		{"list tensor", idx.Float64, []int{2, 2}, fixed("float64", 4), list("DOUBLE")},
		{"list nested tensor", idx.Uint8, []int{3, 0}, "list<element: uint8, nullable>", list("INT32 INT(8,false)")},
		{"nested", idx.Int16, []int{4, 5, 3}, fixed(fixed(fixed("int16", 3), 5), 4),
			list(inList + inList + "INT32 INT(16,true)")},
		{"fixed-binary", idx.Int16, []int{3}, "fixed_size_binary[6]", "required image FIXED_LEN_BYTE_ARRAY(6)"},
		{"binary", idx.Int16, []int{3}, "binary", "required image BYTE_ARRAY"},
		{"binary fixed-binary", idx.Float32, []int{4, 0}, "binary", "required image BYTE_ARRAY"},
		{"huggingface", idx.Int16, []int{2, 2}, "struct<bytes: binary nullable, path: utf8 nullable> nullable",
			"optional image, optional bytes BYTE_ARRAY, optional path BYTE_ARRAY STRING"},
	}
	var names []string
	for _, l := range layouts() {
		names = append(names, l.Name)
	}
	for _, like := range tests[:6] { // a tensor of each type; scalars are the same in every layout
		node := strings.TrimPrefix(like.nodes, list(""))
		all := strings.Join(names, " ")
		tests = append(tests, test{all, like.dtype, nil, like.dtype.String(), "required image " + node})
	}
	for _, test := range tests {
		for name := range strings.FieldsSeq(test.layouts) {
			c := source.Column{Name: "image", DType: test.dtype, Shape: test.shape}
			column := one(t, name, c)
			kind := column.Field.Type.String()
			if column.Field.Nullable {
				kind += " nullable"
			}
			var nodes []string
			for _, e := range column.Elements {
				node := strings.ToLower(fmt.Sprint(e.RepetitionType.V)) + " " + e.Name
				if e.Type.Valid {
					node += " " + fmt.Sprint(e.Type.V)
				}
				if e.TypeLength.Valid {
					node += fmt.Sprintf("(%d)", e.TypeLength.V)
				}
				nodes = append(nodes, strings.TrimSpace(node+" "+e.LogicalType.String()))
			}
			if found := strings.Join(nodes, ", "); kind != test.arrow || found != test.nodes {
				t.Errorf("%s: found %s and the nodes %s, expected %+v", name, kind, found, test)
			}
		}
	}
}

// TestMetadata checks the shape and the type, with the keys of "Extension Types" and "Fixed shape
// tensor" in the Arrow specification.
func TestMetadata(t *testing.T) {
	t.Parallel()
	for _, l := range layouts() {
		name := l.Name
		for _, test := range []struct {
			shape []int
			want  string
		}{{[]int{28, 28}, "[28,28]"}, {[]int{2, 1, 3}, "[2,1,3]"}, {[]int{4, 0}, "[4,0]"}, {nil, "[]"}} {
			c := source.Column{Name: "x", DType: idx.Uint8, Shape: test.shape}
			columns, _, err := Represent(&schema.Schema{Columns: []source.Column{c}}, name)
			if err != nil { // refused: no image, or no column
				continue
			}
			found := columns[0].Field.Metadata.ToMap()
			want := map[string]string{"idx.dtype": "uint8", "idx.shape": test.want}
			if name == "tensor" && test.shape != nil && test.shape[1] > 0 {
				want["ARROW:extension:name"] = "arrow.fixed_shape_tensor"
				want["ARROW:extension:metadata"] = `{"shape":` + test.want + `}`
			}
			if !maps.Equal(found, want) {
				t.Errorf("%s, %v: found the metadata %q, expected %q", name, test.shape, found, want)
			}
		}
	}
}

// TestNothingIsCopied checks that both formats get the batch's own memory.
func TestNothingIsCopied(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"list", "nested", "tensor", "fixed-binary"} {
		for _, d := range idx.DTypes() {
			for _, shape := range [][]int{nil, {3}, {7, 9}} {
				c := source.Column{Name: "x", DType: d, Shape: shape}
				column := one(t, name, c)
				const rows = 5
				data := make([]byte, rows*c.RecordSize())
				buffers := column.Data(data, rows).Buffers
				for of, b := range map[string][]byte{
					"Parquet": column.Leaves[0].Values(data, rows), "Arrow": buffers[len(buffers)-1]} {
					if len(b) != len(data) || &b[0] != &data[0] {
						t.Errorf("%s, %v %v: the values of %s are a copy", name, d, shape, of)
					}
				}
			}
		}
	}
}

// TestLevels compares with levels worked out by hand from "Nested Encoding" and "RLE" in the
// Parquet specification.
func TestLevels(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		layout string
		shape  []int
		want   []byte // repetition levels
	}{
		{"one element: a run of one 0", "list", []int{1, 1}, []byte{0x02, 0x00}},
		{"7×9: one 0, then 62 ones", "list", []int{7, 9}, []byte{0x02, 0x00, 0x7c, 0x01}},
		{"28×28: one 0, then 783 ones", "list", []int{28, 28}, []byte{0x02, 0x00, 0x9e, 0x0c, 0x01}},
		{"no elements: one undefined entry", "list", []int{0, 5}, []byte{0x02, 0x00}},
		{"2×3: 0 22 1 22", "nested", []int{2, 3}, []byte{0x02, 0, 0x04, 2, 0x02, 1, 0x04, 2}},
		{"4×1: 0 111", "nested", []int{4, 1}, []byte{0x02, 0, 0x06, 1}},
		{"1×4: 0 222", "nested", []int{1, 4}, []byte{0x02, 0, 0x06, 2}},
		{"1×1×1: 0", "nested", []int{1, 1, 1}, []byte{0x02, 0}},
		{"28×28: 0 and 27 twos, then 27 times 1 and 27 twos", "nested", []int{28, 28},
			append([]byte{0x02, 0, 0x36, 2}, bytes.Repeat([]byte{0x02, 1, 0x36, 2}, 27)...)},
		{"2×2×2: one group of 0323 1323 in 2 bits each", "nested", []int{2, 2, 2},
			[]byte{0x03, 0b11_10_11_00, 0b11_10_11_01}},
		{"3×3: one group of 0221 2212, then a run of one 2", "nested", []int{3, 3},
			[]byte{0x03, 0b01_10_10_00, 0b10_01_10_10, 0x02, 2}},
	}
	for _, test := range tests {
		l := one(t, test.layout, source.Column{Name: "image", DType: idx.Uint8, Shape: test.shape}).Leaves[0]
		depth, entries, count, definition := 1, 1, source.Column{Shape: test.shape}.Elements(), 0
		if test.layout == "nested" {
			depth = len(test.shape)
		}
		if count > 0 {
			entries, definition = count, 2*depth
		}
		found := []int{int(l.MaxRepetition), int(l.MaxDefinition), int(l.Definition), l.Entries, l.Count}
		if want := []int{depth, 2 * depth, definition, entries, count}; !slices.Equal(found, want) {
			t.Errorf("%s: found maximum levels, definition, entries and values %d, expected %d", test.name, found, want)
		}
		path := append([]string{"image"}, slices.Repeat([]string{"list", "element"}, depth)...)
		if !slices.Equal(l.Path, path) {
			t.Errorf("%s: found the path %v, expected %v", test.name, l.Path, path)
		}
		if !bytes.Equal(l.Repetition, test.want) {
			t.Errorf("%s: found % x, expected % x", test.name, l.Repetition, test.want)
		}
	}
}

// TestNestedLevelsOfManyShapes decodes the levels with parquet-go and compares them with those of
// plain loops over the dimensions.
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
		encoding := rle.Encoding{BitWidth: bits.Len(uint(len(shape)))}
		if found, err := encoding.DecodeLevels(nil, repetition(shape)); err != nil || !bytes.Equal(found, want) {
			t.Errorf("%v: found the levels %v and %v, expected %v", shape, found, err, want)
		}
	}
}

func TestNestedLimit(t *testing.T) {
	t.Parallel()
	for dimensions, supported := range map[int]bool{16: true, 17: false, 254: false} {
		c := source.Column{Name: "x", DType: idx.Uint8, Shape: slices.Repeat([]int{1}, dimensions)}
		_, _, err := Represent(&schema.Schema{Columns: []source.Column{c}}, "nested")
		if supported != (err == nil) || !supported && !refused(err, "", "layout list") {
			t.Errorf("%d dimensions: found the error %v; expected one with a hint: %v", dimensions, err, !supported)
		}
	}
}
