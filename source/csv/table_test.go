package csv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/pipeline"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/sink"
	sinkcsv "github.com/idxport/idxport/sink/csv"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
	"github.com/idxport/idxport/test/sourcetest"
)

// described formats the columns of a table as name:type[shape].
func described(t *Table) string {
	var list []string
	for _, c := range t.Columns() {
		list = append(list, fmt.Sprintf("%s:%v%v", c.Name, c.DType, c.Shape))
	}
	return strings.Join(list, " ")
}

// header returns label and pixel0… of n pixels.
func header(n int) string {
	line := "label"
	for i := range n {
		line += fmt.Sprintf(",pixel%d", i)
	}
	return line + "\n"
}

func TestColumns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		about, text string
		o           source.ReadOptions
		want        string
		note        string
	}{
		{"no header, a label and an image", "5,1,2,3,4\n", source.ReadOptions{}, "label:uint8[] image:uint8[2 2]", "no header"},
		{"no header, an image", "1,2,3,5\n", source.ReadOptions{}, "image:uint8[2 2]", "4 fields are read as a record of 2×2"},
		{"no header, neither", "1,2,4\n", source.ReadOptions{}, "data:uint8[3]", "3 fields are read as a record of 3"},
		{"no header, one number", "7\n", source.ReadOptions{}, "data:uint8[]", "no header"},
		{"no header, a shape", "1,2,3,4,5,7\n", source.ReadOptions{Shape: []int{2, 3}}, "image:uint8[2 3]", "no header"},
		{"no header, a shape and a label", "1,2,3,4,5,6,8\n", source.ReadOptions{Shape: []int{2, 3}}, "label:uint8[] image:uint8[2 3]", "no header"},
		{"a shape for the tensor", header(12) + "1" + strings.Repeat(",0", 12), source.ReadOptions{Shape: []int{2, 2, 3}},
			"label:uint8[] image:uint8[2 2 3]", ""},
		{"a type for the tensor", header(4) + "3,1,2,3,4\n", source.ReadOptions{DType: idx.Float32}, "label:uint8[] image:float32[2 2]", ""},
		{"a type where there is no tensor", "a,b\n3,1\n", source.ReadOptions{DType: idx.Int16}, "a:int16[] b:int16[]", ""},
		{"no rows", header(4), source.ReadOptions{}, "label:uint8[] image:uint8[2 2]", "types: label uint8, image uint8"},
		{"negative integers", "a,b\n-1,255\n", source.ReadOptions{}, "a:int32[] b:uint8[]", "types: a int32, b uint8; --dtype overrides this"},
		{"integers beyond int32", "a\n2147483648\n", source.ReadOptions{}, "a:float64[]", ""},
		{"points", "a\n1\n0.5\n", source.ReadOptions{}, "a:float64[]", ""},
		{"one digit is no sign of float32", "a\n0.1\n0.7\n", source.ReadOptions{}, "a:float64[]", ""},
		{"digits as float32 has them", "a\n0.1\n0.33333334\n", source.ReadOptions{}, "a:float32[]", ""},
		{"as many digits, but of float64", "a\n0.33333333\n", source.ReadOptions{}, "a:float64[]", ""},
		{"NaN and infinities", "a\nnan\n-inf\nInfinity\n", source.ReadOptions{}, "a:float64[]", ""},
		{"semicolons", "a;b\n1;2\n", source.ReadOptions{}, "a:uint8[] b:uint8[]", "separated by ';'"},
		{"one pixel by row and column", "label,1x1\n3,1\n", source.ReadOptions{}, "label:uint8[] image:uint8[1 1]", ""},
		{"class names without labels beside them", "class\n1\n", source.ReadOptions{}, "class:uint8[]", ""},
		{"lists", "emotion,pixels\n3,1 2 3 4\n1, 5  6 7 8 \n", source.ReadOptions{}, "emotion:uint8[] pixels:uint8[2 2]", "column pixels: lists of 4 numbers are read as 2×2, because their number is a square"},
		{"lists of a shape", "a,b\n\"1 2 3 4 5 -6\",1\n", source.ReadOptions{Shape: []int{2, 3}}, "a:int32[2 3] b:uint8[]", ""},
		{"class names", "label,class\n1,one\n", source.ReadOptions{}, "label:uint8[]", "column class is not read"},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			table, _, err := parse(c.text, c.o)
			if err != nil {
				t.Fatal(err)
			}
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
		{"7", idx.Uint8, 7}, {"007", idx.Uint8, 7}, {" 42 ", idx.Uint8, 42}, {`"255"`, idx.Uint8, 255}, {"+3", idx.Uint8, 3}, {"7.0", idx.Uint8, 7},
		{"2.5e1", idx.Uint8, 25}, {"-0", idx.Uint8, 0}, {"0000000000000000007", idx.Uint8, 7}, {"-128", idx.Int8, -128}, {"127", idx.Int8, 127},
		{"-32768", idx.Int16, -32768}, {"2147483647", idx.Int32, math.MaxInt32}, {"-2147483648", idx.Int32, math.MinInt32},
		{"16777217", idx.Float64, 16777217}, {"0.1", idx.Float32, float64(float32(0.1))}, {"1.000000014901161194e-01", idx.Float32, float64(float32(0.1))},
		{"1e-45", idx.Float32, math.SmallestNonzeroFloat32}, {"-inf", idx.Float32, math.Inf(-1)}, {"-0", idx.Float32, math.Copysign(0, -1)},
		{"9007199254740992", idx.Float64, 1 << 53}, {"-9007199254740994", idx.Float64, -(1<<53 + 2)}, {"+018446744073709551616", idx.Float64, 1 << 64},
		{"-0.0", idx.Float64, math.Copysign(0, -1)}, {"5e-324", idx.Float64, 5e-324}, {"16777216", idx.Float32, 16777216},
	} {
		_, data, err := parse("a,b\n"+c.text+",1\n", source.ReadOptions{DType: c.dtype})
		if err != nil {
			t.Errorf("%s as %v: %v", c.text, c.dtype, err)
			continue
		}
		if got := source.Float(c.dtype, data[0], 0); got != c.want || math.Signbit(got) != math.Signbit(c.want) {
			t.Errorf("%s as %v: found %v, expected %v", c.text, c.dtype, got, c.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	rows := func(n int, line string) string { return strings.Repeat(line, n) }
	for _, c := range []struct {
		about, text string
		o           source.ReadOptions
		kind        fault.Kind
		want        string
		hint        string
	}{
		{"nothing", "", source.ReadOptions{}, fault.Truncated, "the file is empty", ""},
		{"a web page", "<!DOCTYPE html>\n", source.ReadOptions{}, fault.Unsupported, "like a web page", "download"},
		{"UTF-16", "\xff\xfea\x00\n\x00", source.ReadOptions{}, fault.Unsupported, "UTF-16", "UTF-8"},
		{"zeros", "a\x00,b\n1,2\n", source.ReadOptions{}, fault.Unsupported, "byte 0x00", ""},
		{"carriage returns", "a,b\r1,2\r", source.ReadOptions{}, fault.Unsupported, "carriage returns", "tr"},
		{"a decimal comma in the first row", "a;b\n0,5;2\n", source.ReadOptions{}, fault.Malformed, `column a, row 0: found the text "0,5"`, "point"},
		{"text", "a,b\n1,x\n", source.ReadOptions{}, fault.Usage, "column b: found names, whose numbers are not known: x", "or leave the column out with --columns"},
		{"text in a later row", "a,b\n1,2\n3,NA\n", source.ReadOptions{}, fault.Malformed, `column b, row 1: found "NA", expected a number`, ""},
		{"an empty field", "a,b\n1,2\n,4\n", source.ReadOptions{}, fault.Malformed, "column a, row 1: the field is empty", "fill"},
		{"a decimal comma", "a;b\n1;2\n0,5;4\n", source.ReadOptions{}, fault.Malformed, `column a, row 1: found "0,5"`, "point"},
		{"a line feed in a number", "a,b\n0,2\n\"1\n\",4\n", source.ReadOptions{}, fault.Malformed, `column a, row 1: found "1\n"`, ""},
		{"hexadecimal", "a,b\n0,2\n0x10,4\n", source.ReadOptions{}, fault.Malformed, `found "0x10"`, ""},
		{"too few fields", "a,b,c\n1,2,3\n1,2\n", source.ReadOptions{}, fault.Malformed, "row 1: found 2 fields, expected 3", ""},
		{"a quote that is not closed", "a,b\n1,2\n\"1,2\n", source.ReadOptions{}, fault.Malformed, "row 1: found a quote that is not closed (line 3)", "close it"},
		{"a short list", "a,b\n1,2 3\n4,5\n", source.ReadOptions{}, fault.Malformed, "column b, row 1: found 1 number, expected 2", ""},
		{"text in a list", "a,b\n1,2 3\n4,5 x\n", source.ReadOptions{}, fault.Malformed, "column b, row 1: found \"x\", expected a number", ""},
		{"an empty line", "a\n1\n\n2\n", source.ReadOptions{}, fault.Malformed, "row 1: found an empty line before this row", "remove"},
		{"a value beyond uint8 after the sample", "a0,a1\n" + rows(sampleSize/4, "1,2\n") + "1,256\n1,2\n", source.ReadOptions{}, fault.Malformed,
			`column a1, row 262144: found "256", expected 0 to 255 for uint8`, "--dtype int32"},
		{"a negative value", "a0,a1\n1,-1\n", source.ReadOptions{DType: idx.Uint8}, fault.Malformed, `column a1, row 0: found "-1", expected 0 to 255`, "int32"},
		{"beyond float64", "a0,a1\n1.5,1\n1e999,1\n", source.ReadOptions{}, fault.Malformed, `column a0, row 1: found "1e999"`, ""},
		{"beyond float32", "a0,a1\n1.5,1e39\n", source.ReadOptions{DType: idx.Float32}, fault.Malformed, "float32 holds", "--dtype float64"},
		{"digits that float32 loses", "a0,a1\n1.5,0.1234567891\n", source.ReadOptions{DType: idx.Float32}, fault.Malformed, "of up to 9 digits", "--dtype float64"},
		{"two columns of one name", "a,a\n1,2\n", source.ReadOptions{}, fault.Malformed, `two columns are named "a"`, ""},
		{"too many columns", rows(maxColumns, "a,") + "a\n", source.ReadOptions{}, fault.Unsupported, "more than 65536 columns", "pixel0"},
		{"a column without a name", "a,,b\n1,2,3\n", source.ReadOptions{}, fault.Malformed, "column 2 of the header has no name", ""},
		{"a shape that does not fit the names", header(4) + "1,2,3,4,5\n", source.ReadOptions{Shape: []int{3}}, fault.Usage,
			"no column has records of shape 3, found image of 4 elements", "--shape"},
		{"a shape that does not fit the fields", "1,2,3,4,6\n", source.ReadOptions{Shape: []int{3}}, fault.Usage, "found 5 fields", "--shape"},
		{"a shape beyond counting", "1,3\n", source.ReadOptions{Shape: []int{1 << 30, 1 << 30, 1 << 30}}, fault.Usage, "found 2 fields", ""},
		{"a record beyond the limit", header(64) + "1" + rows(64, ",0") + "\n", source.ReadOptions{MaxRecordSize: 60}, fault.Unsupported,
			"64 bytes, expected at most 60", "--max-record-bytes"},
		{"a first line beyond the limit", rows(5000, "a"), source.ReadOptions{MaxRecordSize: 10}, fault.Unsupported, "the first line has more than", "--max-record-bytes"},
		{"a line beyond the limit", "a,b\n1,2\n" + rows(5000, "0") + ",1\n", source.ReadOptions{}, fault.Malformed, "row 1: the line has more than 1088 bytes", "quote"},
		{"damaged gzip", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x07\x00\x00", source.ReadOptions{}, fault.Malformed, "gzip", ""},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			_, _, err := parse(c.text, c.o)
			if fault.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "test.csv: ") {
				t.Errorf("found %v, expected a %v, %q", err, c.kind, c.want)
			}
			if hint := fault.HintOf(err); !strings.Contains(hint, c.hint) {
				t.Errorf("found the hint %q, expected %q", hint, c.hint)
			}
		})
	}
}

