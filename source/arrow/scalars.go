package arrow

import (
	"slices"
	"strings"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/flat"
	"github.com/idxport/idxport/source/idx"
)

// isNumber reports whether f holds single numbers, which are data.
func isNumber(f *field) bool { return storeOf(f) != source.NoNumber && !pandasIndex(f) }

func knownScalar(f *field) bool {
	shape, ok := metadataShape(f)
	return ok && len(shape) == 0
}

// scalar makes f a column of single elements.
func (r *resolver) scalar(f *field) error {
	s := storeOf(f)
	c := &column{Column: source.Column{Name: f.name, DType: r.dtype(f, s)}, filled: []filled{{f, 1}}}
	if s.Integer() {
		c.Classes = r.classes[f.name]
	}
	c.reader = &values{column: c, leaf: f, store: s}
	return r.add(c)
}

// group makes the fields of g a column: a tensor of them all, a scalar, or what the only one holds.
func (r *resolver) group(g flat.Field) error {
	leaves := make([]*field, len(g.Columns))
	for i, c := range g.Columns {
		leaves[i] = &r.schema.fields[c]
	}
	first := leaves[0]
	switch {
	case len(leaves) > 1:
		return r.elements(g, leaves)
	case r.passedOver(first):
		return nil
	case !isNumber(first):
		c, err := r.tensor(first)
		if err != nil {
			return err
		}
		return r.add(c)
	}
	shape, ok := shapeOf(first, 1)
	if !ok || len(shape) == 0 {
		return r.scalar(first)
	}
	g.Name, g.Shape, g.Guess = strings.TrimSuffix(first.name, "0"), shape, "" // as our own layout columns has it
	if g.Name == "pixel" {
		g.Name = flat.Image
	}
	return r.elements(g, leaves)
}

// elements makes leaves, a column for each element, the tensor g.
func (r *resolver) elements(g flat.Field, leaves []*field) error {
	c := &column{Column: source.Column{Name: g.Name, Shape: g.Shape}}
	n := int64(len(leaves))
	if shape, ok := shapeOf(leaves[0], n); ok {
		c.Shape = shape
	} else if asked, ok := product(1, r.options.Shape); ok && r.options.Shape != nil && asked == n {
		c.Shape = slices.Clone(r.options.Shape)
	} else if g.Guess != "" {
		r.note("the column %s: %s", g.Name, g.Guess)
	}
	d := &group{column: c, leaves: leaves}
	integers, alike := true, true
	for _, f := range leaves {
		s := storeOf(f)
		d.stores = append(d.stores, s)
		c.filled = append(c.filled, filled{f, 1})
		integers = integers && s.Integer()
		alike = alike && s == d.stores[0]
	}
	switch named := *leaves[0]; {
	case alike:
		named.name = c.Name
		c.DType = r.dtype(&named, d.stores[0])
	case integers:
		c.DType = idx.Int32
		if o := r.options.DType; o.Valid() && !o.Float() {
			c.DType = o
		} else {
			r.note("the columns of %s are integers of several types: read as %v, and every value is checked", c.Name, c.DType)
		}
	default:
		for i, s := range d.stores {
			if s != d.stores[0] {
				return unsupported(leaves[i].name, "convert the columns to one type", "found the type %s, but %s for other elements of %s",
					s, d.stores[0], c.Name)
			}
		}
	}
	c.reader = d
	return r.add(c)
}

// tensor makes f, which is no number, a column.
func (r *resolver) tensor(f *field) (*column, error) {
	const adviceText = "IDX has no text; leave the column out, or encode it as numbers"
	switch {
	case f.encoded && !f.text():
		return nil, unsupported(f.name, "write its values without a dictionary: in pandas no category, in pyarrow with dictionary_decode()", "found the type %v, expected numbers or pictures", f)
	case f.encoded:
		return nil, unsupported(f.name, adviceText, "found the type %v, expected numbers or pictures", f)
	case f.kind == typeFixedSizeList, f.kind == typeList, f.kind == typeLargeList, f.view():
		return r.lists(f)
	case f.kind == typeFixedSizeBinary, bytesLike(f):
		return r.bytes(f)
	case f.kind == typeStruct:
		return r.picture(f)
	case f.text():
		return nil, unsupported(f.name, adviceText, "found the type %v, expected numbers or pictures", f)
	}
	advice := "leave the column out, or convert it to numbers"
	switch f.kind {
	case typeInt:
		advice = source.AdviceCast("ipc", f.name, "Int32")
	case typeDecimal:
		advice = source.AdviceCast("ipc", f.name, "Float64")
	}
	return nil, unsupported(f.name, advice, "found the type %v, expected numbers, lists of numbers, bytes, or pictures", f)
}

// bytesLike tells whether f holds bytes of any length.
func bytesLike(f *field) bool {
	return !f.encoded && (f.kind == typeBinary || f.kind == typeLargeBinary || f.kind == typeBinaryView)
}

// The keys of the metadata of extension types, and the name of the one whose metadata tells a shape: see "Fixed shape tensor" in the Arrow specification.
const (
	extensionNameKey     = "ARROW:extension:name"
	extensionMetadataKey = "ARROW:extension:metadata"
	fixedShapeTensor     = "arrow.fixed_shape_tensor"
)

// named is a copy of the field with a name of its own and the metadata of outer.
func (f *field) named(outer *field) *field {
	inner := *f
	inner.name = outer.name
	inner.metadata = map[string]string{schema.KeyDType: outer.metadata[schema.KeyDType]}
	return &inner
}
