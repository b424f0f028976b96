package layout

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/idx"
)

// one is the representation of a single column.
func one(t *testing.T, name string, c source.Column) Column {
	t.Helper()
	l, err := Get(name)
	if err != nil {
		t.Fatal(err)
	}
	columns, err := l.Columns(&schema.Schema{Columns: []source.Column{c}})
	if err != nil {
		t.Fatal(err)
	}
	if len(columns) != 1 {
		t.Fatalf("found %d columns, expected 1", len(columns))
	}
	return columns[0]
}

func TestGet(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		if l, err := Get(name); err != nil || l.Name != name || l.Title == "" || l.Readers == "" {
			t.Errorf("Get(%q): found %q (%q), error %v", name, l.Name, l.Title, err)
		}
	}
	if l, err := Get(""); err != nil || l.Name != "list" {
		t.Errorf(`Get(""): found %q, error %v; expected the layout list`, l.Name, err)
	}
	if _, err := Get("lists"); err == nil {
		t.Error(`Get("lists"): found no error, expected one`)
	}
}

// TestListLevels compares with levels worked out by hand from the Parquet specification's "Nested Encoding" and "RLE" sections.
func TestListLevels(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		shape      []int
		repetition []byte
		definition byte
		entries    int
		count      int
	}{
		{"one element: a run of one 0", []int{1, 1}, []byte{0x02, 0x00}, 2, 1, 1},
		{"7×9: one 0, then 62 ones", []int{7, 9}, []byte{0x02, 0x00, 0x7c, 0x01}, 2, 63, 63},
		{"28×28: one 0, then 783 ones", []int{28, 28}, []byte{0x02, 0x00, 0x9e, 0x0c, 0x01}, 2, 784, 784},
		{"no elements: one undefined entry", []int{0, 5}, []byte{0x02, 0x00}, 0, 1, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := one(t, "list", source.Column{Name: "image", DType: idx.Uint8, Shape: test.shape}).Leaves[0]
			if !bytes.Equal(l.Repetition, test.repetition) || l.Definition != test.definition || l.Entries != test.entries || l.Count != test.count {
				t.Errorf("found repetition % x, definition %d, %d entries, %d values; expected % x, %d, %d, %d",
					l.Repetition, l.Definition, l.Entries, l.Count, test.repetition, test.definition, test.entries, test.count)
			}
			if !slices.Equal(l.Path, []string{"image", "list", "element"}) || l.MaxRepetition != 1 || l.MaxDefinition != 2 {
				t.Errorf("found path %v with maximum levels %d and %d", l.Path, l.MaxRepetition, l.MaxDefinition)
			}
		})
	}
}

// TestPhysicalTypes is the table of types of the Parquet specification's LogicalTypes.md.
func TestPhysicalTypes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		dtype   idx.DType
		kind    format.Type
		logical string
	}{
		{idx.Uint8, format.Int32, "INT(8,false)"},
		{idx.Int8, format.Int32, "INT(8,true)"},
		{idx.Int16, format.Int32, "INT(16,true)"},
		{idx.Int32, format.Int32, ""},
		{idx.Float32, format.Float, ""},
		{idx.Float64, format.Double, ""},
	}
	for _, test := range tests {
		for _, shape := range [][]int{nil, {2, 3}} {
			column := one(t, "list", source.Column{Name: "x", DType: test.dtype, Shape: shape})
			e := column.Elements[len(column.Elements)-1]
			if e.Type.V != test.kind || e.LogicalType.String() != test.logical || column.Leaves[0].Type != test.kind {
				t.Errorf("%v of shape %v: found %v %q, leaf %v; expected %v %q",
					test.dtype, shape, e.Type.V, e.LogicalType.String(), column.Leaves[0].Type, test.kind, test.logical)
			}
		}
	}
}

func TestScalarsAreTheSameInAllLayouts(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		for _, d := range idx.DTypes() {
			column := one(t, name, source.Column{Name: "x", DType: d}) // huggingface has labels of its own
			l := column.Leaves[0]
			if !l.Scalar || l.MaxRepetition != 0 || l.MaxDefinition != 0 || len(column.Elements) != 1 || column.Field.Nullable {
				t.Errorf("%s, %v: found %+v, expected a required primitive column", name, d, l)
			}
			if column.Field.Type.Name() != d.String() {
				t.Errorf("%s, %v: found the Arrow type %v", name, d, column.Field.Type)
			}
		}
	}
}

