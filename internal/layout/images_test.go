package layout

import (
	"slices"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
)

// TestImageLayoutRefuses checks what differs from the errors for PNG files: the layout's name, its
// types, and the hint.
func TestImageLayoutRefuses(t *testing.T) {
	t.Parallel()
	tensor := func(d idx.DType, shape ...int) source.Column { return source.Column{Name: "x", DType: d, Shape: shape} }
	for name, test := range map[string]struct {
		column        source.Column
		message, hint string
	}{
		"float":            {tensor(idx.Float32, 2, 2), `column "x" is float32, expected uint8`, "--layout list"},
		"int16 with color": {tensor(idx.Int16, 2, 2, 3), "is int16 with 3 channels", "--layout list"},
		"flat images":      {tensor(idx.Uint8, 9), "one dimension (9 elements)", "--shape 3x3"},
		"no channels":      {tensor(idx.Uint8, 5, 3, 5), "with 1, 3 or 4 channels", "--layout list"},
		"no pixels":        {tensor(idx.Uint8, 3, 0), "without pixels", "the layout list: idxport convert"},
	} {
		_, _, err := Represent(&schema.Schema{Columns: []source.Column{test.column}}, "huggingface")
		if !refused(err, test.message, test.hint) {
			t.Errorf("%s: found %v with the hint %q, expected %+v", name, err, fault.HintOf(err), test)
		}
	}
}

// TestFeatures compares with the metadata that datasets write.
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
	_, described, err := Represent(s, "huggingface")
	must.Do(t, err)
	want := []schema.Pair{{Key: "k", Value: "v"}, {Key: "huggingface", Value: `{"info":{"features":{` +
		`"image":{"_type":"Image"},` +
		`"label":{"names":["N/A","T-shirt/top","say \"é\""],"_type":"ClassLabel"},` +
		`"writer":{"dtype":"float64","_type":"Value"},` +
		`"id":{"dtype":"int32","_type":"Value"}}}}`}}
	if !slices.Equal(described.Meta, want) || len(s.Meta) != 1 {
		t.Errorf("found the metadata %v, expected %v", described.Meta, want)
	}
	read := source.HubFeatures(map[string]string{source.HubKey: want[1].Value, source.KeyDataset: "d"})
	if !slices.Equal(read["label"].Names, s.Columns[1].Classes) || read["image"].Mode != "" {
		t.Errorf("read back %v, expected %q", read, s.Columns[1].Classes)
	}
	if _, other, _ := Represent(s, "list"); len(other.Meta) != 1 {
		t.Error("list: found metadata that is not in the schema")
	}
	unnamed := &schema.Schema{Columns: []source.Column{{Name: "label", DType: idx.Uint8}}}
	if f := Features(unnamed)[0]; f.Type != "Value" || f.DType != "int64" {
		t.Errorf("a label without class names: found %+v, expected a Value of int64", f)
	}
}

func TestUniqueNames(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ classes, want []string }{
		"as they are":      {[]string{"b", "a", "A"}, []string{"b", "a", "A"}},
		"from 1 on":        {[]string{"", "a", "b"}, []string{"N/A", "a", "b"}},
		"gaps":             {[]string{"a", "", "", "b", ""}, []string{"a", "N/A", "N/A-2", "b", "N/A-4"}},
		"a name twice":     {[]string{"a", "a", "a"}, []string{"a", "a-1", "a-2"}},
		"a name made here": {[]string{"a", "a", "a-1"}, []string{"a", "a-1-1", "a-1"}},
		"a class N/A":      {[]string{"", "N/A"}, []string{"N/A-0", "N/A"}},
	} {
		if found := uniqueNames(test.classes); !slices.Equal(found, test.want) {
			t.Errorf("%s: found %q, expected %q", name, found, test.want)
		}
	}
}
