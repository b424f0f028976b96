package columnar

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
)

// A sample is a first row: the lengths of its lists, and its value.
type sample struct {
	lengths []int
	value   []byte // nil: a null
}

func (s sample) Lengths(int) ([]int, error) { return s.lengths, nil }

func (s sample) Values(int, int) ([][]byte, error) {
	if s.value == nil {
		return nil, Null(0)
	}
	return [][]byte{s.value}, nil
}

// value returns the first row of a column that has no lists.
func value(data string) sample { return sample{value: []byte(data)} }

// colored returns a PNG file of 1×2 pixels: red 1, green 2, blue 3, and 4, 5, 6.
func colored(t *testing.T) []byte {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, 2, 1))
	copy(m.Pix, []byte{1, 2, 3, 255, 4, 5, 6, 255})
	var b bytes.Buffer
	must.Do(t, png.Encode(&b, m))
	return b.Bytes()
}

func extension(name string) map[string]string { return map[string]string{source.KeyExtension: name} }

func metadata(dtype, shape string) map[string]string {
	return map[string]string{schema.KeyDType: dtype, schema.KeyShape: shape}
}

// TestResolve compares the columns of files, as "name type shape", and their notes.
func TestResolve(t *testing.T) {
	t.Parallel()
	number := func(name string, n source.NumberKind) Field { return Field{Name: name, Kind: Number, Number: n} }
	list := Field{Name: "x", Kind: List, Number: source.NumberUint8, Lengths: []int{-1, -1}}
	numbered := func(kinds ...source.NumberKind) (fields []Field) {
		for i, n := range kinds {
			fields = append(fields, number(fmt.Sprintf("x%d", i), n))
		}
		return fields
	}
	with := func(f Field, metadata map[string]string) []Field { f.Metadata = metadata; return []Field{f} }
	const u8, i16, i64 = source.NumberUint8, source.NumberInt16, source.NumberInt64
	two := func(s string) []Field { return append(with(number("x0", u8), metadata("uint8", s)), number("x1", u8)) }
	for name, test := range map[string]struct {
		fields     []Field
		first      Sample
		options    source.ReadOptions
		want, note string // note: part of the only one, or empty for none
	}{
		"a wide integer, asked for": {fields: []Field{number("x", i64)},
			options: source.ReadOptions{DType: idx.Int8}, want: "x int8 []"},
		"a wide integer, as it was": {fields: with(number("x", i64), metadata("int16", "[]")), want: "x int16 []"},
		"lists of a shape in metadata": {fields: with(list, metadata("", "[3,4]")),
			first: sample{lengths: []int{12}}, want: "x uint8 [3 4]"},
		"lists of another shape": {fields: with(list, metadata("", "[5]")), first: sample{lengths: []int{12}},
			want: "x uint8 [12]"},
		"lists of a shape of too many dimensions": {first: sample{lengths: []int{1}}, want: "x uint8 [1]",
			fields: with(list, metadata("", "[1"+strings.Repeat(",1", 9000)+"]"))},
		"nested lists of another shape": {fields: with(list, metadata("", "[3,4]")),
			first: sample{lengths: []int{2, 6}}, want: "x uint8 [2 6]"},
		"an index of truth values": {fields: []Field{number("__index_level_0__", source.NumberBool), number("y", u8)},
			want: "__index_level_0__ uint8 [], y uint8 []"},
		"lists of metadata without rows": {fields: with(list, metadata("", "[7]")), want: "x uint8 [7]"},
		"elements": {fields: numbered(u8, u8, u8, u8), want: "x uint8 [2 2]",
			note: "4 columns x0…x3 are read as 2×2"},
		"elements of a shape in metadata": {fields: two("[2,1]"), want: "x uint8 [2 1]"},
		"numbers by their metadata":       {fields: two("[]"), want: "x0 uint8 [], x1 uint8 []"},
		"elements of two types": {want: "y uint8 []",
			fields: []Field{number("x0", u8), number("x1", source.NumberFloat32), number("y", u8)}},
		"numbers beside those of an extension type": {want: "x0 uint8 []",
			fields: append(numbered(u8), with(number("x1", u8), extension("pandas.period"))...)},
		"a name that ends like an index": {fields: []Field{number("x__", u8)}, want: "x__ uint8 []"},
		"elements that are narrowed": {fields: numbered(u8, i16, i64),
			options: source.ReadOptions{DType: idx.Uint8}, want: "x uint8 [3]"},
		"another type than in metadata": {fields: with(number("x", source.NumberInt32), metadata("uint8", "[]")),
			options: source.ReadOptions{DType: idx.Int32}, want: "x int32 []"},
		"lists without rows, of a shape": {fields: []Field{list}, options: source.ReadOptions{Shape: []int{2, 3}},
			want: "x uint8 [2 3]"},
		"tensors of Hugging Face": {fields: with(list, extension("datasets.features.Array2D")),
			first: sample{lengths: []int{2, 3}}, want: "x uint8 [2 3]"},
		"bytes that begin like PNG": {fields: with(Field{Name: "x", Kind: Bytes}, metadata("uint8", "[8]")),
			first: value("\x89PNG\r\n\x1a\n"), want: "x uint8 [8]"},
		"bytes of an asked type": {fields: []Field{{Name: "x", Kind: Bytes, Size: 6}},
			options: source.ReadOptions{DType: idx.Int16, Shape: []int{3, 1}}, want: "x int16 [3 1]"},
		"bytes without rows": {fields: []Field{{Name: "x", Kind: Bytes}},
			options: source.ReadOptions{DType: idx.Uint8, Shape: []int{2, 3}}, want: "x uint8 [2 3]"},
		"an image with channels first": {fields: with(Field{Name: "x", Kind: Bytes},
			map[string]string{schema.KeyShape: "[3,1,2]"}), first: value(string(colored(t))), want: "x uint8 [3 1 2]"},
		"an image that was turned": {fields: with(Field{Name: "x", Kind: Bytes},
			map[string]string{schema.KeyShape: "[3,2]"}), first: value(string(colored(t))), want: "x uint8 [1 2 3]"},
		"names with spaces": {fields: []Field{{Name: "x", Kind: Text}}, first: value(" A "),
			options: source.ReadOptions{Classes: []string{"A"}}, want: "x uint8 []"},
		"images without rows": {fields: with(Field{Name: "x", Kind: Struct}, metadata("uint8", "[3,4]")),
			want: "x uint8 [3 4]"},
	} {
		found := must.Get(Resolve(Input{Fields: test.fields, First: test.first, Options: test.options}))(t)
		var columns []string
		for _, c := range found.Columns {
			columns = append(columns, fmt.Sprint(c.Name, " ", c.DType, " ", c.Shape))
		}
		notes := slices.DeleteFunc(found.Notes,
			func(note string) bool { return strings.Contains(note, "read as one dimension") })
		if got := strings.Join(columns, ", "); got != test.want || len(notes) > 1 ||
			(test.note == "") != (len(notes) == 0) || !strings.Contains(strings.Join(notes, ""), test.note) {
			t.Errorf("%s: found %q with the notes %q, expected %q and %q", name, got, notes, test.want, test.note)
		}
	}
	stale, err := Resolve(Input{First: sample{lengths: []int{16}},
		Fields: append(with(list, metadata("", "[3,4]")), numbered(u8, u8)...),
		Meta: map[string]string{source.ClassesKey("x"): `["a",""]`, source.HubKey: `{"info":{"features":{
			"x":{"feature":{"names":["a","N/A"]}},"x0":{"names":["b"]},"x1":{"names":["c"]}}}}`}})
	if err != nil || len(stale.Columns) != 3 || !stale.Columns[0].Listed ||
		!slices.Equal(stale.Columns[0].Classes, []string{"a", ""}) {
		t.Errorf("found %v and %v, expected a list of no known shape, and the class a", err, stale)
	}
}