// TestColumnsThatCountRows has values beyond 255 only in its last rows.
func TestColumnsThatCountRows(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("label,writer\n")
	for row := range sampleSize / 4 {
		fmt.Fprintf(&text, "1,%d\n", row/1000)
	}
	path := filepath.Join(t.TempDir(), "ids.csv")
	must.Do(t, os.WriteFile(path, []byte(text.String()), 0o666))
	table := must.Get(Open(path, source.ReadOptions{}))(t)
	defer table.Close()
	if _, err := sourcetest.ReadAll(table, 1000); err != nil {
		t.Fatal(err)
	}
	if got := described(table.(*Table)); got != "label:uint8[] writer:int32[]" {
		t.Errorf("found %s", got)
	}
}

func TestSkip(t *testing.T) {
	t.Parallel()
	table := must.Get(newTable(strings.NewReader("a\n1\n2\n3\n4\n"), "-", nil, source.ReadOptions{}))(t)
	must.Do(t, table.Skip(2))
	b := &source.Raw{Cap: 10}
	if err := table.Read(t.Context(), b); err != nil || table.Decode(b) != nil {
		t.Fatal(err)
	}
	if b.First != 2 || string(b.Columns[0]) != "\x03\x04" || table.Columns()[0].Origin != source.Stdin {
		t.Errorf("found row %d, % x", b.First, b.Columns[0])
	}
}

