package flat

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// numbered returns prefix with n numbers from first on.
func numbered(prefix string, first, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint(prefix, first+i)
	}
	return names
}

// grid returns the names of a tensor of rows×columns in the style rowxcol.
func grid(prefix string, rows, columns int) (names []string) {
	for r := range rows {
		for c := range columns {
			names = append(names, fmt.Sprintf("%s%dx%d", prefix, r+1, c+1))
		}
	}
	return names
}

// padded is numbered with numbers of that many digits.
func padded(prefix string, digits, first, n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("%s%0*d", prefix, digits, first+i))
	}
	return names
}

// described formats f as name[shape]columns, with ? after a guess.
func described(f Field) string {
	text := fmt.Sprintf("%s%v%d", f.Name, f.Shape, len(f.Columns))
	if f.Guess != "" {
		text += "?"
	}
	return text
}

func TestGroup(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		about string
		names []string
		want  string // name[shape]columns, ? after a guess, and the columns if they are not in order
	}{
		{"Kaggle's digit recogniser", append([]string{"label"}, numbered("pixel", 0, 784)...), "label[]1 image[28 28]784?"},
		{"HAM10000 on Kaggle", append(padded("pixel", 4, 0, 2352), "label"), "image[2352]2352? label[]1"},
		{"more digits than the padding", append(padded("x", 2, 0, 100), "x100"), "x[101]101?"},
		{"cifar10", append(numbered("cifar10", 0, 12), "label"), "cifar10[12]12? label[]1"},
		{"a capital letter", numbered("Pixel", 1, 4), "image[2 2]4?"},
		{"Kaggle's Fashion-MNIST", append([]string{"label"}, numbered("pixel", 1, 784)...), "label[]1 image[28 28]784?"},
		{"rows and columns", append([]string{"label"}, grid("", 28, 28)...), "label[]1 image[28 28]784"},
		{"rows and columns, not square", grid("", 2, 3), "image[2 3]6"},
		{"rows and columns of one element", []string{"label", "1x1"}, "label[]1 image[1 1]1"},
		{"three dimensions", []string{"1x1x1", "1x1x2", "1x2x1", "1x2x2"}, "image[1 2 2]4"},
		{"two tensors by number", []string{"label", "a0", "a1", "a2", "b0", "b1"}, "label[]1 a[3]3? b[2]2?"},
		{"two tensors by indices", append(grid("a_", 2, 2), grid("b_", 3, 1)...), "a[2 2]4 b[3 1]3"},
		{"one row", append([]string{"label"}, grid("", 1, 13)...), "label[]1 image[13]13?"},
		{"one dimension by indices", []string{"a_1", "a_2", "b_1", "b_2"}, "a[2]2? b[2]2?"},
		{"labels are no square", numbered("label", 0, 4), "label[4]4?"},
		{"numbers alone, as pandas writes them", numbered("", 0, 6), "image[6]6?"},
		{"numbers after x", numbered("x", 1, 3), "x[3]3?"},
		{"scalars that are numbered from elsewhere", numbered("t", 8, 4), "t8[]1 t9[]1 t10[]1 t11[]1"},
		{"one element is a scalar", []string{"label", "pixel0"}, "label[]1 pixel0[]1"},
		{"pixels beside an image", []string{"image", "pixel0", "pixel1"}, "image[]1 data[2]2?"},
		{"a number twice", []string{"p0", "p00"}, "p0[]1 p00[]1"},
		{"rows and columns from 0", []string{"0x0", "0x1", "1x0", "1x1"}, "image[2 2]4"},
		{"sizes of screens", []string{"640x480", "1280x720"}, "640x480[]1 1280x720[]1"},
		{"quartiles", []string{"q1", "q3"}, "q1[]1 q3[]1"},
		{"years", numbered("", 2017, 5), "2017[]1 2018[]1 2019[]1 2020[]1 2021[]1"},
		{"names that end with numbers", append(numbered("x1", 0, 12), numbered("x2", 0, 2)...), "x1[12]12? x2[2]2?"},
		{"words", []string{"", "label", "x", "box", "max"}, "[]1 label[]1 x[]1 box[]1 max[]1"},
		// In any order.
		{"as texts are sorted", []string{"p0", "p1", "p10", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9"},
			"p[11]11?[0 1 3 4 5 6 7 8 9 10 2]"},
		{"backwards", []string{"pixel3", "pixel2", "pixel1", "pixel0"}, "image[2 2]4?[3 2 1 0]"},
		{"a label in the middle", []string{"a0", "a1", "label", "a2"}, "a[3]3?[0 1 3] label[]1[2]"},
		{"padded numbers", []string{"x02", "x01", "x00"}, "x[3]3?[2 1 0]"},
		{"column by column", []string{"1x1", "2x1", "3x1", "1x2", "2x2", "3x2"}, "image[3 2]6[0 3 1 4 2 5]"},
		{"column by column from 0", []string{"0x0", "1x0", "0x1", "1x1"}, "image[2 2]4[0 2 1 3]"},
		{"two tensors, in turns", []string{"x1", "y1", "x2", "y2"}, "x[2]2?[0 2] y[2]2?[1 3]"},
		{"a name that ends with a number", []string{"x12", "x10", "x11"}, "x1[3]3?[1 2 0]"},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			fields, bad := Group(c.names, len(c.names), nil)
			if bad != nil {
				t.Fatal(bad)
			}
			var got []string
			var all []int
			for _, f := range fields {
				all = append(all, f.Columns...)
			}
			for _, f := range fields {
				got = append(got, described(f))
				if !slices.IsSorted(all) {
					got[len(got)-1] += fmt.Sprint(f.Columns)
				}
			}
			if s := strings.Join(got, " "); s != c.want || len(all) != len(c.names) {
				t.Errorf("found %s\nexpected %s", s, c.want)
			}
		})
	}
}

