package layout

import (
	"encoding/json"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/idxport/idxport/source"
)

// Keys of the field metadata that makes a field one of an extension type, and the name of the type: see "Extension Types" and "Fixed shape
// tensor" in the Arrow specification.
const (
	extensionNameKey     = "ARROW:extension:name"
	extensionMetadataKey = "ARROW:extension:metadata"
	fixedShapeTensor     = "arrow.fixed_shape_tensor"
)

// tensor is the layout of the name: list, said to be of a shape. Records of no elements are plain lists: the extension is for fixed-size lists
// only.
func tensor(c source.Column) ([]Column, error) {
	columns, err := listOf("tensor", c)
	if err != nil || c.Elements() == 0 {
		return columns, err
	}
	metadata, _ := json.Marshal(map[string][]int{"shape": c.Shape}) // integers: cannot fail
	field := &columns[0].Field
	field.Metadata = arrow.NewMetadata(
		append(slices.Clone(field.Metadata.Keys()), extensionNameKey, extensionMetadataKey),
		append(slices.Clone(field.Metadata.Values()), fixedShapeTensor, string(metadata)))
	return columns, nil
}
