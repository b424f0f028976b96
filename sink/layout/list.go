package layout

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// elementName is the name of the child of a list: the name that the Parquet specification gives it.
const elementName = "element"

// maxNested is the most dimensions of a record in the layout nested: readers descend by recursion.
// DuckDB 2.0 reads 16 at once, and does not come back from 32.
const maxNested = 16

// Keys of the field metadata that makes a field one of an extension type, and the name of the type:
// see "Extension Types" and "Fixed shape tensor" in the Arrow specification.
const (
	extensionNameKey     = "ARROW:extension:name"
	extensionMetadataKey = "ARROW:extension:metadata"
	fixedShapeTensor     = "arrow.fixed_shape_tensor"
)

// list is the layout of the name: a FixedSizeList over the whole record in C order.
func (l Layout) list(c source.Column, _ bool) ([]Column, error) {
	return l.lists(c, []int{c.Elements()})
}

// nested is the layout of the name: a FixedSizeList in a FixedSizeList for each dimension.
func (l Layout) nested(c source.Column, alone bool) ([]Column, error) {
	if len(c.Shape) > maxNested {
		return nil, l.refuse("use the layout list, which has one list for all dimensions",
			"a record of column %s has %d dimensions, expected at most %d", c.Name, len(c.Shape), maxNested)
	}
	if c.Elements() == 0 {
		return l.list(c, alone)
	}
	return l.lists(c, c.Shape)
}

// extension is the layout tensor: list, said to be of a shape. Records of no elements are plain
// lists: the extension is for fixed-size lists only.
func (l Layout) extension(c source.Column, alone bool) ([]Column, error) {
	columns, err := l.list(c, alone)
	if err != nil || c.Elements() == 0 {
		return columns, err
	}
	field := &columns[0].Field
	field.Metadata = arrow.NewMetadata(
		append(slices.Clone(field.Metadata.Keys()), extensionNameKey, extensionMetadataKey),
		append(slices.Clone(field.Metadata.Values()), fixedShapeTensor, `{"shape":`+shapeJSON(c)+`}`))
	return columns, nil
}

// lists represents c by a list of each of sizes, whose product is the number of elements of a
// record: a FixedSizeList of nullable elements in Arrow, a LIST in Parquet. The elements are never
// null; they are nullable because Arrow C++ restores a FixedSizeList from Parquet only if that says
// so too. Records of no elements, of which sizes has one 0, become a plain List: list size 0 cannot
// be read back by pyarrow and polars.
func (l Layout) lists(c source.Column, sizes []int) ([]Column, error) {
	n, depth := c.Elements(), len(sizes)
	if n > math.MaxInt32 {
		return nil, l.tooLarge(c, n, "elements")
	}
	leaf := Leaf{
		Path:          []string{c.Name},
		Type:          physical(c.DType),
		Element:       c.DType,
		Entries:       n,
		Count:         n,
		MaxRepetition: byte(depth),
		MaxDefinition: byte(2 * depth),
		Repetition:    repetition(sizes),
		Definition:    byte(2 * depth),
		Values:        identity,
	}
	if n == 0 { // an empty list is one entry, defined only as far as the outer group
		leaf.Entries, leaf.Repetition, leaf.Definition = 1, appendRun(nil, 1, 0), 0
	}
	var elements []format.SchemaElement
	name, optional := c.Name, format.Required
	for range depth {
		elements = append(elements,
			format.SchemaElement{
				Name:           name,
				NumChildren:    thrift.New(int32(1)),
				RepetitionType: thrift.New(optional),
				ConvertedType:  thrift.New(deprecated.List),
				LogicalType:    format.LogicalType{Value: &format.ListType{}},
			},
			format.SchemaElement{
				Name:           "list",
				NumChildren:    thrift.New(int32(1)),
				RepetitionType: thrift.New(format.Repeated),
			})
		name, optional = elementName, format.Optional
		leaf.Path = append(leaf.Path, "list", name)
	}
	types := listTypes(c.DType, sizes)
	return []Column{{
		Field:    arrow.Field{Name: c.Name, Type: types[0], Metadata: fieldMetadata(c)},
		Data:     func(data []byte, rows int) arrow.ArrayData { return listData(types, sizes, data, rows*n, rows) },
		Elements: append(elements, elementNode(name, c.DType, format.Optional)),
		Leaves:   []Leaf{leaf},
	}}, nil
}

