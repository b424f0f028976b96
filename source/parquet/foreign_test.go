package parquet

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sourcetest"
)

// foreignRows is the number of rows of the files in testdata.
const foreignRows = 150

// pixel returns element i of an image of the files in testdata (see make.py).
func pixel(row, i int) float64 { return float64((31*row + 7*i + row*i) % 256) }

// encode returns n values of each row as a column of type d.
func encode(d idx.DType, n int, value func(row, i int) float64) (data []byte) {
	for row := range foreignRows {
		for i := range n {
			element, v := make([]byte, d.Size()), value(row, i)
			if source.Put(element, d, int64(v)); d.Float() {
				source.Put(element, d, v)
			}
			data = append(data, element...)
		}
	}
	return data
}

// A foreign describes files in testdata.
type foreign struct {
	files string    // patterns
	image idx.DType // 0: uint8
	shape []int     // nil: 12 elements
	label idx.DType // 0: int32
	note  string    // part of a note
	value func(row, i int) float64
	open  source.ReadOptions
}

var (
	flat, square  = []int{12}, []int{3, 4}
	asUint8       = source.ReadOptions{DType: idx.Uint8}
	asFlat        = source.ReadOptions{DType: idx.Uint8, Shape: flat}
	asUint8Square = source.ReadOptions{DType: idx.Uint8, Shape: square}
	asInt16Square = source.ReadOptions{DType: idx.Int16, Shape: square}
)

var foreigns = []foreign{
	{files: "pyarrow-list", note: "column label: int64 becomes int32"},
	{files: "pyarrow-large-list pyarrow-fixed-size-list* pyarrow-plain pyarrow-delta pyarrow-*-v1 pyarrow-*-v2"},
	{files: "pyarrow-list-int64", label: idx.Uint8, open: asUint8},
	{files: "pyarrow-nested-list pyarrow-nested-fixed pyarrow-tensor pyarrow-png pyarrow-png-struct", shape: square},
	{files: "pyarrow-deep", shape: []int{3, 2, 2}},
	{files: "pyarrow-binary pyarrow-fixed-binary pyarrow-split-fixed", label: idx.Uint8, open: asFlat},
	{files: "pyarrow-fixed-binary", shape: square, label: idx.Uint8, open: asUint8Square},
	{files: "pyarrow-fixed-binary-metadata", shape: square},
	{files: "pyarrow-fixed-binary-int16", image: idx.Int16, shape: square, label: idx.Int16, open: asInt16Square},
	{files: "pyarrow-png-dictionary", shape: square, value: func(row, i int) float64 { return pixel(row%7, i) }},
	{files: "pyarrow-bool*", value: func(row, i int) float64 { return math.Mod(pixel(row, i), 2) }},
	{files: "pyarrow-int8", image: idx.Int8, label: idx.Int8,
		value: func(row, i int) float64 { return pixel(row, i) - 128 }},
	{files: "pyarrow-int16", image: idx.Int16, label: idx.Int16},
	{files: "pyarrow-int32 pyarrow-int64 pyarrow-uint* pyarrow-*-int64", image: idx.Int32},
	{files: "pyarrow-float16 pyarrow-float32", image: idx.Float32, label: idx.Float32},
	{files: "pyarrow-float64", image: idx.Float64, label: idx.Float64},
	{files: "pyarrow-split", image: idx.Float32},
	{files: "pyarrow-constant", value: func(int, int) float64 { return 7 }},
	{files: "pyarrow-columns", label: idx.Uint8, note: "pixel0…pixel11"},
	{files: "pyarrow-columns-mixed pyarrow-columns-int64", label: idx.Uint8, open: asUint8},
	{files: "polars-float-*", image: idx.Float64, label: idx.Uint8},
	{files: "polars-array2-* duckdb-nested-*", shape: square, label: idx.Uint8},
	{files: "polars-array-* polars-list-* duckdb-array-* duckdb-list-* duckdb-gzip duckdb-lz4", label: idx.Uint8},
	{files: "duckdb-float-*", image: idx.Float32, label: idx.Uint8},
	{files: "duckdb-bigint-*", image: idx.Int32, label: idx.Uint8},
	{files: "pandas-index", image: idx.Int32, note: "column __index_level_0__ is not read"},
	{files: "spark-list", image: idx.Int16, label: idx.Int8},
	{files: "spark-nested", image: idx.Int16, shape: square, label: idx.Int8},
	{files: "spark-binary", label: idx.Int8, open: asFlat},
	{files: "datasets-*", shape: square},
}

// TestForeign reads files of pyarrow, polars, DuckDB, pandas, datasets and Spark.
func TestForeign(t *testing.T) {
	t.Parallel()
	read := map[string]bool{}
	for _, f := range foreigns {
		for _, pattern := range strings.Fields(f.files) {
			for _, path := range must.Get(filepath.Glob("testdata/" + pattern + ".parquet"))(t) {
				read[filepath.Base(path)] = true
				t.Run(fmt.Sprint(filepath.Base(path), f.open), func(t *testing.T) {
					t.Parallel()
					checkForeign(t, path, f)
				})
			}
		}
	}
	if len(read) != 78 {
		t.Errorf("found %d files, expected all but those refused", len(read))
	}
	empty := must.Get(Open("testdata/no-rows-fixed-size-list.parquet", source.ReadOptions{}))(t)
	if err := empty.Close(); err != nil || empty.Columns()[0].Elements() != 12 {
		t.Errorf("found the columns %v, expected the lists of 12 in the Arrow schema; %v", empty.Columns(), err)
	}
}

