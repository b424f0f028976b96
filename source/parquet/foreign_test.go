package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/columnar"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sourcetest"
)

// foreignRows is the number of rows of the files in testdata.
const foreignRows = 150

// pixel returns element i of an image of the files in testdata (see make.py).
func pixel(row, i int) float64 { return float64((31*row + 7*i + row*i) % 256) }

// encode returns n values of each row as a column of type d.
func encode(d idx.DType, n int, value func(row, i int) float64) []byte {
	var data []byte
	for row := range foreignRows {
		for i := range n {
			switch v := value(row, i); d {
			case idx.Uint8, idx.Int8:
				data = append(data, byte(int(v)))
			case idx.Int16:
				data = binary.LittleEndian.AppendUint16(data, uint16(int(v)))
			case idx.Int32:
				data = binary.LittleEndian.AppendUint32(data, uint32(int(v)))
			case idx.Float32:
				data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(v)))
			default:
				data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
			}
		}
	}
	return data
}

// A foreign describes files in testdata.
type foreign struct {
	files string // pattern
	image idx.DType
	shape []int
	label idx.DType
	note  string // part of a note, or empty
	value func(row, i int) float64
	open  source.ReadOptions
}

func foreigns() []foreign {
	flat, square := []int{12}, []int{3, 4}
	const label = "column label: int64 becomes int32"
	odd := func(row, i int) float64 { return math.Mod(pixel(row, i), 2) }
	all := []foreign{
		{files: "pyarrow-list", image: idx.Uint8, shape: flat, label: idx.Int32, note: label},
		{files: "pyarrow-list-int64", image: idx.Int32, shape: flat, label: idx.Int32, note: "column image: int64 becomes int32"},
		{files: "pyarrow-list-int64", image: idx.Uint8, shape: flat, label: idx.Uint8, open: source.ReadOptions{DType: idx.Uint8}},
		{files: "pyarrow-large-list", image: idx.Uint8, shape: flat, label: idx.Int32},
		{files: "pyarrow-fixed-size-list*", image: idx.Uint8, shape: flat, label: idx.Int32},
		{files: "pyarrow-nested-*", image: idx.Uint8, shape: square, label: idx.Int32},
		{files: "pyarrow-deep", image: idx.Uint8, shape: []int{3, 2, 2}, label: idx.Int32},
		{files: "pyarrow-tensor", image: idx.Uint8, shape: square, label: idx.Int32},
		{files: "pyarrow-fixed-binary", image: idx.Uint8, shape: flat, label: idx.Int32, note: "read as uint8 of shape 12", open: source.ReadOptions{Shape: flat}},
		{files: "pyarrow-fixed-binary", image: idx.Uint8, shape: square, label: idx.Uint8, open: source.ReadOptions{DType: idx.Uint8, Shape: square}},
		{files: "pyarrow-fixed-binary-metadata", image: idx.Uint8, shape: square, label: idx.Int32},
		{files: "pyarrow-binary", image: idx.Uint8, shape: flat, label: idx.Uint8, note: "read as uint8 of shape 12", open: source.ReadOptions{DType: idx.Uint8}},
		{files: "pyarrow-fixed-binary-int16", image: idx.Int16, shape: square, label: idx.Int16, open: source.ReadOptions{DType: idx.Int16, Shape: square}},
		{files: "pyarrow-png", image: idx.Uint8, shape: square, label: idx.Int32},
		{files: "pyarrow-png-struct", image: idx.Uint8, shape: square, label: idx.Int32},
		{files: "pyarrow-png-dictionary", image: idx.Uint8, shape: square, label: idx.Int32, value: func(row, i int) float64 { return pixel(row%7, i) }},
		{files: "pyarrow-bool*", image: idx.Uint8, shape: flat, label: idx.Int32, value: odd},
		{files: "pyarrow-int8", image: idx.Int8, shape: flat, label: idx.Int8, value: func(row, i int) float64 { return pixel(row, i) - 128 }},
		{files: "pyarrow-int16", image: idx.Int16, shape: flat, label: idx.Int16},
		{files: "pyarrow-int32", image: idx.Int32, shape: flat, label: idx.Int32},
		{files: "pyarrow-*int64", image: idx.Int32, shape: flat, label: idx.Int32, note: "int64 becomes int32"},
		{files: "pyarrow-uint16", image: idx.Int32, shape: flat, label: idx.Int32, note: "uint16 becomes int32"},
		{files: "pyarrow-uint32", image: idx.Int32, shape: flat, label: idx.Int32, note: "uint32 becomes int32"},
		{files: "pyarrow-float16", image: idx.Float32, shape: flat, label: idx.Float32, note: "float16 becomes float32"},
		{files: "pyarrow-float32", image: idx.Float32, shape: flat, label: idx.Float32},
		{files: "pyarrow-float64", image: idx.Float64, shape: flat, label: idx.Float64},
		{files: "pyarrow-plain", image: idx.Uint8, shape: flat, label: idx.Int32},
		{files: "pyarrow-delta", image: idx.Uint8, shape: flat, label: idx.Int32},
		{files: "pyarrow-split-fixed", image: idx.Uint8, shape: flat, label: idx.Int32, open: source.ReadOptions{Shape: flat}},
		{files: "pyarrow-split", image: idx.Float32, shape: flat, label: idx.Int32},
		{files: "pyarrow-constant", image: idx.Uint8, shape: flat, label: idx.Int32, value: func(int, int) float64 { return 7 }},
		{files: "pyarrow-columns", image: idx.Uint8, shape: flat, label: idx.Uint8, note: "12 columns pixel0…pixel11"},
		{files: "pyarrow-columns-as-text", image: idx.Uint8, shape: flat, label: idx.Uint8, note: "12 columns pixel0…pixel11"},
		{files: "pyarrow-columns-backwards", image: idx.Uint8, shape: flat, label: idx.Uint8, note: "12 columns pixel0…pixel11"},
		{files: "pyarrow-columns-by-column", image: idx.Uint8, shape: square, label: idx.Uint8},
		{files: "pyarrow-columns-mixed", image: idx.Int32, shape: flat, label: idx.Int32, note: "column image: integers of several types become int32"},
		{files: "pyarrow-columns-mixed", image: idx.Uint8, shape: flat, label: idx.Uint8, open: source.ReadOptions{DType: idx.Uint8}},
		{files: "polars-float-*", image: idx.Float64, shape: flat, label: idx.Uint8},
		{files: "polars-array2-*", image: idx.Uint8, shape: square, label: idx.Uint8},
		{files: "polars-array-*", image: idx.Uint8, shape: flat, label: idx.Uint8},
		{files: "polars-list-*", image: idx.Uint8, shape: flat, label: idx.Uint8},
		{files: "duckdb-float-*", image: idx.Float32, shape: flat, label: idx.Uint8},
		{files: "duckdb-bigint-*", image: idx.Int32, shape: flat, label: idx.Uint8},
		{files: "duckdb-nested-*", image: idx.Uint8, shape: square, label: idx.Uint8},
		{files: "duckdb-[alg]*", image: idx.Uint8, shape: flat, label: idx.Uint8},
		{files: "pandas-index", image: idx.Int32, shape: flat, label: idx.Int32, note: "column __index_level_0__ is not read"},
		{files: "spark-list", image: idx.Int16, shape: flat, label: idx.Int8},
		{files: "spark-nested", image: idx.Int16, shape: square, label: idx.Int8},
		{files: "spark-binary", image: idx.Uint8, shape: flat, label: idx.Int8, open: source.ReadOptions{Shape: flat}},
		{files: "datasets-image", image: idx.Uint8, shape: square, label: idx.Int32},
		{files: "datasets-array2d", image: idx.Uint8, shape: square, label: idx.Int32},
	}
	for _, codec := range []string{"none", "snappy", "gzip", "zstd", "lz4"} {
		all = append(all, foreign{files: "pyarrow-" + codec + "-v*", image: idx.Uint8, shape: flat, label: idx.Int32})
	}
	return all
}

