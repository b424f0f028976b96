package parquet

import (
	"fmt"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// elements says what the values of l become: the type of the elements of the column called name; and what they are, if IDX has no such type.
func (r *resolver) elements(l *leaf, name string, h hint) (d idx.DType, was string, err error) {
	n := l.node
	_, half := n.LogicalType.Value.(*format.Float16Type)
	switch n.kind() {
	case format.Boolean:
		l.element = boolElement(idx.Uint8)
		return idx.Uint8, "", nil
	case format.Float:
		l.element = floatElement(idx.Float32)
		return idx.Float32, "", nil
	case format.Double:
		l.element = floatElement(idx.Float64)
		return idx.Float64, "", nil
	case format.FixedLenByteArray:
		if half && n.TypeLength.V == 2 {
			l.element = halfElement()
			return idx.Float32, "float16", nil
		}
	case format.Int32, format.Int64:
		if bits, signed, ok := n.integer(); ok {
			d, was = r.integers(h, bits, signed)
			l.become(d)
			return d, was, nil
		}
	}
	advice := adviceColumns
	if _, decimal := n.LogicalType.Value.(*format.DecimalType); decimal || n.ConvertedType.Valid && n.ConvertedType.V == deprecated.Decimal {
		advice = source.AdviceCast("parquet", name, "Float64")
	}
	return 0, "", unsupported(name, advice, "found values of the type %s, expected numbers", n.describe())
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

// integers chooses the type for integers of bits bits: their own if IDX has it, what the metadata or the options say, else int32. was is what they are
// if nobody chose.
func (r *resolver) integers(h hint, bits int, signed bool) (d idx.DType, was string) {
	named := integerName(bits, signed)
	switch own := dtypeOf(named); {
	case h.dtype != 0 && !h.dtype.Float():
		return h.dtype, ""
	case own != 0:
		return own, ""
	case r.options.DType != 0 && !r.options.DType.Float():
		return r.options.DType, ""
	}
	return idx.Int32, named
}

func integerName(bits int, signed bool) string {
	if signed {
		return fmt.Sprintf("int%d", bits)
	}
	return fmt.Sprintf("uint%d", bits)
}

// dtypeOf is the type of IDX of that name, or 0.
func dtypeOf(name string) idx.DType {
	for _, d := range idx.DTypes() {
		if d.String() == name {
			return d
		}
	}
	return 0
}

// become makes elements of d of the values of l, which are integers or truth values.
func (l *leaf) become(d idx.DType) {
	if l.kind == format.Boolean {
		l.element = boolElement(d)
		return
	}
	width := 4
	if l.kind == format.Int64 {
		width = 8
	}
	bits, signed, _ := l.node.integer()
	l.node.expected = fmt.Sprintf("the column is taken for, %s", d)
	if d == idx.Int32 && dtypeOf(integerName(bits, signed)) == 0 {
		l.node.advice = "IDX files have no type for it: write the column as float64"
	}
	l.element = integerElement(width, signed || bits < 8*width, d)
}
