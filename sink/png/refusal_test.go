package png_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink/png"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

func TestRefusedTables(t *testing.T) {
	t.Parallel()
	square := images(idx.Uint8, 28, 28)
	for name, tt := range map[string]struct {
		s       *schema.Schema
		o       png.Options
		want    error
		message string // a part of it
		hint    string // a part of it
	}{
		"rows unknown": {&schema.Schema{Columns: []source.Column{square}, Rows: -1, Source: -1}, png.Options{}, fault.Usage, "digits", "Parquet"},
		"float":        {describe(1, images(idx.Float32, 28, 28)), png.Options{}, fault.Usage, "float32", "Parquet, Arrow or CSV"},
		"int":          {describe(1, images(idx.Int32, 28, 28)), png.Options{}, fault.Usage, "int32", "Parquet"},
		"signed byte":  {describe(1, images(idx.Int8, 28, 28)), png.Options{}, fault.Usage, "int8", "Parquet"},
		"16-bit RGB":   {describe(1, images(idx.Int16, 28, 28, 3)), png.Options{}, fault.Usage, "3 channels", "Parquet"},
		"square vector": {describe(1, source.Column{Name: "data", DType: idx.Uint8, Shape: []int{784}}), png.Options{}, fault.Usage,
			"784 elements", "--reshape -1x28x28"},
		"vector": {describe(1, source.Column{Name: "data", DType: idx.Uint8, Shape: []int{785}}), png.Options{}, fault.Usage,
			"785 elements", "Parquet"},
		"empty vector":   {describe(1, source.Column{Name: "data", DType: idx.Uint8, Shape: []int{0}}), png.Options{}, fault.Usage, "0 elements", "Parquet"},
		"only labels":    {describe(1, labels(idx.Uint8)), png.Options{}, fault.Usage, "no column has images", "name a file of images"},
		"two images":     {describe(1, square, source.Column{Name: "mask", DType: idx.Uint8, Shape: []int{28, 28}}), png.Options{}, fault.Usage, `"image", "mask"`, "one of them"},
		"no pixels":      {describe(1, images(idx.Uint8, 0, 28)), png.Options{}, fault.Usage, "0×28", "Parquet or Arrow"},
		"no channels":    {describe(1, images(idx.Uint8, 28, 28, 0)), png.Options{}, fault.Usage, "28×28×0", "Parquet or Arrow"},
		"two channels":   {describe(1, images(idx.Uint8, 28, 28, 2)), png.Options{}, fault.Usage, "2 channels", "Parquet"},
		"channels first": {describe(1, images(idx.Uint8, 3, 28, 30)), png.Options{}, fault.Usage, "30 channels", "--channels first"},
		"channels last":  {describe(1, images(idx.Uint8, 28, 30, 4)), png.Options{Channels: "first"}, fault.Usage, "28 channels", "--channels last"},
		"rank 5":         {describe(1, images(idx.Uint8, 2, 28, 28, 3)), png.Options{}, fault.Usage, "4 dimensions", "Parquet"},
		"huge":           {describe(1, images(idx.Uint8, 1<<20, 1<<20)), png.Options{}, fault.Usage, "1048576×1048576", "Parquet"},
		"channel order":  {describe(1, square), png.Options{Channels: "middle"}, fault.Usage, `"middle"`, ""},
		"folders":        {describe(1, square), png.Options{ClassFolders: "colors"}, fault.Usage, `"colors"`, ""},
		"names without labels": {describe(1, square), png.Options{ClassFolders: "names"}, fault.Usage,
			"no column has labels", "labels"},
		"names without classes": {describe(1, square, labels(idx.Uint8)), png.Options{ClassFolders: "names"}, fault.Usage,
			"no names", "--classes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder, _ := newFolder(t)
			_, err := png.New(folder, tt.s, tt.o)
			checkError(t, err, tt.want, tt.message, tt.hint)
		})
	}
}

// TestRefusedValues: what only the rows can tell is found while encoding, and the row is named.
func TestRefusedValues(t *testing.T) {
	t.Parallel()
	pixel := images(idx.Uint8, 1, 1)
	for name, tt := range map[string]struct {
		s       *schema.Schema
		o       png.Options
		data    [][]byte
		want    error
		message string
	}{
		"negative pixel": {describe(20, images(idx.Int16, 1, 2)), png.Options{}, [][]byte{little[int16](0, 32767, 1, -5)}, fault.Unsupported, `column image, row 11: png: found the value -5`},
		"least pixel":    {describe(20, images(idx.Int16, 1, 2)), png.Options{}, [][]byte{little[int16](-32768, 0)}, fault.Unsupported, "row 10: png: found the value -32768"},
		"negative label": {describe(20, pixel, labels(idx.Int8)), png.Options{}, [][]byte{{1, 1}, {0, 0xFF}}, fault.Unsupported, `column label, row 11: png: found the label -1`},
		"largest label":  {describe(20, pixel, labels(idx.Uint8)), png.Options{MaxLabel: 9}, [][]byte{{1}, {10}}, fault.Unsupported, "row 10: png: found the label 10"},
		"class without a name": {describe(20, pixel, labels(idx.Uint8, "", "a", "b")), png.Options{ClassFolders: "names"}, [][]byte{{1, 1}, {1, 0}},
			fault.Malformed, "row 11: label 0 has no name, of 2"},
		"no such class": {describe(20, pixel, labels(idx.Int8, "a", "b")), png.Options{ClassFolders: "names"}, [][]byte{{1}, {0xFE}},
			fault.Malformed, "row 10: label -2 has no name, of 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder, _ := newFolder(t)
			checkError(t, write(folder, tt.s, tt.o, 10, tt.data...), tt.want, tt.message, "")
		})
	}
}

func checkError(t *testing.T, err, want error, message, hint string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("found the error %v, expected %q", err, want)
	}
	if !strings.Contains(err.Error(), message) {
		t.Errorf("found the error %q, expected %q in it", err, message)
	}
	if found := fault.HintOf(err); !strings.Contains(found, hint) {
		t.Errorf("found the hint %q, expected %q in it", found, hint)
	}
}
