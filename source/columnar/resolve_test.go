package columnar

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
	"github.com/idxport/idxport/test/must"
)

// A sample is a first row: the lengths of its lists, and its values by the names of their members.
type sample struct {
	lengths []int
	values  map[string][]byte
}

func (s sample) Lengths(int) ([]int, error) { return s.lengths, nil }

func (s sample) Values(_ int, member string, _ int) ([][]byte, error) {
	if value, ok := s.values[member]; ok {
		return [][]byte{value}, nil
	}
	return nil, fault.New(fault.Malformed, "found a null").Because(ErrNull)
}

// value returns the first row of a column that is not a struct.
func value(data string) sample { return sample{values: map[string][]byte{"": []byte(data)}} }

// colored returns a PNG file of 1×2 pixels: red 1, green 2, blue 3, and 4, 5, 6.
func colored(t *testing.T) []byte {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, 2, 1))
	m.SetNRGBA(0, 0, color.NRGBA{1, 2, 3, 255})
	m.SetNRGBA(1, 0, color.NRGBA{4, 5, 6, 255})
	var b bytes.Buffer
	must.Do(t, png.Encode(&b, m))
	return b.Bytes()
}

func hubFields() []Field { return []Field{{Name: HubBytes, Kind: Bytes}, {Name: "path", Kind: Text}} }

func metadata(dtype, shape string) map[string]string {
	return map[string]string{schema.KeyDType: dtype, schema.KeyShape: shape}
}

func tensor(metadata string) map[string]string {
	return map[string]string{keyExtension: fixedShapeTensor, keyExtensionMetadata: metadata}
}