// listTypes is the type of the list of each of sizes, and of the elements, of d.
func listTypes(d idx.DType, sizes []int) []arrow.DataType {
	depth := len(sizes)
	types := make([]arrow.DataType, depth+1)
	types[depth] = elementType(d)
	for i := depth - 1; i >= 0; i-- {
		element := arrow.Field{Name: elementName, Type: types[i+1], Nullable: true}
		if sizes[i] > 0 {
			types[i] = arrow.FixedSizeListOfField(int32(sizes[i]), element)
		} else {
			types[i] = arrow.ListOfField(element)
		}
	}
	return types
}

// listData wraps data, n elements of rows records, as lists of types. Nothing is copied: data must
// not change while the array is in use.
func listData(types []arrow.DataType, sizes []int, data []byte, n, rows int) arrow.ArrayData {
	made := arrayOf(types[len(sizes)], n, data)
	for i := len(sizes) - 1; i >= 0; i-- {
		buffers := []*memory.Buffer{nil}
		if sizes[i] > 0 {
			n /= sizes[i]
		} else { // all offsets are 0
			n, buffers = rows, append(buffers, memory.NewBufferBytes(offsets(rows, 0)))
		}
		child := made
		made = array.NewData(types[i], n, buffers, []arrow.ArrayData{child}, 0, 0)
		child.Release()
	}
	return made
}

// repetition is the repetition levels of a record of shape: 0 for the first element, and for every
// other the number of the dimension, from 1 for the outermost, whose index it moves on. A 2×3
// record has 0 2 2 1 2 2.
//
// They are run-length runs, or, if that takes fewer bytes in several dimensions, bit-packed ones: a
// 32×32×3 image has two runs of 2 bytes for each of its 1,024 pixels, or 768 bytes of bits.
func repetition(shape []int) []byte {
	runs := levelRuns(shape, 0)
	packed := elements(shape) &^ 7 // bit-packed runs are whole groups of 8: the rest follows in run-length runs
	width := bits.Len(uint(len(shape)))
	if len(shape) == 1 || packed == 0 || packed/8*width >= len(runs) {
		return runs
	}
	return append(packLevels(shape, packed, width), levelRuns(shape, packed)...)
}

// elements is the number of elements of a record of shape.
func elements(shape []int) int {
	n := 1
	for _, size := range shape {
		n *= size
	}
	return n
}

// levelAt is the repetition level of element i of a record of shape.
func levelAt(shape []int, i int) byte {
	if i == 0 {
		return 0
	}
	level := len(shape)
	for ; i%shape[level-1] == 0; level-- {
		i /= shape[level-1]
	}
	return byte(level)
}

// levelRuns is the levels of the elements from from on as run-length runs.
func levelRuns(shape []int, from int) []byte {
	n, last := elements(shape), shape[len(shape)-1]
	var dst []byte
	level, length := byte(0), 0
	add := func(l byte, n int) {
		if l != level && length > 0 {
			dst = appendRun(dst, length, level)
			length = 0
		}
		level, length = l, length+n
	}
	for i := from; i < n; {
		next := min(i/last*last+last, n) // where the innermost list ends
		add(levelAt(shape, i), 1)
		if i++; i < next {
			add(byte(len(shape)), next-i)
			i = next
		}
	}
	if length == 0 {
		return nil
	}
	return appendRun(dst, length, level)
}

// appendRun appends a run-length run of n times level, which must fit one byte: a varint of 2n, as
// the lowest bit tells bit-packed runs, and the level.
func appendRun(dst []byte, n int, level byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(n)<<1), level)
}

// packLevels is the levels of the first n elements, a multiple of 8, as one bit-packed run: the
// number of groups of 8 with the lowest bit 1, and the levels from the lowest bit of each byte up.
func packLevels(shape []int, n, width int) []byte {
	dst := binary.AppendUvarint(nil, uint64(n/8)<<1|1)
	for i := 0; i < n; i += 8 {
		group := uint64(0)
		for k := range 8 {
			group |= uint64(levelAt(shape, i+k)) << (k * width)
		}
		dst = append(dst, binary.LittleEndian.AppendUint64(nil, group)[:width]...)
	}
	return dst
}
