package schema

import (
	"slices"

	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/source"
)

// Keys of field metadata: the data type and the shape of a column in its IDX file.
const (
	KeyDType = "idx.dtype" // "uint8", …
	KeyShape = "idx.shape" // JSON: "[28,28]"; "[]" for scalars
)

// A Schema describes a table as every sink sees it.
type Schema struct {
	Columns    []source.Column
	Rows       int64    // −1 if unknown before the end
	SourceRows int64    // rows of the table that these were selected from; −1 if unknown
	Meta       []Pair   // names of the sources, transforms that were applied
	Classes    *Classes // a column of class names to be written after the labels, or nil
}

// A Pair is an entry of a schema's metadata. Outputs keep the order of the pairs.
type Pair struct{ Key, Value string }

// Of returns the schema of t.
func Of(t source.Table, meta ...Pair) *Schema {
	return &Schema{Columns: t.Columns(), Rows: t.Rows(), SourceRows: source.About(t).SourceRows, Meta: meta}
}

// RowSize returns the number of bytes of a row over all columns.
func (s *Schema) RowSize() int64 { return source.RowSize(s.Columns) }

// Limits of a batch: see BatchRows.
const (
	batchSize    = 1 << 20 // bytes
	maxBatchRows = 1 << 16
)

// BatchRows returns the number of rows in every batch but the last: clamp(1 MiB / row size, 1,
// 65,536), rounded down to a multiple of 8 if it is 8 or more. It depends on the columns alone, so
// outputs do not change with the number of workers, the memory or the other outputs.
func (s *Schema) BatchRows() int {
	rows := int(min(max(1, batchSize/max(1, s.RowSize())), maxBatchRows))
	if rows >= 8 {
		rows &^= 7
	}
	return rows
}

// A Batch holds consecutive rows. All sinks share its buffers and must not write to them.
type Batch struct {
	First   int64    // index of the first row within the table
	Rows    int      // at least 1
	Columns [][]byte // Rows·RecordSize bytes each: elements in C order, little-endian, as in Arrow
}

// Label returns the index of the label column, for formats that have one place for labels, or −1 if
// there is none. It is the column that was chosen; else the one named "label" if it holds scalar
// integers; else the only column of scalar integers, if it has class names or is called like one.
func (s *Schema) Label() int {
	if i := slices.IndexFunc(s.Columns, func(c source.Column) bool { return c.Label }); i >= 0 {
		return i
	}
	only, integers := -1, 0
	for i, c := range s.Columns {
		if !c.Scalar() || !c.Integer() {
			continue
		}
		if c.Name == "label" {
			return i
		}
		integers++
		if c.Classes != nil || text.NamesLabels(c.Name) {
			only = i
		}
	}
	if integers > 1 {
		return -1
	}
	return only
}

// ClassName is the name of the column that a [Classes] describes.
const ClassName = "class"

// HintName is the hint for a column that needs another name; it uses category as an example.
const HintName = "give the column another name: for IDX and .npy files, write the input as NAME=FILE, such as " +
	"category=FILE; for other formats, rename the column in the file"

// HintLabel is the hint for labels of several numbers.
const HintLabel = "make labels single numbers first: of one-hot labels, NumPy's labels.argmax(1) does"

// Classes is a column that is not in the batches: the class names of the labels, as text. Sinks
// that support it write it directly after the labels.
type Classes struct {
	Label   int      // index of the label column
	Names   []string // distinct class names, in the order of their labels
	column  source.Column
	indices []int32 // index in Names by label, −1 where a label has no name
}

// NewClasses returns the class names of column i of s, scalar integers that must have such names.
func NewClasses(s *Schema, i int) *Classes {
	k := &Classes{Label: i, column: s.Columns[i]}
	indices := map[string]int32{"": -1}
	for _, name := range k.column.Classes {
		if _, known := indices[name]; !known {
			indices[name] = int32(len(k.Names))
			k.Names = append(k.Names, name)
		}
		k.indices = append(k.indices, indices[name])
	}
	return k
}

// Check returns an error for the first label without a name in data, which begins at row first.
func (k *Classes) Check(data []byte, first int64) error {
	return k.column.CheckNames(data, first, false)
}

// Index returns the index in Names of the class of label i of data, which must have passed Check.
func (k *Classes) Index(data []byte, i int) int {
	return int(k.indices[source.Int(k.column.DType, data, i)])
}