// TestRefused resolves fields that cannot be columns of IDX. Every error has a hint.
func TestRefused(t *testing.T) {
	t.Parallel()
	list := []Field{{Name: "x", Kind: List, Number: source.NumberUint8, Lengths: []int{-1}}}
	half := strings.Repeat(" ", 1<<20)
	for _, long := range []map[string]string{{source.HubKey: half + half + " "}, {"idx.classes.a": half + " ",
		"idx.classes": half}} {
		if _, err := Resolve(Input{Meta: long}); !strings.Contains(fmt.Sprint(err), "metadata with 2097153 bytes") {
			t.Errorf("found %v, expected an error for long metadata", err)
		}
	}
	third := func(kind Kind, names ...string) (fields []Field) { // the others are numbers
		for _, name := range names {
			fields = append(fields, Field{Name: name, Kind: Number, Number: source.NumberUint8})
		}
		fields[2] = Field{Name: names[2], Kind: kind}
		return fields
	}
	for name, test := range map[string]struct {
		fields []Field
		first  Sample
		kind   error
		text   string
	}{
		"an index of texts":   {[]Field{{Name: "__index_level_0__", Kind: Text}}, nil, ErrNoRows, "type or shape"},
		"lists without rows":  {list, nil, ErrNoRows, "found no rows, expected"},
		"bytes without rows":  {[]Field{{Name: "x", Kind: Bytes}}, nil, ErrNoRows, "found no rows, expected"},
		"images without rows": {[]Field{{Name: "x", Kind: Struct}}, nil, ErrNoRows, "found no rows, expected"},
		"an extension type": {[]Field{{Name: "x", Kind: Bytes, Metadata: extension("uuid")}},
			value("abc"), fault.Unsupported, "the type uuid"},
		"numbers of an extension type": {[]Field{{Name: "x", Kind: Number, Number: source.NumberInt64,
			Metadata: extension("pandas.period")}}, nil, fault.Unsupported, "pandas.period"},
		"lists of an extension type": {[]Field{{Name: "x", Kind: List, Number: source.NumberUint8, Lengths: []int{4},
			Metadata: extension("ray.data.arrow_tensor")}}, nil, fault.Unsupported, "ray.data"},
		"bytes of another type": {[]Field{{Name: "x", Kind: Bytes, Metadata: metadata("int16", "[2]")}}, value("abc"),
			fault.Unsupported, "found values of 3 bytes without a type"},
		"arrays as files": {[]Field{{Name: "x", Kind: Bytes}}, value("\x93NUMPY\x01\x00"), fault.Unsupported,
			"column x: found arrays as .npy files, expected lists of numbers"},
		"large records": {list, sample{lengths: []int{1<<24 + 1}}, fault.Unsupported,
			"found records of the shape 16777217 of uint8, expected at most 6291456 bytes and 254 dimensions"},
		"no name": {[]Field{{Kind: Number, Number: source.NumberUint8}}, nil, fault.Unsupported, `found the name ""`},
		"texts among pixels": {third(Text, "pixel0", "pixel1", "pixel2", "pixel3"), nil, fault.Unsupported,
			"found column pixel2, of another type, where pixel2 is expected"},
		"texts in a grid": {third(Text, "1x1", "1x2", "2x1", "2x2"), nil, fault.Unsupported,
			"found column 2x1, of another type, where 2x1 is expected"},
		"bytes among pixels": {third(Bytes, "0", "1", "2", "3"), nil, fault.Unsupported,
			"found column 2, of another type, where 2 is expected"},
	} {
		_, err := Resolve(Input{Fields: test.fields, First: test.first})
		if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.text) || fault.HintOf(err) == "" {
			t.Errorf("%s: found %v, expected %q of the kind %v with a hint", name, err, test.text, test.kind)
		}
	}
}

// TestModes: Hugging Face's datasets convert an image to the mode of its column. Only L, which is
// grey, can be made of colours here.
func TestModes(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{"": "[1 2 3]", "RGB": "[1 2 3]", "L": "[1 2]",
		"RGBA": `x", datasets.Image(mode="RGBA"))`, "1": `.convert("L")}).cast_column("x", datasets.Image(mode="L"))`} {
		meta := fmt.Sprintf(`{"info":{"features":{"x":{"_type":"Image","mode":%q}}}}`, mode)
		in := Input{Fields: []Field{{Name: "x", Kind: Struct}}, First: value(string(colored(t))),
			Meta: map[string]string{source.HubKey: meta}}
		found, err := Resolve(in)
		got := fault.HintOf(err)
		if err == nil {
			got = fmt.Sprint(found.Columns[0].Shape)
		}
		if !strings.Contains(got, want) || (err != nil) != strings.Contains(got, "ds.map(") {
			t.Errorf("%q: found %s, expected %s", mode, got, want)
		}
		in.Options.Resize = [2]int{2, 2}
		if _, err := Resolve(in); (err != nil) != (mode == "1") {
			t.Errorf("%q, resized: found %v", mode, err)
		}
	}
}
