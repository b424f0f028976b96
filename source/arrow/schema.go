package arrow

import (
	"fmt"

	"github.com/idxport/idxport/source"
)

// Numbers of the union Type in Schema.fbs.
const (
	typeNull            = 1
	typeInt             = 2
	typeFloat           = 3
	typeBinary          = 4
	typeText            = 5
	typeBool            = 6
	typeDecimal         = 7
	typeList            = 12
	typeStruct          = 13
	typeFixedSizeBinary = 15
	typeFixedSizeList   = 16
	typeLargeBinary     = 19
	typeLargeText       = 20
	typeLargeList       = 21
	typeBinaryView      = 23
	typeTextView        = 24
	typeListView        = 25
	typeLargeListView   = 26
)

// typeNames are what the Arrow project calls the types, by their number.
var typeNames = [...]string{"no type", "null", "int", "float", "binary", "utf8", "bool", "decimal", "date", "time", "timestamp", "interval", "list", "struct",
	"union", "fixed_size_binary", "fixed_size_list", "map", "duration", "large_binary", "large_utf8", "large_list", "run_end_encoded", "binary_view",
	"utf8_view", "list_view", "large_list_view"}

// Limits of a schema, far above what anybody writes: children may be shared in a FlatBuffer, so that a short one describes a very large tree.
const (
	maxFields = 1 << 17
	maxDepth  = 64
)

// A field is a column, or a part of one.
type field struct {
	name    string
	kind    byte
	width   int  // bits of an int or a float, bytes of a fixed_size_binary, length of a fixed_size_list
	signed  bool // of an int
	encoded bool // by a dictionary: kind is that of the dictionary's values, a batch has indices

	dictionary int64         // of an encoded field: its number,
	indices    source.Number // and how batches have the indices

	children []field
	metadata map[string]string

	// Where a record batch has the field: index of its node; index of its first buffer, if no view before it had buffers of values; number of views before it.
	node, buffer, views int
}

// String is the type as messages call it.
func (f *field) String() string {
	name := fmt.Sprintf("type %d", f.kind)
	if int(f.kind) < len(typeNames) {
		name = typeNames[f.kind]
	}
	switch f.kind {
	case typeInt, typeFloat:
		name += fmt.Sprint(f.width)
		if f.kind == typeInt && !f.signed {
			name = "u" + name
		}
	case typeList, typeLargeList, typeListView, typeLargeListView, typeFixedSizeList:
		if len(f.children) == 1 {
			name += "<" + f.children[0].String() + ">"
		}
	}
	if f.encoded {
		return "dictionary<" + name + ">"
	}
	return name
}

// text reports whether the values are text.
func (f *field) text() bool {
	return f.kind == typeText || f.kind == typeLargeText || f.kind == typeTextView
}

// coded reports whether f is numbers or text in a dictionary, which are read.
func (f *field) coded() bool {
	return f.encoded && f.indices != source.NoNumber && (f.text() || storeOf(f.values()).Size() > 0)
}

// A fileSchema is what a file says of all of its record batches.
type fileSchema struct {
	fields   []field
	metadata map[string]string

	dictionaries map[int64]bool // those of the columns that are encoded numbers or text
}

// A schemaParser counts nodes and buffers as a record batch has them, depth first.
type schemaParser struct {
	offset               int64 // of the message, for errors
	fields               int
	node, buffer, viewed int
	err                  error
}

// parseSchema reads a Schema of Schema.fbs, which stands in the message at offset.
func parseSchema(t flatTable, offset int64) (*fileSchema, error) {
	const (
		fieldEndianness = 0
		fieldFields     = 1
		fieldMetadata   = 2
	)
	if t.short(fieldEndianness) != 0 {
		return nil, unsupported("", "write the file on a little-endian machine", "the file is big-endian, expected little-endian").At(offset)
	}
	p := schemaParser{offset: offset}
	s := &fileSchema{metadata: keyValues(t, fieldMetadata), dictionaries: map[int64]bool{}}
	t.tables(fieldFields, func(f flatTable) {
		if p.err == nil {
			column := p.parse(f, 1)
			s.fields = append(s.fields, column)
			if column.coded() {
				s.dictionaries[column.dictionary] = true
			}
		}
	})
	if p.err == nil && t.bad {
		p.err = damaged(offset, "the schema points outside of its message, or to the same part of it too often")
	}
	return s, p.err
}

