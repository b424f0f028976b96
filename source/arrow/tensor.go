package arrow

import (
	"encoding/json"
	"slices"

	"github.com/idxport/idxport/source"
)

// lists makes f, lists of numbers or of lists, a column. The lengths of lists that have none of their own are those in the first row.
func (r *resolver) lists(f *field) (*column, error) {
	c := &column{Column: source.Column{Name: f.name}}
	v := &values{column: c}
	leaf := f
	var levels []*field
	for ; !leaf.encoded && len(leaf.children) == 1 && leaf.kind != typeStruct; leaf = &leaf.children[0] {
		levels = append(levels, leaf)
	}
	if v.store = storeOf(leaf); v.store == source.NoNumber {
		return nil, unsupported(f.name, "convert it to lists of numbers", "found the type %v, expected lists of numbers", f)
	}
	v.leaf = leaf
	lengths, err := r.lengths(c, levels)
	if err != nil {
		return nil, err
	}
	each := int64(1)
	for i, l := range levels {
		v.lists = append(v.lists, list{l, int64(lengths[i])})
		c.filled = append(c.filled, filled{l, each})
		if l.kind != typeFixedSizeList {
			each = 0 // lists need not begin at the first value
		}
		each *= int64(lengths[i])
	}
	c.filled = append(c.filled, filled{leaf, each})
	c.DType = r.dtype(leaf.named(f), v.store)
	c.reader = v
	n, ok := product(1, lengths)
	if !ok {
		return nil, unsupported(f.name, "", "found lists of %v, expected smaller ones", lengths)
	}
	c.Shape, err = r.tensorShape(f, lengths, n)
	_, told := metadataShape(f)
	c.Listed = len(c.Shape) == 1 && !told && f.metadata[extensionNameKey] != fixedShapeTensor
	return c, err
}

// lengths are those of the lists of all levels.
func (r *resolver) lengths(c *column, levels []*field) ([]int, error) {
	told, ok := metadataShape(levels[0])
	n, fits := product(1, told)
	ok = ok && fits && n <= maxValue
	lengths := make([]int, len(levels))
	start, empty := int64(0), false
	for i, l := range levels {
		switch {
		case l.kind == typeFixedSizeList:
			if l.width < 0 {
				return nil, damaged(unknown, "found lists of %d values", l.width).InColumn(c.Name)
			}
			lengths[i] = l.width
			start *= int64(l.width)
		case empty:
		case r.first != nil:
			from, to, err := l.limits(r.first, start, new(work))
			if err != nil {
				return nil, err
			}
			if to-from > maxValue {
				return nil, unsupported(c.Name, "", "found a list of %d values, expected fewer", to-from)
			}
			lengths[i], start = int(to-from), from
		case ok && len(levels) == 1:
			lengths[i] = int(n)
		case ok && len(levels) == len(told):
			lengths[i] = told[i]
		default:
			return nil, unsupported(c.Name, "write fixed-size lists, or leave the file out", "found lists without rows, so that their length is unknown")
		}
		empty = empty || lengths[i] == 0
	}
	return lengths, nil
}

// tensorShape is the shape of f's records, lists of the lengths with n elements: what its extension type tells, what IDX metadata tells, what was asked for, or
// the lengths themselves.
func (r *resolver) tensorShape(f *field, lengths []int, n int64) ([]int, error) {
	if f.metadata[extensionNameKey] == fixedShapeTensor && n > 0 {
		return extensionShape(f, n)
	}
	if shape, ok := shapeOf(f, n); ok && len(shape) > 0 {
		return shape, nil
	}
	if asked, ok := product(1, r.options.Shape); ok && len(r.options.Shape) > 0 && asked == n {
		return slices.Clone(r.options.Shape), nil
	}
	return lengths, nil
}

// extensionShape is the shape in the metadata of the extension type fixed_shape_tensor.
func extensionShape(f *field, n int64) ([]int, error) {
	var t struct {
		Shape       []int `json:"shape"`
		Permutation []int `json:"permutation"`
	}
	text := f.metadata[extensionMetadataKey]
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return nil, unsupported(f.name, "", "the metadata of its type %s, %q, cannot be read: %v", fixedShapeTensor, text, err)
	}
	found, ok := product(1, t.Shape)
	if !ok || !valid(t.Shape) || found != n || len(t.Shape) == 0 {
		return nil, unsupported(f.name, "", "its type says that a record is of shape %v, but it has %d elements", t.Shape, n)
	}
	for i, axis := range t.Permutation {
		if axis != i {
			return nil, unsupported(f.name, "write it in C order, without a permutation", "found tensors whose dimensions are permuted: %v", t.Permutation)
		}
	}
	return t.Shape, nil
}
