package formats

import (
	"cmp"
	"slices"
	"strings"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/dataset"
	"github.com/idxport/idxport/source/npy"
)

// openUnnamed opens the .npz file at path, whose only array has no name, as a column. It is read
// like a .npy file.
func openUnnamed(path string, o source.ReadOptions) (source.Table, error) {
	return npy.OpenArrays(path, []npy.Array{{Name: npy.Unnamed, Column: cmp.Or(o.Name, "data")}}, o)
}

// findArrays finds the columns and splits of t, a .npz file. Names such as x_train and test_labels
// are those of an image or a label and of a split, as in the names of .npy files; other arrays are
// columns of their own names.
func (t *Table) findArrays(files source.Files) error {
	names, err := npy.Arrays(files, t.path)
	if err != nil || slices.Equal(names, []string{npy.Unnamed}) {
		return err
	}
	t.Format.OneColumn, t.arrays = false, map[string][]npy.Array{}
	for _, name := range names {
		parsed := dataset.ParseName(name)
		array := npy.Array{Name: name, Column: columnOf(name, parsed)}
		same := t.arrays[parsed.Split]
		if i := slices.IndexFunc(same, func(a npy.Array) bool { return a.Column == array.Column }); i >= 0 {
			return fault.New(fault.Malformed, "found two arrays for the column %s: %s and %s", array.Column, same[i].Name, name).In(t.path).
				WithHint("save the arrays again, under names such as x_train and y_train")
		}
		if same == nil {
			t.splits = append(t.splits, parsed.Split)
		}
		t.arrays[parsed.Split] = append(same, array)
	}
	for _, arrays := range t.arrays {
		slices.SortStableFunc(arrays, func(a, b npy.Array) int { return place(a) - place(b) })
	}
	return nil
}

// columnOf returns the name of the column of an array whose name says parsed: image, label, or the
// name without the split.
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

// place returns where the column of an array is in its table: images are first, then labels.
func place(a npy.Array) int {
	switch a.Column {
	case dataset.Image.String():
		return int(dataset.Image)
	case dataset.Label.String():
		return int(dataset.Label)
	}
	return int(dataset.Data)
}
