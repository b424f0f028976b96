package layout

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
)

// A member is one field of a struct.
type member struct {
	kind    arrow.DataType
	element format.SchemaElement // optional, with the field's name
	leaf    Leaf                 // without path, type, entries and levels
	data    func(data []byte, rows int) arrow.ArrayData
}

// group represents c as an optional struct of members, an optional group in Parquet. A row has the struct, and each member but those
// whose leaf has no values.
func group(c source.Column, members []member) Column {
	const (
		structOnly = 1 // definition level of an entry whose struct is there and whose member is not
		all        = 2
	)
	made := Column{Elements: []format.SchemaElement{{
		Name:           c.Name,
		NumChildren:    thrift.New(int32(len(members))),
		RepetitionType: thrift.New(format.Optional),
	}}}
	fields := make([]arrow.Field, len(members))
	for i, m := range members {
		fields[i] = arrow.Field{Name: m.element.Name, Type: m.kind, Nullable: true}
		made.Elements = append(made.Elements, m.element)
		leaf := m.leaf
		leaf.Path = []string{c.Name, m.element.Name}
		leaf.Type = m.element.Type.V
		leaf.Entries, leaf.MaxDefinition, leaf.Definition = 1, all, all
		if leaf.Count == 0 {
			leaf.Definition = structOnly
		}
		made.Leaves = append(made.Leaves, leaf)
	}
	kind := arrow.StructOf(fields...)
	made.Field = arrow.Field{Name: c.Name, Type: kind, Nullable: true, Metadata: schema.FieldMetadata(c)}
	made.Data = func(data []byte, rows int) arrow.ArrayData {
		children := make([]arrow.ArrayData, len(members))
		for i, m := range members {
			children[i] = m.data(data, rows)
			defer children[i].Release()
		}
		return array.NewData(kind, rows, []*memory.Buffer{nil}, children, 0, 0)
	}
	return made
}

// optionalBytes is the schema element of a member of bytes.
func optionalBytes(name string) format.SchemaElement {
	return format.SchemaElement{Name: name, Type: thrift.New(format.ByteArray), RepetitionType: thrift.New(format.Optional)}
}

// optionalString is the schema element of a member of text.
func optionalString(name string) format.SchemaElement {
	e := optionalBytes(name)
	e.ConvertedType = thrift.New(deprecated.UTF8)
	e.LogicalType = format.LogicalType{Value: &format.StringType{}}
	return e
}
