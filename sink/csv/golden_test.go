package csv

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// The golden files are made by testdata/golden.py, from the same numbers.
func TestGoldenFiles(t *testing.T) {
	t.Parallel()
	labels, pixels := make([]byte, 5), make([]byte, 30)
	for r := range labels {
		labels[r] = byte(r * 3 % 10)
	}
	for i := range pixels {
		if i%4 != 0 {
			pixels[i] = byte(i * 41 % 256)
		}
	}
	image, label := column("image", idx.Uint8, 2, 3), column("label", idx.Uint8)
	both := &schema.Schema{Columns: []source.Column{image, label}, Rows: 5}
	for _, test := range []struct {
		golden  string
		schema  *schema.Schema
		columns [][]byte
		options Options
	}{
		{"kaggle.csv", both, [][]byte{pixels, labels}, Options{}},
		{"kaggle1.csv", both, [][]byte{pixels, labels}, Options{Style: "kaggle1"}},
		{"rowxcol.csv", both, [][]byte{pixels, labels}, Options{Style: "rowxcol"}},
		{"rowxcol.tsv", both, [][]byte{pixels, labels}, Options{Style: "rowxcol", Comma: '\t'}},
		{"pjreddie.csv", both, [][]byte{pixels, labels}, Options{Style: "pjreddie"}},
		{"matrix-image.csv", &schema.Schema{Columns: []source.Column{image}, Rows: 5}, [][]byte{pixels}, Options{Style: "matrix"}},
		{"matrix-label.csv", &schema.Schema{Columns: []source.Column{label}, Rows: 5}, [][]byte{labels}, Options{Style: "matrix"}},
		{"types.csv", typesSchema(), typesColumns(t), Options{}},
	} {
		t.Run(test.golden, func(t *testing.T) {
			t.Parallel()
			want, err := os.ReadFile(filepath.Join("testdata", test.golden))
			if err != nil {
				t.Fatal(err)
			}
			for _, batchRows := range []int{1, 2, 5} {
				if got := convert(t, test.schema, test.columns, test.options, batchRows, 1); got != string(want) {
					t.Errorf("batches of %d rows: got\n%s\nwant\n%s", batchRows, got, want)
				}
			}
		})
	}
}

// typesSchema describes the table of types.csv: scalars among the tensors, and names that must be quoted.
func typesSchema() *schema.Schema {
	return &schema.Schema{Rows: 3, Columns: []source.Column{
		column("i8", idx.Int8), column("a", idx.Float32, 2), column(`a "quoted" name`, idx.Int16), column("b", idx.Int32, 2, 1),
		column("i32, wide", idx.Int32), column("=f32", idx.Float32), column("f64", idx.Float64),
	}}
}

func typesColumns(t *testing.T) [][]byte {
	t.Helper()
	return [][]byte{
		bytesOf(t, []int8{-128, 0, 127}),
		bytesOf(t, []float32{1, float32(math.Copysign(0, -1)), 1e20, 100000, 1 << 24, 1e-5}),
		bytesOf(t, []int16{-32768, -1, 32767}),
		bytesOf(t, []int32{0, 1, -2, 10000, 99999999, -123456789}),
		bytesOf(t, []int32{math.MinInt32, 70000, math.MaxInt32}),
		bytesOf(t, []float32{math.MaxFloat32, float32(math.NaN()), 0.1}),
		bytesOf(t, []float64{5e-324, math.Inf(-1), 0.1}),
	}
}