func checkForeign(t *testing.T, path string, f foreign) {
	if f.value == nil {
		f.value = pixel
	}
	if f.shape == nil {
		f.shape = flat
	}
	image := source.Column{Name: "image", DType: max(f.image, idx.Uint8), Shape: f.shape}
	label := source.Column{Name: "label", DType: cmp.Or(f.label, idx.Int32)}
	columns := []source.Column{image, label}
	labels := func(row, _ int) float64 { return float64(row % 10) }
	data := [][]byte{encode(image.DType, 12, f.value), encode(label.DType, 1, labels)}
	if strings.Contains(path, "columns") {
		columns[0], columns[1], data[0], data[1] = columns[1], columns[0], data[1], data[0]
	}
	// Most files have row groups of 64 rows.
	for _, c := range []struct{ rows, skip int }{{1, 0}, {7, 0}, {64, 63}, {10, 64}, {1000, 129}, {1000, 150}} {
		got := must.Get(Open(path, f.open))(t)
		must.Do(t, source.Skip(got, int64(c.skip)))
		var rest [][]byte
		for i, column := range columns {
			rest = append(rest, data[i][c.skip*column.RecordSize():])
		}
		sourcetest.Expect(t, got, c.rows, columns, rest)
		if notes := strings.Join(source.About(got).Notes, "\n"); !strings.Contains(notes, f.note) {
			t.Errorf("found the notes %q, expected one with %q", notes, f.note)
		}
		classes := got.Columns()[1].Classes
		if strings.Contains(path, "datasets-image") != (len(classes) == 10 && classes[9] == "class 9") {
			t.Errorf("found the classes %q", classes)
		}
		must.Do(t, got.Close())
	}
}

// refused are the names of files that are not tables of IDX columns, and parts of their errors.
var refused = []string{
	"bad-null-element column image, row 70, at byte 3095: found a null",
	"bad-null-list column image, row 70, at byte 3087: found a null",
	"bad-null-lists column image, row 0: found a null",
	"bad-empty-list column image, row 70, at byte 3087: found another number of values",
	"bad-short-list row 70, at byte 3095: found another number of values, expected the shape 12 as in the first row",
	"bad-long-list row 70", "bad-last-list-long row 149", "bad-last-list-short row 149",
	"bad-two-short-lists row 70, at byte 3095: found another number of values, expected the shape 12",
	"bad-ragged-nested row 70", "bad-png-size row 70", "bad-no-rows no rows",
	"bad-ragged-first column image, row 0: found lists of different lengths in one row",
	"bad-null-label column label, row 70, at byte 5044: found a null",
	"bad-large-label column label, row 70, at byte",
	"bad-text column label: found names, whose numbers are not known: ",
	"bad-date column label: found values of the type DATE", "bad-duration column label: found the type duration",
	`bad-struct column image: found structs, expected `, `bad-list-of-structs column image: found structs, expected `,
	`bad-spark-images column image: found structs, expected `,
	"bad-permuted column image: found tensors with the metadata",
	"bad-brotli found the compression BROTLI, expected zstd", "bad-blob column image, row 70, at byte ",
	"bad-many-empty-lists column image: found 1048577 records without elements",
	"bad-columns-gap found column pixel6 where pixel5 is expected",
	"bad-columns-as-text found column pixel10 where pixel2 is expected",
	"bad-columns-backwards found column pixel11 where pixel0 is expected",
	"bad-columns-by-column found column 1x0 where 0x1 is expected",
	"bad-encrypted-column columns of the file are encrypted",
	"pyarrow-binary column image: found values of 12 bytes without a type",
	"pyarrow-fixed-binary column image: found values of 12 bytes without a type",
	"pyarrow-delta-length the encoding DELTA_LENGTH_BYTE_ARRAY, which is not supported for BYTE_ARRAY",
	"pyarrow-delta-bytes the encoding DELTA_BYTE_ARRAY, which is not supported for BYTE_ARRAY",
	"pyarrow-delta-fixed the encoding DELTA_BYTE_ARRAY, which is not supported for FIXED_LEN_BYTE_ARRAY",
}

func TestRefused(t *testing.T) {
	t.Parallel()
	options := map[string]source.ReadOptions{"bad-blob": asFlat, "pyarrow-delta-fixed": asFlat}
	for _, test := range refused {
		name, message, _ := strings.Cut(test, " ")
		path := "testdata/" + name + ".parquet"
		for _, rows := range []int{1, 10, 64, 1000} {
			got, err := Open(path, options[name])
			if err == nil {
				_, err = sourcetest.ReadAll(got, rows)
				got.Close()
			}
			if text := fmt.Sprint(err); !strings.HasPrefix(text, path+": ") || !strings.Contains(text, message) ||
				fault.KindOf(err) == fault.Internal {
				t.Errorf("%d rows: found the error %q, expected one with %q", rows, err, message)
			}
		}
	}
}
