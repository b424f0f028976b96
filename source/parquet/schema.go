package parquet

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/columnar"
)

// A node is an element of the schema: a leaf or a group.
type node struct {
	*format.SchemaElement
	parent   *node
	children []*node
	depth    int // 0 for the root
	index    int // of a leaf among all leaves, −1 for a group

	number source.NumberKind // of the values of a leaf, or NoNumber
	stored source.NumberKind // of its values in PLAIN pages
	width  int               // bytes of a value there; 0 for byte arrays

	maxRepetition, maxDefinition int
}

// newTree returns the tree of elements, which are in depth-first order, and its leaves.
func newTree(elements []format.SchemaElement) (root *node, leaves []*node, err error) {
	const maxDepth = 200 // of groups: even 64 nested lists, a rare case, have fewer levels
	left := elements
	var next func(n node) *node // adds an element to n, then its children; nil if some are missing
	next = func(n node) *node {
		if len(left) == 0 || n.depth > maxDepth {
			return nil
		}
		n.SchemaElement, left = &left[0], left[1:]
		if n.depth > 0 { // not the root
			if n.repeated() {
				n.maxRepetition++
			}
			if n.repeated() || n.RepetitionType.V == format.Optional {
				n.maxDefinition++
			}
			if n.Type.Valid {
				n.index = len(leaves)
				n.setNumbers()
				leaves = append(leaves, &n)
				return &n
			}
		}
		for range n.NumChildren.V {
			child := next(node{parent: &n, depth: n.depth + 1, index: -1,
				maxRepetition: n.maxRepetition, maxDefinition: n.maxDefinition})
			if child == nil {
				return nil
			}
			n.children = append(n.children, child)
		}
		return &n
	}
	if root = next(node{index: -1}); root == nil || len(left) > 0 {
		return nil, nil, columnar.Damaged("found a schema of %d elements, expected the children of all groups "+
			"and at most %d levels", len(elements), maxDepth)
	}
	return root, leaves, nil
}

func (n *node) repeated() bool { return n.RepetitionType.V == format.Repeated }

// column returns the name of the column of the table that n is, or is a part of.
func (n *node) column() string {
	for n.depth > 1 {
		n = n.parent
	}
	return n.Name
}

// innermost returns the element of nested lists, whose groups have one child, or n.
func (n *node) innermost() *node {
	for len(n.children) == 1 && (n.repeated() || n.children[0].repeated()) { // else a struct
		n = n.children[0]
	}
	return n
}

// physicalOnly reports whether n has no logical type, with which byte arrays are text or decimals.
func (n *node) physicalOnly() bool { return n.LogicalType.Value == nil && !n.ConvertedType.Valid }

// describe describes n, a child of the root or of a struct.
func (n *node) describe() columnar.Field {
	value := n.innermost()
	lists := value.maxRepetition
	_, decimal := value.LogicalType.Value.(*format.DecimalType)
	typeName := "values of the type " + cmp.Or(value.LogicalType.String(), value.Type.V.String())
	if value.index < 0 {
		typeName = "structs"
	} else if value.LogicalType.Value == nil && value.ConvertedType.Valid {
		typeName += fmt.Sprintf(" (converted type %d)", value.ConvertedType.V)
	}
	f := columnar.Field{Name: n.Name, Type: typeName, Number: value.number, Size: int(n.TypeLength.V)}
	switch {
	case decimal || value.ConvertedType.V == deprecated.Decimal: // of the type BYTE_ARRAY, they are no texts
	case n.index < 0 && lists == 0:
		f.Kind = columnar.StructOf(n.children, (*node).describe)
	case f.Number != source.NoNumber && lists > 0:
		f.Kind, f.Lengths = columnar.List, slices.Repeat([]int{-1}, lists)
	case f.Number != source.NoNumber:
		f.Kind = columnar.Number
	case n.Type.V == format.ByteArray && lists == 0 && !n.physicalOnly():
		f.Kind, f.Type = columnar.Text, "text"
	case n.Type.V == format.ByteArray && lists == 0,
		n.Type.V == format.FixedLenByteArray && n.physicalOnly() && lists == 0 && f.Size > 0:
		f.Kind = columnar.Bytes
	}
	return f
}

// physical has the numbers of the physical types in PLAIN pages. Truth values are bits there.
var physical = map[format.Type]source.NumberKind{format.Boolean: source.NumberBool, format.Int32: source.NumberInt32,
	format.Int64: source.NumberInt64, format.Float: source.NumberFloat32, format.Double: source.NumberFloat64}

// setNumbers sets what the values of n, a leaf, are.
func (n *node) setNumbers() {
	n.stored = physical[n.Type.V]
	n.number, n.width = n.stored, n.stored.Size()
	switch _, half := n.LogicalType.Value.(*format.Float16Type); {
	case n.Type.V == format.Int32 || n.Type.V == format.Int64:
		if n.number = n.integer(); n.number.Size() == n.width { // also unsigned
			n.stored = n.number
		}
	case n.Type.V == format.FixedLenByteArray:
		if n.width = max(0, int(n.TypeLength.V)); half && n.width == 2 {
			n.number, n.stored = source.NumberFloat16, source.NumberFloat16
		}
	}
}

// integer returns the kind of the integers of n, or source.NoNumber for dates and the like.
func (n *node) integer() source.NumberKind {
	t, _ := n.LogicalType.Value.(*format.IntType)
	if i := int(n.ConvertedType.V - deprecated.Uint8); n.LogicalType.Value == nil && 0 <= i && i < 8 { // … to Int64
		t = &format.IntType{BitWidth: 8 << (i % 4), IsSigned: i >= 4}
	}
	switch {
	case t != nil && t.IsSigned:
		return source.NumberNamed(fmt.Sprintf("int%d", t.BitWidth))
	case t != nil:
		return source.NumberNamed(fmt.Sprintf("uint%d", t.BitWidth))
	case n.physicalOnly():
		return n.stored
	}
	return source.NoNumber
}
