package parquet

import (
	"encoding/base64"
	"slices"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/arrow"
	"github.com/idxport/idxport/source/columnar"
	"github.com/idxport/idxport/source/idx"
)

// A column is an IDX column and the leaves that hold it.
type column struct {
	columnar.Column
	leaves []*leaf
	first  int // index of its first leaf among those of all columns
}

// arrowSchemaKey is the metadata key under which Arrow's writers and idxport store the Arrow
// schema.
const arrowSchemaKey = "ARROW:schema"

// arrowFields returns the fields of an Arrow schema, an encapsulated message in base64. A damaged
// schema has none, as Parquet files can be read without it.
func arrowFields(encoded string) map[string]arrow.FieldInfo {
	message, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil
	}
	fields, _ := arrow.Fields(message)
	return fields
}

// describeField describes n, a child of the root or of a struct, for package columnar. info is from
// the Arrow schema.
func (n *node) describeField(info arrow.FieldInfo) columnar.Field {
	value := n.innermost()
	f := columnar.Field{Name: n.Name, Metadata: info.Metadata, Number: value.number(), Size: int(n.TypeLength.V)}
	if f.Type = value.describe(); value.index >= 0 {
		f.Type = "values of the type " + f.Type
	}
	if value.index >= 0 && value.maxRepetition > 0 {
		if f.Type = "lists of " + f.Type; value.kind() == format.ByteArray && value.physicalOnly() {
			f.Type = "lists of byte arrays"
		}
	}
	switch {
	case n.isDecimal(): // also of the type BYTE_ARRAY
		f.Hint = source.AdviceCast("parquet", n.Name, "Float64")
	case n.kind() == format.ByteArray && !n.physicalOnly():
		f.Kind, f.Type = columnar.Text, "text"
	case n.index < 0 && value.maxRepetition == 0:
		f.Kind = columnar.Struct
		for _, child := range n.children {
			member := columnar.Field{Name: child.Name}
			if child.index >= 0 {
				member = child.describeField(arrow.FieldInfo{})
			}
			f.Members = append(f.Members, member)
		}
	case f.Number != source.NoNumber && value.maxRepetition > 0:
		f.Kind = columnar.List
		for range value.maxRepetition {
			f.Lengths = append(f.Lengths, -1)
		}
	case f.Number != source.NoNumber:
		f.Kind = columnar.Number
	case n.kind() == format.ByteArray && !n.repeated():
		f.Kind = columnar.Bytes
	case info.Wide: // Parquet stores it as bytes, so only the Arrow schema shows its type
		f.Type, f.Hint = "values of the type "+info.Type+", wider than 64 bits", source.AdviceCast("parquet", n.Name, "Int32")
	case n.kind() == format.FixedLenByteArray && n.physicalOnly() && !n.repeated() && f.Size > 0:
		f.Kind = columnar.FixedBytes
	case value.isDecimal():
		f.Hint = source.AdviceCast("parquet", n.Name, "Float64")
	}
	return f
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

// number returns the kind of the numbers of n, or source.NoNumber.
func (n *node) number() source.NumberKind {
	if n.index < 0 {
		return source.NoNumber
	}
	switch n.kind() {
	case format.Boolean:
		return source.NumberBool
	case format.Float:
		return source.NumberFloat32
	case format.Double:
		return source.NumberFloat64
	case format.FixedLenByteArray:
		if _, half := n.LogicalType.Value.(*format.Float16Type); half && n.TypeLength.V == 2 {
			return source.NumberFloat16
		}
	case format.Int32, format.Int64:
		return n.integer()
	}
	return source.NoNumber
}

// rawNumber returns the kind of the numbers of n before they are converted. They are as in PLAIN
// pages, where narrow integers have 32 bits; only booleans, which are bits there, have been
// expanded to bytes.
func (n *node) rawNumber() source.NumberKind {
	switch number := n.number(); {
	case number == source.NumberBool:
		return source.NumberBool8
	case n.kind() == format.Int32 && number != source.NumberUint32:
		return source.NumberInt32
	case n.kind() == format.Int64 && number != source.NumberUint64:
		return source.NumberInt64
	default:
		return number
	}
}

// integer returns the kind of the integers of n, or source.NoNumber for dates and the like.
func (n *node) integer() source.NumberKind {
	kinds := [...]source.NumberKind{source.NumberUint8, source.NumberUint16, source.NumberUint32, source.NumberUint64,
		source.NumberInt8, source.NumberInt16, source.NumberInt32, source.NumberInt64} // in the order of the converted types
	i := -1
	switch t := n.LogicalType.Value.(type) {
	case *format.IntType:
		if i = slices.Index([]int8{8, 16, 32, 64}, t.BitWidth); i >= 0 && t.IsSigned {
			i += 4
		}
	case nil:
		i = int(n.ConvertedType.V - deprecated.Uint8)
		if n.physicalOnly() {
			i = 6 + int(n.kind()-format.Int32)
		}
	}
	if i < 0 || i >= len(kinds) {
		return source.NoNumber
	}
	return kinds[i]
}

// resolve returns the columns of f.
func resolve(f *file, origin string, o source.ReadOptions) ([]*column, *columnar.Table, error) {
	in := columnar.File{Origin: origin, Meta: f.meta, Options: o}
	info := arrowFields(f.meta[arrowSchemaKey])
	for _, n := range f.root.children {
		in.Fields = append(in.Fields, n.describeField(info[n.Name]))
	}
	sample := &firstRows{file: f, lists: map[int]*leaf{}, maxRecord: o.MaxRecord()}
	if f.rows > 0 {
		in.First = sample
	}
	found, err := columnar.Resolve(in)
	if err != nil {
		return nil, nil, err
	}
	var columns []*column
	first := 0
	for _, c := range found.Columns {
		col := sample.column(c)
		col.first = first
		first += len(col.leaves)
		if c.Elements() == 0 && f.rows > idx.MaxEmptyRecords {
			return nil, nil, damaged("found %d records without elements, expected at most %d", f.rows, idx.MaxEmptyRecords).InColumn(c.Name)
		}
		columns = append(columns, col)
	}
	return columns, found, nil
}

// firstRows is the columnar.Sample of a file.
type firstRows struct {
	file      *file
	lists     map[int]*leaf // by column, set by Lengths
	maxRecord int64         // limit of the bytes of a record
}

// Names returns nil: no field of a Parquet file is a columnar.Dictionary.
func (*firstRows) Names(int) ([]string, error) { return nil, nil }

// Lengths returns the lengths of the lists in the first row.
func (r *firstRows) Lengths(i int) ([]int, error) {
	l := r.file.newLeaf(r.file.root.children[i].innermost())
	l.element = numberElement(l.rawNumber(), l.number().DType())
	first, err := firstRow(l, max(1, r.maxRecord/int64(l.element.size)))
	if err != nil {
		return nil, err
	}
	l.expect(first.repetition, first.defined)
	l.shape = "the shape " + display.Shape(first.shape)
	r.lists[i] = l
	return first.shape, nil
}

// Value returns the value of a column, or of a member of a struct, in the first row.
func (r *firstRows) Value(i int, member string) ([]byte, error) {
	return firstValue(r.leaf(i, member))
}

// leaf returns the leaf of a column without lists, or of a member of a struct.
func (r *firstRows) leaf(i int, member string) *leaf {
	n := r.file.root.children[i]
	if member != "" && n.index < 0 {
		n = n.child(member)
	}
	l := r.file.newLeaf(n)
	if n.kind() == format.Int32 {
		l.element = bytesElement(4)
	}
	return l
}

// column returns c with its leaves.
func (r *firstRows) column(c columnar.Column) *column {
	col := &column{Column: c}
	add := func(member string) *leaf {
		l := r.leaf(c.Fields[0], member)
		col.leaves = append(col.leaves, l)
		return l
	}
	switch c.Form {
	case columnar.Records:
		l := add("")
		l.maxBytes, l.element = c.RecordSize(), bytesElement(c.RecordSize())
	case columnar.Images:
		add(columnar.HubBytes).maxBytes = c.MaxFile()
	case columnar.SparkImages:
		for _, name := range columnar.SparkSizes {
			add(name)
		}
		add(columnar.SparkData).maxBytes = c.RecordSize()
	default:
		for _, i := range c.Fields {
			l := r.lists[i]
			if l == nil {
				l = r.file.newLeaf(r.file.root.children[i].innermost())
			}
			l.setType(c.DType)
			col.leaves = append(col.leaves, l)
		}
	}
	return col
}

// setType sets the type to which the numbers of l are converted.
func (l *leaf) setType(d idx.DType) {
	number := l.number()
	if d != number.DType() {
		l.advice = source.HintDType
	} else if d == idx.Int32 && !number.Is(d) {
		l.advice = "IDX files have no type for it: cast the column to float64 in the program that wrote it"
	}
	l.element = numberElement(l.rawNumber(), d)
}
