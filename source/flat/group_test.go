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

// described formats f as name[shape]columns, with ? after a guess.
func described(f Field) string {
	text := fmt.Sprintf("%s%v%d", f.Name, f.Shape, len(f.Columns))
	if f.Guess != "" {
		text += "?"
	}
	return text
}

// all wants all fields, and never knows no shapes.
func all([]string) func(string) bool { return func(string) bool { return true } }
func never(int, int) bool            { return false }
func none(int) bool                  { return false }

func TestGroup(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		about string
		names []string
		want  string // name[shape]columns, ? after a guess
	}{
		{"Kaggle's digits", append([]string{"label"}, numbered("pixel", 0, 784)...), "label[]1 image[28 28]784?"},
		{"HAM10000 on Kaggle", []string{"pixel00", "pixel01", "label"}, "image[2]2? label[]1"},
		{"more digits than the padding", append([]string{"x00", "x01", "x02"}, numbered("x", 3, 98)...), "x[101]101?"},
		{"Fashion-MNIST", append([]string{"label"}, numbered("pixel", 1, 784)...), "label[]1 image[28 28]784?"},
		{"rows and columns", append([]string{"label"}, grid("", 28, 28)...), "label[]1 image[28 28]784"},
		{"rows and columns of one element", []string{"label", "1x1"}, "label[]1 image[1 1]1"},
		{"three dimensions", []string{"1x1x1", "1x1x2", "1x2x1", "1x2x2"}, "image[1 2 2]4"},
		{"two tensors by indices", append(grid("a_", 2, 2), grid("b_", 3, 1)...), "a[2 2]4 b[3 1]3"},
		{"one row", append([]string{"label"}, grid("", 1, 13)...), "label[]1 image[13]13?"},
		{"labels are no square", numbered("label", 0, 4), "label[4]4?"},
		{"no image beside a label", append([]string{"label"}, numbered("_c", 0, 785)...), "label[]1 _c[785]785?"},
		{"a name that says something", numbered("x", 0, 785), "x[785]785?"},
		{"numbers alone, as pandas writes them", numbered("", 0, 6), "image[6]6?"},
		{"scalars that are numbered from elsewhere", numbered("t", 8, 4), "t8[]1 t9[]1 t10[]1 t11[]1"},
		{"pixels beside an image", []string{"image", "pixel0", "pixel1"}, "image[]1 data[2]2?"},
		{"one element, a number twice", strings.Fields("label pixel0 p0 p00"), "label[]1 pixel0[]1 p0[]1 p00[]1"},
		{"words of pixels", strings.Fields("pixel_mean_0 pixel_mean_1"), "pixel_mean[2]2?"},
		{"scikit-learn, and others", strings.Fields("pixel_0_0 px0_1 p1x0 PIX_1x1 y"), "image[2 2]4 y[]1"},
		{"in colours", strings.Fields("pixel_0_0_0 pixel_0_0_1 pixel_0_1_0 pixel_0_1_1"), "image[1 2 2]4"},
		{"1x1 and 2x1, as R renames them", strings.Fields("X1x1 X2x1"), "image[2 1]2"},
		{"a grid, a row", append(grid("p", 2, 2), numbered("a_0x", 0, 10)...), "image[2 2]4 a[10]10?"},
		{"a nine", append(numbered("px_0_", 0, 10), numbered("px_1_", 0, 10)...), "image[2 10]20"},
		{"questions, not rows", strings.Fields("p1_1 p2_1 p3_1"), "p1_1[]1 p2_1[]1 p3_1[]1"},
		{"one question", strings.Fields("p_1_1 p_1_2"), "p_1_1[]1 p_1_2[]1"},
		{"numbers of others", strings.Fields("a_1x2 a_1x3 image x1 x2"), "a_1x2[]1 a_1x3[]1 image[]1 x[2]2?"},
		{"rows and columns from 0", []string{"0x0", "r0c1", "row_1_col_0", "R1_C1"}, "image[2 2]4"},
		{"sizes of screens, quartiles, a few from 2", strings.Fields("640x480 1280x720 q1 q3 V2 V3"),
			"640x480[]1 1280x720[]1 q1[]1 q3[]1 V2[]1 V3[]1"},
		{"in R, the first has a name", append([]string{"y"}, numbered("V", 2, 256)...), "y[]1 V[16 16]256?"},
		{"names that end with numbers", append(numbered("x1_", 0, 12), numbered("x2_", 0, 2)...), "x1[12]12? x2[2]2?"},
		{"an underscore, few from 1", append(grid("w__", 2, 2), numbered("V", 1, 10)...), "w_[2 2]4 V[10]10?"},
		{"words", []string{"", "label", "x", "box", "max"}, "[]1 label[]1 x[]1 box[]1 max[]1"},
		{"a label between tensors", []string{"x1", "x2", "label", "y1", "y2"}, "x[2]2? label[]1 y[2]2?"},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			fields, bad := Group(c.names, len(c.names), none, never, all)
			if bad != nil {
				t.Fatal(bad)
			}
			var got []string
			var all []int
			for _, f := range fields {
				got, all = append(got, described(f)), append(all, f.Columns...)
			}
			if s := strings.Join(got, " "); s != c.want || len(all) != len(c.names) || !slices.IsSorted(all) {
				t.Errorf("found %s\nexpected %s", s, c.want)
			}
		})
	}
}

