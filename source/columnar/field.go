package columnar

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// A Kind is the kind of the values of a field.
type Kind byte

// The kinds of fields.
const (
	Other      Kind = iota // values that no column of IDX can have
	Number                 // numbers, also as indices into a dictionary
	List                   // lists of numbers, or nested lists
	Bytes                  // bytes of any length
	FixedBytes             // bytes, all of the same length
	Text
	Struct
)

// A Field describes a column of a file, or a member of a struct, from the schema of the file.
type Field struct {
	Name     string
	Kind     Kind
	Type     string            // for messages: "the type utf8"
	Hint     string            // how to handle a field of the kind Other, or ""
	Number   source.NumberKind // of the kinds Number and List
	Size     int               // bytes of each value of the kind FixedBytes
	Lengths  []int             // of the lists of a List, the outermost first; −1: as in the first row
	Members  []Field           // of a Struct
	Metadata map[string]string // with the keys of package schema and of extension types
}

// The metadata keys of extension types, and the name of the extension type whose metadata has a
// shape: see "Fixed shape tensor" in the Arrow specification.
const (
	keyExtension         = "ARROW:extension:name"
	keyExtensionMetadata = "ARROW:extension:metadata"
	fixedShapeTensor     = "arrow.fixed_shape_tensor"
)

// dtype returns the type of IDX in the metadata, or 0.
func (f *Field) dtype() idx.DType {
	for _, d := range idx.DTypes() {
		if d.String() == f.Metadata[schema.KeyDType] {
			return d
		}
	}
	return 0
}

// shape returns the shape of a record in the metadata, empty for a scalar, if there is a valid one.
// permutation is the order of its dimensions if that is not C order.
func (f *Field) shape() (shape, permutation []int, ok bool) {
	var tensor struct{ Shape, Permutation []int }
	if text, known := f.Metadata[schema.KeyShape]; known {
		ok = json.Unmarshal([]byte(text), &tensor.Shape) == nil
	} else if f.Metadata[keyExtension] == fixedShapeTensor {
		ok = json.Unmarshal([]byte(f.Metadata[keyExtensionMetadata]), &tensor) == nil
	}
	if ok && !slices.IsSorted(tensor.Permutation) {
		permutation = tensor.Permutation
	}
	if _, valid := product(tensor.Shape); !ok || !valid || tensor.Shape == nil {
		return nil, permutation, false
	}
	return tensor.Shape, permutation, true
}

// product returns the number of elements of a record with the given shape. ok is false if IDX
// cannot have this shape, or if the record may have too many bytes for an int.
func product(shape []int) (n int64, ok bool) {
	n = 1
	for _, d := range shape {
		if d < 0 || int64(d) > math.MaxUint32 || d > 0 && n > math.MaxInt/8/int64(d) {
			return 0, false
		}
		n *= int64(d)
	}
	return n, true
}

// A Sample gives access to the first rows of a file. Fields are numbered as in Input.Fields.
type Sample interface {
	// Lengths returns the lengths of the lists in field i, a List, the outermost first.
	Lengths(i int) ([]int, error)
	// Values returns the bytes of field i, or of its member if member is not empty, in the first
	// row, and in up to limit rows if there are more at hand. The cause of the error for a null is
	// ErrNull.
	Values(i int, member string, limit int) ([][]byte, error)
}

// ErrNull is the cause of the error for a value that is null.
var ErrNull = errors.New("a null")

// ErrNoRows is the cause of the error for a file without rows, if the shape of a column is known
// from the first row only. Other files of the same table may have rows.
var ErrNoRows = errors.New("no rows to take a shape from")

// Refused returns the error for a column of a type that IDX does not have.
func Refused(column, typeName, hint string) *fault.Error {
	return unsupported(column, hint,
		"found %s, expected integers of up to 64 bits, floats, lists of them, bytes, or images", typeName)
}

// unsupported returns the error for a column that cannot be a column of IDX.
func unsupported(column, hint, message string, values ...any) *fault.Error {
	return fault.New(fault.Unsupported, message, values...).InColumn(column).WithHint("%s", hint)
}

// noRows returns the error for a field whose shape is that of the first row, in a file without
// rows.
func noRows(f *Field) error {
	return unsupported(f.Name, "leave the file out, or give the shape with --shape",
		"found no rows, expected at least one to take the shape of %s from", f.Type).Because(ErrNoRows)
}

// tooLarge returns the error for records of size bytes.
func tooLarge(column string, size, limit int64) *fault.Error {
	return unsupported(column, fmt.Sprintf("allow larger records with --max-record-bytes %d", size),
		"found records of %d bytes, expected at most %d", size, limit)
}
