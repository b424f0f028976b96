package source

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
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
				c := Column{DType: d, Shape: shape}
				raw := file(t, d, append([]int{records}, shape...), bytesUpTo(records*c.RecordSize()))
				plain, err := readAll(column(t, "image", raw, false), records)
				if err != nil {
					t.Fatal(err)
				}
				rest := Column{Shape: shape[2:]}.Elements()
				want := transposed(plain.columns[0], records, shape[0], shape[1], rest, d.Size())
				for _, batch := range []int{1, 2, 100} {
					out, err := Transpose(column(t, "image", raw, false), 0)
					if err != nil {
						t.Fatal(err)
					}
					if turned := slices.Concat([]int{shape[1], shape[0]}, shape[2:]); !slices.Equal(out.Columns()[0].Shape, turned) {
						t.Errorf("found shape %v, expected %v", out.Columns()[0].Shape, turned)
					}
					c, err := readAll(out, batch)
					if err != nil || c.rows != records || !bytes.Equal(c.columns[0], want) {
						t.Errorf("%d at a time: found %d rows, % x, %v, expected % x", batch, c.rows, c.columns[0], err, want)
					}
				}
			})
		}
	}
}

func TestTransposeTwiceIsNothing(t *testing.T) {
	t.Parallel()
	values := make([]float32, 84)
	for i := range values {
		values[i] = float32(i) / 7
	}
	raw := file(t, idx.Float32, []int{3, 4, 7}, values)
	once, err := Transpose(column(t, "image", raw, false), 0)
	if err != nil {
		t.Fatal(err)
	}
	twice, err := Transpose(once, 0)
	if err != nil {
		t.Fatal(err)
	}
	c, err := readAll(twice, 2)
	if err != nil || !bytes.Equal(c.columns[0], little(t, values)) || !slices.Equal(twice.Columns()[0].Shape, []int{4, 7}) {
		t.Errorf("found % x, %v", c.columns, err)
	}
}

func TestInvert(t *testing.T) {
	t.Parallel()
	data, want := make([]byte, 256), make([]byte, 256)
	for i := range data {
		data[i], want[i] = byte(i), byte(255-i)
	}
	for _, batch := range []int{1, 3, 100} {
		out, err := Invert(column(t, "image", file(t, idx.Uint8, []int{16, 4, 4}, data), false), 0)
		if err != nil {
			t.Fatal(err)
		}
		c, err := readAll(out, batch)
		if err != nil || c.rows != 16 || !bytes.Equal(c.columns[0], want) {
			t.Errorf("%d at a time: found %d rows, % x, %v", batch, c.rows, c.columns[0], err)
		}
	}
}

func TestTransformsRefuse(t *testing.T) {
	t.Parallel()
	for _, d := range idx.DTypes() {
		in := column(t, "label", file(t, d, []int{2, 3}, bytesUpTo(6*d.Size())), false)
		if _, err := Transpose(in, 0); !errors.Is(err, fault.Usage) || !strings.Contains(err.Error(), "column label has records of 1 dimensions") {
			t.Errorf("transpose of %v vectors: found %v", d, err)
		}
		if _, err := Invert(in, 0); (d != idx.Uint8) != errors.Is(err, fault.Usage) {
			t.Errorf("invert of %v: found %v", d, err)
		}
	}
	scalars := column(t, "label", file(t, idx.Uint8, []int{2}, []uint8{1, 2}), false)
	if _, err := Transpose(scalars, 0); !errors.Is(err, fault.Usage) {
		t.Errorf("transpose of scalars: found %v", err)
	}
}

// Only the column that was asked for changes, and what is joined stays aligned.
func TestTransformsLeaveOtherColumnsAlone(t *testing.T) {
	t.Parallel()
	pixels := []uint8{0, 1, 2, 3, 4, 5, 250, 251, 252, 253, 254, 255}
	joined, err := Join(false,
		column(t, "label", file(t, idx.Uint8, []int{2}, []uint8{7, 9}), false),
		column(t, "image", file(t, idx.Uint8, []int{2, 2, 3}, pixels), false))
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
	c, err := readAll(out, 1)
	want := []byte{255, 252, 254, 251, 253, 250, 5, 2, 4, 1, 3, 0}
	if err != nil || !bytes.Equal(c.columns[0], []byte{7, 9}) || !bytes.Equal(c.columns[1], want) {
		t.Errorf("found % d, %v, expected labels 7, 9 and % d", c.columns, err, want)
	}
	if before, after := joined.Columns()[1].Shape, out.Columns()[1].Shape; !slices.Equal(before, []int{2, 3}) || !slices.Equal(after, []int{3, 2}) {
		t.Errorf("found shapes %v before and %v after", before, after)
	}
}

func TestTransformsKeepSkipAndNotes(t *testing.T) {
	t.Parallel()
	raw := file(t, idx.Uint8, []int{9, 2, 2}, []uint8{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}) // three of nine are there
	transforms := map[string]struct {
		apply func(Table, int) (Table, error)
		want  []byte
	}{
		"transpose": {Transpose, []byte{9, 11, 10, 12}},
		"invert":    {Invert, []byte{246, 245, 244, 243}},
	}
	for name, test := range transforms {
		out, err := test.apply(column(t, "image", raw, true), 0)
		if err != nil {
			t.Fatal(err)
		}
		seeker, ok := out.(Seeker)
		if !ok {
			t.Fatalf("%s: cannot skip", name)
		}
		if err := seeker.Skip(2); err != nil {
			t.Fatal(err)
		}
		c, err := readAll(out, 2)
		if err != nil || c.rows != 1 || !bytes.Equal(c.columns[0], test.want) {
			t.Errorf("%s: found %d rows, % d, %v, expected % d", name, c.rows, c.columns, err, test.want)
		}
		if notes := Notes(out); len(notes) != 1 || !strings.Contains(notes[0], "salvaged 3 whole records") {
			t.Errorf("%s: found notes %q", name, notes)
		}
	}
}

func TestTransformsPassErrors(t *testing.T) {
	t.Parallel()
	labels, err := NewIDX(bytes.NewReader(file(t, idx.Uint8, []int{1}, []uint8{3})), "labels", Options{Name: "label", Classes: []string{"zero"}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := Invert(CheckLabels(labels), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readAll(out, 1); !errors.Is(err, fault.Malformed) {
		t.Errorf("decoding: found %v, expected a label without a name", err)
	}
}

// column is a table of one column of that name over an IDX file in memory.
func column(t *testing.T, name string, data []byte, salvage bool) Table {
	return fromBytes(t, name, data, Options{Name: name, Salvage: salvage})
}
