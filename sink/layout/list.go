package layout

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
)

// list is the layout of the name: a FixedSizeList over the whole record in C order, a LIST in Parquet.
func list(c source.Column) ([]Column, error) { return listOf("list", c) }

// listOf is list for the layout of the name layout, which is for the error.
func listOf(layout string, c source.Column) ([]Column, error) {
	n := c.Elements()
	if n > math.MaxInt32 {
		return nil, tooLarge(layout, c, n, "elements")
	}
	leaf := Leaf{
		Path:          []string{c.Name, "list", schema.ElementName},
		Type:          physical(c.DType),
		Element:       c.DType,
		Entries:       n,
		Count:         n,
		MaxRepetition: 1,
		MaxDefinition: 2,
		Repetition:    appendRun(nil, 1, 0),
		Definition:    2,
		Values:        identity,
	}
	switch {
	case n == 0: // an empty list is one entry, defined only as far as the outer group
		leaf.Entries, leaf.Definition = 1, 0
	case n > 1:
		leaf.Repetition = appendRun(leaf.Repetition, n-1, 1)
	}
	return []Column{{
		Field:    schema.ListField(c),
		Data:     wrap(schema.ListData, c),
		Elements: append(listGroups(c.Name, format.Required), primitive(schema.ElementName, c.DType, format.Optional)),
		Leaves:   []Leaf{leaf},
	}}, nil
}

// appendRun appends a run-length run of n times level, which must fit one byte: a varint of 2n, as the lowest bit tells bit-packed
// runs, and the level.
func appendRun(dst []byte, n int, level byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(n)<<1), level)
}

// wrap binds a function that makes array data to its column.
func wrap(data func(source.Column, []byte, int) arrow.ArrayData, c source.Column) func([]byte, int) arrow.ArrayData {
	return func(bytes []byte, rows int) arrow.ArrayData { return data(c, bytes, rows) }
}
