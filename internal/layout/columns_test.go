package layout

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
)

// byElement represents tensors in the layout columns.
func byElement(tensors ...source.Column) ([]Column, error) {
	columns, _, err := Represent(&schema.Schema{Columns: tensors}, "columns")
	return columns, err
}

// TestColumnNames expects the names of the CSV header.
func TestColumnNames(t *testing.T) {
	t.Parallel()
	label := source.Column{Name: "label", DType: idx.Uint8}
	image := source.Column{Name: "image", DType: idx.Uint8, Shape: []int{1, 2}}
	depth := source.Column{Name: "depth", DType: idx.Int16, Shape: []int{1}}
	tests := []struct {
		name string
		of   []source.Column
		want string
	}{
		{"one tensor", []source.Column{image, label}, "pixel0 pixel1 label"},
		{"the schema's order", []source.Column{label, image}, "label pixel0 pixel1"},
		{"two tensors", []source.Column{image, label, depth}, "image0 image1 label depth0"},
		{"scalars alone", []source.Column{label}, "label"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			columns := must.Get(byElement(test.of...))(t)
			var names []string
			for _, c := range columns {
				names = append(names, c.Field.Name)
				if c.Field.Nullable || len(c.Leaves) != 1 || !c.Leaves[0].Scalar || !slices.Equal(c.Leaves[0].Path, []string{c.Field.Name}) {
					t.Errorf("found %+v, expected a required primitive column", c)
				}
			}
			if found := strings.Join(names, " "); found != test.want {
				t.Errorf("found %s, expected %s", found, test.want)
			}
		})
	}
}

func TestColumnsRefuse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		of      []source.Column
		message string // a part of it; "" if the columns are accepted
	}{
		{"4,096 elements", []source.Column{{Name: "x", DType: idx.Float64, Shape: []int{64, 64}}}, ""},
		{"4,097 elements", []source.Column{{Name: "x", DType: idx.Uint8, Shape: []int{17, 241}}}, "4097 elements, expected 1 to 4096"},
		{"no elements", []source.Column{{Name: "x", DType: idx.Uint8, Shape: []int{4, 0}}, {Name: "y", DType: idx.Uint8}}, "0 elements, expected 1 to 4096"},
		{"a scalar with an element's name", []source.Column{{Name: "x", DType: idx.Uint8, Shape: []int{4}}, {Name: "pixel3", DType: idx.Uint8}}, "name pixel3"},
		{"elements of one name", []source.Column{{Name: "x1", DType: idx.Uint8, Shape: []int{11}}, {Name: "x1_", DType: idx.Uint8, Shape: []int{1}}}, "name x1_0"},
	}
	for _, test := range tests {
		_, err := byElement(test.of...)
		if ok := test.message == ""; ok != (err == nil) || !ok && (!refused(err, test.message, "") || fault.HintOf(err) == "") {
			t.Errorf("%s: found the error %v, expected one with a hint, and %q in it", test.name, err, test.message)
		}
	}
}

// TestTranspose compares with a loop over single elements, around the limits of tiles.
func TestTranspose(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 2, 4, 8} {
		for _, rows := range []int{0, 1, tileRows - 1, tileRows, 2*tileRows + 3} {
			for _, n := range []int{1, 7, tileBytes/size - 1, tileBytes / size, tileBytes/size + 1, 150} {
				data := make([]byte, rows*n*size)
				for i := range data {
					data[i] = byte(i * 7919 >> 3)
				}
				var want []byte
				for column := range n {
					for row := range rows {
						want = append(want, data[(row*n+column)*size:][:size]...)
					}
				}
				if !bytes.Equal(transpose(data, n, size), want) {
					t.Errorf("%d rows of %d elements of %d bytes: the elements are wrong", rows, n, size)
				}
			}
		}
	}
}