// FuzzTable: every text is either refused with a reason, or all rows have all values, whatever the
// sizes of the batches.
func FuzzTable(f *testing.F) {
	for _, text := range []string{header(4) + "1,2,3,4,5\n", "1,2,3,4\r\n5,6,7,8\r\n", "a;b\n0,5;1\n", "label,class\n1,\"a\n\"\"b\"\n", "1x1,1x2\n-1,1e3\n",
		"0 1 2\n3 4 5\n", "\xef\xbb\xbfa\tb\n\"1\"\tnan\n\n", ",0,1\n0,1,2\n", "a\n0.33333334\n",
		"sep=;\n# c\n\n# a;b\n\n1;2\n", "a,b\n1,2 3\n4,5  6\n", "5,0,0.1\n1,2,3\n", "0  1 2 \n\"3\" 4 5\n", "a\x00\n\x001\x00\n\x00"} {
		f.Add(text, uint8(0))
		f.Add(text, uint8(idx.Uint8))
	}
	f.Fuzz(func(t *testing.T, text string, dtype uint8) {
		o := source.ReadOptions{MaxRecordSize: 1 << 16}
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
		again := must.Get(newTable(strings.NewReader(text), "again", nil, o))(t)
		whole := must.Get(sourcetest.ReadAll(again, 1<<10))(t)
		for i := range whole {
			if string(whole[i]) != string(data[i]) {
				t.Fatalf("column %d differs with the size of batches", i)
			}
		}
	})
}

