package schema

import (
	"slices"

	"github.com/idxport/idxport/source"
)

// Label is the index of the column that holds the labels, for formats that have one place for them; −1 if there is none. It is the column that was
// chosen, else the one called "label" if that is a scalar integer, else the only scalar integer column.
func (s *Schema) Label() int {
	if i := slices.IndexFunc(s.Columns, func(c source.Column) bool { return c.Label }); i >= 0 {
		return i
	}
	named, only, integers := -1, -1, 0
	for i, c := range s.Columns {
		if !c.Scalar() || !c.Integer() {
			continue
		}
		only = i
		integers++
		if c.Name == "label" {
			named = i
		}
	}
	if named < 0 && integers == 1 {
		return only
	}
	return named
}

// ClassName is what the column of a Classes is called.
const ClassName = "class"

// Classes is a column that is not in the batches: the names of the classes that the labels stand for, as text. Sinks that have a place for it
// write it right behind the labels.
type Classes struct {
	Label  int      // index of the label column
	Names  []string // of the classes, each once, in the order of their labels
	column source.Column
	places []int32 // index in Names by label, −1 where a label has no name
}

// NewClasses names the classes of column i of s, which must be a scalar integer column with class names.
func NewClasses(s *Schema, i int) *Classes {
	k := &Classes{Label: i, column: s.Columns[i]}
	met := map[string]int32{}
	for _, name := range k.column.Classes {
		if name == "" {
			k.places = append(k.places, -1)
			continue
		}
		place, known := met[name]
		if !known {
			place = int32(len(k.Names))
			met[name] = place
			k.Names = append(k.Names, name)
		}
		k.places = append(k.places, place)
	}
	return k
}

// Check is the error for the first of data, labels from row first of the table on, that has no name.
func (k *Classes) Check(data []byte, first int64) error {
	for i := range len(data) / k.column.DType.Size() {
		label := source.Int(k.column.DType, data, i)
		if label < 0 || label >= int64(len(k.places)) || k.places[label] < 0 {
			return source.Unnamed(k.column, first+int64(i), label)
		}
	}
	return nil
}

// Place is the index in Names of the class of label i of data, labels that Check has passed.
func (k *Classes) Place(data []byte, i int) int {
	return int(k.places[source.Int(k.column.DType, data, i)])
}