// TestNothingIsCopied looks for the batch's own memory in what both formats are given.
func TestNothingIsCopied(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"list", "nested", "tensor", "fixed-binary"} {
		for _, d := range idx.DTypes() {
			for _, shape := range [][]int{nil, {3}, {7, 9}} {
				c := source.Column{Name: "x", DType: d, Shape: shape}
				column := one(t, name, c)
				const rows = 5
				data := make([]byte, rows*c.RecordSize())
				if values := column.Leaves[0].Values(data, rows); len(values) != len(data) || &values[0] != &data[0] {
					t.Errorf("%s, %v %v: the values of Parquet are not the batch's", name, d, shape)
				}
				made := column.Data(data, rows)
				for len(made.Children()) > 0 {
					made = made.Children()[0]
				}
				if b := made.Buffers()[1].Bytes(); len(b) != len(data) || &b[0] != &data[0] {
					t.Errorf("%s, %v %v: the buffer of Arrow is not the batch's", name, d, shape)
				}
			}
		}
	}
}

func TestFixedBinary(t *testing.T) {
	t.Parallel()
	column := one(t, "fixed-binary", source.Column{Name: "x", DType: idx.Int16, Shape: []int{3}})
	data := []byte("abcdefghijkl")
	records := array.MakeFromData(column.Data(data, 2)).(*array.FixedSizeBinary)
	for i, want := range []string{"abcdef", "ghijkl"} {
		if found := string(records.Value(i)); found != want {
			t.Errorf("record %d: found %q, expected %q", i, found, want)
		}
	}
	if e := column.Elements[0]; e.Type.V != format.FixedLenByteArray || e.TypeLength.V != 6 {
		t.Errorf("found %v of %d bytes, expected FIXED_LEN_BYTE_ARRAY of 6", e.Type.V, e.TypeLength.V)
	}
	if found, _ := column.Field.Metadata.GetValue(schema.KeyShape); found != "[3]" {
		t.Errorf("found the shape %q in the metadata, expected [3]", found)
	}
}

func TestRecordsOfNoElements(t *testing.T) {
	t.Parallel()
	c := source.Column{Name: "x", DType: idx.Float32, Shape: []int{4, 0}}
	lists := array.MakeFromData(one(t, "list", c).Data([]byte{}, 3)).(*array.List)
	values := array.MakeFromData(one(t, "fixed-binary", c).Data([]byte{}, 3)).(*array.Binary)
	for i := range 3 {
		from, to := lists.ValueOffsets(i)
		if lists.IsNull(i) || from != to || values.IsNull(i) || len(values.Value(i)) != 0 {
			t.Errorf("row %d: found %v and %v, expected an empty list and no bytes", i, lists.ValueStr(i), values.ValueStr(i))
		}
	}
	leaf := one(t, "fixed-binary", c).Leaves[0]
	if found := leaf.Values(nil, 3); leaf.Type != format.ByteArray || !bytes.Equal(found, make([]byte, 12)) {
		t.Errorf("found %v % x, expected BYTE_ARRAY values: three lengths of 0 in 4 bytes each", leaf.Type, found)
	}
}

func TestColumnsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	s := &schema.Schema{
		Columns: []source.Column{{Name: "b", DType: idx.Uint8}, {Name: "a", DType: idx.Uint8, Shape: []int{2}}, {Name: "c", DType: idx.Int8}},
		Meta:    []schema.Pair{{Key: "k", Value: "v"}},
	}
	l, _ := Get("")
	columns, err := l.Columns(s)
	if err != nil {
		t.Fatal(err)
	}
	made := Schema(s, columns)
	for i, name := range []string{"b", "a", "c"} {
		if columns[i].Source != i || made.Field(i).Name != name {
			t.Errorf("column %d: found source %d and the field %s, expected %s", i, columns[i].Source, made.Field(i).Name, name)
		}
	}
	if want := arrow.NewMetadata([]string{"k"}, []string{"v"}); !made.Metadata().Equal(want) {
		t.Errorf("found the metadata %v, expected %v", made.Metadata(), want)
	}
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	if math.MaxInt == math.MaxInt32 {
		t.Skip("an int cannot count such a record")
	}
	for _, name := range Names() {
		l, _ := Get(name)
		s := &schema.Schema{Columns: []source.Column{{Name: "x", DType: idx.Uint8, Shape: []int{math.MaxInt32, 2}}}}
		_, err := l.Columns(s)
		var typed *fault.Error
		if !errors.As(err, &typed) || !errors.Is(err, fault.Usage) {
			t.Errorf("%s: found the error %v, expected a fault.Usage", name, err)
		}
	}
}
