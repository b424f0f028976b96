package layout

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// TestSparkImage writes images of 1×2 pixels. The modes are OpenCV's (core/hal/interface.h), the order of the samples is ImageSchema's.
func TestSparkImage(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		shape    []int
		record   string
		channels int32
		mode     int32
		want     string
	}{
		"gray":        {[]int{1, 2}, "ab", 1, 0, "ab"},
		"one channel": {[]int{1, 2, 1}, "ab", 1, 0, "ab"},
		"RGB":         {[]int{1, 2, 3}, "rgbRGB", 3, 16, "bgrBGR"},
		"RGBA":        {[]int{1, 2, 4}, "rgbaRGBA", 4, 24, "bgraBGRA"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			column := one(t, "spark-image", source.Column{Name: "image", DType: idx.Uint8, Shape: test.shape})
			data := []byte(test.record + strings.ToUpper(test.record))
			before := bytes.Clone(data)
			images := array.MakeFromData(column.Data(data, 2)).(*array.Struct)
			pixels := images.Field(5).(*array.Binary)
			for row, want := range []string{test.want, strings.ToUpper(test.want)} {
				if found := string(pixels.Value(row)); found != want {
					t.Errorf("row %d: found the pixels %q, expected %q", row, found, want)
				}
				for i, want := range []int32{1, 2, test.channels, test.mode} {
					if found := images.Field(1 + i).(*array.Int32).Value(row); found != want {
						t.Errorf("row %d: found %d in field %d, expected %d", row, found, 1+i, want)
					}
				}
				if origin := images.Field(0).(*array.String); origin.IsNull(row) || origin.Value(row) != "" {
					t.Errorf("row %d: found the origin %s, expected an empty one", row, origin.ValueStr(row))
				}
			}
			size := string(byte(len(test.want))) + "\x00\x00\x00"
			if found := column.Leaves[5].Values(data, 2); string(found) != size+test.want+size+strings.ToUpper(test.want) {
				t.Errorf("found the values %q of Parquet, expected the same pixels after their lengths", found)
			}
			if found := column.Leaves[4].Values(data, 2); !bytes.Equal(found, []byte{byte(test.mode), 0, 0, 0, byte(test.mode), 0, 0, 0}) {
				t.Errorf("found the modes % x of Parquet, expected %d twice", found, test.mode)
			}
			if !bytes.Equal(data, before) {
				t.Error("the batch was changed")
			}
		})
	}
}

func TestSparkImageSchema(t *testing.T) {
	t.Parallel()
	column := one(t, "spark-image", source.Column{Name: "image", DType: idx.Uint8, Shape: []int{2, 2}})
	var names []string
	for _, e := range column.Elements {
		names = append(names, e.Name)
	}
	const kind = "struct<origin: utf8, height: int32, width: int32, nChannels: int32, mode: int32, data: binary>"
	if found := strings.ReplaceAll(column.Field.Type.String(), " nullable", ""); found != kind || !column.Field.Nullable {
		t.Errorf("found the type %s, expected %s, nullable", found, kind)
	}
	if !slices.Equal(names, []string{"image", "origin", "height", "width", "nChannels", "mode", "data"}) || column.Elements[0].NumChildren.V != 6 {
		t.Errorf("found the elements %v", names)
	}
	for _, l := range column.Leaves {
		if l.Path[0] != "image" || len(l.Path) != 2 || l.MaxRepetition != 0 || l.MaxDefinition != 2 || l.Definition != 2 {
			t.Errorf("found the path %v with maximum levels %d and %d, definition %d", l.Path, l.MaxRepetition, l.MaxDefinition, l.Definition)
		}
	}
}

// TestImageLayoutsRefuse looks for the refusals of the two layouts of images, with what to do instead.
func TestImageLayoutsRefuse(t *testing.T) {
	t.Parallel()
	both := []string{"spark-image", "huggingface"}
	tests := map[string]struct {
		layouts []string
		column  source.Column
		message string
		hint    string
	}{
		"float":            {both, source.Column{DType: idx.Float32, Shape: []int{2, 2}}, `column "x" is float32, expected uint8`, "--layout list"},
		"int8":             {both, source.Column{DType: idx.Int8, Shape: []int{2, 2}}, "is int8, expected uint8", "--layout list"},
		"int16":            {both[:1], source.Column{DType: idx.Int16, Shape: []int{2, 2}}, "is int16, expected uint8", "--layout list"},
		"int16 with color": {both[1:], source.Column{DType: idx.Int16, Shape: []int{2, 2, 3}}, "is int16 with 3 channels", "--layout list"},
		"vector":           {both, source.Column{DType: idx.Uint8, Shape: []int{5}}, "one dimension, of 5 elements", "--layout list"},
		"flat images":      {both, source.Column{DType: idx.Uint8, Shape: []int{9}}, "one dimension, of 9 elements", "--reshape -1x3x3"},
		"volume":           {both, source.Column{DType: idx.Uint8, Shape: []int{2, 2, 2, 3}}, "records of 4 dimensions", "--layout list"},
		"two channels":     {both, source.Column{DType: idx.Uint8, Shape: []int{5, 5, 2}}, "found 2 channels, the last dimension, expected 1, 3 or 4", "--layout list"},
		"channels first":   {both, source.Column{DType: idx.Uint8, Shape: []int{3, 5, 5}}, "found 5 channels", "--channels first"},
		"no pixels":        {both, source.Column{DType: idx.Uint8, Shape: []int{3, 0}}, "without pixels", "--layout list"},
	}
	for name, test := range tests {
		for _, layout := range test.layouts {
			test.column.Name = "x"
			l, _ := Get(layout)
			_, err := l.Columns(&schema.Schema{Columns: []source.Column{test.column}})
			var typed *fault.Error
			if !errors.As(err, &typed) || !errors.Is(err, fault.Usage) {
				t.Errorf("%s, %s: found the error %v, expected a fault.Usage", layout, name, err)
				continue
			}
			if !strings.Contains(err.Error(), test.message) || !strings.Contains(typed.Hint, test.hint) {
				t.Errorf("%s, %s: found %q with the hint %q, expected %q and %q", layout, name, err, typed.Hint, test.message, test.hint)
			}
		}
	}
}
