package schema

import (
	"encoding/json"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
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

// ElementType is the Arrow type of the elements of d, which must be valid.
func ElementType(d idx.DType) arrow.FixedWidthDataType {
	switch d {
	case idx.Uint8:
		return &arrow.Uint8Type{}
	case idx.Int8:
		return &arrow.Int8Type{}
	case idx.Int16:
		return &arrow.Int16Type{}
	case idx.Int32:
		return &arrow.Int32Type{}
	case idx.Float32:
		return &arrow.Float32Type{}
	default:
		return &arrow.Float64Type{}
	}
}

// FieldMetadata is what Arrow and Parquet outputs keep of c's data type and shape.
func FieldMetadata(c source.Column) arrow.Metadata {
	shape := c.Shape
	if shape == nil {
		shape = []int{}
	}
	text, _ := json.Marshal(shape) // a list of integers: cannot fail
	return arrow.NewMetadata([]string{KeyDType, KeyShape}, []string{c.DType.String(), string(text)})
}

// Metadata is the schema's metadata as Arrow has it.
func (s *Schema) Metadata() arrow.Metadata {
	keys, values := make([]string, len(s.Meta)), make([]string, len(s.Meta))
	for i, p := range s.Meta {
		keys[i], values[i] = p.Key, p.Value
	}
	return arrow.NewMetadata(keys, values)
}