// TestGroupWanted: elements that are not in order matter only if their tensor is wanted.
func TestGroupWanted(t *testing.T) {
	t.Parallel()
	names := []string{"label", "x1", "y1", "x2", "y2", "pixel0", "pixel2"}
	for wanted, want := range map[string]string{
		"label": "", "y1": "", "x": "y1 where x2", "y": "x2 where y2", "image": "pixel2 where pixel1"} {
		fields, bad := Group(names, len(names), none, never, func(all []string) func(string) bool {
			if found := strings.Join(all, " "); found != "label x y x y image image label x1 y1 x2 y2 pixel0 pixel2" {
				t.Errorf("found the names %s", found)
			}
			return func(name string) bool { return name == wanted }
		})
		if want == "" && (bad != nil || len(fields) != len(names) || fields[1].Name != "x1" || fields[1].Shape != nil) {
			t.Errorf("%s: found %v, %v, expected a field for each column", wanted, fields, bad)
		} else if want != "" && (bad == nil || !strings.Contains(bad.Msg, want)) {
			t.Errorf("%s: found %v, expected %s", wanted, bad, want)
		}
	}
}

func TestGroupRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		about string
		names []string
		want  string
	}{
		{"a gap", []string{"label", "p0", "p1", "p3"}, "p3 where p2 is expected"},
		{"a gap after 780", append(numbered("p", 0, 780), numbered("p", 790, 4)...), "p790 where p780 is expected"},
		{"padded numbers", []string{"x000", "x001", "x003"}, "x003 where x2 is expected"},
		{"an element twice, apart", []string{"p0", "p1", "label", "p1"}, "label where p2 is expected"},
		{"rows and columns, the last is missing", []string{"1x1", "1x2", "2x1"}, "no column where 2x2 is expected"},
		{"dimensions beyond counting", []string{"1x1", "2147483647x2147483647"}, "7x2147483647 where 1x2 is"},
		{"as texts are sorted", []string{"p0", "p1", "p10", "p2", "p3", "p4"}, "p10 where p2 is expected"},
		{"an element twice", []string{"p0", "p1", "p1"}, "p1 where p2 is expected"},
		{"a label among the elements", []string{"a0", "a1", "label", "a2"}, "label where a2 is expected"},
		{"column by column", []string{"1x1", "2x1", "1x2", "2x2"}, "2x1 where 1x2 is expected"},
		{"two tensors, in turns", []string{"x1", "y1", "x2", "y2"}, "y1 where x2 is expected"},
		{"after a name", append([]string{"id"}, numbered("column_", 1, 785)...), "785 columns column_1…"},
		{"duplicates in pandas", strings.Fields("label pixel pixel.1 pixel.2"), "columns pixel, pixel.1…, which"},
		{"duplicates in DuckDB", strings.Fields("x x_1 x_2"), "columns x, x_1…, which may be one tensor"},
		{"duplicates in polars", strings.Fields("x x_duplicated_0 x_duplicated_1"), "columns x, x_duplicated_0…"},
		{"too many of one prefix", numbered("t", 90, 11), "more than 10 columns"},
		{"too many", strings.Split("a b c d e f g h i j k", " "), "more than 10 columns"},
	} {
		limit := max(10, len(c.names)-1)
		if fields, bad := Group(c.names, limit, none, never, all); bad == nil || !strings.Contains(bad.Msg, c.want) {
			t.Errorf("%s: found %v and %v, expected %q", c.about, fields, bad, c.want)
		}
	}
	for _, name := range strings.Fields("0 f0 X0 _c0 Col0 pixel0 000 V1 x1 C1 c1 Var1 column_1 ...1") {
		for _, n := range []int{65, 257, 785, 3073} {
			names := numbered(strings.TrimRight(name, "01"), int(name[len(name)-1]-'0'), n)
			names[0] = name
			fields, bad := Group(names, n, none, never, all)
			if bad == nil || bad.Msg != fmt.Sprintf("%d columns %s…, which may be a label and an image", n, name) {
				t.Errorf("%d columns %s: found %d fields and %v", n, name, len(fields), bad)
			}
		}
	}
}

// Columns that are known to be scalars are not elements of a tensor.
func TestGroupAlone(t *testing.T) {
	t.Parallel()
	isAlone := func(i int) bool { return i < 3 || i == 7 }
	fields, bad := Group(strings.Fields("t1 t2 t4 p0 p1 q0 q1 q2 q3"), 9, isAlone, never, all)
	if bad != nil || len(fields) != 8 || described(fields[3]) != "p[2]2?" {
		t.Errorf("found %v and %v", fields, bad)
	}
}
