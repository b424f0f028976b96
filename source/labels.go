package source

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/idxport/idxport/fault"
)

// HubKey is the key of an Arrow or Parquet file's metadata in which Hugging Face's datasets keep the features of a table.
const HubKey = "huggingface"

// NoName is the name that a label without a class has there, as every label must have one; further
// labels have their number appended, as in N/A-2, as names must differ.
const NoName = "N/A"

// HubClasses are the names of classes that the metadata of a file has for columns, by column: empty
// for labels without a class. What is not as expected is passed over: nothing depends on it.
func HubClasses(metadata map[string]string) map[string][]string {
	var found struct {
		Info struct{ Features map[string]json.RawMessage }
	}
	classes := map[string][]string{}
	if json.Unmarshal([]byte(metadata[HubKey]), &found) != nil {
		return classes
	}
	for column, text := range found.Info.Features {
		var feature struct {
			Type  string `json:"_type"`
			Names []string
		}
		if json.Unmarshal(text, &feature) != nil || feature.Type != "ClassLabel" || len(feature.Names) == 0 {
			continue
		}
		for label, name := range feature.Names {
			if name == NoName || name == NoName+"-"+strconv.Itoa(label) {
				feature.Names[label] = ""
			}
		}
		classes[column] = feature.Names
	}
	return classes
}

// Unnamed is the error for a label in a row of the column c, which has names of classes, but none for it.
func Unnamed(c Column, row, label int64) error {
	named := 0
	for _, name := range c.Classes {
		if name != "" {
			named++
		}
	}
	return fault.New(fault.Malformed, "label %d has no name, of %d names that are known", label, named).InColumn(c.Name).InRow(row).
		WithHint("give the right names with --classes FILE, the right data set with --dataset NAME, or none with --dataset none")
}

// CheckLabels is t, but decoding fails at a label that its column has no name for. Columns without
// classes, with floats or with more than one element are not looked at.
func CheckLabels(t Table) Table {
	checked := func(c Column) bool { return c.Classes != nil && c.Scalar() && c.Integer() }
	columns := t.Columns()
	if !slices.ContainsFunc(columns, checked) {
		return t
	}
	v := newView(t, columns)
	v.decoded = func(b *Raw) error {
		for i, c := range columns {
			if !checked(c) {
				continue
			}
			for row := range b.Rows {
				if label := Int(c.DType, b.Columns[i], row); c.ClassName(label) == "" {
					return Unnamed(c, b.First+int64(row), label)
				}
			}
		}
		return nil
	}
	return v
}
