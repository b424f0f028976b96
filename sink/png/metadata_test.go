package png_test

import (
	"encoding/csv"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	"github.com/idxport/idxport/sink/png"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sinktest"
)

func TestMetadataCSV(t *testing.T) {
	t.Parallel()
	pixel := images(idx.Uint8, 1, 1)
	scalar := func(name string, d idx.DType) source.Column { return source.Column{Name: name, DType: d} }
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	fashion := labels(idx.Uint8, "T-shirt/top", `5" heel, red`, "=1+1", " x", "two\nlines")
	writer := scalar("writer", idx.Int32)
	writer.Classes = []string{"Ada"} // only those of the label are a column
	wide := describe(1, writer, pixel, labels(idx.Int16), scalar(`a,"b"`, idx.Int8))
	for name, tt := range map[string]struct {
		s     *schema.Schema
		most  int64 // MaxLabel
		first int64
		data  [][]byte
		want  string
	}{
		"labels": {describe(11, pixel, labels(idx.Uint8)), 26, 8, [][]byte{sequence(3), {26, 0, 3}},
			"file_name,label\n26/08.png,26\n00/09.png,0\n03/10.png,3\n"},
		"no rows":   {describe(0, pixel, labels(idx.Uint8)), 0, 0, [][]byte{nil, nil}, "file_name,label\n"},
		"no labels": {describe(2, pixel), 0, 0, [][]byte{sequence(2)}, "file_name\n0.png\n1.png\n"},
		"class names": {describe(5, pixel, fashion), 0, 0, [][]byte{sequence(5), {4, 3, 2, 1, 0}},
			"file_name,label,class\n4/0.png,4,\"two\nlines\"\n3/1.png,3,\" x\"\n2/2.png,2,=1+1\n" +
				"1/3.png,1,\"5\"\" heel, red\"\n0/4.png,0,T-shirt/top\n"},
		"classes 1 and 2": {describe(3, pixel, labels(idx.Uint8, "", "a", "b")), 0, 0, [][]byte{sequence(3), {2, 0, 3}},
			"file_name,label,class\n2/0.png,2,b\n0/1.png,0,\n3/2.png,3,\n"},
		"other scalars": {wide, 300, 0,
			[][]byte{sinktest.Little[int32](-2147483648), sequence(1), sinktest.Little[int16](300), {0xff}},
			"file_name,label,writer,\"a,\"\"b\"\"\"\n300/0.png,300,-2147483648,-1\n"},
		"label first, of another name": {describe(1, scalar("y", idx.Uint8), pixel), 9, 0, [][]byte{{7}, sequence(1)},
			"file_name,y\n7/0.png,7\n"},
		"scalars without a label": {describe(1, pixel, scalar("a", idx.Uint8), scalar("b", idx.Uint8)), 0, 0,
			[][]byte{sequence(1), {7}, {8}}, "file_name,a,b\n0.png,7,8\n"},
		"floats": {describe(7, pixel, scalar("f", idx.Float32)), 0, 0,
			[][]byte{sequence(7), sinktest.Little(0.1, 1, float32(math.Copysign(0, -1)), nan, inf, -inf, 1e30)},
			"file_name,f\n0.png,0.1\n1.png,1.0\n2.png,-0.0\n3.png,NaN\n4.png,inf\n5.png,-inf\n6.png,1e+30\n"},
	} {
		files := convert(t, tt.s, sink.Options{Layout: "huggingface", MaxLabel: tt.most}, tt.first, tt.data...)
		found := string(files["metadata.csv"])
		if found != tt.want {
			t.Errorf("%s: found\n%s\nexpected\n%s", name, found, tt.want)
		}
		for _, record := range must.Get(csv.NewReader(strings.NewReader(found)).ReadAll())(t)[1:] {
			if files[record[0]] == nil {
				t.Errorf("%s: metadata.csv names %s, found the files %s", name, record[0], names(files))
			}
		}
	}
}

// TestMetadataNames checks that a column whose name is taken is refused.
func TestMetadataNames(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		column  string
		classes []string
		refused bool
	}{
		"file_name":           {"file_name", nil, true},
		"File_Name":           {"File_Name", nil, true},
		"image":               {"image", nil, true},
		"class with names":    {"class", []string{"a"}, true},
		"class without names": {"class", nil, true}, // it would be read as names
		"an unused name":      {"files", []string{"a"}, false},
	} {
		folder, _ := newFolder(t)
		s := describe(1, source.Column{Name: "picture", DType: idx.Uint8, Shape: []int{1, 1}},
			labels(idx.Uint8, tt.classes...), source.Column{Name: tt.column, DType: idx.Int32})
		if _, err := png.New(folder, s, sink.Options{Layout: "huggingface"}); tt.refused {
			checkError(t, name, err, fault.Usage, tt.column, "another name")
		} else {
			must.Do(t, err)
		}
	}
}

