package png

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/idxport/idxport/internal/images"
	"github.com/idxport/idxport/internal/publish"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/source"
)

// labels maps labels to class folders.
type labels struct {
	given  bool // whether there is a label column
	column source.Column
	width  int      // digits of a folder name that is a label
	names  []string // of folders by label, "" for a class without a name; nil if labels name them
}

// huggingFace is the layout with a metadata.csv.
const huggingFace = "huggingface"

// Layouts returns the layouts, the default first.
func Layouts() []sink.Layout {
	return []sink.Layout{{Name: "labels", Title: "class folders 0, 1, 2, …, named after the labels"},
		{Name: "names", Title: "class folders named after the classes"},
		{Name: huggingFace, Title: "labels, and a metadata.csv with a line for each image, as imagefolder reads it"}}
}

// newLabels chooses the folder names for the labels in a column of s, −1 if there is none.
func newLabels(s *schema.Schema, column int, o sink.Options) (l labels, err error) {
	if column >= 0 {
		l = labels{given: true, column: s.Columns[column], width: labelWidth(s.Columns[column], o.MaxLabel)}
	}
	switch {
	case o.Layout == "" || o.Layout == "labels" || o.Layout == huggingFace:
	case o.Layout != "names":
		err = images.Unsupported(format, "", "found the layout %q, expected labels, names or huggingface", o.Layout)
	case !l.given:
		err = images.Unsupported(format, "choose their column with --label-column, or give their file too, for IDX "+
			"and .npy", "no column has labels, and class folders are named after their classes")
	case len(l.column.Classes) == 0:
		err = images.Unsupported(format, "give the names with --classes FILE or --dataset NAME",
			"the classes of column %q have no names", l.column.Name)
	default:
		l.names = schema.FolderNames(l.column.Classes)
	}
	return l, err
}

// writeClasses writes the hidden file by which package source/png finds the labels of folders that
// are named after classes. Other readers of the folder pass over it.
func (l labels) writeClasses(folder *publish.Folder) error {
	if l.names == nil {
		return nil
	}
	text, _ := json.Marshal(schema.ClassFolders{Folders: l.names, Classes: l.column.Classes}) // cannot fail
	return folder.WriteFile(schema.ClassesFile, append(text, '\n'))
}

// labelWidth returns the digits of the largest label that c can have; largest is Options.MaxLabel.
func labelWidth(c source.Column, largest int64) int {
	if n := int64(len(c.Classes)); n > 0 {
		largest = n - 1
	} else if largest <= 0 {
		_, largest = c.DType.Limits()
	}
	return images.Digits(largest)
}

// folder returns the class folder of a row with this label, with a slash.
func (l labels) folder(label, row int64) (string, error) {
	switch {
	case l.names != nil:
		if label < 0 || label >= int64(len(l.names)) || l.names[label] == "" {
			return "", source.Unnamed(l.column, row, label)
		}
		return l.names[label] + "/", nil
	case label < 0:
		return "", images.BadValue(format, images.HintOther, l.column.Name, row,
			"found the label %d, expected 0 or more: class folders are named 0, 1, 2, …", label)
	case images.Digits(label) > l.width:
		return "", images.BadValue(format, "", l.column.Name, row, "found the label %d, expected at most %d digits",
			label, l.width)
	}
	return string(append(images.AppendPadded(nil, label, l.width), '/')), nil
}

// gaps lists the labels that are missing in present, from 0 to the largest one in it, or "".
func gaps(present []int64) string {
	const maxListed = 10
	slices.Sort(present)
	var missing []string
	for label := int64(0); len(present) > 0; label++ {
		switch {
		case present[0] == label:
			present = present[1:]
		case len(missing) == maxListed:
			return strings.Join(missing, ", ") + " and others"
		default:
			missing = append(missing, strconv.FormatInt(label, 10))
		}
	}
	return strings.Join(missing, ", ")
}
