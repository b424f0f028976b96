package layout

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// TestTensor looks for the keys that the Arrow specification has in "Extension Types" and "Fixed shape tensor".
func TestTensor(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		shape []int
		want  string // serialized metadata of the extension, empty if it is not there
	}{
		{"image", []int{28, 28}, `{"shape":[28,28]}`},
		{"vector", []int{5}, `{"shape":[5]}`},
		{"colors", []int{4, 5, 3}, `{"shape":[4,5,3]}`},
		{"no elements", []int{4, 0}, ""},
		{"scalar", nil, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := source.Column{Name: "image", DType: idx.Uint8, Shape: test.shape}
			field := one(t, "tensor", c).Field
			name, _ := field.Metadata.GetValue("ARROW:extension:name")
			metadata, _ := field.Metadata.GetValue("ARROW:extension:metadata")
			if (name == "arrow.fixed_shape_tensor") != (test.want != "") || metadata != test.want {
				t.Errorf("found the extension %q with %q, expected %q", name, metadata, test.want)
			}
			if !arrow.TypeEqual(field.Type, schema.ListField(c).Type) {
				t.Errorf("found the storage %v, expected list's", field.Type)
			}
			if _, ok := field.Metadata.GetValue(schema.KeyShape); !ok {
				t.Error("the field's own metadata are lost")
			}
		})
	}
}
