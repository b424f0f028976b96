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
	"github.com/idxport/idxport/source"
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
			must.Do(t, json.Unmarshal(text, &want))
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
					if found := source.Float(c.DType, data[i], k); found != v {
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
		{"columns without names after row numbers", counted(",", 785) + "0," + row, source.ReadOptions{}, "label:uint8[] image:uint8[28 28]", "\x07"},
		{"row numbers and one column", ",0\n0,5\n1,6\n", source.ReadOptions{}, "data:uint8[]", "\x05\x06"},
		{"a shape for columns without names", counted(",", 6) + "0,1,2,3,4,5,6\n", source.ReadOptions{Shape: []int{2, 3}}, "image:uint8[2 3]", "\x01\x02\x03\x04\x05\x06"},
		{"labels with a point", "label,pixel0,pixel1\n5.0,1,2\n7.000e+00,3,4\n", source.ReadOptions{}, "label:uint8[] image:uint8[2]", "\x05\x07"},
		{"labels of savetxt", "5.000e+00,1.500e+00,0.000e+00,0.000e+00,0.000e+00\n", source.ReadOptions{}, "label:uint8[] image:float64[2 2]", "\x05"},
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
		{"quotes inside of texts", "label,class\n3,5\" pipe\n4,6\" pipe\n5,x\n", "row 0: found a quote inside of an unquoted text"},
		{"an integer beyond 2^53", "a\n9007199254740993\n", "column a, row 0: found \"9007199254740993\", expected an integer that float64 holds"},
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

// TestBeforeTheData reads files with comments, empty lines and separators before the data.
func TestBeforeTheData(t *testing.T) {
	t.Parallel()
	const ab, first = "a:uint8[] b:uint8[]", "\x01\x03"
	yes := true
	for _, c := range []struct {
		about, text string
		o           source.ReadOptions
		want, first string
		skipped     int
	}{
		{"a quote in a comment", "# 5\" wide\na,b\n1,2\n3,4\n", source.ReadOptions{}, ab, first, 1},
		{"comments without a header", "# one\n#\n5,6,9\n", source.ReadOptions{}, "data:uint8[3]", "\x05\x06\x09", 2},
		{"savetxt", "# a,b\n1,2\n3,4\n", source.ReadOptions{}, ab, first, 0},
		{"savetxt with one column", "# a\n1\n3\n", source.ReadOptions{}, "a:uint8[]", first, 0},
		{"savetxt without rows", "# one\n# a,b\n", source.ReadOptions{}, "a:uint8[] b:uint8[]", "", 1},
		{"savetxt with spaces", "# a b\n1 2\n3 4\n", source.ReadOptions{}, ab, first, 0},
		{"savetxt with a comment and spaces", "# two words, three\n1 3\n2 4\n", source.ReadOptions{}, "data:uint8[2]", "\x01\x03\x02\x04", 1},
		{"a comment, --header yes", "# one, two, three\n1,2\n3,4\n", source.ReadOptions{Header: &yes}, "data:uint8[2]", "\x03\x04", 1},
		{"empty lines", "\n\r\na,b\n\n\n1,2\n3,4\n\n", source.ReadOptions{}, ab, first, 0},
		{"sep=;", "sep=;\r\na;b\r\n1;2\r\n3;4\r\n", source.ReadOptions{}, ab, first, 0},
		{"SEP=, in quotes, after a byte order mark", byteOrderMark + "\"SEP=,\"\na,b\n1,2\n3,4\n", source.ReadOptions{}, ab, first, 0},
		{"sep= overrides what is more frequent", "sep=;\n\"x,y,z\";b\n1;2\n3;4\n", source.ReadOptions{}, "x,y,z:uint8[] b:uint8[]", first, 0},
		{"a long comment", "# " + strings.Repeat("x,", 1<<18) + "\na,b\n1,2\n3,4\n", source.ReadOptions{}, ab, first, 1},
		{"# in a name", "#a,b\n1,2\n3,4\n", source.ReadOptions{}, "#a:uint8[] b:uint8[]", first, 0},
	} {
		table, data, err := parse(c.text, c.o)
		if err != nil {
			t.Errorf("%s: %v", c.about, err)
			continue
		}
		note := fmt.Sprintf("skipped before the data: %d", c.skipped)
		noted := strings.Contains(strings.Join(table.Info().Notes, "\n"), note)
		if got := described(table); got != c.want || string(data[0]) != c.first || noted != (c.skipped > 0) {
			t.Errorf("%s: found %s, % x, %q, expected %s, % x, %d lines", c.about, got, data[0], table.Info().Notes, c.want, c.first, c.skipped)
		}
	}
	for _, c := range []struct{ about, text, want, hint string }{
		{"UTF-16 without a mark", "a\x00,\x00b\x00\r\x00\n\x001\x00,\x002\x00\r\x00\n\x00", "UTF-16", "iconv -f UTF-16LE "},
		{"big-endian UTF-16", "\x00a\x00,\x00b\x00\n\x001\x00,\x002\x00\n", "UTF-16", "iconv -f UTF-16BE "},
		{"9 MB of carriage returns", "a,b\r" + strings.Repeat("1,2\r", 9<<18), "carriage returns without line feeds", "tr "},
		{"a comment among rows", "a,b\n1,2\n# x,y\n3,4\n", "row 1: found \"# x\"", ""},
		{"an empty line among rows", "# c\n\na,b\n1,2\n\n3,4\n", "row 1: found an empty line", ""},
		{"nothing but empty lines", "\n\n", "the file is empty", ""},
		{"too many empty lines", strings.Repeat("\n", 1<<20+2), "more than 1048576 bytes of comments and empty lines", "remove them: grep "},
		{"a comment without an end", "#" + strings.Repeat("x", 2<<20), "more than 1048576 bytes of comments and empty lines", "remove them: grep "},
	} {
		if _, _, err := parse(c.text, source.ReadOptions{}); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(fault.HintOf(err), c.hint) {
			t.Errorf("%s: found %v (hint %q), expected %q", c.about, err, fault.HintOf(err), c.want)
		}
	}
}
