package arrow

import (
	"bytes"
	"fmt"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/columnar"
)

// An arrowType describes a type of the Arrow specification.
type arrowType struct {
	name       string
	typeKind   columnar.Kind // of the values, if they can be read
	buffers    int           // number in a record batch, without the variadic buffers of a view
	offsetSize int64         // in bytes; 0: there are no offsets
	view       bool          // values may be anywhere in the other buffers or in the child
}

// arrowTypes are the types by their numbers in the union Type of Schema.fbs.
var arrowTypes = [...]arrowType{
	{name: "no type", buffers: 2}, {name: "null"},
	{"int", columnar.Number, 2, 0, false},
	{"float", columnar.Number, 2, 0, false},
	{"binary", columnar.Bytes, 3, 4, false},
	{"utf8", columnar.Text, 3, 4, false},
	{"bool", columnar.Number, 2, 0, false},
	{name: "decimal", buffers: 2}, {name: "date", buffers: 2}, {name: "time", buffers: 2},
	{name: "timestamp", buffers: 2}, {name: "interval", buffers: 2},
	{"list", columnar.List, 2, 4, false},
	{"struct", columnar.Struct, 1, 0, false},
	{name: "union", buffers: 2},
	{"fixed_size_binary", columnar.FixedBytes, 2, 0, false},
	{"fixed_size_list", columnar.List, 1, 0, false},
	{name: "map", buffers: 2}, {name: "duration", buffers: 2},
	{"large_binary", columnar.Bytes, 3, 8, false},
	{"large_utf8", columnar.Text, 3, 8, false},
	{"large_list", columnar.List, 2, 8, false},
	{name: "run_end_encoded", buffers: 2},
	{"binary_view", columnar.Bytes, 2, 0, true},
	{"utf8_view", columnar.Text, 2, 0, true},
	{"list_view", columnar.List, 3, 4, true},
	{"large_list_view", columnar.List, 3, 8, true},
}

// Numbers of some types.
const (
	typeInt             = 2
	typeFloat           = 3
	typeDecimal         = 7
	typeFixedSizeBinary = 15
	typeFixedSizeList   = 16
)

// Limits of a schema, far above those of real files. A short FlatBuffer can describe a very large
// tree, as its tables may share their children.
const (
	maxFields = 1 << 17
	maxDepth  = 64
)

// A field is a column of a file, or a part of one.
type field struct {
	columnar.Field // but Type is only the name of the type

	arrowType
	column   string // name of the top-level field, for errors
	wide     bool   // integers of more than 64 bits
	children []field

	// In a field of the kind Dictionary, arrowType is the type of the indices, which record batches
	// contain.
	dictionary int64             // id of the dictionary
	indices    source.NumberKind // NoNumber for other kinds
	values     *field            // the values of the dictionary

	// Where a record batch has the field: the index of its node, the index of its first buffer if
	// no view before it had variadic buffers, and the number of views before it.
	node, buffer, views int

	// What is expected of the values of a column of the table: see firstRow.Lengths and newColumn.
	length int64 // of every list
	limit  int64 // maximum average size, in bytes, of values of the kind Bytes
}

// A fileSchema is the schema of a file or stream.
type fileSchema struct {
	fields       []field
	metadata     map[string]string
	dictionaries map[int64]*field // the fields of the values of dictionaries, by the ids of the dictionaries
}

// A schemaParser counts nodes and buffers in the order of record batches: depth first.
type schemaParser struct {
	offset              int64 // of the message, for errors
	fields              int
	node, buffer, views int
}

// parseSchema reads a Schema of Schema.fbs in the message at offset.
func parseSchema(t flatTable, offset int64) *fileSchema {
	defer refuseOutside(offset)
	const fieldEndianness, fieldFields, fieldMetadata = 0, 1, 2
	if t.short(fieldEndianness) != 0 {
		panic(unsupported("", "write the file on a little-endian machine", "the file is big-endian, expected little-endian").At(offset))
	}
	p := schemaParser{offset: offset}
	s := &fileSchema{metadata: keyValues(t, fieldMetadata), dictionaries: map[int64]*field{}}
	for child := range t.tables(fieldFields) {
		f := p.parse(child, "", 1)
		s.fields = append(s.fields, f)
		if f.Kind == columnar.Dictionary {
			s.dictionaries[f.dictionary] = f.values
		}
	}
	return s
}

// keyValues returns the pairs in field i.
func keyValues(t flatTable, i int) map[string]string {
	all := map[string]string{}
	for pair := range t.tables(i) {
		all[pair.text(0)] = pair.text(1)
	}
	return all
}

// assign gives f the next node and the next buffers.
func (p *schemaParser) assign(f *field) {
	f.node, f.buffer, f.views = p.node, p.buffer, p.views
	p.node++
	p.buffer += f.buffers
	if f.variadic() {
		p.views++
	}
}

// variadic reports whether the values are views of bytes, which are in any number of buffers.
func (f *field) variadic() bool { return f.view && f.offsetSize == 0 }

