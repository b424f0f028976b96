package csv

import (
	"fmt"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/test/must"
)

// line returns n numbers from first on, each in format.
func line(format string, first, n int) string {
	fields := make([]string, n)
	for i := range fields {
		fields[i] = fmt.Sprintf(format, first+i)
	}
	return strings.Join(fields, ",") + "\n"
}

// A first line of numbers is a row, and one with words a header, unless it may be either.
func TestFirstLines(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	const undecided = "-"
	for _, c := range []struct {
		about, text string
		header      *bool
		want        string // columns; undecided if the user must choose
		first       string // the data of the first column
	}{
		{"three columns in another order", "2,0,1\n5,6,7\n", nil, "data:uint8[3]", "\x02\x00\x01\x05\x06\x07"},
		{"one column, chosen as a row", "0\n4\n7\n", &no, "data:uint8[]", "\x00\x04\x07"},
		{"one column from 1 is a row", "1\n4\n7\n", nil, "data:uint8[]", "\x01\x04\x07"},
		{"ends of Windows, of Python, and quotes in a name", "\"a \"\"b\"\",\r\nc\", \"label\"\r\r\n1,2\r\n", nil,
			"a \"b\",\nc:uint8[] label:uint8[]", "\x01"},
		// pandas.read_csv renames numbers that occur again, if a file has no header.
		{"renamed by pandas, after row numbers", ",5,0,0.1,0.2,3\n0,1,0,0,7,0\n", nil, undecided, ""},
		{"row numbers before a label and an image", ",0,1,2,3,4\n0,9,6,7,8,250\n1,3,0,0,0,0\n", nil,
			"label:uint8[] image:uint8[2 2]", "\x09\x03"},
		{"lists in brackets", "label,image\n7,\"[1, 2, 3, 4]\"\n8,[5 6  7 8]\n9,\"[9 8\n 7 6]\"\n", nil,
			"label:uint8[] image:uint8[2 2]", "\x07\x08\x09"},
		{"a fraction and a number twice", "0,0.1,0,1,2,3,4,5,0\n1,2,3,4,5,6,7,8,9\n", nil, "image:float64[3 3]", ""},
		{"a label before numbers", "label,0,1,2,3\n7,1,2,3,4\n", nil, "label:uint8[] image:uint8[2 2]", "\x07"},
		{"years", "1998,1999,2000,2001\n7,1,2,3\n", nil, undecided, ""},
		{"a word and a zero", "cat,0\ndog,1\n", nil, undecided, ""},
		{"a letter before numbers", "T,2,8,3\nI,5,12,3\n", nil, undecided, ""},
		{"an empty value in the first row, as pandas quotes it", "\"\"\n1\n2\n", nil, undecided, ""},
		{"what C prints for no number", "-nan,-nan(ind)\n1,2\n", nil, undecided, ""},
		{"numbers with spaces in quotes", "\"7 \" \" 8\"\n\"9\" 1\n", nil, undecided, ""},
		{"another form among bytes", "p0,p1,label\n1, 2,7\n", nil, "p:uint8[2] label:uint8[]", "\x01\x02"},
		{"tables that pandas joined", "0,1,0,1\n7,1,2,3\n", nil, undecided, ""},
		{"names of those, after row numbers", ",0,1,2,3,0\n0,7,6,7,8,250\n1,9,0,0,0,0\n", &yes,
			"label:uint8[] image:uint8[2 2]", "\x07\x09"},
		{"zeros and ones", "0,1,0,0,1,0\n1,1,0,1,0,0\n", nil, "data:uint8[6]", ""},
		{"a name with #", "#a,b\n1,2\n", &yes, "#a:uint8[] b:uint8[]", "\x01"},
		{"names that R quotes", "\"label\" \"a b\"\n5 7\n", nil, "label:uint8[] a b:uint8[]", "\x05"},
		{"tabs among spaces", "3 0.5\n4 \t7 \t\n5\t8\n", nil, "data:float64[2]", ""},
		{"an index without rows", ",label,p0\n", nil, "label:uint8[] p0:uint8[]", ""},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			table, data, err := parse(c.text, source.ReadOptions{Header: c.header})
			if c.want == undecided {
				if fault.HintOf(err) != "say which it is: --header yes, or --header no" {
					t.Errorf("found %v, expected a question", err)
				}
				return
			}
			must.Do(t, err)
			if got := described(table); got != c.want || c.first != "" && string(data[0]) != c.first {
				t.Errorf("found %s, % x, expected %s, % x", got, data[0], c.want, c.first)
			}
		})
	}
}