// photo returns a JPEG file of 6×5 pixels.
func photo(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	must.Do(t, jpeg.Encode(&out, image.NewRGBA(image.Rect(0, 0, 6, 5)), nil))
	return out.Bytes()
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
	class := Field{Name: schema.ClassName, Kind: Text, Type: "a dictionary"}
	const u8, i16, i64, f16, f32 = source.NumberUint8, source.NumberInt16, source.NumberInt64, source.NumberFloat16, source.NumberFloat32
	tests := map[string]struct {
		fields  []Field
		first   Sample
		options source.ReadOptions
		want    string
		note    string // part of the only note, or empty for none
	}{
		"a scalar":                       {fields: []Field{number("x", u8)}, want: "x uint8 []"},
		"a wide integer":                 {fields: []Field{number("x", i64)}, want: "x int32 []", note: "column x: int64 becomes int32"},
		"a wide integer, asked for":      {fields: []Field{number("x", i64)}, options: source.ReadOptions{DType: idx.Int8}, want: "x int8 []"},
		"a wide integer, as it was":      {fields: with(number("x", i64), metadata("int16", "[]")), want: "x int16 []"},
		"a half":                         {fields: []Field{number("x", f16)}, want: "x float32 []", note: "float16 becomes float32"},
		"a truth value":                  {fields: []Field{number("x", source.NumberBool)}, want: "x uint8 []"},
		"lists":                          {fields: []Field{list}, first: sample{lengths: []int{2, 6}}, want: "x uint8 [2 6]"},
		"lists of a shape in metadata":   {fields: with(list, metadata("", "[3,4]")), first: sample{lengths: []int{2, 6}}, want: "x uint8 [3 4]"},
		"lists of another shape":         {fields: with(list, metadata("", "[5]")), first: sample{lengths: []int{2, 6}}, want: "x uint8 [2 6]"},
		"a tensor":                       {fields: with(list, tensor(`{"shape":[4,3]}`)), first: sample{lengths: []int{2, 6}}, want: "x uint8 [4 3]"},
		"lists of metadata without rows": {fields: with(list, metadata("", "[7]")), want: "x uint8 [7]"},
		"elements":                       {fields: numbered(u8, u8, u8, u8), want: "x uint8 [2 2]", note: "4 columns x0…x3 are read as 2×2"},
		"elements of several types":      {fields: numbered(u8, i16), options: source.ReadOptions{Shape: []int{2}}, want: "x int32 [2]", note: "integers of several types become int32"},
		"elements that become one type":  {fields: numbered(u8, source.NumberBool), options: source.ReadOptions{Shape: []int{2}}, want: "x uint8 [2]"},
		"elements that nothing becomes":  {fields: numbered(u8, f32), want: "x0 uint8 [], x1 float32 []"},
		"one element":                    {fields: with(number("pixel0", u8), metadata("uint8", "[1,1]")), want: "image uint8 [1 1]"},
		"scalars with numbers":           {fields: slices.Concat(with(number("x0", u8), metadata("", "[]")), with(number("x1", u8), metadata("", "[]"))), want: "x0 uint8 [], x1 uint8 []"},
		"bytes":                          {fields: with(Field{Name: "x", Kind: Bytes}, metadata("int16", "[3]")), first: value("abcdef"), want: "x int16 [3]"},
		"bytes that begin like PNG":      {fields: with(Field{Name: "x", Kind: Bytes}, metadata("uint8", "[8]")), first: value("\x89PNG\r\n\x1a\n"), want: "x uint8 [8]"},
		"bytes of an asked type":         {fields: with(Field{Name: "x", Kind: FixedBytes, Size: 6}, nil), options: source.ReadOptions{DType: idx.Int16}, want: "x int16 [3]", note: "read as int16 of shape 3"},
		"bytes of an asked shape":        {fields: with(Field{Name: "x", Kind: FixedBytes, Size: 6}, nil), options: source.ReadOptions{Shape: []int{2, 3}}, want: "x uint8 [2 3]", note: "read as uint8 of shape 2×3"},
		"bytes without rows":             {fields: []Field{{Name: "x", Kind: Bytes}}, options: source.ReadOptions{Shape: []int{2, 3}}, want: "x uint8 [2 3]"},
		"a JPEG of Hugging Face, scaled": {fields: []Field{{Name: "x", Kind: Struct, Members: hubFields()}}, first: sample{values: map[string][]byte{HubBytes: photo(t)}}, options: source.ReadOptions{Resize: [2]int{4, 2}, Grey: true}, want: "x uint8 [2 4]"},
		"an image of Hugging Face":       {fields: []Field{{Name: "x", Kind: Struct, Members: hubFields()}}, first: sample{values: map[string][]byte{HubBytes: colored(t)}}, want: "x uint8 [1 2 3]"},
		"an image with channels first":   {fields: with(Field{Name: "x", Kind: Bytes}, map[string]string{schema.KeyShape: "[3,1,2]"}), first: value(string(colored(t))), want: "x uint8 [3 1 2]"},
		"images without rows":            {fields: with(Field{Name: "x", Kind: Struct, Members: hubFields()}, metadata("uint8", "[3,4]")), want: "x uint8 [3 4]"},
		"whole numbers as texts":         {fields: []Field{{Name: "x", Kind: Text}}, first: value("-7"), want: "x int32 []"},
		"names in a list":                {fields: []Field{{Name: "x", Kind: Text}}, first: value("cat"), options: source.ReadOptions{Classes: []string{"cat", "dog"}}, want: "x uint8 []"},
		"OpenML's class":                 {fields: append(numbered(u8, u8), Field{Name: schema.ClassName, Kind: Text}), first: value("5"), want: "x uint8 [2], class uint8 []"},
		"names of classes":               {fields: []Field{number("label", u8), {Name: schema.ClassName, Kind: Text}}, want: "label uint8 []", note: "column " + schema.ClassName + " is not read"},
		"texts beside a label":           {fields: []Field{class, number("label", u8)}, want: "label uint8 []", note: "column " + schema.ClassName + " is not read"},
		"an index of pandas":             {fields: []Field{number("x", u8), number("__index_level_0__", i64)}, want: "x uint8 []", note: "column __index_level_0__ is not read"},
	}
	for name, test := range tests {
		found, err := Resolve(Input{Fields: test.fields, First: test.first, Options: test.options})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var columns []string
		for _, c := range found.Columns {
			columns = append(columns, fmt.Sprint(c.Name, " ", c.DType, " ", c.Shape))
		}
		notes := slices.DeleteFunc(found.Notes, func(note string) bool { return strings.Contains(note, "read as one dimension") })
		if got := strings.Join(columns, ", "); got != test.want || len(notes) > 1 || (test.note == "") != (len(notes) == 0) || !strings.Contains(strings.Join(notes, ""), test.note) {
			t.Errorf("%s: found %q with the notes %q, expected %q and %q", name, got, notes, test.want, test.note)
		}
	}
}

