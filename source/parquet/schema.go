package parquet

import (
	"fmt"
	"slices"
	"strings"

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
	index    int // of a leaf among all leaves, −1 for a group

	number source.NumberKind // of the values of a leaf, or NoNumber
	stored source.NumberKind // of its values in PLAIN pages
	width  int               // bytes of a value there; 0 for byte arrays

	maxRepetition, maxDefinition int
}

// maxDepth limits the nesting of groups. Even 64 nested lists, more than any program writes, have
// fewer levels.
const maxDepth = 200

// newTree returns the tree of elements, which are in depth-first order, and its leaves.
func newTree(elements []format.SchemaElement) (root *node, leaves []*node, err error) {
	if len(elements) == 0 {
		return nil, nil, damaged("the schema is empty")
	}
	rest := elements[1:]
	root = &node{SchemaElement: &elements[0], index: -1}
	var add func(parent *node, depth int) error
	add = func(parent *node, depth int) error {
		for range parent.NumChildren.V {
			if len(rest) == 0 || depth > maxDepth {
				return damaged("the schema ends too early, after %d elements, or has more than %d levels",
					len(elements), maxDepth)
			}
			n := &node{SchemaElement: &rest[0], parent: parent, index: -1,
				maxRepetition: parent.maxRepetition, maxDefinition: parent.maxDefinition}
			rest = rest[1:]
			if n.repeated() {
				n.maxRepetition++
			}
			if n.repeated() || n.RepetitionType.Valid && n.RepetitionType.V == format.Optional {
				n.maxDefinition++
			}
			parent.children = append(parent.children, n)
			if !n.Type.Valid {
				if err := add(n, depth+1); err != nil {
					return err
				}
				continue
			}
			n.index = len(leaves)
			n.setNumbers()
			leaves = append(leaves, n)
		}
		return nil
	}
	if err := add(root, 0); err != nil {
		return nil, nil, err
	}
	if len(rest) > 0 {
		return nil, nil, damaged("the schema has %d elements outside its root", len(rest))
	}
	return root, leaves, nil
}

func (n *node) repeated() bool {
	return n.RepetitionType.Valid && n.RepetitionType.V == format.Repeated
}

// path returns the names from the root to n, with dots. They are joined when they are needed: deep
// schemas of long names would take much memory.
func (n *node) path() string {
	var names []string
	for ; n.parent != nil; n = n.parent {
		names = append(names, n.Name)
	}
	slices.Reverse(names)
	return strings.Join(names, ".")
}

// innermost returns the node below nodes of one child, such as the element of nested lists, or n.
func (n *node) innermost() *node {
	for n.index < 0 && len(n.children) == 1 {
		n = n.children[0]
	}
	return n
}

// physicalOnly reports whether n has a physical type, but no logical type. If n has a logical type,
// its BYTE_ARRAY values are text, documents or decimals.
func (n *node) physicalOnly() bool { return n.LogicalType.Value == nil && !n.ConvertedType.Valid }

func (n *node) isDecimal() bool {
	_, decimal := n.LogicalType.Value.(*format.DecimalType)
	return n.index >= 0 && (decimal || n.ConvertedType.Valid && n.ConvertedType.V == deprecated.Decimal)
}

// describe describes n, a child of the root or of a struct, for package columnar. metadata is from
// the Arrow schema.
func (n *node) describe(metadata map[string]string) columnar.Field {
	value := n.innermost()
	f := columnar.Field{Name: n.Name, Metadata: metadata, Number: value.number, Size: int(n.TypeLength.V)}
	f.Type = value.typeName()
	if value.index >= 0 && value.maxRepetition > 0 {
		f.Type = "lists of " + f.Type
	}
	switch {
	case value.isDecimal(): // also of the type BYTE_ARRAY
		f.Hint = source.AdviceCast("parquet", n.Name, "Float64")
	case n.index >= 0 && n.Type.V == format.ByteArray && !n.physicalOnly():
		f.Kind, f.Type = columnar.Text, "text"
	case n.index < 0 && value.maxRepetition == 0:
		f.Kind = columnar.Struct
		for _, child := range n.children {
			member := columnar.Field{Name: child.Name}
			if child.index >= 0 {
				member = child.describe(nil)
			}
			f.Members = append(f.Members, member)
		}
	case f.Number != source.NoNumber && value.maxRepetition > 0:
		f.Kind, f.Lengths = columnar.List, slices.Repeat([]int{-1}, value.maxRepetition)
	case f.Number != source.NoNumber:
		f.Kind = columnar.Number
	case n.index >= 0 && n.Type.V == format.ByteArray && !n.repeated():
		f.Kind = columnar.Bytes
	case n.Type.V == format.FixedLenByteArray && n.physicalOnly() && !n.repeated() && f.Size > 0:
		f.Kind = columnar.FixedBytes
	}
	return f
}

// typeName returns the type of n for messages.
func (n *node) typeName() string {
	switch {
	case n.index < 0:
		var names []string
		for _, c := range n.children {
			names = append(names, c.Name)
		}
		return fmt.Sprintf("a struct of %q", names)
	case n.LogicalType.Value != nil:
		return "values of the type " + n.LogicalType.Value.String()
	case n.ConvertedType.Valid && n.ConvertedType.V == deprecated.Interval:
		return "values of the type INTERVAL"
	case n.ConvertedType.Valid:
		return fmt.Sprintf("values of the type %s (converted type %d)", n.Type.V, n.ConvertedType.V)
	case n.Type.V == format.ByteArray && n.maxRepetition > 0:
		return "byte arrays"
	}
	return "values of the type " + n.Type.V.String()
}

// setNumbers sets what the values of n, a leaf, are. In PLAIN pages, narrow integers have 32 bits;
// truth values, which are bits there, are expanded to bytes.
func (n *node) setNumbers() {
	switch n.Type.V {
	case format.Boolean:
		n.number, n.stored, n.width = source.NumberBool, source.NumberBool, 1
		return
	case format.Float:
		n.number = source.NumberFloat32
	case format.Double:
		n.number = source.NumberFloat64
	case format.FixedLenByteArray:
		n.width = max(0, int(n.TypeLength.V))
		if _, half := n.LogicalType.Value.(*format.Float16Type); half && n.width == 2 {
			n.number, n.stored = source.NumberFloat16, source.NumberFloat16
		}
		return
	case format.Int32:
		n.number, n.stored, n.width = n.integer(), source.NumberInt32, 4
		if n.number != source.NumberUint32 {
			return
		}
	case format.Int64:
		n.number, n.stored, n.width = n.integer(), source.NumberInt64, 8
		if n.number != source.NumberUint64 {
			return
		}
	}
	n.stored, n.width = n.number, n.number.Size()
}

// integer returns the kind of the integers of n, or source.NoNumber for dates and the like.
func (n *node) integer() source.NumberKind {
	kinds := [...]source.NumberKind{source.NumberUint8, source.NumberUint16, source.NumberUint32, source.NumberUint64,
		source.NumberInt8, source.NumberInt16, source.NumberInt32, source.NumberInt64} // as the converted types
	i := -1
	switch t := n.LogicalType.Value.(type) {
	case *format.IntType:
		if i = slices.Index([]int8{8, 16, 32, 64}, t.BitWidth); i >= 0 && t.IsSigned {
			i += 4
		}
	case nil:
		i = int(n.ConvertedType.V - deprecated.Uint8)
		if n.physicalOnly() {
			i = 6 + int(n.Type.V-format.Int32)
		}
	}
	if i < 0 || i >= len(kinds) {
		return source.NoNumber
	}
	return kinds[i]
}
