package layout

import (
	"bytes"
	"errors"
	"image"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
)

func TestHuggingFaceImages(t *testing.T) {
	t.Parallel()
	tests := map[string]source.Column{
		"gray":        {DType: idx.Uint8, Shape: []int{3, 5}},
		"one channel": {DType: idx.Uint8, Shape: []int{3, 5, 1}},
		"RGB":         {DType: idx.Uint8, Shape: []int{3, 5, 3}},
		"RGBA":        {DType: idx.Uint8, Shape: []int{3, 5, 4}},
		"16 bits":     {DType: idx.Int16, Shape: []int{3, 5}},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.Name = "image"
			column := one(t, "huggingface", c)
			const rows = 2
			data := make([]byte, rows*c.RecordSize())
			for i := range data {
				data[i] = byte(i * 37 % 128)
			}
			images := array.MakeFromData(column.Data(data, rows)).(*array.Struct)
			files, paths := images.Field(0).(*array.Binary), images.Field(1).(*array.String)
			var values []byte
			for row := range rows {
				size, found := layouttest.Decode(t, files.Value(row))
				want := data[row*c.RecordSize():][:c.RecordSize()]
				if size != image.Pt(5, 3) || !bytes.Equal(found, want) {
					t.Errorf("row %d: found %v with the samples %v, expected 5×3 with %v", row, size, found, want)
				}
				if images.IsNull(row) || files.IsNull(row) || !paths.IsNull(row) {
					t.Errorf("row %d: found %s, expected bytes and no path", row, images.ValueStr(row))
				}
				n := len(files.Value(row))
				values = append(append(values, byte(n), byte(n>>8), 0, 0), files.Value(row)...)
			}
			leaf := column.Leaves[0]
			if found := leaf.Values(data, rows); !bytes.Equal(found, values) || len(found) > rows*leaf.Size {
				t.Errorf("found %d bytes of values in Parquet, expected the files after their lengths, %d, and at most %d", len(found), len(values), rows*leaf.Size)
			}
			if !leaf.Compressed || leaf.Definition != 2 || column.Leaves[1].Definition != 1 || column.Leaves[1].Count != 0 {
				t.Errorf("found the leaves %+v, expected compressed bytes and a path that is never there", column.Leaves)
			}
		})
	}
}

func TestHuggingFaceLabels(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		column source.Column
		data   []byte
		want   []int64
	}{
		"named label": {source.Column{Name: "label", DType: idx.Uint8}, []byte{0, 9, 255}, []int64{0, 9, 255}},
		"signed":      {source.Column{Name: "label", DType: idx.Int8}, []byte{255, 127}, []int64{-1, 127}},
		"classes": {source.Column{Name: "y", DType: idx.Int32, Classes: []string{"a"}},
			[]byte{1, 0, 0, 128, 255, 255, 255, 127}, []int64{math.MinInt32 + 1, math.MaxInt32}},
	}
	for name, test := range tests {
		column := one(t, "huggingface", test.column)
		found := array.MakeFromData(column.Data(test.data, len(test.want))).(*array.Int64)
		if !slices.Equal(found.Int64Values(), test.want) || found.NullN() != 0 || !column.Field.Nullable {
			t.Errorf("%s: found %v, nullable %t; expected %v, nullable", name, found, column.Field.Nullable, test.want)
		}
	}
	for _, c := range []source.Column{{Name: "label", DType: idx.Float32}, {Name: "writer", DType: idx.Int32}} {
		if column := one(t, "huggingface", c); column.Field.Type.Name() != c.DType.String() || column.Field.Nullable {
			t.Errorf("%s of %v: found %v, expected a required primitive column", c.Name, c.DType, column.Field)
		}
	}
}

func TestHuggingFaceRefusesNegativeValues(t *testing.T) {
	t.Parallel()
	column := one(t, "huggingface", source.Column{Name: "x", DType: idx.Int16, Shape: []int{1, 2}})
	if err := column.Check([]byte{0, 0, 255, 127}, 0); err != nil {
		t.Errorf("found the error %v for 0 and 32767, expected none", err)
	}
	err := column.Check([]byte{0, 0, 0, 0, 1, 0, 255, 255}, 40)
	var typed *fault.Error
	if !errors.As(err, &typed) || !errors.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), "row 41: layout huggingface: found the value -1, expected 0 to 32767") {
		t.Errorf("found the error %v, expected one about -1 in row 41", err)
	}
}

// TestFeatures compares with what datasets write themselves.
func TestFeatures(t *testing.T) {
	t.Parallel()
	s := &schema.Schema{
		Columns: []source.Column{
			{Name: "image", DType: idx.Uint8, Shape: []int{2, 2}},
			{Name: "label", DType: idx.Uint8, Classes: []string{"", "T-shirt/top", `say "é"`}},
			{Name: "writer", DType: idx.Float64},
			{Name: "id", DType: idx.Int32},
		},
		Meta: []schema.Pair{{Key: "k", Value: "v"}},
	}
	l, _ := Get("huggingface")
	described := l.Describe(s)
	want := []schema.Pair{{Key: "k", Value: "v"}, {Key: "huggingface", Value: `{"info":{"features":{` +
		`"image":{"_type":"Image"},` +
		`"label":{"names":["N/A","T-shirt/top","say \"é\""],"_type":"ClassLabel"},` +
		`"writer":{"dtype":"float64","_type":"Value"},` +
		`"id":{"dtype":"int32","_type":"Value"}}}}`}}
	if !slices.Equal(described.Meta, want) || len(s.Meta) != 1 {
		t.Errorf("found the metadata %v, expected %v", described.Meta, want)
	}
	if read := source.HubClasses(map[string]string{source.HubKey: want[1].Value}); !slices.Equal(read["label"], s.Columns[1].Classes) || len(read) != 1 {
		t.Errorf("read back %q, expected %q", read, s.Columns[1].Classes)
	}
	for _, name := range []string{"list", "spark-image"} {
		if other, _ := Get(name); len(other.Describe(s).Meta) != 1 {
			t.Errorf("%s: found more metadata than the schema's", name)
		}
	}
	if f := featureOf(source.Column{Name: "label", DType: idx.Uint8}); f.Type != "Value" || f.DType != "int64" {
		t.Errorf("a label without class names: found %+v, expected a Value of int64", f)
	}
}

func TestUniqueNames(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ classes, want []string }{
		"as they are":      {[]string{"b", "a", "A"}, []string{"b", "a", "A"}},
		"from 1 on":        {[]string{"", "a", "b"}, []string{"N/A", "a", "b"}},
		"gaps":             {[]string{"a", "", "", "b", ""}, []string{"a", "N/A", "N/A-2", "b", "N/A-4"}},
		"a name twice":     {[]string{"a", "a", "a"}, []string{"a", "a-1", "a-2"}},
		"a name made here": {[]string{"a", "a", "a-1"}, []string{"a", "a-1-1", "a-1"}},
		"a class N/A":      {[]string{"", "N/A"}, []string{"N/A-0", "N/A"}},
	}
	for name, test := range tests {
		if found := uniqueNames(test.classes); !slices.Equal(found, test.want) {
			t.Errorf("%s: found %q, expected %q", name, found, test.want)
		}
	}
}
