package interop

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

func TestParquetGo(t *testing.T) { record(t, "parquet-go", readParquetGo, "parquet") }

// readParquetGo reads leaf by leaf, with the repetition levels.
func readParquetGo(path string, c test, inputs map[string]idxArray) (table, error) {
	file, err := os.Open(path)
	if err != nil {
		return table{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return table{}, err
	}
	opened, err := parquet.OpenFile(file, info.Size())
	if err != nil {
		return table{}, err
	}
	found := table{columns: map[string][]byte{}}
	var leaves []leaf
	for _, column := range opened.Root().Columns() {
		if column.Name() == "image" || column.Name() == "pixel0" {
			found.kind, found.exact = kindOf(column, c), exactType(column, inputs["image"])
		}
		values, err := leavesOf(column, len(inputs["image"].shape), opened)
		if err != nil {
			return table{}, err
		}
		leaves = append(leaves, values...)
	}
	var pixels []leaf
	for _, l := range leaves {
		if l.path == "label" {
			if found.columns["label"], err = l.numbers(inputs["label"], 1); err != nil {
				return table{}, err
			}
		} else {
			pixels = append(pixels, l)
		}
	}
	found.columns["image"], err = tensor(pixels, c, inputs["image"])
	return found, err
}

// A leaf is the values of one leaf of the schema, in the file's order.
type leaf struct {
	path   string
	values []parquet.Value
}

// leavesOf reads all pages of the leaves below column.
func leavesOf(column *parquet.Column, rank int, file *parquet.File) ([]leaf, error) {
	if !column.Leaf() {
		var all []leaf
		for _, child := range column.Columns() {
			leaves, err := leavesOf(child, rank, file)
			if err != nil {
				return nil, err
			}
			all = append(all, leaves...)
		}
		return all, nil
	}
	l := leaf{path: strings.Join(column.Path(), ".")}
	for _, group := range file.RowGroups() {
		pages := group.ColumnChunks()[column.Index()].Pages()
		for {
			page, err := pages.ReadPage()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, errors.Join(err, pages.Close())
			}
			values := make([]parquet.Value, page.NumValues())
			n, err := page.Values().ReadValues(values)
			if err != nil && !errors.Is(err, io.EOF) {
				return nil, errors.Join(err, pages.Close())
			}
			for _, v := range values[:n] {
				l.values = append(l.values, v.Clone())
			}
			parquet.Release(page)
		}
		if err := pages.Close(); err != nil {
			return nil, err
		}
	}
	return []leaf{l}, nil
}

// numbers are the elements of a leaf whose rows have width of them each.
func (l leaf) numbers(input idxArray, width int) ([]byte, error) {
	var out []byte
	var err error
	for i, v := range l.values {
		if v.IsNull() && width > 0 {
			return nil, differs("%s: value %d is null", l.path, i)
		}
		if width > 0 && (v.RepetitionLevel() == 0) != (i%width == 0) {
			return nil, differs("%s: value %d has the repetition level %d", l.path, i, v.RepetitionLevel())
		}
		switch v.Kind() {
		case parquet.Int32:
			out, err = appendInteger(out, int64(v.Int32()), input)
		case parquet.Int64:
			out, err = appendInteger(out, v.Int64(), input)
		case parquet.Float:
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v.Float()))
		case parquet.Double:
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v.Double()))
		case parquet.ByteArray, parquet.FixedLenByteArray:
			out = append(out, v.ByteArray()...)
		default:
			return nil, differs("%s: value %d is %v", l.path, i, v)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// tensor joins the leaves of the tensor by the layout of the file.
func tensor(leaves []leaf, c test, input idxArray) ([]byte, error) {
	switch {
	case c.Layout == "columns" && len(input.shape) > 1:
		var columns [][]byte
		for _, l := range leaves {
			column, err := l.numbers(input, 1)
			if err != nil {
				return nil, err
			}
			columns = append(columns, column)
		}
		return rowMajor(columns, input)
	case c.Layout == "huggingface":
		var out []byte
		for _, v := range named(leaves, "image.bytes") {
			var err error
			if out, err = appendPNG(out, v.ByteArray(), input); err != nil {
				return nil, err
			}
		}
		return out, nil
	case strings.HasSuffix(c.Layout, "binary"):
		return leaves[0].numbers(input, 1)
	}
	return leaves[0].numbers(input, input.width())
}

// named are the values of the leaf with a path.
func named(leaves []leaf, path string) []parquet.Value {
	for _, l := range leaves {
		if l.path == path {
			return l.values
		}
	}
	return nil
}

// kindOf is the type of a column in parquet-go's words.
func kindOf(column *parquet.Column, c test) string {
	kind := column.Type().String()
	if element := lowest(column); element != column && c.Layout != "huggingface" {
		kind += " of " + element.Type().String()
	}
	if c.Layout == "columns" {
		kind += " columns"
	}
	return kind
}

// lowest is the first leaf of column.
func lowest(column *parquet.Column) *parquet.Column {
	for !column.Leaf() {
		column = column.Columns()[0]
	}
	return column
}

// elements are the leaf types of the data types of IDX:
// https://github.com/apache/parquet-format/blob/master/LogicalTypes.md.
var elements = map[string]string{
	"uint8": "INT(8,false)", "int8": "INT(8,true)", "int16": "INT(16,true)", "int32": "INT32",
	"float32": "FLOAT", "float64": "DOUBLE",
}

// exactType reports whether the first leaf's type is the input's.
func exactType(column *parquet.Column, input idxArray) bool {
	return lowest(column).Type().String() == elements[names[input.code]]
}
