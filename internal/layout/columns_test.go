package layout

import (
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
	for want, of := range map[string][]source.Column{
		"pixel0 pixel1 label":        {image, label},
		"label pixel0 pixel1":        {label, image}, // the schema's order
		"image0 image1 label depth0": {image, label, depth},
		"label":                      {label},
	} {
		var names []string
		for _, c := range must.Get(byElement(of...))(t) {
			names = append(names, c.Field.Name)
			if c.Field.Nullable || len(c.Leaves) != 1 || !c.Leaves[0].Scalar ||
				!slices.Equal(c.Leaves[0].Path, []string{c.Field.Name}) {
				t.Errorf("found %+v, expected a required primitive column", c)
			}
		}
		if found := strings.Join(names, " "); found != want {
			t.Errorf("found %s, expected %s", found, want)
		}
	}
}

func TestColumnsRefuse(t *testing.T) {
	t.Parallel()
	tensor := func(name string, shape ...int) source.Column {
		return source.Column{Name: name, DType: idx.Uint8, Shape: shape}
	}
	for name, test := range map[string]struct {
		of      []source.Column
		message string // a part of it; "" if the columns are accepted
	}{
		"4,096 elements":    {[]source.Column{{Name: "x", DType: idx.Float64, Shape: []int{64, 64}}}, ""},
		"4,097 elements":    {[]source.Column{tensor("x", 17, 241)}, "4097 elements, expected 1 to 4096"},
		"no elements":       {[]source.Column{tensor("x", 4, 0), tensor("y")}, "0 elements, expected 1 to 4096"},
		"an element's name": {[]source.Column{tensor("x", 4), tensor("pixel3")}, "name pixel3"},
		"elements' names":   {[]source.Column{tensor("x1", 11), tensor("x1_", 1)}, "name x1_0"},
	} {
		_, err := byElement(test.of...)
		wanted := refused(err, test.message, "") && fault.HintOf(err) != ""
		if test.message == "" && err != nil || test.message != "" && !wanted {
			t.Errorf("%s: found the error %v, expected one with a hint, and %q in it", name, err, test.message)
		}
	}
}
