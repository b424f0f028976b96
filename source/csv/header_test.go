package csv

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
)

// line returns n numbers from first on, each in format.
func line(format string, first, n int) string {
	fields := make([]string, n)
	for i := range fields {
		fields[i] = fmt.Sprintf(format, first+i)
	}
	return strings.Join(fields, ",") + "\n"
}

// A first line of consecutive numbers is a header if it does not fit the rows, a row if the rows
// continue its numbers, and an error otherwise.
func TestFirstLinesThatCount(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	zeros := func(n int) string { return strings.Repeat("0,", n-1) + "0\n" }
	digits := "0,0,5,13,9,1,0,0,0,0,13,15,10,15,5,0" // of scikit-learn, up to 16
	digits = digits + "," + digits + "," + digits + "," + digits + "\n"
	const undecided = "-"
	for _, c := range []struct {
		about, text string
		header      *bool
		want        string // columns; undecided if the user must choose
		first       string // the data of the first column
		note        string
	}{
		{"785 columns over bytes", line("%d", 0, 785) + "7," + zeros(784), nil, "label:uint8[] image:uint8[28 28]", "\x07", "is read as a header, because it has a number above 255, unlike the rows;"},
		{"the same from 1", line("%d", 1, 785) + "7," + zeros(784), nil, "label:uint8[] image:uint8[28 28]", "\x07", "read as a header"},
		{"257 columns, of which one is beyond", line("%d", 0, 257) + "9," + strings.Repeat("255,", 255) + "255\n", nil, "label:uint8[] image:uint8[16 16]", "\x09", "read as a header"},
		{"64 columns of 0 to 16", line("%d", 0, 64) + digits + digits, nil, "image:uint8[8 8]", digitBytes(digits + digits), "its numbers are far larger than the values in the rows"},
		{"64 columns as texts are sorted", sorted(64) + digits, nil, "image:uint8[8 8]", "", "read as a header"},
		{"64 columns with points", line("%d.0", 0, 64) + digits, nil, "image:uint8[8 8]", digitBytes(digits), "read as a header"},
		{"fractions", line("%d", 0, 64) + strings.Repeat("0.25,", 63) + "0.5\n", nil, "image:float64[8 8]", "", "read as a header"},
		{"in quotes", `"0","1"` + "\n5,6\n7,8\n", nil, "data:uint8[2]", "\x05\x06\x07\x08", "is in quotes, unlike the rows"},
		{"one in quotes", `"0"` + "\n5\n", nil, "data:uint8[]", "\x05", "is in quotes"},
		{"all in quotes", `"0","1"` + "\n" + `"5","6"` + "\n", nil, undecided, "", ""},
		{"after an empty field", ",0,1\n0,5,6\n", nil, "data:uint8[2]", "\x05\x06", "an empty name and then 0, 1, 2"},
		{"after an empty field, from 1", ",1,2\n0,5,6\n", nil, "data:uint8[2]", "\x05\x06", "an empty name and then 0, 1, 2"},
		{"rows that go on", "0,1,2,3\n4,5,6,7\n", nil, "image:uint8[2 2]", "\x00\x01\x02\x03\x04\x05\x06\x07", "read as a row"},
		{"rows that go on from 1, with points", "1.0,2.0\n3.0,4.0\n", nil, "data:float64[2]", "", "read as a row"},
		{"rows that begin again", "0,1,2,3\n0,1,2,3\n4,5,6,7\n", nil, undecided, "", ""},
		{"a ramp that fits the rows", line("%d", 0, 64) + line("%d", 3, 64), nil, undecided, "", ""},
		{"distances", distances(20), nil, undecided, "", ""},
		{"a line alone", line("%d", 0, 785), nil, undecided, "", ""},
		{"few columns", "0,1,2,3\n5,6,7,8\n", nil, undecided, "", ""},
		{"two columns", "1,2\n1,1\n", nil, undecided, "", ""},
		{"one column", "0\n4\n7\n", nil, undecided, "", ""},
		{"one column, chosen as a header", "0\n4\n7\n", &yes, "data:uint8[]", "\x04\x07", ""},
		{"one column, chosen as a row", "0\n4\n7\n", &no, "data:uint8[]", "\x00\x04\x07", ""},
		{"one column from 1 is a row", "1\n4\n7\n", nil, "data:uint8[]", "\x01\x04\x07", "--header yes"},
		{"a few in another order are a row", "2,0,1\n5,6,7\n", nil, "data:uint8[3]", "\x02\x00\x01\x05\x06\x07", ""},
		{"ten in another order are a row", "2,0,1,3,4,5,6,7,8,9\n" + strings.Repeat("9,", 9) + "9\n", nil, "label:uint8[] image:uint8[3 3]", "\x02\x09", ""},
		{"chosen as a header, in another order", "2,0,1\n5,6,7\n", &yes, "data:uint8[3]", "\x06\x07\x05", ""},
		{"a label and a square, in another order", "4,0,2,1,3\n50,9,30,20,40\n", &yes, "label:uint8[] image:uint8[2 2]", "\x09", ""},
		{"no counting", "0,1,2,4\n5,6,7,8\n", nil, "image:uint8[2 2]", "\x00\x01\x02\x04\x05\x06\x07\x08", ""},
		{"785 columns, chosen as a row", line("%d", 0, 785) + "7," + zeros(784), &no, "label:uint8[] image:int32[28 28]", "\x00\x07", ""},
		{"words, chosen as a header", "a,b\n1,2\n", &yes, "a:uint8[] b:uint8[]", "\x01", ""},
		{"a label before numbers", "label,0,1,2,3\n7,1,2,3,4\n", nil, "label:uint8[] image:uint8[2 2]", "\x07", ""},
		{"a label after numbers", "0,1,2,3,label\n1,2,3,4,7\n", nil, "image:uint8[2 2] label:uint8[]", "\x01\x02\x03\x04", ""},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			table, data, err := parse(c.text, source.ReadOptions{Header: c.header})
			if c.want == undecided {
				if err == nil || !strings.Contains(err.Error(), "which may be column names or a row of values") || fault.HintOf(err) != "say which it is: --header yes, or --header no" {
					t.Errorf("found %v, expected a question", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := described(table); got != c.want || c.first != "" && string(data[0]) != c.first {
				t.Errorf("found %s, % x, expected %s, % x", got, data[0], c.want, c.first)
			}
			if notes := strings.Join(table.Info().Notes, "\n"); !strings.Contains(notes, c.note) {
				t.Errorf("found the notes %q, expected %q", notes, c.note)
			}
		})
	}
}

// sorted returns 0 to n−1, sorted as text.
func sorted(n int) string {
	fields := strings.Split(strings.TrimSpace(line("%d", 0, n)), ",")
	slices.Sort(fields)
	return strings.Join(fields, ",") + "\n"
}

// digitBytes returns the numbers in text as bytes.
func digitBytes(text string) string {
	var all []byte
	for _, field := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '\n' }) {
		var v byte
		fmt.Sscan(field, &v)
		all = append(all, v)
	}
	return string(all)
}

