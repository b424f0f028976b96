package csv

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sourcetest"
)

// A wanted column comes from testdata/make.py.
type wanted struct {
	name, dtype string
	shape       []int
	values      []float64
}

// UnmarshalJSON reads [name, type, shape, values].
func (w *wanted) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&w.name, &w.dtype, &w.shape, &w.values})
}

func TestFilesOfOtherPrograms(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 15 {
		t.Fatalf("found %d files, error %v", len(files), err)
	}
	for _, expected := range files {
		path := strings.TrimSuffix(expected, ".json")
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			text := must.Get(os.ReadFile(expected))(t)
			var want []wanted
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			table := must.Get(Open(path, source.ReadOptions{}))(t)
			defer table.Close()
			data := must.Get(sourcetest.ReadAll(table, 3))(t)
			if len(table.Columns()) != len(want) || table.Rows() != -1 {
				t.Fatalf("found %v of %d rows, expected %d columns", table.Columns(), table.Rows(), len(want))
			}
			for i, w := range want {
				c := table.Columns()[i]
				if c.Name != w.name || c.DType.String() != w.dtype || !slices.Equal(c.Shape, w.shape) || c.Origin != filepath.Base(path) {
					t.Errorf("found %+v, expected %s %s %v", c, w.name, w.dtype, w.shape)
				}
				if len(data[i]) != len(w.values)*c.DType.Size() {
					t.Fatalf("%s has %d bytes, expected %d values", c.Name, len(data[i]), len(w.values))
				}
				for k, v := range w.values {
					if found := schema.Float(c.DType, data[i], k); found != v {
						t.Fatalf("%s: element %d is %v, expected %v", c.Name, k, found, v)
					}
				}
			}
		})
	}
}

// counted returns prefix and the line 0,1,2,… of n fields, which pandas writes for columns without
// names.
func counted(prefix string, n int) string {
	fields := make([]string, n)
	for i := range fields {
		fields[i] = fmt.Sprint(i)
	}
	return prefix + strings.Join(fields, ",") + "\n"
}

// Ambiguous files: each of them was once read with missing rows, extra rows, or wrong values.
func TestFilesThatMislead(t *testing.T) {
	t.Parallel()
	row := "7" + strings.Repeat(",3", 784) + "\n"
	for _, c := range []struct {
		about, text string
		o           source.ReadOptions
		want        string
		first       string // the data of the first column
	}{
		{"the header that pandas writes for columns without names", counted("", 785) + row, source.ReadOptions{}, "label:uint8[] image:uint8[28 28]", "\x07"},
		{"the same after row numbers", counted(",", 785) + "0," + row, source.ReadOptions{}, "label:uint8[] image:uint8[28 28]", "\x07"},
		{"row numbers and one column", ",0\n0,5\n1,6\n", source.ReadOptions{}, "data:uint8[]", "\x05\x06"},
		{"a shape for columns without names", counted(",", 6) + "0,1,2,3,4,5,6\n", source.ReadOptions{Shape: []int{2, 3}}, "image:uint8[2 3]", "\x01\x02\x03\x04\x05\x06"},
		{"a label and a shape for columns without names", counted(",", 7) + "0,9,1,2,3,4,5,6\n", source.ReadOptions{Shape: []int{2, 3}},
			"label:uint8[] image:uint8[2 3]", "\x09"},
		{"labels with a point", "label,pixel0,pixel1\n5.0,1,2\n7.000e+00,3,4\n", source.ReadOptions{}, "label:uint8[] image:uint8[2]", "\x05\x07"},
		{"labels of savetxt", "5.000e+00,1.500e+00,0.000e+00,0.000e+00,0.000e+00\n", source.ReadOptions{}, "label:uint8[] image:float64[2 2]", "\x05"},
		{"savetxt with a header", "# label,pixel0,pixel1\n5,1,2\n", source.ReadOptions{}, "label:uint8[] image:uint8[2]", "\x05"},
		{"names of classes with quotes", "label,class\n3,\"5\"\" pipe\"\n4,\"6\"\" pipe\"\n", source.ReadOptions{}, "label:uint8[]", "\x03\x04"},
		{"a class without a name in the first row", "label,class\n3,\n4,one\n", source.ReadOptions{}, "label:uint8[]", "\x03\x04"},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			table, data, err := parse(c.text, c.o)
			if err != nil {
				t.Fatal(err)
			}
			if got := described(table); got != c.want || string(data[0]) != c.first {
				t.Errorf("found %s, % x, expected %s, % x", got, data[0], c.want, c.first)
			}
		})
	}
	for _, c := range []struct{ about, text, want string }{
		{"a quote in the header that is not closed", "label,pixel0,\"pixel1\n1,2,3\n4,5,6\n", "the first line has a quote that is not closed"},
		{"quotes inside of texts", "label,class\n3,5\" pipe\n4,6\" pipe\n5,x\n", "column class, row 0: found \"5\\\" pipe 4,6\\\" pipe\", with a quote inside"},
		{"an integer beyond 2^53", "a\n9007199254740993\n", "column a, row 0: found \"9007199254740993\", expected an integer that float64 holds"},
		{"classes without labels", "pixel0,pixel1,class\n1,2,cat\n", "column class, row 0: found the text \"cat\""},
		{"a class that is missing", "label,class\n1,2\n3,\n", "column class, row 1: the field is empty"},
		{"a value that is missing in the first row", "NA,1,2\n5,3,4\n", "column 1, row 0: found \"NA\", expected a number"},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			if _, data, err := parse(c.text, source.ReadOptions{}); !errors.Is(err, fault.Malformed) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("found % x, %v, expected %q", data, err, c.want)
			}
		})
	}
}

// Integers that float64 holds are accepted, however large.
func TestLargeIntegers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{"9007199254740992": 1 << 53, "-9007199254740994": -(1<<53 + 2), "+018446744073709551616": 1 << 64} {
		_, data, err := parse("a\n"+text+"\n", source.ReadOptions{DType: idx.Float64})
		if err != nil {
			t.Error(err)
		} else if got := schema.Float(idx.Float64, data[0], 0); got != want {
			t.Errorf("%s: found %v, expected %v", text, got, want)
		}
	}
}
