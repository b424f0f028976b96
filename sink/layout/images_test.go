package layout

import (
	"bytes"
	"image"
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/layouttest"
)

// TestChannelsFirst checks that records with a plane per channel give the same images as records
// with interleaved channels.
func TestChannelsFirst(t *testing.T) {
	t.Parallel()
	const height, width, rows = 2, 3, 2
	for _, channels := range []int{1, 3, 4} {
		var planes, pixels []byte
		for row := range rows {
			sample := func(y, x, c int) byte { return byte(row*100 + y*30 + x*10 + c) }
			for c := range channels {
				for y := range height {
					for x := range width {
						planes = append(planes, sample(y, x, c))
					}
				}
			}
			for y := range height {
				for x := range width {
					for c := range channels {
						pixels = append(pixels, sample(y, x, c))
					}
				}
			}
		}
		before := bytes.Clone(planes)
		s := &schema.Schema{Columns: []source.Column{{Name: "x", DType: idx.Uint8, Shape: []int{channels, height, width}}}}
		made, _, err := Represent(s, "huggingface", "first")
		if err != nil {
			t.Fatalf("%d channels: %v", channels, err)
		}
		last := one(t, "huggingface", source.Column{Name: "x", DType: idx.Uint8, Shape: []int{height, width, channels}})
		found, expected := array.MakeFromData(made[0].Data(planes, rows)), array.MakeFromData(last.Data(pixels, rows))
		if !array.Equal(found, expected) {
			t.Errorf("%d channels: found %v, expected %v", channels, found, expected)
		}
		for i, leaf := range made[0].Leaves {
			if values, want := leaf.Values(planes, rows), last.Leaves[i].Values(pixels, rows); !bytes.Equal(values, want) {
				t.Errorf("%d channels, %v: found the values %x, expected %x", channels, leaf.Path, values, want)
			}
		}
		if !bytes.Equal(planes, before) {
			t.Errorf("%d channels: the batch was changed", channels)
		}
	}
}

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
				t.Errorf("found the leaves %+v, expected compressed bytes and a path that is always null", column.Leaves)
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
}

// TestImageLayoutRefuses checks what differs from the errors for PNG files: the layout's name, its
// types, and the hint.
func TestImageLayoutRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		column  source.Column
		message string
		hint    string
	}{
		"float":            {source.Column{DType: idx.Float32, Shape: []int{2, 2}}, `column "x" is float32, expected uint8`, "--layout list"},
		"int16 with color": {source.Column{DType: idx.Int16, Shape: []int{2, 2, 3}}, "is int16 with 3 channels", "--layout list"},
		"flat images":      {source.Column{DType: idx.Uint8, Shape: []int{9}}, "one dimension (9 elements)", "--reshape -1x3x3"},
		"channels first":   {source.Column{DType: idx.Uint8, Shape: []int{3, 5, 5}}, "found 5 channels", "--channels first"},
		"no pixels":        {source.Column{DType: idx.Uint8, Shape: []int{3, 0}}, "without pixels", "--layout list"},
	}
	for name, test := range tests {
		test.column.Name = "x"
		_, _, err := Represent(&schema.Schema{Columns: []source.Column{test.column}}, "huggingface", "")
		if !refused(err, test.message, test.hint) {
			t.Errorf("%s: found %v with the hint %q, expected %q and %q", name, err, fault.HintOf(err), test.message, test.hint)
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
	_, described, err := Represent(s, "huggingface", "")
	if err != nil {
		t.Fatal(err)
	}
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
	if _, other, _ := Represent(s, "list", ""); len(other.Meta) != 1 {
		t.Error("list: found metadata that is not in the schema")
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

// TestBinary compares with the section "Encodings" of the Parquet specification: a BYTE_ARRAY in
// PLAIN pages is a length in 4 bytes, little-endian, and the bytes.
func TestBinary(t *testing.T) {
	t.Parallel()
	column := one(t, "binary", source.Column{Name: "x", DType: idx.Int16, Shape: []int{3}})
	data := []byte("abcdefghijkl")
	leaf := column.Leaves[0]
	if found := leaf.Values(data, 2); string(found) != "\x06\x00\x00\x00abcdef\x06\x00\x00\x00ghijkl" {
		t.Errorf("found % x, expected each record after its length, 6", found)
	}
	if leaf.Size != 10 || !leaf.Allocates {
		t.Errorf("found a leaf of %d bytes, expected 10", leaf.Size)
	}
	for _, name := range []string{"binary", "fixed-binary"} {
		empty := one(t, name, source.Column{Name: "x", DType: idx.Float64, Shape: []int{0, 2}})
		if found := empty.Leaves[0].Values(nil, 2); !bytes.Equal(found, make([]byte, 8)) {
			t.Errorf("%s: found % x, expected two lengths of 0", name, found)
		}
	}
	made := column.Data(data, 2)
	records := array.MakeFromData(made).(*array.Binary)
	for i, want := range []string{"abcdef", "ghijkl"} {
		if found := string(records.Value(i)); found != want || records.IsNull(i) {
			t.Errorf("record %d: found %q, expected %q", i, found, want)
		}
	}
	if b := made.Buffers()[2].Bytes(); &b[0] != &data[0] {
		t.Error("the buffer of Arrow is a copy")
	}
}