// distances returns |i−j| of n points: its first row counts, and is largest at its end.
func distances(n int) (text string) {
	for i := range n {
		fields := make([]string, n)
		for k := range fields {
			fields[k] = fmt.Sprint(max(i-k, k-i))
		}
		text += strings.Join(fields, ",") + "\n"
	}
	return text
}

// TestColumnsInAnyOrder: permuting the columns of a file changes nothing but the order of the
// columns of the table.
func TestColumnsInAnyOrder(t *testing.T) {
	t.Parallel()
	names := []string{"label", "hsf"}
	for i := range 49 {
		names = append(names, fmt.Sprintf("pixel%d", i))
	}
	for i := range 6 {
		names = append(names, fmt.Sprintf("b_%dx%d", i/3, i%3))
	}
	const rows = 5
	value := func(row, column int) int { return (row*31 + column*7) % 256 }
	var want [4][]byte // label, hsf, image, b
	for row := range rows {
		for c := range names {
			to := min(c, 2)
			if c >= 2+49 {
				to = 3
			}
			want[to] = append(want[to], byte(value(row, c)))
		}
	}
	for seed := range uint64(100) {
		order := rand.New(rand.NewPCG(seed, 2)).Perm(len(names))
		var text strings.Builder
		for row := -1; row < rows; row++ {
			for i, c := range order {
				if i > 0 {
					text.WriteByte(',')
				}
				if row < 0 {
					text.WriteString(names[c])
				} else {
					fmt.Fprint(&text, value(row, c))
				}
			}
			text.WriteByte('\n')
		}
		table, data, err := parse(text.String(), source.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(data) != len(want) {
			t.Fatalf("seed %d: found %s", seed, described(table))
		}
		for i, c := range table.Columns() {
			k := slices.Index([]string{"label uint8[]", "hsf uint8[]", "image uint8[7 7]", "b uint8[2 3]"}, fmt.Sprintf("%s %v%v", c.Name, c.DType, c.Shape))
			if k < 0 || string(data[i]) != string(want[k]) {
				t.Fatalf("seed %d: found %s, with % x as %s", seed, described(table), data[i], c.Name)
			}
		}
	}
}
