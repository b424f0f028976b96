package schema

import (
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
)

// bytesOf returns a column of records of n bytes.
func bytesOf(n int) source.Column { return source.Column{DType: idx.Uint8, Shape: []int{n}} }

func TestBatchRows(t *testing.T) {
	t.Parallel()
	label := source.Column{DType: idx.Uint8}
	for name, test := range map[string]struct {
		columns []source.Column
		want    int
	}{
		// clamp(1 MiB / row bytes, 1, 65,536), a multiple of 8 from 8 up: worked out by hand.
		// 1335.77
		"MNIST with labels":         {[]source.Column{{DType: idx.Uint8, Shape: []int{28, 28}}, label}, 1328},
		"labels":                    {[]source.Column{label}, 65536},
		"16 bytes, the most rows":   {[]source.Column{bytesOf(16)}, 65536},
		"17 bytes, fewer":           {[]source.Column{bytesOf(17)}, 61680}, // 61,680.9
		"no elements":               {[]source.Column{bytesOf(0)}, 65536},
		"no columns":                {nil, 65536},
		"8 rows exactly":            {[]source.Column{bytesOf(1 << 17)}, 8},
		"one byte less":             {[]source.Column{bytesOf(1<<17 - 1)}, 8},
		"one byte more, 7 rows":     {[]source.Column{bytesOf(1<<17 + 1)}, 7},
		"15 rows become 8":          {[]source.Column{bytesOf(1 << 20 / 15)}, 8},
		"16 rows":                   {[]source.Column{bytesOf(1 << 16)}, 16},
		"1 MiB, one row":            {[]source.Column{bytesOf(1 << 20)}, 1},
		"more than 1 MiB, one row":  {[]source.Column{bytesOf(1<<20 + 1)}, 1},
		"elements count, not dims":  {[]source.Column{{DType: idx.Float64, Shape: []int{1 << 14}}}, 8},
		"half a MiB in two columns": {[]source.Column{bytesOf(1 << 18), bytesOf(1 << 18)}, 2},
	} {
		s := &Schema{Columns: test.columns}
		if found := s.BatchRows(); found != test.want {
			t.Errorf("%s: found %d rows of %d bytes, expected %d", name, found, s.RowSize(), test.want)
		}
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	table := func(salvage bool) source.Table {
		file := "\x00\x00\x0b\x02\x00\x00\x00\x05\x00\x00\x00\x02" + strings.Repeat("ab", 10)
		in := must.Get(
			source.NewIDX(strings.NewReader(file), "image.idx", source.Options{Name: "image", Salvage: salvage}))(t)
		t.Cleanup(func() { in.Close() })
		return in
	}
	part := must.Get(source.Slice(table(false), 1, 3))(t)
	for name, test := range map[string]struct {
		in           source.Table
		rows, source int64
	}{
		"whole":   {table(false), 5, 5},
		"slice":   {part, 2, 5},
		"unknown": {table(true), -1, -1},
	} {
		s := Of(test.in, Pair{"b", "1"}, Pair{"a", "2"})
		if s.Rows != test.rows || s.SourceRows != test.source || len(s.Columns) != 1 || s.Columns[0].Name != "image" ||
			s.RowSize() != 4 {
			t.Errorf("%s: found %+v", name, s)
		}
		if want := []Pair{{"b", "1"}, {"a", "2"}}; !slices.Equal(s.Meta, want) { // the order is kept
			t.Errorf("%s: found the metadata %v, expected %v", name, s.Meta, want)
		}
	}
}

func TestLabel(t *testing.T) {
	t.Parallel()
	image := source.Column{Name: "image", DType: idx.Uint8, Shape: []int{2, 2}}
	column := func(name string, d idx.DType) source.Column { return source.Column{Name: name, DType: d} }
	chosen := column("writer", idx.Int32)
	chosen.Label = true
	for name, test := range map[string]struct {
		columns []source.Column
		want    int
	}{
		"none":              {[]source.Column{image}, -1},
		"called so":         {[]source.Column{image, column("a", idx.Uint8), column("label", idx.Uint8)}, 2},
		"the only integer":  {[]source.Column{column("f", idx.Float32), image, column("y", idx.Int16)}, 2},
		"one of two":        {[]source.Column{image, column("a", idx.Uint8), column("b", idx.Uint8)}, -1},
		"chosen":            {[]source.Column{image, column("label", idx.Uint8), chosen}, 2},
		"chosen, the first": {[]source.Column{chosen, column("label", idx.Uint8)}, 0},
		"label is a tensor": {[]source.Column{{Name: "label", DType: idx.Uint8, Shape: []int{3}},
			column("y", idx.Uint8)}, 1},
		"label is of floats":  {[]source.Column{column("label", idx.Float64)}, -1},
		"label before others": {[]source.Column{column("label", idx.Int32), column("b", idx.Uint8), image}, 0},
	} {
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
	must.Do(t, k.Check(good, 7))
	for i, want := range []int{0, 1, 0, 2} {
		if got := k.Index(good, i); got != want {
			t.Errorf("label %d: found index %d, expected %d", good[2*i], got, want)
		}
	}
	for _, bad := range [][]byte{{0, 0}, {4, 0}, {6, 0}, {0xff, 0xff}, {1, 1}} {
		err := k.Check(append([]byte{1, 0}, bad...), 7)
		if err == nil || !strings.HasPrefix(err.Error(), "column label, row 8: label ") ||
			!strings.HasSuffix(err.Error(), " has no class name (4 known)") {
			t.Errorf("label % x: found %+v, expected that the label of row 8 has no name, of 4", bad, err)
		}
	}
}
