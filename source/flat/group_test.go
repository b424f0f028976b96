package flat

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// numbered is prefix with the numbers from first on, n times.
func numbered(prefix string, first, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint(prefix, first+i)
	}
	return names
}

// grid is the names of a tensor of rows×columns as the style rowxcol has them.
func grid(prefix string, rows, columns int) (names []string) {
	for r := range rows {
		for c := range columns {
			names = append(names, fmt.Sprintf("%s%dx%d", prefix, r+1, c+1))
		}
	}
	return names
}

// padded is numbered with numbers of so many digits.
func padded(prefix string, digits, first, n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("%s%0*d", prefix, digits, first+i))
	}
	return names
}

func TestGroup(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		about string
		names []string
		want  string // name[shape]columns, ? behind a guess
	}{
		{"Kaggle's digit recogniser", slices.Concat([]string{"label"}, numbered("pixel", 0, 784)), "label[]1 image[28 28]784?"},
		{"HAM10000 on Kaggle", slices.Concat(padded("pixel", 4, 0, 2352), []string{"label"}), "image[2352]2352? label[]1"},
		{"padded numbers from 1", padded("x", 2, 1, 12), "x[12]12?"},
		{"of two widths", []string{"x00", "x01", "x2"}, "x[2]2? x2[]1"},
		{"a capital letter", numbered("Pixel", 1, 4), "image[2 2]4?"},
		{"its test.csv", numbered("pixel", 0, 784), "image[28 28]784?"},
		{"Kaggle's Fashion-MNIST", slices.Concat([]string{"label"}, numbered("pixel", 1, 784)), "label[]1 image[28 28]784?"},
		{"rows and columns", slices.Concat([]string{"label"}, grid("", 28, 28)), "label[]1 image[28 28]784"},
		{"rows and columns, not square", grid("", 2, 3), "image[2 3]6"},
		{"rows and columns of one element", []string{"label", "1x1"}, "label[]1 image[1 1]1"},
		{"three dimensions", []string{"1x1x1", "1x1x2", "1x2x1", "1x2x2"}, "image[1 2 2]4"},
		{"two tensors by number", []string{"label", "a0", "a1", "a2", "b0", "b1"}, "label[]1 a[3]3? b[2]2?"},
		{"two tensors by indices", slices.Concat(grid("a_", 2, 2), grid("b_", 3, 1)), "a[2 2]4 b[3 1]3"},
		{"one row", slices.Concat([]string{"label"}, grid("", 1, 13)), "label[]1 image[13]13?"},
		{"one dimension by indices", []string{"a_1", "a_2", "b_1", "b_2"}, "a[2]2? b[2]2?"},
		{"one tensor of two labels", []string{"label0", "label1"}, "label[2]2?"},
		{"labels are no square", numbered("label", 0, 4), "label[4]4?"},
		{"numbers alone, as pandas writes them", numbered("", 0, 6), "image[6]6?"},
		{"a name that ends with a number", []string{"x10", "x11", "x12"}, "x1[3]3?"},
		{"scalars that are numbered from elsewhere", []string{"t8", "t9", "t10", "t11"}, "t8[]1 t9[]1 t10[]1 t11[]1"},
		{"one element is a scalar", []string{"label", "pixel0"}, "label[]1 pixel0[]1"},
		{"a gap ends a tensor", []string{"p0", "p1", "p3"}, "p[2]2? p3[]1"},
		{"leading zeros are names", []string{"p0", "p01"}, "p0[]1 p01[]1"},
		{"pixels beside an image", []string{"image", "pixel0", "pixel1"}, "image[]1 pixel[2]2?"},
		{"incomplete rows and columns", []string{"1x1", "1x2", "2x1"}, "1x1[]1 1x2[]1 2x1[]1"},
		{"rows and columns out of order", []string{"1x1", "2x1", "1x2", "2x2"}, "1x1[]1 2x1[]1 1x2[]1 2x2[]1"},
		{"dimensions beyond counting", []string{"1x1", "2147483647x2147483647"}, "1x1[]1 2147483647x2147483647[]1"},
		{"words", []string{"", "label", "x", "box", "max"}, "[]1 label[]1 x[]1 box[]1 max[]1"},
		{"the eight columns of QMNIST", []string{"label", "hsf", "writer", "id"}, "label[]1 hsf[]1 writer[]1 id[]1"},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			var got []string
			next := 0
			for _, f := range Group(c.names) {
				for _, i := range f.Columns {
					if i != next {
						t.Fatalf("field %s has column %d, expected %d", f.Name, i, next)
					}
					next++
				}
				text := fmt.Sprintf("%s%v%d", f.Name, f.Shape, len(f.Columns))
				if f.Guess != "" {
					text += "?"
				}
				got = append(got, text)
			}
			if next != len(c.names) {
				t.Errorf("%d names are in fields, expected %d", next, len(c.names))
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("found %s\nexpected %s", s, c.want)
			}
		})
	}
}

func TestGuessTellsWhatAndHow(t *testing.T) {
	t.Parallel()
	const want = "784 columns pixel0…pixel783 taken for 28×28, as their number is a square"
	if got := Group(numbered("pixel", 0, 784))[0].Guess; got != want {
		t.Errorf("found %q\nexpected %q", got, want)
	}
}
