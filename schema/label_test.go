package schema

import (
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

func TestLabel(t *testing.T) {
	t.Parallel()
	image := source.Column{Name: "image", DType: idx.Uint8, Shape: []int{2, 2}}
	column := func(name string, d idx.DType) source.Column { return source.Column{Name: name, DType: d} }
	chosen := column("writer", idx.Int32)
	chosen.Label = true
	tests := map[string]struct {
		columns []source.Column
		want    int
	}{
		"none":                {[]source.Column{image}, -1},
		"called so":           {[]source.Column{image, column("a", idx.Uint8), column("label", idx.Uint8)}, 2},
		"the only integer":    {[]source.Column{column("f", idx.Float32), image, column("y", idx.Int16)}, 2},
		"one of two":          {[]source.Column{image, column("a", idx.Uint8), column("b", idx.Uint8)}, -1},
		"chosen":              {[]source.Column{image, column("label", idx.Uint8), chosen}, 2},
		"chosen, the first":   {[]source.Column{chosen, column("label", idx.Uint8)}, 0},
		"label is a tensor":   {[]source.Column{{Name: "label", DType: idx.Uint8, Shape: []int{3}}, column("y", idx.Uint8)}, 1},
		"label is of floats":  {[]source.Column{column("label", idx.Float64)}, -1},
		"label before others": {[]source.Column{column("label", idx.Int32), column("b", idx.Uint8), image}, 0},
	}
	for name, test := range tests {
		if got := (&Schema{Columns: test.columns}).Label(); got != test.want {
			t.Errorf("%s: found column %d, expected %d", name, got, test.want)
		}
	}
}

func TestClasses(t *testing.T) {
	t.Parallel()
	s := &Schema{Columns: []source.Column{{Name: "image", DType: idx.Uint8, Shape: []int{2}},
		{Name: "label", DType: idx.Int16, Classes: []string{"", "b", "a", "b", "", "c"}}}}
	k := NewClasses(s, 1)
	if want := []string{"b", "a", "c"}; k.Label != 1 || !slices.Equal(k.Names, want) {
		t.Fatalf("found the names %q of column %d, expected %q of column 1", k.Names, k.Label, want)
	}
	good := []byte{1, 0, 2, 0, 3, 0, 5, 0}
	if err := k.Check(good, 7); err != nil {
		t.Error(err)
	}
	for i, want := range []int{0, 1, 0, 2} {
		if got := k.Place(good, i); got != want {
			t.Errorf("label %d: found place %d, expected %d", good[2*i], got, want)
		}
	}
	for _, bad := range [][]byte{{0, 0}, {4, 0}, {6, 0}, {0xff, 0xff}, {1, 1}} {
		err := k.Check(append([]byte{1, 0}, bad...), 7)
		if err == nil || !strings.HasPrefix(err.Error(), "column label, row 8: label ") || !strings.HasSuffix(err.Error(), " has no name, of 4 names that are known") {
			t.Errorf("label % x: found %+v, expected that the label of row 8 has no name, of 4", bad, err)
		}
	}
}
