package arrow

import (
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/columnar"
)

// describeField is f as package columnar knows it.
func describeField(f *field) (columnar.Field, error) {
	d := columnar.Field{Name: f.name, Type: "the type " + f.String(), Number: storeOf(f), Size: f.width, Metadata: f.metadata}
	switch {
	case d.Number != source.NoNumber:
		d.Kind = columnar.Number
	case f.coded():
		d.Kind, d.Number = columnar.Dictionary, storeOf(f.values())
	case f.text():
		d.Kind = columnar.Text
	case f.encoded:
		d.Hint = hintDictionary
	case f.list():
		d.Hint = "convert it to lists of numbers"
		levels, leaf := f.levels()
		if d.Number = storeOf(leaf); d.Number != source.NoNumber {
			d.Kind = columnar.List
		}
		for _, l := range levels {
			length := -1
			if l.kind == typeFixedSizeList {
				if length = l.width; length < 0 {
					return d, damaged(unknown, "found lists of %d values", length).InColumn(f.name)
				}
			}
			d.Lengths = append(d.Lengths, length)
		}
	case f.kind == typeFixedSizeBinary:
		if d.Kind = columnar.FixedBytes; f.width < 0 {
			return d, damaged(unknown, "found values of %d bytes", f.width).InColumn(f.name)
		}
	case f.kind == typeBinary, f.kind == typeLargeBinary, f.kind == typeBinaryView:
		d.Kind = columnar.Bytes
	case f.kind == typeStruct:
		d.Kind = columnar.Struct
		for i := range f.children {
			member, err := describeField(&f.children[i])
			if err != nil {
				return d, err
			}
			d.Members = append(d.Members, member)
		}
	case f.kind == typeInt:
		d.Hint = source.AdviceCast("ipc", f.name, "Int32")
	case f.kind == typeDecimal:
		d.Hint = source.AdviceCast("ipc", f.name, "Float64")
	}
	return d, nil
}

// list reports whether f holds lists of one kind or another.
func (f *field) list() bool {
	return !f.encoded && (f.kind == typeFixedSizeList || f.kind == typeList || f.kind == typeLargeList || f.view())
}

// levels are the lists in lists that f is, the outermost first, and leaf is what the innermost
// hold.
func (f *field) levels() (levels []*field, leaf *field) {
	for leaf = f; leaf.list() && len(leaf.children) == 1; leaf = &leaf.children[0] {
		levels = append(levels, leaf)
	}
	return levels, leaf
}

// storeOf is how the elements of f stand, or source.NoNumber if f is no column of numbers.
func storeOf(f *field) source.Number {
	if f.encoded {
		return source.NoNumber
	}
	type width struct {
		kind   byte
		width  int
		signed bool
	}
	return map[width]source.Number{
		{typeInt, 8, false}: source.NumberUint8, {typeInt, 8, true}: source.NumberInt8,
		{typeInt, 16, false}: source.NumberUint16, {typeInt, 16, true}: source.NumberInt16,
		{typeInt, 32, false}: source.NumberUint32, {typeInt, 32, true}: source.NumberInt32,
		{typeInt, 64, false}: source.NumberUint64, {typeInt, 64, true}: source.NumberInt64,
		{typeFloat, 16, false}: source.NumberFloat16, {typeFloat, 32, false}: source.NumberFloat32, {typeFloat, 64, false}: source.NumberFloat64,
		{typeBool, 0, false}: source.NumberBool,
	}[width{f.kind, f.width, f.signed}]
}

// resolve finds the columns of a file of fields, whose first record batch that has rows is first,
// or nil.
func resolve(s *fileSchema, first *batch, origin string, o source.ReadOptions) ([]*column, *columnar.Table, error) {
	in := columnar.File{Origin: origin, Meta: s.metadata, Options: o}
	for i := range s.fields {
		f, err := describeField(&s.fields[i])
		if err != nil {
			return nil, nil, err
		}
		in.Fields = append(in.Fields, f)
	}
	row := &firstRow{batch: first, fields: s.fields, lengths: make([][]int, len(s.fields)), most: o.MaxRecord()}
	if first != nil {
		in.First = row
	}
	found, err := columnar.Resolve(in)
	if err != nil {
		return nil, nil, err
	}
	var columns []*column
	for _, c := range found.Columns {
		columns = append(columns, newColumn(c, row))
	}
	return columns, found, nil
}

// A firstRow is the columnar.Sample of a record batch.
type firstRow struct {
	batch   *batch
	fields  []field
	lengths [][]int // that Lengths has returned, of each field
	most    int64   // bytes of a record
}

