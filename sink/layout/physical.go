package layout

import (
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// physical is the Parquet type that holds elements of d. Integers of 8 and 16 bits are INT32 values with a note of what they are.
func physical(d idx.DType) format.Type {
	switch d {
	case idx.Float32:
		return format.Float
	case idx.Float64:
		return format.Double
	default:
		return format.Int32
	}
}

// primitive is the schema element of a node that holds elements of d.
func primitive(name string, d idx.DType, repetition format.FieldRepetitionType) format.SchemaElement {
	e := format.SchemaElement{Name: name, Type: thrift.New(physical(d)), RepetitionType: thrift.New(repetition)}
	integer := func(converted deprecated.ConvertedType, bits int8, signed bool) {
		e.ConvertedType = thrift.New(converted)
		e.LogicalType = format.LogicalType{Value: &format.IntType{BitWidth: bits, IsSigned: signed}}
	}
	switch d {
	case idx.Uint8:
		integer(deprecated.Uint8, 8, false)
	case idx.Int8:
		integer(deprecated.Int8, 8, true)
	case idx.Int16:
		integer(deprecated.Int16, 16, true)
	}
	return e
}

// scalar represents a column of single elements: a primitive column.
func scalar(c source.Column) Column {
	return Column{
		Field:    schema.ListField(c),
		Data:     wrap(schema.ListData, c),
		Elements: []format.SchemaElement{primitive(c.Name, c.DType, format.Required)},
		Leaves: []Leaf{{
			Path:    []string{c.Name},
			Type:    physical(c.DType),
			Element: c.DType,
			Scalar:  true,
			Entries: 1,
			Count:   1,
			Values:  identity,
		}},
	}
}
