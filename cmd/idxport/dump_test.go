package main

import (
	"errors"
	"fmt"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	arrowapi "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	parquetapi "github.com/parquet-go/parquet-go"
	"github.com/rogpeppe/go-internal/testscript"
)

// table FILE TO reads a Parquet or Arrow file with an independent reader and writes what it holds
// as lines:
//
//	column NAME
//	meta KEY VALUE
//	codec NAME       Parquet alone
//	row 1,2,3        all values of a row, column after column
func dumpTable(ts *testscript.TestScript, args []string) {
	read := readArrow
	if filepath.Ext(args[0]) == ".parquet" {
		read = readParquet
	}
	f, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	lines, err := read(f)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(strings.Join(lines, "\n")+"\n"), 0o666))
}

func readParquet(f *os.File) (lines []string, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	file, err := parquetapi.OpenFile(f, info.Size())
	if err != nil {
		return nil, err
	}
	for _, c := range file.Root().Columns() {
		lines = append(lines, "column "+c.Name())
	}
	for _, kv := range file.Metadata().KeyValueMetadata {
		lines = append(lines, fmt.Sprintf("meta %s %s", kv.Key, kv.Value))
	}
	var codecs, rows []string
	for _, group := range file.Metadata().RowGroups {
		for _, chunk := range group.Columns {
			codecs = append(codecs, "codec "+strings.ToLower(chunk.MetaData.Codec.String()))
		}
	}
	slices.Sort(codecs)
	for _, group := range file.RowGroups() {
		more, err := parquetRows(group)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return slices.Concat(lines, slices.Compact(codecs), rows), nil
}

func parquetRows(group parquetapi.RowGroup) (lines []string, err error) {
	rows := group.Rows()
	defer rows.Close()
	buffer := make([]parquetapi.Row, 1)
	for {
		n, err := rows.ReadRows(buffer)
		if n == 1 {
			var values []string
			for _, v := range buffer[0] {
				if !v.IsNull() {
					values = append(values, v.String())
				}
			}
			lines = append(lines, "row "+strings.Join(values, ","))
		}
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// readArrow reads an Arrow file, or a stream where the name ends so.
func readArrow(f *os.File) (lines []string, err error) {
	var batches []arrowapi.RecordBatch
	var schema *arrowapi.Schema
	if filepath.Ext(f.Name()) == ".arrows" {
		r, err := ipc.NewReader(f)
		if err != nil {
			return nil, err
		}
		schema = r.Schema()
		for r.Next() {
			r.RecordBatch().Retain()
			batches = append(batches, r.RecordBatch())
		}
		if err := r.Err(); err != nil {
			return nil, err
		}
	} else {
		r, err := ipc.NewFileReader(f)
		if err != nil {
			return nil, err
		}
		schema = r.Schema()
		for i := range r.NumRecords() {
			b, err := r.RecordBatchAt(i)
			if err != nil {
				return nil, err
			}
			batches = append(batches, b)
		}
	}
	for _, field := range schema.Fields() {
		lines = append(lines, "column "+field.Name)
	}
	for i, key := range schema.Metadata().Keys() {
		lines = append(lines, fmt.Sprintf("meta %s %s", key, schema.Metadata().Values()[i]))
	}
	for _, b := range batches {
		for i := range int(b.NumRows()) {
			var values []string
			for _, c := range b.Columns() {
				values = append(values, arrowValues(c, i)...)
			}
			lines = append(lines, "row "+strings.Join(values, ","))
		}
	}
	return lines, nil
}

// arrowValues are the values of row i, those of a list one by one.
func arrowValues(a arrowapi.Array, i int) (values []string) {
	list, ok := a.(*array.FixedSizeList)
	if !ok {
		return []string{a.ValueStr(i)}
	}
	from, to := list.ValueOffsets(i)
	for k := from; k < to; k++ {
		values = append(values, list.ListValues().ValueStr(int(k)))
	}
	return values
}

// pixels FILE TO decodes a PNG image and writes its pixels, a row a line: grey values, or
// red:green:blue.
func dumpPNG(ts *testscript.TestScript, args []string) {
	f, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	img, err := png.Decode(f)
	ts.Check(err)
	var text strings.Builder
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
			r, g, b, _ := img.At(x, y).RGBA() // 16 bits each
			pixel := strconv.Itoa(int(r >> 8))
			if r != g || g != b {
				pixel = fmt.Sprintf("%d:%d:%d", r>>8, g>>8, b>>8)
			}
			fmt.Fprint(&text, pixel, " ")
		}
		text.WriteString("\n")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(strings.ReplaceAll(text.String(), " \n", "\n")), 0o666))
}