func TestRefusedTables(t *testing.T) {
	t.Parallel()
	square := images(idx.Uint8, 28, 28)
	column := func(name string, d idx.DType, shape ...int) source.Column {
		return source.Column{Name: name, DType: d, Shape: shape}
	}
	type columns = []source.Column
	for name, tt := range map[string]struct {
		columns columns
		layout  string
		message string // a part of it
		hint    string // a part of it
	}{
		"float":         {columns{images(idx.Float32, 28, 28)}, "", "float32", "Parquet, Arrow, CSV or npy"},
		"int":           {columns{images(idx.Int32, 28, 28)}, "", "int32", "--dtype uint8"},
		"signed byte":   {columns{images(idx.Int8, 28, 28)}, "", "int8", "Parquet"},
		"16-bit RGB":    {columns{images(idx.Int16, 28, 28, 3)}, "", "3 channels", "Parquet"},
		"square vector": {columns{column("data", idx.Uint8, 784)}, "", "784 elements", "--shape 28x28"},
		"vector":        {columns{column("data", idx.Uint8, 785)}, "", "785 elements", "Parquet"},
		"empty vector":  {columns{column("data", idx.Uint8, 0)}, "", "0 elements", "Parquet"},
		"only labels":   {columns{labels(idx.Uint8)}, "", "no column has images", "add a file of images"},
		"two images":    {columns{square, column("mask", idx.Uint8, 28, 28)}, "", `"image", "mask"`, "one of them"},
		"no pixels":     {columns{images(idx.Uint8, 0, 28)}, "", "0×28", "Parquet or Arrow"},
		"no channels":   {columns{images(idx.Uint8, 28, 28, 0)}, "", "28×28×0", "Parquet or Arrow"},
		"two channels":  {columns{images(idx.Uint8, 28, 28, 2)}, "", "28×28×2, expected H×W, or H×W×C", "Parquet"},
		"rank 5":        {columns{images(idx.Uint8, 2, 28, 28, 3)}, "", "2×28×28×3, expected", "Parquet"},
		"huge":          {columns{images(idx.Uint8, 1<<20, 1<<20)}, "", "1048576×1048576", "Parquet"},
		"layout":        {columns{square}, "colors", `"colors"`, ""},
		"a label of several numbers": {columns{square, column("label", idx.Int32, 8)}, "",
			`not the columns "label"`, "labels.argmax(1)"},
		"a vector beside metadata": {columns{square, labels(idx.Uint8), column("v", idx.Uint8, 2)}, "huggingface",
			`the images and scalars, not the columns "v"`, "choose the columns with --columns"},
		"other scalars": {columns{square, labels(idx.Uint8), column("writer", idx.Int32)}, "",
			`the images and one label, not the columns "writer"`,
			"write other numbers beside the images with --layout huggingface"},
		"two integers, none the label": {columns{square, column("x", idx.Uint8), column("y", idx.Uint8)}, "",
			`not the columns "x", "y"`, "the label with --label-column"},
		"a float as label": {columns{square, labels(idx.Float32)}, "", `not the columns "label"`,
			"labels.argmax(1)"},
		"names without labels":  {columns{square}, "names", "no column has labels", "--label-column"},
		"names without classes": {columns{square, labels(idx.Uint8)}, "names", "no names", "--classes"},
	} {
		folder, _ := newFolder(t)
		_, err := png.New(folder, describe(1, tt.columns...), sink.Options{Layout: tt.layout})
		checkError(t, name, err, fault.Usage, tt.message, tt.hint)
	}
	folder, _ := newFolder(t)
	_, err := png.New(folder, describe(-1, square), sink.Options{})
	checkError(t, "rows unknown", err, fault.Usage, "file names", "Parquet")
}

// TestRefusedValues checks the errors that are found while encoding; they name the row.
func TestRefusedValues(t *testing.T) {
	t.Parallel()
	pixel, wide := images(idx.Uint8, 1, 1), images(idx.Int16, 1, 2)
	type batch = [][]byte
	names := sink.Options{Layout: "names"}
	for name, tt := range map[string]struct {
		column  source.Column // after pixel, unless it is the images
		o       sink.Options
		data    batch
		want    error
		message string
	}{
		"negative pixel": {wide, sink.Options{}, batch{sinktest.Little[int16](0, 32767, 1, -5)},
			fault.Unsupported, `column image, row 11: png: found the value -5`},
		"least pixel": {wide, sink.Options{}, batch{sinktest.Little[int16](-32768, 0)},
			fault.Unsupported, "row 10: png: found the value -32768"},
		"negative label": {labels(idx.Int8), sink.Options{}, batch{{1, 1}, {0, 0xFF}},
			fault.Unsupported, `column label, row 11: png: found the label -1`},
		"largest label": {labels(idx.Uint8), sink.Options{MaxLabel: 9}, batch{{1}, {10}},
			fault.Unsupported, "row 10: png: found the label 10"},
		"class without a name": {labels(idx.Uint8, "", "a", "b"), names, batch{{1, 1}, {1, 0}},
			fault.Malformed, "row 11: label 0 has no class name (2"},
		"no such class": {labels(idx.Int8, "a", "b"), names, batch{{1}, {0xFE}},
			fault.Malformed, "row 10: label -2 has no class name (2"},
		"one class too few": {labels(idx.Uint8, "a", "b"), names, batch{{1}, {2}},
			fault.Malformed, "row 10: label 2 has no class name (2"},
	} {
		folder, _ := newFolder(t)
		s := describe(20, pixel, tt.column)
		if len(tt.data) == 1 {
			s = describe(20, tt.column)
		}
		checkError(t, name, write(folder, s, tt.o, 10, tt.data...), tt.want, tt.message, "")
	}
}

func checkError(t *testing.T, name string, err, want error, message, hint string) {
	t.Helper()
	if !errors.Is(err, want) || !strings.Contains(err.Error(), message) || !strings.Contains(fault.HintOf(err), hint) {
		t.Errorf("%s: found the error %v and the hint %q, expected %v, with %q and %q in them", name, err,
			fault.HintOf(err), want, message, hint)
	}
}