// TestForeign reads files of pyarrow, polars, DuckDB, pandas, datasets and Spark.
func TestForeign(t *testing.T) {
	t.Parallel()
	met := map[string]bool{}
	for _, f := range foreigns() {
		paths, err := filepath.Glob(filepath.Join("testdata", f.files+".parquet"))
		if err != nil || len(paths) == 0 {
			t.Errorf("no file %s", f.files)
		}
		for _, path := range paths {
			if strings.Contains(path, "-float") && f.image != idx.Float32 && f.image != idx.Float64 || strings.Contains(path, "nested-fixed") && len(f.shape) == 1 {
				continue // another row's
			}
			if (strings.Contains(path, "split-int64") || strings.Contains(path, "delta-int64")) && f.files != "pyarrow-*int64" {
				continue
			}
			met[path] = true
			t.Run(fmt.Sprint(filepath.Base(path), f.open), func(t *testing.T) {
				t.Parallel()
				checkForeign(t, path, f)
			})
		}
	}
	every, _ := filepath.Glob("testdata/*.parquet")
	for _, path := range every {
		if !met[path] && !strings.HasPrefix(filepath.Base(path), "bad-") && !strings.Contains(path, "delta-") && filepath.Base(path) != "pyarrow-uint64.parquet" {
			t.Errorf("%s was read by no test", path)
		}
	}
}

