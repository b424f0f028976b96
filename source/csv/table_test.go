package csv

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sourcetest"
)

type options = source.ReadOptions

// A memory opens a file of this text, by any name.
type memory struct {
	source.Local
	text string
}

func (m memory) Open(name string) (source.File, error) {
	f, err := fstest.MapFS{name: {Data: []byte(m.text)}}.Open(name)
	return f.(source.File), err
}

// parse reads a whole file from text.
func parse(text string, o options) (*table, [][]byte, error) {
	o.Files = memory{text: text}
	t, err := Open("test.csv", o)
	if err != nil {
		return nil, nil, err
	}
	data, err := sourcetest.ReadAll(t, 3)
	return t.(*table), data, err
}

// described formats the columns of a table as name:type[shape].
func described(t *table) string {
	var list []string
	for _, c := range t.Columns() {
		list = append(list, fmt.Sprintf("%s:%v%v", c.Name, c.DType, c.Shape))
	}
	return strings.Join(list, " ")
}

// header returns label and pixel0… of n pixels.
func header(n int) string { return "label," + line("pixel%d", 0, n) }

func TestColumns(t *testing.T) {
	t.Parallel()
	none, of2x3 := options{}, options{Shape: []int{2, 3}}
	animals := options{Classes: []string{"cat", "dog, big"}}
	const spread = "label:uint8[] image:uint8[2 2]"
	for _, c := range []struct {
		about, text string
		o           options
		want        string
		note        string
	}{
		{"no header, a label and an image", "5,1,2,3,4\n6,1,2,3,4\n", none, spread, "no header"},
		{"numbers that count, expected", "3,4,5,6,7\n", options{Like: []source.Column{}}, spread, "no header"},
		{"no header, an image", "1,2,3,5\n\r\n\n", none, "image:uint8[2 2]", "4 fields are read as 2×2"},
		{"no header, neither", "1,2,4\n", none, "data:uint8[3]", "3 fields are read as one dimension"},
		{"no header, one number", "7\n", none, "data:uint8[]", "no header"},
		{"no header, a shape and a label", "1,2,3,4,5,6,8\n2,2,3,4,5,6,8\n", of2x3,
			"label:uint8[] image:uint8[2 3]", ""},
		{"a shape for the tensor", header(6) + "1,0,0,0,0,0,0", of2x3, "label:uint8[] image:uint8[2 3]", ""},
		{"a type for the tensor", header(4) + "3,1,2,3,4\n", options{DType: idx.Float32},
			"label:uint8[] image:float32[2 2]", ""},
		{"a type where there is no tensor", "a,b\n3,1\n", options{DType: idx.Int16}, "a:int16[] b:int16[]", ""},
		{"no rows", header(4), none, spread, ""},
		{"integers at the limits", "a,b,c,d,e\n-1,2147483647,-2147483648,2147483648,-2147483649\n", none,
			"a:int32[] b:int32[] c:int32[] d:float64[] e:float64[]", ""},
		{"points and no numbers", "a,b\n1,nan\n0.33333334,-inf\n0,Infinity\n", none, "a:float64[] b:float64[]", ""},
		{"index of long rows", ",label\n0," + strings.Repeat(" ", sampleSize) + "5\n1,6\n", none, "label:uint8[]", ""},
		{"labels with a point", "label,pixel0,pixel1\n5.0,1,2\n7e0,3,4\n", none, "label:uint8[] image:uint8[2]", ""},
		{"labels with a point, alone", "a,label\n1.0,5.0\n2.0,7e0\n", none, "a:float64[] label:uint8[]", ""},
		{"labels of savetxt", "5.00e+00,1.50e+00,0.00e+00,0.00e+00,0.00e+00\n6e+00,1.5,0,0,0\n", none,
			"label:uint8[] image:float64[2 2]", ""},
		{"a label and an image in colours", strings.Repeat("7"+strings.Repeat(",0", 192)+"\n3"+
			strings.Repeat(",9", 192)+"\n", 2), none, "label:uint8[] data:uint8[192]", "192 fields beside a label"},
		{"a line beyond the limit, as asked for", strings.Repeat("1,", 4_999_999) + "1\n",
			options{MaxRecordSize: idx.DefaultMaxRecordSize + 1}, "data:uint8[5000000]", "no header"},
		{"an image of 26×26", "0" + strings.Repeat(",0", 675), none, "image:uint8[26 26]", ""},
		{"long texts that are not read", "text,label,more\n" + strings.Repeat(strings.Repeat("x", 2000)+
			",3,\"y,y\"\n", 600), options{Columns: []string{"label"}}, "label:uint8[]", ""},
		{"one pixel that is expected", "label,pixel0\n3,1\n",
			options{Like: []source.Column{{Name: "x", DType: 8, Shape: []int{1, 1}}}},
			"label:uint8[] image:uint8[1 1]", ""},
		{"one number and a shape", "label,q1\n3,1\n", options{Shape: []int{1}}, "label:uint8[] q1:uint8[]", ""},
		{"class names without labels beside them", "class\n1\n", none, "class:uint8[]", ""},
		{"digits and letters of a list", "label,a\n7,1\nE,2\n", options{Classes: []string{"E", "7"}},
			"label:uint8[] a:uint8[]", ""},
		{"numbers beside a list of words", "label,a\n1,1\n0,2\n", animals, "label:uint8[] a:uint8[]", ""},
		{"numbers at their places", "label,a\n1,1\n2,2\n", options{Classes: []string{"0", "1", "2", "J"}},
			"label:uint8[] a:uint8[]", ""},
		{"numbers of others beside a label", "id,label\n0,1\n0,2\n", options{Classes: []string{"", "1", "2", "0"}},
			"id:uint8[] label:uint8[]", ""},
		{"a list alone", "pixels\n1 2 3 4\n", none, "pixels:uint8[2 2]", ""},
		{"numbers of rows", "id,label,p1\n0,5,6\n1," + strings.Repeat(" ", sampleSize) + "6,6\n2,7,8\n",
			options{Columns: []string{"id", "label"}}, "id:int32[] label:uint8[]", ""},
		{"names of a list", "animal,a\ncat,1\n\"dog, big\",2\n", animals, "animal:uint8[] a:uint8[]", ""},
		{"lists", "emotion,pixels\n3,1 2 3 4\n1, 5  6 7 8 \n", none, "emotion:uint8[] pixels:uint8[2 2]",
			"column pixels: lists of 4 numbers are read as 2×2, because their number is a square"},
		{"lists of a shape", "a,b\n\"1 2 3 4 5 -6\",1\n", of2x3, "a:int32[2 3] b:uint8[]", ""},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			table, _, err := parse(c.text, c.o)
			must.Do(t, err)
			if got := described(table); got != c.want {
				t.Errorf("found %s, expected %s", got, c.want)
			}
			if notes := strings.Join(table.Info().Notes, "\n"); !strings.Contains(notes, c.note) {
				t.Errorf("found the notes %q, expected %q", notes, c.note)
			}
		})
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		dtype idx.DType
		want  float64
	}{
		{"7", idx.Uint8, 7}, {"007", idx.Uint8, 7}, {" 42 ", idx.Uint8, 42}, {`"255"`, idx.Uint8, 255},
		{"+3", idx.Uint8, 3}, {"7.0", idx.Uint8, 7}, {"2.5e1", idx.Uint8, 25}, {"-0", idx.Uint8, 0},
		{"0000000000000000007", idx.Uint8, 7}, {"-128", idx.Int8, -128}, {"127", idx.Int8, 127},
		{"-32768", idx.Int16, -32768}, {"2147483647", idx.Int32, math.MaxInt32},
		{"-2147483648", idx.Int32, math.MinInt32}, {"16777217", idx.Float64, 16777217},
		{"0.1", idx.Float32, float64(float32(0.1))}, {"0.1234567891", idx.Float32, float64(float32(0.1234567891))},
		{"1.000000014901161194e-01", idx.Float32, float64(float32(0.1))}, {"-inf", idx.Float32, math.Inf(-1)},
		{"1e-45", idx.Float32, math.SmallestNonzeroFloat32}, {"-0", idx.Float32, math.Copysign(0, -1)},
		{"9007199254740992", idx.Float64, 1 << 53}, {"-9007199254740994", idx.Float64, -(1<<53 + 2)},
		{"+018446744073709551616", idx.Float64, 1 << 64}, {"-0.0", idx.Float64, math.Copysign(0, -1)},
		{"5e-324", idx.Float64, 5e-324}, {"16777216", idx.Float32, 16777216},
	} {
		_, data, err := parse("a,b\n"+c.text+",1\n", options{DType: c.dtype})
		if err != nil {
			t.Errorf("%s as %v: %v", c.text, c.dtype, err)
			continue
		}
		if got := source.Float(c.dtype, data[0], 0); got != c.want || math.Signbit(got) != math.Signbit(c.want) {
			t.Errorf("%s as %v: found %v, expected %v", c.text, c.dtype, got, c.want)
		}
	}
}

