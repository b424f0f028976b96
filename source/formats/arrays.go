package formats

import (
	"slices"
	"strings"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/dataset"
	"github.com/idxport/idxport/source/npy"
)

// An Array is an array of a .npz file.
type Array struct {
	Name   string // in the file
	Split  string // the split in Name, or empty
	Column string
}

// Arrays returns the arrays of t, a .npz file: images first, then labels. It returns nil for other
// files, and for a single array without a name, which is read like a .npy file.
func (t Table) Arrays() []Array { return t.arrays }

// openUnnamed opens the .npz file at path, whose only array has no name.
func openUnnamed(path string, o source.ReadOptions) (source.Table, error) {
	return npy.OpenArray(path, npy.Unnamed, o)
}

// findArrays finds the columns and splits of t, a .npz file. Names such as x_train and test_labels
// are those of an image or a label and of a split, as in the names of .npy files; other arrays are
// columns of their own names.
func (t *Table) findArrays(files source.Files) error {
	names, err := npy.Arrays(files, t.path)
	if err != nil || slices.Equal(names, []string{npy.Unnamed}) {
		return err
	}
	for _, name := range names {
		parsed := dataset.ParseName(name)
		array := Array{Split: parsed.Split, Column: columnOf(name, parsed), Name: name}
		if i := slices.IndexFunc(t.arrays, func(a Array) bool { return a.Split == array.Split && a.Column == array.Column }); i >= 0 {
			return fault.New(fault.Malformed, "found two arrays for the column %s: %s and %s", array.Column, t.arrays[i].Name, name).In(t.path).
				WithHint("save the arrays again, under names such as x_train and y_train")
		}
		t.arrays = append(t.arrays, array)
	}
	slices.SortStableFunc(t.arrays, func(a, b Array) int { return int(a.Role()) - int(b.Role()) })
	return nil
}

// columnOf returns the name of the column of the array called name: image, label, or name without
// the split. parsed has the parts of name.
func columnOf(name string, parsed dataset.Name) string {
	if parsed.Role != dataset.Data && parsed.Prefix == "" && !parsed.Ambiguous {
		return parsed.Role.String()
	}
	for _, separator := range []string{"_", "-", "."} {
		rest := strings.TrimSuffix(strings.TrimPrefix(name, parsed.Split+separator), separator+parsed.Split)
		if parsed.Split != "" && rest != name && rest != "" {
			return rest
		}
	}
	return name
}

// Role returns the role of the column of a.
func (a Array) Role() dataset.Role {
	switch a.Column {
	case dataset.Image.String():
		return dataset.Image
	case dataset.Label.String():
		return dataset.Label
	}
	return dataset.Data
}
