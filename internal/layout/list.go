package layout

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// elementName is the name of the child of a list, as in the Parquet specification.
const elementName = "element"

// maxNested is the maximum number of dimensions of a record in the layout nested, as readers
// recurse. DuckDB 2.0 reads 16 dimensions immediately, and hangs with 32.
const maxNested = 16

// list is the layout list: a FixedSizeList over the whole record in C order.
func (l Layout) list(c source.Column) ([]Column, error) {
	return lists(c, []int{c.Elements()}), nil
}

// nested is the layout nested: a FixedSizeList in a FixedSizeList for each dimension.
func (l Layout) nested(c source.Column) ([]Column, error) {
	if len(c.Shape) > maxNested {
		return nil, l.refuse("use the layout list, which has one list for all dimensions",
			"a record of column %s has %d dimensions, expected at most %d", c.Name, len(c.Shape), maxNested)
	}
	if c.Elements() == 0 {
		return l.list(c)
	}
	return lists(c, c.Shape), nil
}

// extension is the layout tensor: list with the extension type that gives it a shape. Records
// without elements are plain lists, as the extension type is for fixed-size lists only.
func (l Layout) extension(c source.Column) ([]Column, error) {
	columns := lists(c, []int{c.Elements()})
	if c.Elements() == 0 {
		return columns, nil
	}
	field := &columns[0].Field
	field.Metadata = arrow.NewMetadata(
		append(slices.Clone(field.Metadata.Keys()), source.KeyExtension, source.KeyExtensionMetadata),
		append(slices.Clone(field.Metadata.Values()), source.FixedShapeTensor, `{"shape":`+shapeJSON(c)+`}`))
	return columns, nil
}

// lists represents c by nested lists of the given sizes, whose product is the number of elements of
// a record: FixedSizeLists of nullable elements in Arrow, LISTs in Parquet. The elements are never
// null; but Arrow C++ restores a FixedSizeList from a Parquet file only if its child's nullability
// equals the element's, and its children are nullable by default. Records without elements, for
// which sizes is one 0, become a plain List, as pyarrow and polars cannot read fixed-size lists of
// 0 elements.
func lists(c source.Column, sizes []int) []Column {
	n := c.Elements()
	made := columnOf(arrow.Field{Name: c.Name, Type: listType(c.DType, sizes), Metadata: fieldMetadata(c)})
	made.Data = func(data []byte, rows int) Array { return listData(sizes, data, rows) }
	leaf := &made.Leaves[0]
	leaf.Element, leaf.Size = c.DType, c.DType.Size()
	leaf.Entries, leaf.Count, leaf.Repetition = n, n, repetition(sizes)
	if n == 0 { // an empty list is one entry, whose definition level is that of the outer group
		leaf.Entries, leaf.Repetition, leaf.Definition = 1, appendRun(nil, 1, 0), 0
	}
	return []Column{made}
}

// listType returns the type of lists of the given sizes, the outermost first, of elements of d.
func listType(d idx.DType, sizes []int) arrow.DataType {
	if len(sizes) == 0 {
		return elementTypes[d]
	}
	element := arrow.Field{Name: elementName, Type: listType(d, sizes[1:]), Nullable: true}
	if sizes[0] == 0 {
		return arrow.ListOfField(element)
	}
	return arrow.FixedSizeListOfField(int32(sizes[0]), element)
}

// listData wraps data, n records, as lists of the given sizes, the outermost first.
func listData(sizes []int, data []byte, n int) Array {
	switch {
	case len(sizes) == 0:
		return flat(n, data)
	case sizes[0] == 0:
		return flat(n, offsets(n, 0)).above(flat(0, data))
	}
	return flat(n).above(listData(sizes[1:], data, n*sizes[0]))
}

// repetition returns the repetition levels of a record of the given shape: 0 for the first element,
// and for every other one the number of the outermost dimension whose index changes, counted from
// 1. A 2×3 record has 0 2 2 1 2 2.
//
// The levels are run-length runs, or bit-packed ones if those are shorter and there are several
// dimensions: a 32×32×3 image has two runs of 2 bytes for each of its 1,024 pixels, or 768 bytes of
// bits.
func repetition(shape []int) []byte {
	n := source.Column{Shape: shape}.Elements()
	runs := levelRuns(shape, 0, n)
	packed := n &^ 7 // bit-packed runs are whole groups of 8; run-length runs follow
	width := bits.Len(uint(len(shape)))
	if len(shape) == 1 || packed == 0 || packed/8*width >= len(runs) {
		return runs
	}
	return append(packLevels(shape, packed, width), levelRuns(shape, packed, n)...)
}

// levelAt returns the repetition level of element i of a record of the given shape.
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

// levelRuns returns the levels of the elements first to n−1 as run-length runs.
func levelRuns(shape []int, first, n int) []byte {
	var dst []byte
	last := shape[len(shape)-1]
	for i := first; i < n; {
		level, end := levelAt(shape, i), i+1
		if level == byte(len(shape)) { // to the end of the innermost list
			end = i/last*last + last
		}
		for last == 1 && end < n && levelAt(shape, end) == level { // lists of one element
			end++
		}
		dst = appendRun(dst, end-i, level)
		i = end
	}
	return dst
}

// appendRun appends a run-length run of n times level, which must fit one byte: a varint of 2n (odd
// numbers are bit-packed runs) and the level.
func appendRun(dst []byte, n int, level byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(n)<<1), level)
}

// packLevels returns the levels of the first n elements, a multiple of 8, as one bit-packed run: a
// varint of twice the number of groups of 8, plus 1, and the levels from the lowest bit of each
// byte up.
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

// maxColumns is the maximum number of elements of a record in the layout "columns": a 64×64 image.
// Every column costs its reader time and memory before the first value, and both formats describe
// all columns again in every row group or batch.
const maxColumns = 4096

// columns is the layout "columns": a primitive column for each element of a record. Prepare
// transposes a batch once for all columns.
func (l Layout) columns(c source.Column) ([]Column, error) {
	n, size := c.Elements(), c.DType.Size()
	if n == 0 || n > maxColumns {
		return nil, l.refuse("choose others with --columns, or use the layout list, with one column for all elements",
			"a record of column %s has %d elements, expected 1 to %d", c.Name, n, maxColumns)
	}
	metadata := fieldMetadata(c)
	made := make([]Column, n)
	for i := range made {
		name := string(schema.AppendElementName(nil, c, i, l.alone))
		made[i] = primitive(name, c.DType, metadata, func(transposed []byte, rows int) []byte {
			return transposed[i*rows*size : (i+1)*rows*size : (i+1)*rows*size]
		})
		made[i].Prepare = func(data []byte, rows int) []byte {
			transposed := make([]byte, len(data))
			source.SwapAxes(transposed, data, rows, n, size)
			return transposed
		}
		made[i].Allocates, made[i].Leaves[0].Allocates = size, true
	}
	return made, nil
}