// TestRefused resolves fields that cannot be columns of IDX. Every error has a hint, except that
// for a file without any column.
func TestRefused(t *testing.T) {
	t.Parallel()
	number := Field{Name: "x", Kind: Number, Number: source.NumberUint8}
	list := Field{Name: "x", Kind: List, Number: source.NumberUint8, Lengths: []int{-1}}
	blob := Field{Name: "x", Kind: Bytes}
	tests := map[string]struct {
		field Field
		first Sample
		kind  error
		text  string
	}{
		"texts without rows":       {Field{Name: "x", Kind: Text}, nil, ErrNoRows, "found no rows, expected"},
		"names":                    {Field{Name: "x", Kind: Text}, value("cat"), fault.Usage, "column x: found names, whose numbers are not known: cat"},
		"dates":                    {Field{Name: "x", Type: "the type date"}, nil, fault.Unsupported, "found the type date, expected integers of up to 64 bits, floats"},
		"a struct":                 {Field{Name: "x", Kind: Struct, Type: "a struct", Members: []Field{number}}, nil, fault.Unsupported, "found a struct, expected"},
		"lists without rows":       {list, nil, ErrNoRows, "found no rows, expected"},
		"bytes without rows":       {blob, nil, ErrNoRows, "found no rows, expected"},
		"images without rows":      {Field{Name: "x", Kind: Struct, Members: hubFields()}, nil, ErrNoRows, "found no rows, expected"},
		"a permuted tensor":        {Field{Name: "x", Kind: List, Metadata: tensor(`{"shape":[2,3],"permutation":[1,0]}`)}, nil, fault.Unsupported, "permuted: [1 0]"},
		"bytes of an unknown type": {blob, value("abc"), fault.Unsupported, "found values of 3 bytes without a type"},
		"an extension type":        {Field{Name: "x", Kind: Bytes, Metadata: map[string]string{keyExtension: "uuid"}}, value("abc"), fault.Unsupported, "the extension type uuid"},
		"bytes of another type":    {Field{Name: "x", Kind: Bytes, Metadata: metadata("int16", "[2]")}, value("abc"), fault.Unsupported, "found values of 3 bytes without a type"},
		"large records":            {list, sample{lengths: []int{1<<24 + 1}}, fault.Unsupported, "found records of 16777217 bytes, expected at most 16777216"},
		"more than can be counted": {list, sample{lengths: []int{math.MaxInt32, math.MaxInt32, math.MaxInt32}}, fault.Unsupported, "which is too large"},
		"a cut JPEG":               {Field{Name: "x", Kind: Struct, Members: hubFields()}, sample{values: map[string][]byte{HubBytes: []byte("\xff\xd8\xff\xe0")}}, fault.Malformed, "column x, row 0: the file ends inside its JPEG image"},
		"an image elsewhere":       {Field{Name: "x", Kind: Struct, Members: hubFields()}, sample{}, ErrNull, "found a null"},
	}
	for name, test := range tests {
		_, err := Resolve(Input{Fields: []Field{test.field}, First: test.first})
		if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.text) || fault.HintOf(err) == "" {
			t.Errorf("%s: found %v, expected %q of the kind %v with a hint", name, err, test.text, test.kind)
		}
	}
	for text, fields := range map[string][]Field{
		"found two columns of this name": {number, number},
		"found no column":                {{Name: "__index_level_0__", Kind: Number, Number: source.NumberInt64}},
		"column x3 where x2 is expected": {{Name: "x0", Kind: Number, Number: source.NumberUint8}, {Name: "x1", Kind: Number, Number: source.NumberUint8}, {Name: "x3", Kind: Number, Number: source.NumberUint8}},
	} {
		found, err := Resolve(Input{Fields: fields})
		if err == nil {
			err = found.Omitted[0].Err
		}
		if !errors.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), text) {
			t.Errorf("found %v, expected %q", err, text)
		}
	}
}

// TestImages decodes images to records with the channels last and with the channels first.
func TestImages(t *testing.T) {
	t.Parallel()
	for shape, want := range map[string]string{"[1,2,3]": "\x01\x02\x03\x04\x05\x06", "[3,1,2]": "\x01\x04\x02\x05\x03\x06", "[6]": "\x01\x02\x03\x04\x05\x06"} {
		planar := map[string]string{schema.KeyShape: shape}
		files, err := Resolve(Input{Fields: []Field{{Name: "x", Kind: Bytes, Metadata: planar}}, First: value(string(colored(t)))})
		if err != nil {
			t.Fatal(err)
		}
		var scratch []byte
		for range 2 {
			record := make([]byte, 6)
			if scratch, err = files.Columns[0].Image(record, colored(t), scratch); err != nil || string(record) != want {
				t.Errorf("%s: found % x, %v, expected % x", shape, record, err, want)
			}
		}
	}
}

// TestInterleave interleaves elements of all sizes, in fewer rows than a tile has and in more.
func TestInterleave(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 2, 4, 8} {
		for _, rows := range []int{0, 1, tileRows, 2*tileRows + 1} {
			columns, want := make([][]byte, 3), []byte{}
			for i := range rows * len(columns) * size {
				want = append(want, byte(i*7+i/256))
				c := i / size % len(columns)
				columns[c] = append(columns[c], want[i])
			}
			dst := make([]byte, len(want))
			if Interleave(dst, columns, rows, size); !bytes.Equal(dst, want) {
				t.Errorf("%d rows of elements of %d bytes: found other bytes", rows, size)
			}
		}
	}
}
