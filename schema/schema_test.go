package schema

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// bytesOf is a column of records of n bytes.
func bytesOf(n int) source.Column { return source.Column{DType: idx.Uint8, Shape: []int{n}} }

func TestBatchRows(t *testing.T) {
	t.Parallel()
	label := source.Column{DType: idx.Uint8}
	tests := map[string]struct {
		columns []source.Column
		want    int
	}{
		// clamp(1 MiB / row bytes, 1, 65,536), a multiple of 8 from 8 up: worked out by hand.
		"MNIST's images":            {[]source.Column{{DType: idx.Uint8, Shape: []int{28, 28}}}, 1336},        // 1337.47
		"MNIST with labels":         {[]source.Column{{DType: idx.Uint8, Shape: []int{28, 28}}, label}, 1328}, // 1335.77
		"labels":                    {[]source.Column{label}, 65536},
		"doubles":                   {[]source.Column{{DType: idx.Float64}}, 65536}, // 131,072
		"16 bytes, the most rows":   {[]source.Column{bytesOf(16)}, 65536},
		"17 bytes, fewer":           {[]source.Column{bytesOf(17)}, 61680}, // 61,680.9
		"no elements":               {[]source.Column{bytesOf(0)}, 65536},
		"no columns":                {nil, 65536},
		"8 rows exactly":            {[]source.Column{bytesOf(1 << 17)}, 8},
		"one byte less":             {[]source.Column{bytesOf(1<<17 - 1)}, 8},
		"one byte more, 7 rows":     {[]source.Column{bytesOf(1<<17 + 1)}, 7},
		"15 rows become 8":          {[]source.Column{bytesOf(1 << 20 / 15)}, 8},
		"16 rows":                   {[]source.Column{bytesOf(1 << 16)}, 16},
		"2 rows":                    {[]source.Column{bytesOf(1 << 19)}, 2},
		"1 MiB, one row":            {[]source.Column{bytesOf(1 << 20)}, 1},
		"more than 1 MiB, one row":  {[]source.Column{bytesOf(1<<20 + 1)}, 1},
		"16 MiB, one row":           {[]source.Column{bytesOf(16 << 20)}, 1},
		"elements count, not dims":  {[]source.Column{{DType: idx.Float64, Shape: []int{1 << 14}}}, 8},
		"half a MiB in two columns": {[]source.Column{bytesOf(1 << 18), bytesOf(1 << 18)}, 2},
	}
	for name, test := range tests {
		s := &Schema{Columns: test.columns}
		if found := s.BatchRows(); found != test.want {
			t.Errorf("%s: found %d rows of %d bytes, expected %d", name, found, s.RowSize(), test.want)
		}
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	raw := file(t, idx.Int16, []int{5, 2}, values(t, idx.Int16, 10))
	whole := table(t, "image", raw, false)
	part, err := source.Slice(table(t, "image", raw, false), 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		in           source.Table
		rows, source int64
	}{
		"whole":   {whole, 5, 5},
		"slice":   {part, 2, 5},
		"unknown": {table(t, "image", raw, true), -1, -1},
	}
	for name, test := range tests {
		s := Of(test.in, Pair{"b", "1"}, Pair{"a", "2"})
		if s.Rows != test.rows || s.Source != test.source || len(s.Columns) != 1 || s.Columns[0].Name != "image" || s.RowSize() != 4 {
			t.Errorf("%s: found %+v", name, s)
		}
		want := arrow.NewMetadata([]string{"b", "a"}, []string{"1", "2"}) // the order is kept
		if !s.Metadata().Equal(want) || s.Metadata().Keys()[0] != "b" {
			t.Errorf("%s: found metadata %v", name, s.Metadata())
		}
	}
	if m := Of(whole).Metadata(); m.Len() != 0 {
		t.Errorf("found metadata %v, expected none", m)
	}
}

func TestAppendElementName(t *testing.T) {
	t.Parallel()
	c := source.Column{Name: "image", DType: idx.Uint8, Shape: []int{28, 28}}
	for want, found := range map[string][]byte{
		"pixel0":    AppendElementName(nil, c, 0, true),
		"x,pixel10": AppendElementName([]byte("x,"), c, 10, true),
		"image783":  AppendElementName(nil, c, 783, false),
	} {
		if string(found) != want {
			t.Errorf("found %s, expected %s", found, want)
		}
	}
}

func TestFieldMetadata(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		column       source.Column
		dtype, shape string
	}{
		"scalar":       {source.Column{DType: idx.Uint8}, "uint8", "[]"},
		"empty shape":  {source.Column{DType: idx.Int8, Shape: []int{}}, "int8", "[]"},
		"image":        {source.Column{DType: idx.Uint8, Shape: []int{28, 28}}, "uint8", "[28,28]"},
		"rank 4":       {source.Column{DType: idx.Float64, Shape: []int{3, 32, 1}}, "float64", "[3,32,1]"},
		"no elements":  {source.Column{DType: idx.Int16, Shape: []int{3, 0}}, "int16", "[3,0]"},
		"a large size": {source.Column{DType: idx.Float32, Shape: []int{2147483647, 0}}, "float32", "[2147483647,0]"},
	}
	for name, test := range tests {
		m := FieldMetadata(test.column)
		dtype, _ := m.GetValue("idx.dtype")
		shape, _ := m.GetValue("idx.shape")
		if m.Len() != 2 || dtype != test.dtype || shape != test.shape {
			t.Errorf("%s: found %v, expected %s %s", name, m, test.dtype, test.shape)
		}
	}
}