// parse reads a whole file from text.
func parse(text string, o source.ReadOptions) (*Table, [][]byte, error) {
	t, err := newTable(strings.NewReader(text), "test.csv", nil, o)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range t.Info().Omitted {
		if c.Err != nil {
			return nil, nil, c.Err
		}
	}
	data, err := sourcetest.ReadAll(t, 3)
	return t, data, err
}

// written returns table as sink/csv writes it.
func written(t testing.TB, table source.Table, o sinkcsv.Options) string {
	t.Helper()
	var out bytes.Buffer
	s := schema.Of(table)
	k := must.Get(sinkcsv.New(&out, s, o))(t)
	if _, err := pipeline.Run(context.Background(), table, s, []sink.Sink{k}, pipeline.Options{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The first line is held in memory as a whole, so its length has a limit, which only asking for
// larger records raises.
func TestLongFirstLines(t *testing.T) {
	t.Parallel()
	const fields = 5_000_000
	text := strings.Repeat("1,", fields-1) + "1\n"
	if _, _, err := parse(text, source.ReadOptions{}); !errors.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), "the first line has more than 8388608 bytes") {
		t.Errorf("found %v", err)
	}
	table := must.Get(newTable(strings.NewReader(text), "-", nil, source.ReadOptions{MaxRecordSize: idx.DefaultMaxRecordSize + 1}))(t)
	if n := table.Columns()[0].RecordSize(); n != fields {
		t.Errorf("found a record of %d bytes, expected %d", n, fields)
	}
}

// Columns are counted before their names take memory; numbered names are one column, in any order.
func TestManyNames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		name  func(i int) string
		count int
		want  string // of the error
	}{
		"one column":       {func(i int) string { return fmt.Sprint("p", i) }, 1_000_000, ""},
		"column by column": {func(i int) string { return fmt.Sprintf("%dx%d", i%500+1, i/500+1) }, 250_000, ""},
		"backwards":        {func(i int) string { return fmt.Sprint("p", 1_000_000-i) }, 1_000_000, "more than 262144 runs"},
		"different names":  {func(i int) string { return fmt.Sprintf("%dp", i) }, maxColumns + 1, "more than 65536 columns"},
		"numbers apart":    {func(i int) string { return fmt.Sprint("p", 5*i+2) }, maxColumns + 1, "more than 65536 columns"},
		"too many numbers": {func(i int) string { return fmt.Sprint("p", i) }, maxNamed + 1, "1048577 fields, too many"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var header strings.Builder
			for i := range c.count {
				header.WriteString("," + c.name(i))
			}
			table, err := newTable(strings.NewReader(header.String()[1:]), "-", nil, source.ReadOptions{MaxRecordSize: 1 << 26})
			switch {
			case c.want == "" && (err != nil || len(table.Columns()) != 1):
				t.Errorf("found %v, expected one column", err)
			case c.want != "" && (!errors.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), c.want)):
				t.Errorf("found %v, expected %s", err, c.want)
			}
		})
	}
}