// TestParseUint8s: fields of another form, and what is too short to be looked at, are left.
func TestParseUint8s(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"7,8,9,1": "07 08", "0,22,255,1,2": "00 16 ff", "255,0,9": "ff", "1,2,": "01", "1,x,2,3": "01",
		"1,2": "", ":,1,2,": "", "/,1,2,": "", "1:,2,3,": "", "12:,3,4": "", "256,1,2": "", "1234,5": "", ",1,2,": "",
		"1;2;3;4": "", "-1,2,3": "", "300,1,2": "",
	} {
		dst := make([]byte, 3)
		n, rest := parseUint8s(dst, []byte(src), ',')
		if found := fmt.Sprintf("% x", dst[:n]); found != want || strings.Count(src[:len(src)-len(rest)], ",") != n {
			t.Errorf("%q: found %s before %q, expected %s", src, found, rest, want)
		}
	}
}

// TestCut cuts any number of fields, with many separators beside each other or far apart.
func TestCut(t *testing.T) {
	t.Parallel()
	const row = "1,22,,333,,,,,,,,,,,4444,55555555555555555555,6,77,888,,9,10,11,12,13,,\n"
	fields := strings.SplitAfter(row, ",")
	for n := range fields {
		span, rest := cut([]byte(row), ',', n)
		if want := strings.Join(fields[:n], ""); string(span) != want || string(rest) != row[len(want):] {
			t.Errorf("%d fields: found %q and %q, expected %q", n, span, rest, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	rows := strings.Repeat
	none, float32s := options{}, options{DType: idx.Float32}
	const malformed, unsupported = fault.Malformed, fault.Unsupported
	for _, c := range []struct {
		about, text string
		o           options
		kind        fault.Kind
		want        string
		hint        string
	}{
		{"nothing", "", none, fault.Truncated, "the file is empty", ""},
		{"a row of lists", "\"[1, 2]\"\n\"[3, 4]\"\n", none, malformed, `is "[1, 2]", which may be column`, "--header"},
		{"a row of a name", "cat\nbird\n", options{Classes: []string{"cat"}}, malformed, "may be column names or a row",
			"--header"},
		{"class names beside labels", "label,class\n3,cat\n4,dog\n", none, fault.Usage, "column class: found names, " +
			"whose numbers are not known: cat, dog", "--columns"},
		{"a web page", "<!DOCTYPE html>\n", none, unsupported, "an HTML or XML page", "download it again"},
		{"names in another encoding", "gr\xf6\xdfe,b\n1,2\n", none, unsupported, "is not UTF-8", "-f WINDOWS-1252"},
		{"quotes inside of a name", "a,\"b\"c\n1,2\n", none, malformed, "found a quote inside", "in quotes"},
		{"a comment with a quote after a mark", "\ufeff# 3.5\"\n1,2\n", none, unsupported,
			"the first line is a comment", `,;|[:blank:]]*([#%@]|`},
		{"9 MB of carriage returns", "a,b\r" + rows("1,2\r", 9<<18), none, unsupported, "a byte 0x0d",
			`tr '\r' '\n' <test.csv >test-lines.csv`},
		{"a decimal comma at once", "a;b\n0,5;2\n", none, malformed, `column a, row 0: found the text "0,5"`, "point"},
		{"a label of two", "y,a\n3,3\n1.0,2\n0,2\n", options{Classes: []string{"1", "0"}}, fault.Usage,
			`column y, row 2: found "0", which may be a label, or the name of label 1`, "--classes"},
		{"an empty field", "a,b\n1,2\n,4\n", none, malformed, `column a, row 1: found "", expected`, "; if sep"},
		{"a decimal comma", "a;b\n1;2\n0,5;4\n", none, malformed, `column a, row 1: found "0,5"`, "point"},
		{"a late number among True", "a,b\nTrue,1\n" + rows("False,1\n", sampleSize/8) + "7,1\n", none, fault.Usage,
			`column a, row 131073: found "7", expected true or false`, "--classes"},
		{"underscores", "a,b\n0.5,2\n1_0,4\n", none, malformed, `found "1_0"`, ""},
		{"an open quote", "a,b\n1,2\n\"1,2\n", none, malformed, "row 1: found a quote that is not closed (line 3)",
			"close it"},
		{"quotes inside of texts", "label,class\n3,5\" pipe\n4,6\" pipe\n5,x\n", none, malformed,
			"row 0: found a quote inside of an unquoted text", "in quotes"},
		{"a short list", "a,b\n1,2 3\n4,5\n", none, malformed, "column b, row 1: found 1 number, expected 2",
			"pad or cut"},
		{"lists or thousands", "a,b\n1,1 000\n4,25 500.5\n", none, fault.Usage, "column b: found numbers like 1 000, ",
			"if they are lists: --shape 2; "},
		{"fields or thousands", "1 000\n25 500\n", none, fault.Usage, "found numbers like 1 000", "--shape 2; "},
		{"separators that end rows", "a,b\n1,2,\n", none, malformed, "row 0: found 3 fields", "sed 's/[,;]"},
		{"a list of a missing value", "a,b\n1,\"[2,3,4]\"\n4,\"[5,,6,7]\"\n", none, malformed,
			`column b, row 1: found "", expected a number`, "fill in"},
		{"a list that is cut off", "a;b\n1;[2,3]\n4;[5,6\n", none, malformed, `row 1: found "[5,6", expected`, ""},
		{"lists of PostgreSQL", "a,b\n1,\"{{2,3},{4,5}}\"\n", none, malformed, `the text "{{2,3},{4,5}}"`, "ravel"},
		{"row numbers that begin again after the sample", ",a\n0,1\n1," + rows(" ", sampleSize) + "5\n0,1\n",
			none, malformed, `row 2: found "0", expected a row number, as column 1 has no name (line 4)`, hintIndex},
		{"a late value beyond uint8", "a0,a1\n" + rows("1,2\n", sampleSize/4) + "1,256\n1,2\n", none, malformed,
			`column a1, row 262144: found "256", expected a number that uint8 holds`, "--dtype int32"},
		{"beyond float32", "a0,a1\n1.5,1e39\n", float32s, malformed, "a number that float32 holds", "--dtype"},
		{"rounded by float32", "a,b\n16777217,1\n", float32s, malformed, "a number that float32 holds", "--dtype"},
		{"an integer that float64 rounds", "a\n9007199254740993\n", none, malformed,
			`column a, row 0: found "9007199254740993", expected a number that float64 holds`, "with a point"},
		{"columns in another order", "p1,p0\n1,2\n", none, malformed, "the header has column p1 where p0 is expected",
			"in pandas"},
		{"a column without a name", "a,\" \",b\n1,2,3\n", none, malformed, "column 2 of the header has no name", ""},
		{"a record beyond the limit", header(64) + "1" + rows(",0", 64), options{MaxRecordSize: 60}, unsupported,
			"64 bytes, expected at most 60", "--max-record-bytes"},
		{"a first line beyond the limit", rows("1,", 5_000_000), none, malformed,
			"the line has more than 8388608 bytes (line 1)", "--max-record-bytes"},
		{"a line beyond the limit", "a,b\n" + rows("1,2\n", sampleSize/4) + rows("0", 5000) + ",1\n", none, malformed,
			"row 262144: the fields that are read have more than 1088 bytes", "quote"},
		{"damaged gzip", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x07\x00\x00", none, malformed, "gzip", ""},
	} {
		_, _, err := parse(c.text, c.o)
		if fault.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.want) ||
			!strings.HasPrefix(err.Error(), "test.csv: ") {
			t.Errorf("%s: found %v, expected a %v, %q", c.about, err, c.kind, c.want)
		}
		if hint := fault.HintOf(err); !strings.Contains(hint, c.hint) {
			t.Errorf("%s: found the hint %q, expected %q", c.about, hint, c.hint)
		}
	}
}

// FuzzTable: every text is either refused with a reason, or all rows have all values, whatever the
// sizes of the batches.
func FuzzTable(f *testing.F) {
	for _, text := range []string{header(4) + "1,2,3,4,5\n", "1,2,3,4\r\n5,6,7,8\r\n", "a;b\n0,5;1\n",
		"label,class\n1,\"a\n\"\"b\"\n", "1x1,1x2\n-1,1e3\n", "0 1 2\n3 4 5\n", "\xef\xbb\xbfa\tb\n\"1\"\tnan\n\n",
		",0,1\n0,1,2\n", "a\n0.33333334\n", "sep=;\n# c\n", "a,b\n1,2 3\n4,5  6\n", "5,0,0.1\n1,2,3\n",
		"0  1 2 \n\"3\" 4 5\n", "a\x00\n\x001\x00\n\x00", "a,b\n1 2 ,3\n1,\n"} {
		f.Add(text, uint8(0))
		f.Add(text, uint8(idx.Uint8))
	}
	f.Fuzz(func(t *testing.T, text string, dtype uint8) {
		o := options{MaxRecordSize: 1 << 16}
		if idx.DType(dtype).Valid() {
			o.DType = idx.DType(dtype)
		}
		table, data, err := parse(text, o)
		if err != nil {
			expected := []fault.Kind{fault.Malformed, fault.Truncated, fault.Unsupported, fault.Usage} // Usage: names
			if !slices.Contains(expected, fault.KindOf(err)) {
				t.Fatal(err)
			}
			return
		}
		rows := -1
		for i, c := range table.Columns() {
			if n := len(data[i]) / c.RecordSize(); rows >= 0 && n != rows {
				t.Fatalf("column %s has %d rows, expected %d", c.Name, n, rows)
			} else {
				rows = n
			}
		}
		o.Files = memory{text: text}
		again := must.Get(Open("again", o))(t)
		whole := must.Get(sourcetest.ReadAll(again, 1<<10))(t)
		for i := range whole {
			if string(whole[i]) != string(data[i]) {
				t.Fatalf("column %d differs with the size of batches", i)
			}
		}
	})
}

// Columns are counted before their names take memory; numbered names are one column.
func TestManyNames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		name  string // with %d for the number of the field
		count int
		want  string // of the error
	}{
		"one column":       {"p%d", 500_000, ""},
		"different names":  {"%dp", maxColumns + 1, "more than 16384 columns"},
		"numbers apart":    {"p%d7", maxColumns + 1, "more than 16384 columns"},
		"too many numbers": {"p%d", maxNamed + 1, "the header has 524289 names, expected at most 524288"},
	} {
		names := strings.TrimSuffix(line(c.name, 0, c.count), "\n")
		table, err := Open("x", options{Files: memory{text: names}, MaxRecordSize: 1 << 26})
		switch {
		case c.want == "" && (err != nil || len(table.Columns()) != 1):
			t.Errorf("%s: found %v, expected one column", name, err)
		case c.want != "" && (fault.KindOf(err) != fault.Unsupported || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: found %v, expected %s", name, err, c.want)
		}
	}
}
