package png

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink/images"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// labels names the class folder of each label.
type labels struct {
	given  bool // there is a label column
	column source.Column
	width  int      // digits of a folder named after its label
	names  []string // of the classes' folders, empty where a class has no name; nil if folders are named after labels
}

// newLabels decides the names for the label column of s, which is −1 if there is none.
func newLabels(s *schema.Schema, column int, o Options) (labels, error) {
	byName := o.ClassFolders == "names"
	if !byName && o.ClassFolders != "" && o.ClassFolders != "labels" {
		return labels{}, unsupported("", "found class folders %q, expected labels or names", o.ClassFolders)
	}
	if column < 0 {
		if byName {
			return labels{}, unsupported("name the file of the labels too", "no column has labels to name class folders after")
		}
		return labels{}, nil
	}
	c := s.Columns[column]
	if !byName {
		return labels{given: true, column: c, width: labelWidth(c, o.MaxLabel)}, nil
	}
	if len(c.Classes) == 0 {
		return labels{}, unsupported("give the names with --classes FILE or --dataset NAME", "the classes of column %q have no names", c.Name)
	}
	return labels{given: true, column: c, names: schema.FolderNames(c.Classes)}, nil
}

// labelWidth is the number of digits of the largest label that can occur.
func labelWidth(c source.Column, largest int64) int {
	switch {
	case len(c.Classes) > 0:
		return images.Digits(int64(len(c.Classes)) - 1)
	case largest > 0:
		return images.Digits(largest)
	}
	switch c.DType {
	case idx.Int16:
		return 5 // 32767
	case idx.Int32:
		return 10 // 2147483647
	default:
		return 3 // 255, and 127
	}
}

// folder is the name of the class folder for the label of row: empty for the folder itself.
func (l labels) folder(label, row int64) (string, error) {
	switch {
	case !l.given:
		return "", nil
	case l.names != nil:
		if label < 0 || label >= int64(len(l.names)) || l.names[label] == "" {
			return "", source.Unnamed(l.column, row, label)
		}
		return l.names[label], nil
	case label < 0:
		return "", images.BadValue(format, images.AdviceOther, l.column.Name, row, "found the label %d, expected none below 0: class folders could not be sorted", label)
	case images.Digits(label) > l.width:
		return "", images.BadValue(format, "", l.column.Name, row, "found the label %d, expected at most %d digits", label, l.width)
	}
	return string(images.AppendPadded(nil, label, l.width)), nil
}

// disordered reports whether the class folders, sorted by name, are in another order than their labels.
func (l labels) disordered() bool {
	present := slices.DeleteFunc(slices.Clone(l.names), func(name string) bool { return name == "" })
	return !slices.IsSorted(present)
}

// maxGaps is how many labels that do not occur are listed.
const maxGaps = 10

// A labelSet is the labels that occurred. It is safe on many goroutines; each adds a label once.
type labelSet struct {
	mu     sync.Mutex
	labels map[int64]bool
}

func (s *labelSet) add(label int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.labels == nil {
		s.labels = map[int64]bool{}
	}
	s.labels[label] = true
}

// gaps lists the labels below the largest one that did not occur; it is empty if there are none.
func (s *labelSet) gaps() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var sorted []int64
	for label := range s.labels {
		sorted = append(sorted, label)
	}
	slices.Sort(sorted)
	var missing []string
	next := int64(0)
	for _, label := range sorted {
		for ; next < label; next++ {
			if len(missing) == maxGaps {
				return strings.Join(missing, ", ") + " and others"
			}
			missing = append(missing, strconv.FormatInt(next, 10))
		}
		next = label + 1
	}
	return strings.Join(missing, ", ")
}
