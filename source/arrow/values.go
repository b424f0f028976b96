package arrow

import (
	"cmp"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/text"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/columnar"
)

// A leaf says which array has the entries of a leaf of the table, and what is expected of it.
type leaf struct {
	field   int
	name    string // of the column, for errors
	lengths []int  // of the lists, the outermost first
	entries int64  // of a row
	passed  int    // number of record batches
	row     int64  // of the next one: those before are read
}

func describe(field arrow.Field) columnar.Field {
	f := columnar.Field{Name: field.Name, Metadata: field.Metadata.ToMap(), Type: "the type " + field.Type.Name()}
	if f.Number = source.NumberNamed(field.Type.Name()); f.Number != source.NoNumber {
		f.Kind = columnar.Number
	}
	switch t := field.Type.(type) {
	case *arrow.DictionaryType:
		if value := describe(arrow.Field{Type: t.ValueType}); value.Number != source.NumberBool &&
			(value.Kind == columnar.Number || value.Kind == columnar.Text) {
			f.Kind, f.Number = value.Kind, value.Number
		}
	case *arrow.ListType, *arrow.LargeListType, *arrow.FixedSizeListType: // they have the extension of their elements
		elem := t.(arrow.ListLikeType).ElemField()
		child := describe(elem)
		f.Type = "lists of " + child.Type
		f.Metadata[source.KeyExtension] = cmp.Or(f.Metadata[source.KeyExtension], child.Metadata[source.KeyExtension])
		if elem.Type.ID() != arrow.DICTIONARY && (child.Kind == columnar.Number || child.Kind == columnar.List) {
			n := -1
			if fixed, ok := t.(*arrow.FixedSizeListType); ok {
				n = int(fixed.Len())
			}
			f.Kind, f.Number, f.Lengths = columnar.List, child.Number, append([]int{n}, child.Lengths...)
		}
	case *arrow.StructType:
		f.Kind = columnar.StructOf(t.Fields(), describe)
	case *arrow.MonthDayNanoIntervalType: // see walk.field
		f.Type = "integers of 128 bits, or intervals"
	case *arrow.FixedSizeBinaryType:
		f.Kind, f.Size = columnar.Bytes, t.ByteWidth
	case arrow.BinaryDataType:
		if f.Kind = columnar.Bytes; t.IsUtf8() {
			f.Kind = columnar.Text
		}
	}
	return f
}

// entriesOf returns the array of the entries that l has in the first rows of b, after checking the
// arrays around it. A length of −1 in l.lengths becomes that of the first list.
func (l *leaf) entriesOf(b *batch, rows int64) (a arrow.Array, err error) {
	defer func() { err = fault.Place(err, l.name, -1, -1) }()
	defer fault.Recovered(&err)
	r, err := b.record()
	if err != nil {
		return nil, err
	}
	a = array.NewSlice(r.Column(l.field), 0, rows)
	if s, ok := a.(*array.Struct); ok { // which ValidateFull refuses if it has members of the type null
		if err := refuseNulls(a, b.first, 1); err != nil {
			return nil, err
		}
		i, _ := a.DataType().(*arrow.StructType).FieldIdx(source.HubBytes)
		a = s.Field(i)
	}
	if err := array.ValidateFull(a); err != nil {
		return nil, columnar.Damaged("%v", err)
	}
	for perRow, lengths := 1, l.lengths; ; lengths = lengths[1:] {
		if err := refuseNulls(a, b.first, perRow); err != nil {
			return nil, err
		}
		list, ok := a.(array.ListLike)
		if !ok {
			return a, nil
		}
		from, err := checkLists(list, &lengths[0], b.first, perRow)
		if err != nil {
			return nil, err
		}
		a, perRow = array.NewSlice(list.ListValues(), from, from+int64(a.Len()*lengths[0])), perRow*lengths[0]
	}
}

// values returns the values of a, whose indices into a dictionary were checked.
func values(a arrow.Array) (v columnar.Values) {
	switch a := a.(type) {
	case *array.Dictionary:
		table := values(a.Dictionary())
		if table.Value != nil {
			v.Value = func(i int) []byte { return table.Value(a.GetValueIndex(i)) }
			return v
		}
		v.Number = table.Number
		for i := range a.Len() {
			v.Data = append(v.Data, table.At(a.GetValueIndex(i), a.Dictionary().Len())...)
		}
	case *array.Boolean:
		v.Number, v.Data = source.NumberBool, make([]byte, a.Len())
		for i := range v.Data {
			if a.Value(i) {
				v.Data[i] = 1
			}
		}
	case interface{ Value(i int) []byte }: // bytes, of a fixed size or not
		v.Value = a.Value
	case interface{ Value(i int) string }:
		v.Value = func(i int) []byte { return []byte(a.Value(i)) }
	default:
		v.Number = source.NumberNamed(a.DataType().Name())
		size, d := v.Number.Size(), a.Data()
		v.Data = d.Buffers()[1].Bytes()[d.Offset()*size:][:a.Len()*size]
	}
	return v
}

func refuseNulls(a arrow.Array, row int64, perRow int) error {
	d, isDictionary := a.(*array.Dictionary)
	nulls := isDictionary && d.Dictionary().NullN() > 0 // which rows may use
	for i := 0; (nulls || a.NullN() > 0) && i < a.Len(); i++ {
		if a.IsNull(i) || nulls && d.Dictionary().IsNull(d.GetValueIndex(i)) {
			return columnar.Null(row + int64(i/perRow)) // which is 0 only if a is empty
		}
	}
	return nil
}

// checkLists returns where the elements of the lists in a, which follow one another, begin. All
// must have a length; a negative one, which is unknown, becomes that of the first list.
func checkLists(a array.ListLike, length *int, row int64, perRow int) (from int64, err error) {
	if _, fixed := a.DataType().(*arrow.FixedSizeListType); fixed {
		return int64(a.Data().Offset()) * int64(*length), nil
	}
	for i := range a.Len() {
		start, end := a.ValueOffsets(i)
		if i == 0 {
			from = start
		}
		if *length < 0 { // goroutines that decode share the lengths: here they are known
			*length = int(end - start)
		}
		if end-start != int64(*length) {
			return 0, columnar.Unsupported(columnar.HintShape, "found a list of %s, expected %d as in the first row",
				text.Count(end-start, "value"), *length).InRow(row + int64(i/perRow))
		}
	}
	if *length < 0 { // inside an empty list
		*length = 0
	}
	return from, nil
}
