package columnar

import (
	"encoding/json"
	"errors"
	"math"
	"math/bits"
	"slices"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// A Kind says what the values of a field are.
type Kind byte

// The kinds of fields.
const (
	Other      Kind = iota // values that no column of IDX holds
	Number                 // one number each
	List                   // numbers in lists, or in lists of lists
	Bytes                  // bytes of any number
	FixedBytes             // as many bytes each
	Text
	Struct
	Dictionary // a number or a text each, of a few
)

// A Field is a column of a file as its schema describes it, or a member of a struct.
type Field struct {
	Name     string
	Kind     Kind
	Type     string            // of the kinds Other, Text and Dictionary, as messages call it: "the type utf8"
	Hint     string            // what to do about a field of the kind Other; empty: leave it out
	Number   source.Number     // of the kinds Number, List and Dictionary, of which it is NoNumber for text
	Size     int               // bytes of each value, of the kind FixedBytes
	Lengths  []int             // of the lists of a List, the outermost first; −1: the first row tells it
	Members  []Field           // of a Struct
	Metadata map[string]string // of the keys of package schema and of extension types
}

// The keys of the metadata of extension types, and the name of the one whose metadata tells a
// shape: see "Fixed shape tensor" in the Arrow specification.
const (
	KeyExtension         = "ARROW:extension:name"
	KeyExtensionMetadata = "ARROW:extension:metadata"
	fixedShapeTensor     = "arrow.fixed_shape_tensor"
)

// member is the member of a struct that has the name, or nil.
func (f *Field) member(name string) *Field {
	if i := slices.IndexFunc(f.Members, func(m Field) bool { return m.Name == name }); i >= 0 {
		return &f.Members[i]
	}
	return nil
}

// text reports whether the values are text.
func (f *Field) text() bool {
	return f.Kind == Text || f.Kind == Dictionary && f.Number == source.NoNumber
}

// dtype is the type of IDX that the metadata tells, or 0.
func (f *Field) dtype() idx.DType {
	for _, d := range idx.DTypes() {
		if d.String() == f.Metadata[schema.KeyDType] {
			return d
		}
	}
	return 0
}

// shape is the shape of a record that the metadata tells, if it is one: empty for a scalar.
func (f *Field) shape() (shape []int, ok bool) {
	if text, told := f.Metadata[schema.KeyShape]; told {
		ok = json.Unmarshal([]byte(text), &shape) == nil
	} else if f.Metadata[KeyExtension] == fixedShapeTensor {
		var tensor struct{ Shape []int }
		ok = json.Unmarshal([]byte(f.Metadata[KeyExtensionMetadata]), &tensor) == nil
		shape = tensor.Shape
	}
	if _, valid := product(shape); !ok || !valid || shape == nil {
		return nil, false
	}
	return shape, true
}

// permutation is the order of the dimensions of tensors that are not in C order, or nil.
func (f *Field) permutation() []int {
	var tensor struct{ Permutation []int }
	if f.Metadata[KeyExtension] != fixedShapeTensor || json.Unmarshal([]byte(f.Metadata[KeyExtensionMetadata]), &tensor) != nil || slices.IsSorted(tensor.Permutation) {
		return nil
	}
	return tensor.Permutation
}

// product is the number of elements of a record of shape; ok is false if that is no shape of IDX,
// or if they are too many to count their bytes.
func product(shape []int) (n int64, ok bool) {
	n = 1
	for _, d := range shape {
		if d < 0 || int64(d) > math.MaxUint32 {
			return 0, false
		}
		hi, lo := bits.Mul64(uint64(n), uint64(d))
		if hi != 0 || lo > math.MaxInt/8 {
			return 0, false
		}
		n = int64(lo)
	}
	return n, true
}

// A Sample is the first row of a file.
type Sample interface {
	// Names are the values of field i, a Dictionary of text, in the order of its indices.
	Names(i int) ([]string, error)
	// Lengths are the lengths of the lists in field i, a List, the outermost first.
	Lengths(i int) ([]int, error)
	// Value is the value in field i, or in the member of that field if member is not empty: bytes,
	// or a number, little-endian. It is valid until the next call. The cause of the error for a
	// value that is missing is ErrNull.
	Value(i int, member string) ([]byte, error)
}

// ErrNull is the cause of the error for a value that is null.
var ErrNull = errors.New("a null")

// ErrNoRows is the cause of the error for a file without rows where only a row could tell the shape
// of a column. Other files of the same table may have some.
var ErrNoRows = errors.New("no rows that tell a shape")

const (
	hintColumn = "leave the column out, or convert it to numbers"
	hintShape  = "give the shape with --shape, or leave the file out"
	hintLarge  = "allow larger records with --max-record-bytes"
)

// unsupported is the error for a column that is no column of an IDX file.
func unsupported(column, hint, message string, values ...any) *fault.Error {
	return fault.New(fault.Unsupported, message, values...).InColumn(column).WithHint("%s", hint)
}
