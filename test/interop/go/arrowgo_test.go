package interop

import (
	"context"
	"encoding/binary"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

func TestArrowGo(t *testing.T) { record(t, "arrow-go", readArrowGo, "parquet", "arrow") }

// readArrowGo reads Parquet and IPC files into Arrow arrays.
func readArrowGo(path string, c test, inputs map[string]idxArray) (table, error) {
	file, err := os.Open(path)
	if err != nil {
		return table{}, err
	}
	defer file.Close()
	columns := map[string][]arrow.Array{}
	var schema *arrow.Schema
	if c.Format == "parquet" {
		whole, err := pqarrow.ReadTable(context.Background(), file, parquet.NewReaderProperties(nil),
			pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
		if err != nil {
			return table{}, err
		}
		schema = whole.Schema()
		for i := range int(whole.NumCols()) {
			columns[schema.Field(i).Name] = whole.Column(i).Data().Chunks()
		}
	} else {
		reader, err := ipc.NewFileReader(file)
		if err != nil {
			return table{}, err
		}
		schema = reader.Schema()
		for i := range reader.NumRecords() {
			batch, err := reader.RecordBatchAt(i)
			if err != nil {
				return table{}, err
			}
			for at, column := range batch.Columns() {
				columns[schema.Field(at).Name] = append(columns[schema.Field(at).Name], column)
			}
		}
	}
	return fromArrow(schema, columns, c, inputs)
}

// fromArrow makes a table of the chunks of each column.
func fromArrow(schema *arrow.Schema, columns map[string][]arrow.Array, c test, in map[string]idxArray) (table, error) {
	found := table{columns: map[string][]byte{}}
	input := in["image"]
	var pixels [][]byte
	for _, field := range schema.Fields() {
		of := input
		if field.Name == "label" {
			of = in["label"]
		}
		var out []byte
		for _, chunk := range columns[field.Name] {
			var err error
			if out, err = appendArray(out, chunk, c, of); err != nil {
				return table{}, err
			}
		}
		switch {
		case field.Name == "label":
			found.columns["label"] = out
		case c.Layout == "columns" && len(input.shape) > 1:
			pixels = append(pixels, out)
		default:
			found.columns["image"] = out
		}
		if field.Name == "image" || field.Name == "pixel0" {
			found.kind = field.Type.String()
			found.exact = strings.Contains(found.kind, names[input.code]) && c.Layout != "huggingface"
		}
	}
	if pixels == nil {
		return found, nil
	}
	found.kind += " columns"
	var err error
	found.columns["image"], err = rowMajor(pixels, input)
	return found, err
}

// appendArray appends the elements of an array of any layout.
func appendArray(to []byte, values arrow.Array, c test, input idxArray) ([]byte, error) {
	if values.NullN() > 0 {
		return nil, differs("%d values are null", values.NullN())
	}
	switch a := values.(type) {
	case *array.FixedSizeList:
		from, _ := a.ValueOffsets(0)
		if a.Len() == 0 {
			return to, nil
		}
		_, end := a.ValueOffsets(a.Len() - 1)
		return appendArray(to, array.NewSlice(a.ListValues(), from, end), c, input)
	case *array.List:
		for i := range a.Len() {
			if from, end := a.ValueOffsets(i); int(end-from) != input.width() {
				return nil, differs("list %d has %d elements", i, end-from)
			}
		}
		return appendArray(to, a.ListValues(), c, input)
	case array.ExtensionArray:
		return appendArray(to, a.Storage(), c, input)
	case *array.Struct:
		return appendStruct(to, a, input)
	case *array.FixedSizeBinary:
		for i := range a.Len() {
			to = append(to, a.Value(i)...)
		}
		return to, nil
	case *array.Binary:
		for i := range a.Len() {
			to = append(to, a.Value(i)...)
		}
		return to, nil
	}
	return appendNumbers(to, values, input)
}

// appendNumbers appends the elements of an array of numbers.
func appendNumbers(to []byte, values arrow.Array, input idxArray) ([]byte, error) {
	var err error
	for i := range values.Len() {
		switch a := values.(type) {
		case *array.Uint8:
			to, err = appendInteger(to, int64(a.Value(i)), input)
		case *array.Int8:
			to, err = appendInteger(to, int64(a.Value(i)), input)
		case *array.Int16:
			to, err = appendInteger(to, int64(a.Value(i)), input)
		case *array.Int32:
			to, err = appendInteger(to, int64(a.Value(i)), input)
		case *array.Int64:
			to, err = appendInteger(to, a.Value(i), input)
		case *array.Float32:
			to = binary.LittleEndian.AppendUint32(to, math.Float32bits(a.Value(i)))
		case *array.Float64:
			to = binary.LittleEndian.AppendUint64(to, math.Float64bits(a.Value(i)))
		default:
			return nil, differs("found values of type %v", values.DataType())
		}
		if err != nil {
			return nil, err
		}
	}
	return to, nil
}

// appendStruct appends the images of the layout huggingface.
func appendStruct(to []byte, a *array.Struct, input idxArray) (_ []byte, err error) {
	at, ok := a.DataType().(*arrow.StructType).FieldIdx("bytes")
	if !ok {
		return nil, differs("found %v, expected files", a.DataType())
	}
	files := a.Field(at).(*array.Binary)
	for i := range a.Len() {
		if to, err = appendPNG(to, files.Value(i), input); err != nil {
			return nil, err
		}
	}
	return to, nil
}