// parse reads a Field of Schema.fbs. It is a part of column, or a column itself at depth 1.
func (p *schemaParser) parse(t flatTable, column string, depth int) field {
	const fieldName, fieldDictionary, fieldChildren, fieldMetadata = 0, 4, 5, 6
	p.fields++
	demand(p.fields <= maxFields && depth <= maxDepth, p.offset, "", "the schema has more than %d fields, or more than %d levels", maxFields, maxDepth)
	f := field{column: column}
	f.Name, f.Metadata = t.text(fieldName), keyValues(t, fieldMetadata)
	if depth == 1 {
		f.column = f.Name
	}
	if f.setType(t); f.Size < 0 {
		panic(damaged(p.offset, "found %s of size %d", f.Type, f.Size).InColumn(f.column))
	}
	encoding, encoded := t.table(fieldDictionary)
	outer := *p
	if encoded { // a dictionary has nodes and buffers of its own
		*p = schemaParser{offset: p.offset, fields: p.fields}
	}
	p.assign(&f)
	for child := range t.tables(fieldChildren) {
		f.children = append(f.children, p.parse(child, f.column, depth+1))
	}
	f.useChildren()
	if encoded {
		outer.fields = p.fields
		*p = outer
		f = f.encoded(encoding)
		p.assign(&f)
	}
	return f
}

// numberNamed returns the kind of numbers with a name of the Arrow specification, or NoNumber.
func numberNamed(name string) source.NumberKind {
	for n := source.NumberUint8; n <= source.NumberFloat16; n++ {
		if n.String() == name {
			return n
		}
	}
	return source.NoNumber
}

// intName returns the name of the type that t, an Int of Schema.fbs, describes.
func intName(t flatTable) string {
	if t.byte(1) == 0 {
		return fmt.Sprint("uint", t.integer(0))
	}
	return fmt.Sprint("int", t.integer(0))
}

// setType sets the type to that of t, a Field of Schema.fbs.
func (f *field) setType(t flatTable) {
	const fieldType, fieldParameters = 2, 3
	id := t.byte(fieldType)
	f.arrowType = arrowType{name: fmt.Sprint("type ", id), buffers: 2}
	if int(id) < len(arrowTypes) {
		f.arrowType = arrowTypes[id]
	}
	f.Kind, f.Type = f.typeKind, f.name
	parameters, ok := t.table(fieldParameters)
	switch {
	case ok && id == typeInt:
		f.Type, f.wide, f.Hint = intName(parameters), parameters.integer(0) > 64, source.AdviceCast("ipc", f.Name, "Int32")
	case ok && id == typeFloat:
		f.Type += fmt.Sprint(16 << min(uint(parameters.short(0)), 3)) // Precision: HALF, SINGLE, DOUBLE
	case ok && (id == typeFixedSizeBinary || id == typeFixedSizeList):
		f.Size = parameters.integer(0)
	case id == typeDecimal:
		f.Hint = source.AdviceCast("ipc", f.Name, "Float64")
	}
	if f.typeKind == columnar.Number {
		if f.Number = numberNamed(f.Type); f.Number == source.NoNumber {
			f.Kind = columnar.Other
		}
	}
}

// useChildren completes f, if it has lists or is a struct, from its children, which were parsed.
func (f *field) useChildren() {
	switch f.typeKind {
	case columnar.List:
		f.Kind, f.Hint = columnar.Other, "convert it to lists of numbers"
		if len(f.children) != 1 {
			return
		}
		child := &f.children[0]
		f.Type += "<" + child.Type + ">"
		if child.Kind == columnar.Number || child.Kind == columnar.List {
			f.Kind, f.Number, f.Lengths = columnar.List, child.Number, append([]int{unknown}, child.Lengths...)
			if f.offsetSize == 0 {
				f.Lengths[0], f.length = f.Size, int64(f.Size)
			}
		}
	case columnar.Struct:
		for _, child := range f.children {
			f.Members = append(f.Members, child.Field)
		}
	}
}

// encoded returns the field of the kind Dictionary whose values are described by f, and whose
// indices are described by t, a DictionaryEncoding of Schema.fbs.
func (f field) encoded(t flatTable) field {
	e := field{column: f.column, arrowType: arrowTypes[typeInt], dictionary: t.long(0), indices: source.NumberInt32, values: &f}
	e.Name, e.Metadata, e.Type, e.Kind = f.Name, f.Metadata, "dictionary<"+f.Type+">", columnar.Dictionary
	if indices, ok := t.table(1); ok {
		e.indices = numberNamed(intName(indices))
	}
	switch {
	case e.indices != source.NoNumber && f.Kind == columnar.Number && f.Number != source.NumberBool:
		e.Number = f.Number
	case e.indices != source.NoNumber && f.Kind == columnar.Text:
	case f.Kind == columnar.Text:
		e.Kind = columnar.Text
	default:
		e.Kind, e.Hint = columnar.Other, hintDictionary
	}
	return e
}

// A FieldInfo describes a column of an Arrow schema that another format has in its metadata.
type FieldInfo struct {
	Type     string // in the words of the Arrow specification, such as "uint8"
	Wide     bool   // integers of more than 64 bits
	Metadata map[string]string
}

// Fields returns the columns of the schema in message, by their names. Other formats keep such a
// message in their metadata. Like record batches, it is not trusted.
func Fields(message []byte) (all map[string]FieldInfo, err error) {
	err = caught(func() {
		m, _ := readMessage(bytes.NewReader(message), 0)
		demand(m.kind == headerSchema, 0, "", "found %s, expected a schema", m)
		all = map[string]FieldInfo{}
		for _, f := range parseSchema(m.header, 0).fields {
			all[f.Name] = FieldInfo{f.Type, f.wide, f.Metadata}
		}
	})
	return all, err
}