func checkForeign(t *testing.T, path string, f foreign) {
	if f.value == nil {
		f.value = pixel
	}
	image := source.Column{Name: "image", DType: f.image, Shape: f.shape}
	columns := []source.Column{image, {Name: "label", DType: f.label}}
	labels := func(row, _ int) float64 { return float64(row % 10) }
	data := [][]byte{encode(f.image, 12, f.value), encode(f.label, 1, labels)}
	if strings.Contains(path, "columns") {
		columns[0], columns[1], data[0], data[1] = columns[1], columns[0], data[1], data[0]
	}
	for _, rows := range []int{1, 7, 64, 1000} {
		got := must.Get(Open(path, f.open))(t)
		sourcetest.Expect(t, got, rows, columns, data)
		if notes := strings.Join(source.About(got).Notes, "\n"); f.note != "" && !strings.Contains(notes, f.note) {
			t.Errorf("found the notes %q, expected one with %q", notes, f.note)
		}
		if classes := got.Columns()[1].Classes; strings.Contains(path, "datasets-image") != (len(classes) == 10 && classes[9] == "class 9") {
			t.Errorf("found the classes %q", classes)
		}
		must.Do(t, got.Close())
	}
}

// TestRefused reads files that are not tables of IDX columns.
func TestRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		file, message string
		kind          error
	}{
		{"bad-null-element", "column image, row 70", fault.Unsupported},
		{"bad-null-list", "column image, row 70", fault.Unsupported},
		{"bad-empty-list", "row 70", fault.Unsupported},
		{"bad-short-list", "row 70, at byte 3095: found another number of values, expected the shape 12 as in the first row", fault.Unsupported},
		{"bad-long-list", "row 70", fault.Unsupported},
		{"bad-last-list-long", "row 149", fault.Unsupported},
		{"bad-last-list-short", "row 149", fault.Unsupported},
		{"bad-ragged-nested", "row 70", fault.Unsupported},
		{"bad-null-label", "column label, row 70", fault.Unsupported},
		{"bad-large-label", "column label, row 70, at byte", fault.Malformed},
		{"bad-text", "column label: found names, whose numbers are not known: ", fault.Usage},
		{"bad-date", "column label: found values of the type DATE", fault.Unsupported},
		{"bad-struct", "column image: found a struct of [\"a\" \"b\"]", fault.Unsupported},
		{"bad-spark-images", `found a struct of ["origin" "height" "width" "nChannels" "mode" "data"]`, fault.Unsupported},
		{"bad-png-size", "row 70", fault.Malformed},
		{"bad-no-rows", "no rows", columnar.ErrNoRows},
		{"bad-two-short-lists", "row 70, at byte 3095: found another number of values, expected the shape 12 as in the first row", fault.Unsupported},
		{"bad-permuted", "column image: found tensors whose dimensions are permuted: [1 0]", fault.Unsupported},
		{"bad-brotli", "found the compression BROTLI, expected zstd", fault.Unsupported},
		{"bad-blob", "column image, row 70, at byte ", fault.Unsupported},
		{"bad-many-empty-lists", "column image: found 1048577 records without elements", fault.Malformed},
		{"bad-columns-gap", "found 11 columns pixel0…pixel11 without pixel5, expected all elements of a record", fault.Unsupported},
		{"pyarrow-delta-length", "the encoding DELTA_LENGTH_BYTE_ARRAY, which is not supported for BYTE_ARRAY", fault.Unsupported},
		{"pyarrow-delta-bytes", "the encoding DELTA_BYTE_ARRAY, which is not supported for BYTE_ARRAY", fault.Unsupported},
		{"pyarrow-delta-fixed", "the encoding DELTA_BYTE_ARRAY, which is not supported for FIXED_LEN", fault.Unsupported},
		{"bad-encrypted-column", "columns of the file are encrypted", fault.Unsupported},
		{"pyarrow-binary", "column image: found values of 12 bytes without a type", fault.Unsupported},
		{"pyarrow-fixed-binary", "column image: found values of 12 bytes without a type", fault.Unsupported},
	}
	for _, test := range tests {
		t.Run(test.file, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join("testdata", test.file+".parquet")
			o := source.ReadOptions{}
			if test.file == "bad-blob" || test.file == "pyarrow-delta-fixed" {
				o.Shape = []int{12}
			}
			for _, rows := range []int{1, 10, 64, 1000} {
				got, err := Open(path, o)
				if err == nil {
					_, err = sourcetest.ReadAll(got, rows)
					got.Close()
				}
				if err == nil {
					t.Fatal("found no error")
				}
				if !strings.HasPrefix(err.Error(), path+": ") || !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.message) {
					t.Errorf("%d rows: found the error %q, expected one with %q", rows, err, test.message)
				}
			}
		})
	}
}