// A FieldInfo is what a schema says of a column that is not in a record batch of this package.
type FieldInfo struct {
	Type     string // as the Arrow project calls it
	Wide     bool   // it is of integers of more than 64 bits
	Metadata map[string]string
}

// Fields are the columns of the schema in message, as other formats keep it in their metadata, by
// their names. Like record batches, it is not trusted.
func Fields(message []byte) (map[string]FieldInfo, error) {
	_, start, err := messageLength(message[:min(8, len(message))], 0)
	if err != nil {
		return nil, err
	}
	m, err := parseMessage(message[start:], 0)
	if err != nil {
		return nil, err
	}
	s, err := parseSchema(m.data, 0)
	if err != nil {
		return nil, err
	}
	all := make(map[string]FieldInfo, len(s.fields))
	for _, f := range s.fields {
		all[f.name] = FieldInfo{f.String(), f.kind == typeInt && f.width > 64, f.metadata}
	}
	return all, nil
}

// keyValues are the pairs of field i.
func keyValues(t flatTable, i int) map[string]string {
	all := map[string]string{}
	t.tables(i, func(pair flatTable) { all[pair.text(0)] = pair.text(1) })
	return all
}

// parse reads a Field of Schema.fbs.
func (p *schemaParser) parse(t flatTable, depth int) field {
	const (
		fieldName       = 0
		fieldKind       = 2
		fieldType       = 3
		fieldDictionary = 4
		fieldChildren   = 5
		fieldMetadata   = 6
	)
	p.fields++
	if p.fields > maxFields || depth > maxDepth {
		p.err = damaged(p.offset, "the schema has more than %d fields, or more than %d inside of each other", maxFields, maxDepth)
		return field{}
	}
	f := field{name: t.text(fieldName), kind: t.byte(fieldKind), metadata: keyValues(t, fieldMetadata),
		node: p.node, buffer: p.buffer, views: p.viewed}
	if kind, ok := t.table(fieldType); ok {
		f.describe(kind)
	}
	if encoding, ok := t.table(fieldDictionary); ok {
		f.encoded, f.dictionary, f.indices = true, encoding.long(0), source.NumberInt32
		if kind, ok := encoding.table(1); ok { // an Int
			f.indices = storeOf(&field{kind: typeInt, width: kind.integer(0), signed: kind.byte(1) != 0})
		}
	}
	p.node++
	p.buffer += f.buffers()
	if !f.encoded && (f.kind == typeBinaryView || f.kind == typeTextView) {
		p.viewed++
	}
	inner := *p // the children of an encoded field are those of its dictionary, which no record batch has
	t.tables(fieldChildren, func(child flatTable) {
		if p.err != nil {
			return
		}
		f.children = append(f.children, p.parse(child, depth+1))
	})
	if f.encoded {
		p.node, p.buffer, p.viewed = inner.node, inner.buffer, inner.viewed
	}
	return f
}

// describe fills in what the type's own table t says.
func (f *field) describe(t flatTable) {
	switch f.kind {
	case typeInt:
		f.width, f.signed = t.integer(0), t.byte(1) != 0
	case typeFloat:
		f.width = 16 << min(uint(t.short(0)), 3) // Precision: HALF, SINGLE, DOUBLE
	case typeFixedSizeBinary, typeFixedSizeList:
		f.width = t.integer(0)
	}
}

// buffers is the number of buffers of the field itself, without a view's buffers of values. Of the types that are not listed no column is read: they
// are refused.
func (f *field) buffers() int {
	switch {
	case f.encoded:
		return 2
	case f.kind == typeNull:
		return 0
	case f.kind == typeStruct, f.kind == typeFixedSizeList:
		return 1
	case f.kind == typeBinary, f.kind == typeLargeBinary, f.kind == typeText, f.kind == typeLargeText,
		f.kind == typeListView, f.kind == typeLargeListView:
		return 3
	}
	return 2
}
