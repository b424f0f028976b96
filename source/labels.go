package source

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/idxport/idxport/internal/fault"
)

// Keys of metadata.
const (
	KeyDataset = "idx.dataset" // the data set to which the column label belongs
	KeyClasses = "idx.classes" // of the column label: a JSON list of the names
	KeyApplied = "idx.applied" // JSON of what was done to the inputs, such as {"part":"1/4"}
)

// ClassesKey returns the key of the metadata with the names of the labels of a column.
func ClassesKey(column string) string {
	if column == "label" {
		return KeyClasses
	}
	return KeyClasses + "." + column
}

// ClassesIn returns a column's class names in a file's metadata, which others may have changed.
func ClassesIn(metadata map[string]string, column string) (names []string) {
	_ = json.Unmarshal([]byte(metadata[ClassesKey(column)]), &names) // there may be none
	return names
}

// Keys of the metadata of Hugging Face's datasets and of Arrow, and the parts of an image.
const (
	HubKey   = "huggingface" // the features of a table
	HubBytes = "bytes"       // of an image, a struct: the file
	HubPath  = "path"        // the name that it had

	KeyExtension         = "ARROW:extension:name"
	KeyExtensionMetadata = "ARROW:extension:metadata"
	FixedShapeTensor     = "arrow.fixed_shape_tensor" // an extension type, with the shape in its metadata
	KeyArrowSchema       = "ARROW:schema"             // in Parquet, which lacks FixedSizeList and metadata of columns
)

// NoName is the name of a label without a class in Hugging Face's metadata, where every label must
// have another name: all such labels but the first have their number appended, as in N/A-2.
const NoName = "N/A"

// A HubFeature is the type of a column in Hugging Face's metadata.
type HubFeature struct {
	Column  string          `json:"-"`
	DType   string          `json:"dtype,omitempty"`   // of a Value
	Names   []string        `json:"names,omitempty"`   // of a ClassLabel; empty for labels without a class
	Mode    string          `json:"mode,omitempty"`    // of an Image: Pillow's mode, or empty
	Feature json.RawMessage `json:"feature,omitempty"` // of the elements of a List
	Type    string          `json:"_type"`             // Image, Value, ClassLabel, List, …
}

// HubFeatures returns the features in the metadata of a file, by column; none if it is malformed.
func HubFeatures(metadata map[string]string) map[string]HubFeature {
	var found struct {
		Info struct{ Features map[string]json.RawMessage }
	}
	_ = json.Unmarshal([]byte(metadata[HubKey]), &found)
	all := map[string]HubFeature{}
	for column, raw := range found.Info.Features {
		var f HubFeature
		for depth := 0; raw != nil && depth < 32; depth++ { // {"feature":…} and [{…}] are lists of a feature
			_ = json.Unmarshal(bytes.Trim(raw, "[]"), &f) // other types lead to an error at the end
			raw, f.Feature = f.Feature, nil
		}
		for label, name := range f.Names {
			if metadata[KeyDataset] != "" && (name == NoName || name == NoName+"-"+strconv.Itoa(label)) {
				f.Names[label] = "" // it is none of these classes, but may be one of others
			}
		}
		all[column] = f
	}
	return all
}

// Unnamed returns the error for a row of the column c whose label has no class name.
func Unnamed(c Column, row, label int64) error {
	named := len(slices.DeleteFunc(slices.Clone(c.Classes), func(name string) bool { return name == "" }))
	return fault.New(fault.Malformed, "label %d has no class name (%d known)", label, named).InColumn(c.Name).
		InRow(row).WithHint("give more class names with --classes FILE or, if they are those of a known data set, "+
		"another with --dataset NAME, or --dataset none; or leave such rows out: --where %s!=%d", c.Name, label)
}

// Unknown is a label without a class, as of Hugging Face and TensorFlow Datasets. It needs no name.
const Unknown = -1

// CheckNames returns an error for the first label without a class name in data, which begins with
// row first of the column: single integers with classes. Other columns have no labels. With
// unknown, the label Unknown needs no name.
func (c Column) CheckNames(data []byte, first int64, unknown bool) error {
	if c.Classes == nil || !c.Scalar() || !c.Integer() {
		return nil
	}
	for i := range len(data) / c.DType.Size() {
		if label := Int(c.DType, data, i); c.ClassName(label) == "" && !(unknown && label == Unknown) {
			return Unnamed(c, first+int64(i), label)
		}
	}
	return nil
}

// CheckedLabels returns t, whose Decode fails for a label, except Unknown, that has no class name.
// With inFile, the rows of t are numbered as in the file of the label, which the error then names.
func CheckedLabels(t Table, inFile bool) Table {
	columns := t.Columns()
	return newDerived(t, columns, func(b, _ *Raw) error {
		for i, c := range columns {
			if err := c.CheckNames(b.Columns[i], b.First, true); err != nil && inFile {
				return fault.In(c.Origin, err)
			} else if err != nil {
				return err
			}
		}
		return nil
	})
}

// CheckedClasses returns t without the column class, whose Decode fails if it is not that of label.
func CheckedClasses(t Table, path string, label, class int) Table {
	columns := t.Columns()
	l, c := columns[label], columns[class]
	return newDerived(t, slices.Delete(slices.Clone(columns), class, class+1), func(b, inner *Raw) error {
		for i := range b.Rows {
			n, name := Int(l.DType, inner.Columns[label], i), Int(c.DType, inner.Columns[class], i)
			if c.ClassName(n) != c.ClassName(name) {
				return fault.New(fault.Malformed, "found %q beside label %d, which is %q",
					c.ClassName(name), n, c.ClassName(n)).In(path).InColumn(c.Name).InRow(b.First + int64(i)).
					WithHint("leave one of the columns out with --columns")
			}
		}
		copy(b.Columns[class:], inner.Columns[class+1:])
		return nil
	})
}
