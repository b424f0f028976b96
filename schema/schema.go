package schema

import (
	"slices"
	"strconv"

	"github.com/idxport/idxport/source"
)

// Keys of field metadata: the data type and the shape of a column as its IDX file has them.
const (
	KeyDType = "idx.dtype" // "uint8", …
	KeyShape = "idx.shape" // JSON: "[28,28]"; "[]" for scalars
)

// A Schema describes a table as every sink sees it.
type Schema struct {
	Columns []source.Column
	Rows    int64  // −1 if only the end can tell
	Source  int64  // rows of the table that this is a range of; equal to Rows if it is whole, −1 if unknown
	Meta    []Pair // small and true: the names of the sources, what was applied
	// Classes is a column of class names that is to stand behind the labels, or nil.
	Classes *Classes
}

// A Pair is one entry of a schema's metadata. Pairs keep their order in the output.
type Pair struct{ Key, Value string }

// Of describes t.
func Of(t source.Table, meta ...Pair) *Schema {
	return &Schema{Columns: t.Columns(), Rows: t.Rows(), Source: source.SourceRows(t), Meta: meta}
}

// RowSize is the number of bytes of a row over all columns.
func (s *Schema) RowSize() int64 {
	n := int64(0)
	for _, c := range s.Columns {
		n += int64(c.RecordSize())
	}
	return n
}

// Limits of a batch: see BatchRows.
const (
	batchSize    = 1 << 20 // bytes
	maxBatchRows = 1 << 16
)

// BatchRows is the number of rows in every batch but the last. It depends on the columns alone, so that outputs do not differ with the number
// of workers, with the memory or with what else is written: clamp(1 MiB / row size, 1, 65,536), rounded down to a multiple of 8 from 8 up.
func (s *Schema) BatchRows() int {
	rows := maxBatchRows
	if size := s.RowSize(); size > 0 {
		rows = int(min(max(batchSize/size, 1), maxBatchRows))
	}
	if rows >= 8 {
		rows &^= 7
	}
	return rows
}

// A Batch is a number of consecutive rows. Its buffers are shared by all sinks: they are only read.
type Batch struct {
	First   int64    // index of the first row within the table
	Rows    int      // at least 1
	Columns [][]byte // Rows·RecordSize bytes each: elements in C order, little-endian, as Arrow keeps them
}

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

// AppendElementName appends the name of element i, in C order, of a record of the tensor column c where each element is a column of its own: pixel0,
// pixel1, … as Kaggle has them, or c's name and the number if other columns are tensors too. alone says that none is.
func AppendElementName(dst []byte, c source.Column, i int, alone bool) []byte {
	prefix := c.Name
	if alone {
		prefix = "pixel"
	}
	return strconv.AppendInt(append(dst, prefix...), int64(i), 10)
}
