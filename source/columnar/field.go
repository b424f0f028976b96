package columnar

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// A Kind is the kind of the values of a field.
type Kind byte

// The kinds of fields.
const (
	Other  Kind = iota // values that no column of IDX can have
	Number             // numbers, also as indices into a dictionary
	List               // lists of numbers, or nested lists
	Bytes              // from here on: values of any size
	Text
	Struct // of the member source.HubBytes, of the kind Bytes, and perhaps source.HubPath
)

// A Field describes a column of a file from the schema of the file.
type Field struct {
	Name     string
	Kind     Kind
	Type     string            // for messages: "the type utf8"
	Number   source.NumberKind // of the kinds Number and List
	Size     int               // bytes of each value of the kind Bytes, or 0 if the values differ
	Lengths  []int             // of the lists of a List, the outermost first; −1: as in the first row
	Metadata map[string]string // with the keys of package schema and of extension types
}

// isExtension reports whether f has an extension type that is not known to store plain numbers.
func (f *Field) isExtension() bool {
	name := f.Metadata[source.KeyExtension]
	return !slices.Contains([]string{"", "arrow.bool8", source.FixedShapeTensor}, name) &&
		!strings.HasPrefix(name, "datasets.") // nested lists of Hugging Face
}

// dtype returns the type of IDX in the metadata, or 0.
func (f *Field) dtype() idx.DType {
	if known := source.NumberNamed(f.Metadata[schema.KeyDType]); known.Is(known.DType()) {
		return known.DType()
	}
	return 0
}

// shape returns the shape in the metadata, empty for a scalar, nil if none is valid in C order.
func (f *Field) shape() []int {
	var tensor struct{ Shape, Permutation []int }
	text, into := f.Metadata[source.KeyExtensionMetadata], any(&tensor)
	if own, known := f.Metadata[schema.KeyShape]; known {
		text, into = own, &tensor.Shape
	} else if f.Metadata[source.KeyExtension] != source.FixedShapeTensor {
		return nil
	}
	err := json.Unmarshal([]byte(text[:min(len(text), 8<<10)]), into) // 255 dimensions with names have less
	if err != nil || product(tensor.Shape) < 0 || !slices.IsSorted(tensor.Permutation) {
		return nil
	}
	return tensor.Shape
}

// product returns the number of elements of a record with the given shape. It is −1 if IDX cannot
// have this shape, or if the record may have too many bytes for an int.
func product(shape []int) int64 {
	n, ok := idx.Product(8, shape)
	if !ok || n > math.MaxInt || slices.ContainsFunc(shape, func(d int) bool { return uint64(d) > math.MaxUint32 }) {
		return -1
	}
	return n / 8
}

// A Sample gives access to the first rows of a file. Fields are numbered as in Input.Fields.
type Sample interface {
	// Lengths returns the lengths of the lists in field i, a List, the outermost first.
	Lengths(i int) ([]int, error)
	// Values returns the bytes of field i in the first rows, 1 to limit, or the error Null.
	Values(i, limit int) ([][]byte, error)
}

var errNull = errors.New("a null")

// Null returns the error for a value that is null.
func Null(row int64) *fault.Error {
	return Unsupported("fill the nulls or remove the rows: IDX has no nulls", "found a null, expected a value").
		InRow(row).Because(errNull)
}

// ErrNoRows is the cause of the error for a file without rows, if the shape of a column is known
// from the first row only. Other files of the same table may have rows.
var ErrNoRows = errors.New("no rows to take a shape from")

// Damaged returns the error for a file that breaks the rules of its format.
func Damaged(format string, args ...any) *fault.Error {
	return fault.New(fault.Malformed, format, args...).
		WithHint("the file is damaged, or its writer has a defect: download or write it again")
}

// CutShort returns the error for a file that ends too early.
func CutShort(format string, args ...any) *fault.Error {
	return fault.New(fault.Truncated, format, args...).WithHint("the file is incomplete: download or write it again")
}

// HintShape is the hint for records that differ in shape.
const HintShape = "all records must have one shape, as in an IDX file: pad or cut them, or write a file for each shape"

// Unsupported returns the error for what may be valid but cannot be read as columns of IDX.
func Unsupported(hint, message string, values ...any) *fault.Error {
	return fault.New(fault.Unsupported, message, values...).WithHint("%s", hint)
}

// noRows returns the error for a field with the shape of the first row, in a file without rows.
func noRows(f *Field) error {
	return Unsupported("leave out the file, or the column with --columns; or, but for text, add --shape, for bytes "+
		"also --dtype", "found no rows, expected one that tells the type or shape of %s", f.Type).Because(ErrNoRows)
}

// StructOf returns the kind of structs of members: Struct if they are images of Hugging Face.
func StructOf[M any](members []M, describe func(M) Field) (kind Kind) {
	for _, m := range members {
		if f := describe(m); f.Name == source.HubBytes && f.Kind == Bytes {
			kind = Struct
		} else if f.Name != source.HubPath {
			return Other
		}
	}
	return kind
}
