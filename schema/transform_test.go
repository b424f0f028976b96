package schema

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// transposed is the plain reference: out[r][j][i][k] = in[r][i][j][k], one element of size bytes at a time.
func transposed(in []byte, records, n1, n2, rest, size int) []byte {
	out := make([]byte, 0, len(in))
	for r := range records {
		for j := range n2 {
			for i := range n1 {
				for k := range rest {
					at := (((r*n1+i)*n2+j)*rest + k) * size
					out = append(out, in[at:at+size]...)
				}
			}
		}
	}
	return out
}

func TestTranspose(t *testing.T) {
	t.Parallel()
	shapes := [][]int{{3, 3}, {2, 5}, {5, 2}, {1, 4}, {4, 1}, {1, 1}, {2, 3, 4}, {3, 3, 3}, {2, 3, 2, 2}, {0, 3}, {3, 0}, {2, 3, 0}}
	for _, d := range idx.DTypes() {
		for _, shape := range shapes {
			t.Run(fmt.Sprintf("%v %v", d, shape), func(t *testing.T) {
				t.Parallel()
				const records = 5
				c := source.Column{DType: d, Shape: shape}
				all := values(t, d, records*c.Elements())
				raw := file(t, d, append([]int{records}, shape...), all)
				rest := source.Column{Shape: shape[2:]}.Elements()
				want := transposed(little(t, all), records, shape[0], shape[1], rest, d.Size())
				for _, batch := range []int{1, 2, 100} {
					out, err := Transpose(table(t, "image", raw, false), 0)
					if err != nil {
						t.Fatal(err)
					}
					if turned := slices.Concat([]int{shape[1], shape[0]}, shape[2:]); !slices.Equal(out.Columns()[0].Shape, turned) {
						t.Errorf("found shape %v, expected %v", out.Columns()[0].Shape, turned)
					}
					columns, rows, err := readAll(out, batch)
					if err != nil || rows != records || !bytes.Equal(columns[0], want) {
						t.Errorf("%d at a time: found %d rows, % x, %v, expected % x", batch, rows, columns[0], err, want)
					}
				}
			})
		}
	}
}

func TestTransposeTwiceIsNothing(t *testing.T) {
	t.Parallel()
	raw := file(t, idx.Float32, []int{3, 4, 7}, values(t, idx.Float32, 84))
	once, err := Transpose(table(t, "image", raw, false), 0)
	if err != nil {
		t.Fatal(err)
	}
	twice, err := Transpose(once, 0)
	if err != nil {
		t.Fatal(err)
	}
	columns, _, err := readAll(twice, 2)
	if err != nil || !bytes.Equal(columns[0], little(t, values(t, idx.Float32, 84))) || !slices.Equal(twice.Columns()[0].Shape, []int{4, 7}) {
		t.Errorf("found % x, %v", columns, err)
	}
}

func TestInvert(t *testing.T) {
	t.Parallel()
	data, want := make([]byte, 256), make([]byte, 256)
	for i := range data {
		data[i], want[i] = byte(i), byte(255-i)
	}
	for _, batch := range []int{1, 3, 100} {
		out, err := Invert(table(t, "image", file(t, idx.Uint8, []int{16, 4, 4}, data), false), 0)
		if err != nil {
			t.Fatal(err)
		}
		columns, rows, err := readAll(out, batch)
		if err != nil || rows != 16 || !bytes.Equal(columns[0], want) {
			t.Errorf("%d at a time: found %d rows, % x, %v", batch, rows, columns[0], err)
		}
	}
}

func TestTransformsRefuse(t *testing.T) {
	t.Parallel()
	for _, d := range idx.DTypes() {
		in := table(t, "label", file(t, d, []int{2, 3}, values(t, d, 6)), false)
		if _, err := Transpose(in, 0); !errors.Is(err, ErrTransform) || !strings.Contains(err.Error(), "column label has records of 1 dimensions") {
			t.Errorf("transpose of %v vectors: found %v", d, err)
		}
		if _, err := Invert(in, 0); (d != idx.Uint8) != errors.Is(err, ErrTransform) {
			t.Errorf("invert of %v: found %v", d, err)
		}
	}
	scalars := table(t, "label", file(t, idx.Uint8, []int{2}, []uint8{1, 2}), false)
	if _, err := Transpose(scalars, 0); !errors.Is(err, ErrTransform) {
		t.Errorf("transpose of scalars: found %v", err)
	}
}

// Only the column that was asked for changes, and what is joined stays aligned.
func TestTransformsLeaveOtherColumnsAlone(t *testing.T) {
	t.Parallel()
	pixels := []uint8{0, 1, 2, 3, 4, 5, 250, 251, 252, 253, 254, 255}
	joined, err := source.Join(false,
		table(t, "label", file(t, idx.Uint8, []int{2}, []uint8{7, 9}), false),
		table(t, "image", file(t, idx.Uint8, []int{2, 2, 3}, pixels), false))
	if err != nil {
		t.Fatal(err)
	}
	turned, err := Transpose(joined, 1)
	if err != nil {
		t.Fatal(err)
	}
	out, err := Invert(turned, 1)
	if err != nil {
		t.Fatal(err)
	}
	columns, _, err := readAll(out, 1)
	want := []byte{255, 252, 254, 251, 253, 250, 5, 2, 4, 1, 3, 0}
	if err != nil || !bytes.Equal(columns[0], []byte{7, 9}) || !bytes.Equal(columns[1], want) {
		t.Errorf("found % d, %v, expected labels 7, 9 and % d", columns, err, want)
	}
	if before, after := joined.Columns()[1].Shape, out.Columns()[1].Shape; !slices.Equal(before, []int{2, 3}) || !slices.Equal(after, []int{3, 2}) {
		t.Errorf("found shapes %v before and %v after", before, after)
	}
}

func TestTransformsKeepSkipAndNotes(t *testing.T) {
	t.Parallel()
	raw := file(t, idx.Uint8, []int{9, 2, 2}, []uint8{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}) // three of nine are there
	transforms := map[string]struct {
		apply func(source.Table, int) (source.Table, error)
		want  []byte
	}{
		"transpose": {Transpose, []byte{9, 11, 10, 12}},
		"invert":    {Invert, []byte{246, 245, 244, 243}},
	}
	for name, test := range transforms {
		out, err := test.apply(table(t, "image", raw, true), 0)
		if err != nil {
			t.Fatal(err)
		}
		seeker, ok := out.(source.Seeker)
		if !ok {
			t.Fatalf("%s: cannot skip", name)
		}
		if err := seeker.Skip(2); err != nil {
			t.Fatal(err)
		}
		columns, rows, err := readAll(out, 2)
		if err != nil || rows != 1 || !bytes.Equal(columns[0], test.want) {
			t.Errorf("%s: found %d rows, % d, %v, expected % d", name, rows, columns, err, test.want)
		}
		if notes := source.Notes(out); len(notes) != 1 || !strings.Contains(notes[0], "salvaged 3 whole records") {
			t.Errorf("%s: found notes %q", name, notes)
		}
	}
}

func TestTransformsPassErrors(t *testing.T) {
	t.Parallel()
	labels, err := source.NewIDX(bytes.NewReader(file(t, idx.Uint8, []int{1}, []uint8{3})), "labels", source.Options{Name: "label", Classes: []string{"zero"}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := Invert(source.CheckLabels(labels), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := readAll(out, 1); !errors.Is(err, source.ErrLabel) {
		t.Errorf("decoding: found %v, expected ErrLabel", err)
	}
}