// Lengths are those of the lists in the first row. Lists in an empty list are empty.
func (r *firstRow) Lengths(i int) ([]int, error) {
	f := &r.fields[i]
	levels, _ := f.levels()
	lengths := make([]int, len(levels))
	start, empty := int64(0), false
	for k, l := range levels {
		switch {
		case l.kind == typeFixedSizeList:
			lengths[k] = l.width
			start *= int64(l.width)
		case !empty:
			from, to, err := l.limits(r.batch, start, new(work))
			if err != nil {
				return nil, err
			}
			if to-from > maxValue {
				return nil, unsupported(f.name, "", "found a list of %d values, expected fewer", to-from)
			}
			lengths[k], start = int(to-from), from
		}
		empty = empty || lengths[k] == 0
	}
	r.lengths[i] = lengths
	return lengths, nil
}

// Names are the values of a dictionary.
func (r *firstRow) Names(i int) ([]string, error) {
	d, err := r.batch.dictionary(&r.fields[i])
	if err != nil {
		return nil, err
	}
	return d.names, nil
}

// filesExtra is the most bytes that the files of rows may have together, beside twice their
// records: so much of other things may be in a file.
const filesExtra = 16 << 20

// Value is the value of a field or member in the first row: of up to as many bytes as a record, or
// a few more for what an image has beside its pixels.
func (r *firstRow) Value(i int, member string) ([]byte, error) {
	f := &r.fields[i]
	c := &column{filled: []filled{{f, 1}}}
	c.Name = f.name
	if member != "" {
		f = f.member(member)
		c.filled = append(c.filled, filled{f, 1})
	}
	if err := c.check(r.batch); err != nil {
		return nil, err
	}
	if size := storeOf(f).Size(); storeOf(f) != source.NoNumber {
		return r.batch.bytes(nil, f, 1, 0, int64(size))
	}
	w := new(work)
	if err := c.ends(r.batch, f, 0, 1, w); err != nil {
		return nil, err
	}
	if size := w.ends[0]; size > 2*r.most+filesExtra {
		return nil, unsupported(c.Name, "allow larger records with --max-record-bytes", "found a record of %d bytes, expected at most %d", size, r.most)
	}
	value := make([]byte, w.ends[0])
	return value, c.contents(r.batch, f, 0, w, value)
}

// member is the member of the name of f, a struct that has it.
func (f *field) member(name string) *field {
	for i := range f.children {
		if f.children[i].name == name {
			return &f.children[i]
		}
	}
	return f
}

// newColumn is c with its reader.
func newColumn(found columnar.Column, r *firstRow) *column {
	f := &r.fields[found.Fields[0]]
	c := &column{Column: found, filled: []filled{{f, 1}}}
	fill := func(member string) *field {
		m := f.member(member)
		c.filled = append(c.filled, filled{m, 1})
		return m
	}
	switch {
	case c.Form == columnar.Records:
		c.reader = &bytesReader{c, f}
	case c.Form == columnar.Images && f.kind == typeStruct:
		c.reader = &images{c, fill(columnar.HubBytes)}
	case c.Form == columnar.Images:
		c.reader = &images{c, f}
	case c.Form == columnar.SparkImages:
		s := &spark{column: c, data: fill(columnar.SparkData)}
		for k, name := range columnar.SparkSizes {
			s.sizes[k] = fill(name)
		}
		c.reader = s
	case f.encoded:
		c.reader = &encoded{c, f}
	case f.list():
		c.filled = nil
		c.lists(f, r.lengths[found.Fields[0]])
	case c.Scalar():
		c.reader = &values{column: c, leaf: f, store: storeOf(f)}
	default:
		g := &group{column: c}
		c.filled = nil
		for _, i := range c.Fields {
			leaf := &r.fields[i]
			c.filled = append(c.filled, filled{leaf, 1})
			g.leaves, g.stores = append(g.leaves, leaf), append(g.stores, storeOf(leaf))
		}
		c.reader = g
	}
	return c
}

// lists makes c a column of the lists in f, of the lengths; nil if there are no rows.
func (c *column) lists(f *field, lengths []int) {
	levels, leaf := f.levels()
	v := &values{column: c, leaf: leaf, store: storeOf(leaf)}
	each := int64(1)
	for i, l := range levels {
		length := int64(0)
		if lengths != nil {
			length = int64(lengths[i])
		}
		v.lists = append(v.lists, list{l, length})
		c.filled = append(c.filled, filled{l, each})
		if l.kind != typeFixedSizeList {
			each = 0 // lists need not begin at the first value
		}
		each *= length
	}
	c.filled = append(c.filled, filled{leaf, each})
	c.reader = v
}
