package parquet

import (
	"fmt"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/source/idx"
)

// elements says what the values of l become: the type of the elements of the column called name.
func (r *resolver) elements(l *leaf, name string, h hint) (idx.DType, error) {
	n := l.node
	_, half := n.LogicalType.Value.(*format.Float16Type)
	switch n.kind() {
	case format.Boolean:
		l.element = boolElement(idx.Uint8)
		return idx.Uint8, nil
	case format.Float:
		l.element = floatElement(idx.Float32)
		return idx.Float32, nil
	case format.Double:
		l.element = floatElement(idx.Float64)
		return idx.Float64, nil
	case format.FixedLenByteArray:
		if half && n.TypeLength.V == 2 {
			l.element = halfElement()
			r.note("column %s: float16 becomes float32", name)
			return idx.Float32, nil
		}
	case format.Int32, format.Int64:
		if bits, signed, ok := n.integer(); ok {
			return r.integers(l, name, h, bits, signed), nil
		}
	}
	return 0, unsupported(name, adviceColumns, "found values of the type %s, expected numbers", n.describe())
}

// integer is the number of bits of the integers of n, and whether they have a sign; ok is false if they are dates or the like.
func (n *node) integer() (bits int, signed, ok bool) {
	bits = 32
	if n.kind() == format.Int64 {
		bits = 64
	}
	if t, is := n.LogicalType.Value.(*format.IntType); is {
		return int(t.BitWidth), t.IsSigned, true
	}
	if n.LogicalType.Value != nil {
		return 0, false, false
	}
	if !n.ConvertedType.Valid {
		return bits, true, true
	}
	switch n.ConvertedType.V {
	case deprecated.Uint8:
		return 8, false, true
	case deprecated.Uint16:
		return 16, false, true
	case deprecated.Uint32:
		return 32, false, true
	case deprecated.Uint64:
		return 64, false, true
	case deprecated.Int8:
		return 8, true, true
	case deprecated.Int16:
		return 16, true, true
	case deprecated.Int32:
		return 32, true, true
	case deprecated.Int64:
		return 64, true, true
	}
	return 0, false, false
}

// integers chooses the type for integers of bits bits: their own if IDX has it, what the metadata or the options say, else int32.
func (r *resolver) integers(l *leaf, name string, h hint, bits int, signed bool) idx.DType {
	width := 4
	if l.kind == format.Int64 {
		width = 8
	}
	named := fmt.Sprintf("int%d", bits)
	if !signed {
		named = "u" + named
	}
	var own, chosen idx.DType
	for _, d := range idx.DTypes() {
		if d.String() == named {
			own = d
		}
	}
	switch {
	case h.dtype != 0 && !h.dtype.Float():
		chosen = h.dtype
	case own != 0:
		chosen = own
	case r.options.DType != 0 && !r.options.DType.Float():
		chosen = r.options.DType
	default:
		chosen = idx.Int32
		r.note("column %s: %s becomes int32, as IDX has no such type", name, named)
	}
	l.node.expected = fmt.Sprintf("the column is taken for, %s", chosen)
	if own == 0 && chosen == idx.Int32 {
		l.node.advice = "IDX files have no type for it: write the column as float64"
	}
	l.element = integerElement(width, signed || bits < 8*width, chosen)
	return chosen
}