func TestGuessNote(t *testing.T) {
	t.Parallel()
	const want = "784 columns pixel0…pixel783 are read as 28×28, because their number is a square"
	fields, bad := Group(numbered("pixel", 0, 784), 784, nil)
	if bad != nil || fields[0].Guess != want {
		t.Errorf("found %v, %v, expected %q", fields, bad, want)
	}
}

func TestGroupRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		about string
		names []string
		want  string
	}{
		{"a gap", []string{"label", "p0", "p1", "p3"}, "3 columns p0…p3 without p2, expected all elements of a record"},
		{"a gap, backwards", []string{"p3", "p1", "p0"}, "3 columns p3…p0 without p2"},
		{"a gap before the last ten", append(numbered("p", 0, 780), numbered("p", 790, 4)...), "784 columns p0…p793 without p780"},
		{"pixels from 2 on", numbered("pixel", 2, 3), "3 columns pixel2…pixel4 without pixel1"},
		{"padded numbers", []string{"x000", "x001", "x003"}, "without x2"},
		{"an element twice", []string{"p0", "p1", "label", "p1"}, "3 columns p0…p1 with p1 twice"},
		{"rows and columns, the last is missing", []string{"1x1", "1x2", "2x1"}, "3 columns 1x1…2x1 without 2x2"},
		{"one in the middle is missing", []string{"a_1x1", "a_1x3", "a_2x1", "a_2x2", "a_2x3"}, "without a_1x2"},
		{"one twice, one missing", []string{"1x1", "1x2", "2x1", "1x2"}, "with 1x2 twice"},
		{"dimensions beyond counting", []string{"1x1", "2147483647x2147483647"}, "without 1x2"},
		{"too many of one prefix", numbered("t", 90, 11), "more than 10 columns"},
		{"too many", strings.Split("a b c d e f g h i j k", " "), "more than 10 columns"},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			limit := max(10, len(c.names)-1)
			if fields, bad := Group(c.names, limit, nil); bad == nil || !strings.Contains(bad.Msg, c.want) {
				t.Errorf("found %v and %v, expected %q", fields, bad, c.want)
			}
		})
	}
}

// Columns that are known to be scalars are not elements of a tensor.
func TestGroupAlone(t *testing.T) {
	t.Parallel()
	fields, bad := Group([]string{"t1", "t2", "t4", "p1", "p0"}, 5, func(i int) bool { return i < 3 })
	if bad != nil || len(fields) != 4 || described(fields[3]) != "p[2]2?" {
		t.Errorf("found %v and %v", fields, bad)
	}
}
