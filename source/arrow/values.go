package arrow

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/columnar"
)

const hintDictionary = "write its values without a dictionary: in pandas, convert the column from category " +
	"with astype; in pyarrow, use dictionary_decode()"

// A leaf says which array has the entries of a leaf of the table, and what is expected of it.
type leaf struct {
	columnar.Leaf
	name    string // of the column, for errors
	lengths []int  // of the lists, the outermost first
	entries int64  // of a row
	passed  int    // number of record batches
	row     int64  // of the next one: those before are read
}

// numberOf returns the kind of numbers of a type, or NoNumber.
func numberOf(t arrow.DataType) source.NumberKind {
	name := t.Name()
	if name == "half_float" {
		name = "float16"
	}
	for n := source.NumberUint8; n <= source.NumberFloat16; n++ {
		if n.String() == name {
			return n
		}
	}
	return source.NoNumber
}

// storage returns the type that t is stored as.
func storage(t arrow.DataType) arrow.DataType {
	if e, ok := t.(arrow.ExtensionType); ok {
		return e.StorageType()
	}
	return t
}

// describe describes a field for package columnar.
func describe(field arrow.Field) columnar.Field {
	t := storage(field.Type)
	f := columnar.Field{Name: field.Name, Metadata: field.Metadata.ToMap()}
	if e, ok := field.Type.(arrow.ExtensionType); ok {
		f.Metadata[columnar.KeyExtension], f.Metadata[columnar.KeyExtensionMetadata] = e.ExtensionName(), e.Serialize()
	}
	f.Type = "the type " + t.Name()
	if f.Number = numberOf(t); f.Number != source.NoNumber {
		f.Kind = columnar.Number
		return f
	}
	switch t := t.(type) {
	case *arrow.DictionaryType:
		f.Type = fmt.Sprintf("the type dictionary<%s>", t.ValueType.Name())
		switch value := describe(arrow.Field{Type: t.ValueType}); {
		case value.Kind == columnar.Number && value.Number != source.NumberBool, value.Kind == columnar.Text:
			f.Kind, f.Number = value.Kind, value.Number
		default:
			f.Hint = hintDictionary
		}
	case arrow.ListLikeType:
		child := describe(t.ElemField())
		f.Type += "<" + child.Type[len("the type "):] + ">"
		f.Hint = "convert it to lists of numbers"
		_, encoded := t.Elem().(*arrow.DictionaryType)
		if (child.Kind == columnar.Number || child.Kind == columnar.List) && !encoded {
			n := -1
			if fixed, ok := t.(*arrow.FixedSizeListType); ok {
				n = int(fixed.Len())
			}
			f.Kind, f.Number, f.Lengths = columnar.List, child.Number, append([]int{n}, child.Lengths...)
		}
	case *arrow.StructType:
		f.Kind = columnar.Struct
		for _, m := range t.Fields() {
			f.Members = append(f.Members, describe(m))
		}
	case *arrow.FixedSizeBinaryType:
		f.Kind, f.Size = columnar.FixedBytes, t.ByteWidth
	case *arrow.BinaryType, *arrow.LargeBinaryType, *arrow.BinaryViewType:
		f.Kind = columnar.Bytes
	case *arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType:
		f.Kind = columnar.Text
	case arrow.DecimalType:
		f.Hint = source.AdviceCast("ipc", f.Name, "Float64")
	}
	return f
}

// stored returns the array that a is stored as.
func stored(a arrow.Array) arrow.Array {
	if e, ok := a.(array.ExtensionArray); ok {
		return e.Storage()
	}
	return a
}

// Lengths returns the lengths of the lists in the first row, which are then expected of all lists
// of field i. Lists inside an empty list count as empty.
func (r *firstRow) Lengths(i int) (lengths []int, err error) {
	defer columnar.Recovered(&err)
	if known := r.fields[i].Lengths; !slices.Contains(known, -1) || r.RecordBatch == nil {
		return known, nil
	}
	first, n, a := 0, 1, stored(r.Column(i))
	for range r.fields[i].Lengths {
		size := 0
		if fixed, ok := a.DataType().(*arrow.FixedSizeListType); ok {
			size = int(fixed.Len())
			first *= size
		} else if n > 0 {
			start, end := a.(array.ListLike).ValueOffsets(first)
			if start < 0 || end < start || end-start >= 1<<31 {
				return nil, damaged("a list begins at %d and ends at %d", start, end).InColumn(r.ColumnName(i))
			}
			first, size = int(start), int(end-start)
		}
		lengths, n, a = append(lengths, size), min(n, size), stored(a.(array.ListLike).ListValues())
	}
	return lengths, nil
}

// entriesOf returns the array of the entries of l in b, after checking the arrays around it.
func (l *leaf) entriesOf(b *batch) (a arrow.Array, err error) {
	defer func() { err = fault.Place(err, l.name, -1, -1) }()
	defer columnar.Recovered(&err)
	r, err := b.record()
	if err != nil {
		return nil, err
	}
	a = stored(r.Column(l.Field))
	if int64(a.Len()) != b.rows {
		return nil, damaged("found %d values in a record batch of %d rows", a.Len(), b.rows)
	}
	if s, ok := a.(*array.Struct); ok { // which ValidateFull refuses if it has members of the type null
		if err := refuseNulls(a, b.first, 1); err != nil {
			return nil, err
		}
		i, _ := a.DataType().(*arrow.StructType).FieldIdx(l.Member)
		a = stored(s.Field(i))
	}
	if err := array.ValidateFull(a); err != nil {
		return nil, damaged("%v", err)
	}
	for perRow, lengths := 1, l.lengths; ; lengths = lengths[1:] {
		if err := refuseNulls(a, b.first, perRow); err != nil {
			return nil, err
		}
		list, ok := a.(array.ListLike)
		if !ok {
			return a, nil
		}
		from, to, err := bounds(list, lengths[0], b.first, perRow)
		if err != nil {
			return nil, err
		}
		a, perRow = stored(array.NewSlice(list.ListValues(), from, to)), perRow*lengths[0]
	}
}

// values returns the values of a.
func values(a arrow.Array) (v columnar.Values, err error) {
	switch a := a.(type) {
	case *array.Dictionary:
		return encoded(a)
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
		v.Number = numberOf(a.DataType())
		size, d := v.Number.Size(), a.Data()
		if a.Len() > 0 {
			v.Data = d.Buffers()[1].Bytes()[d.Offset()*size:][:a.Len()*size]
		}
	}
	return v, nil
}

// refuseNulls returns an error for the first null in a.
func refuseNulls(a arrow.Array, row int64, perRow int) error {
	for i := 0; a.NullN() > 0 && i < a.Len(); i++ {
		if a.IsNull(i) {
			return fault.New(fault.Malformed, "found a null, expected a value").InRow(row + int64(i/max(1, perRow))).
				WithHint("fill the nulls or remove the rows: IDX has no nulls").Because(columnar.ErrNull)
		}
	}
	return nil
}

// bounds returns where the elements of lists of n elements begin and end. The lists must follow one
// another.
func bounds(a array.ListLike, n int, row int64, perRow int) (from, to int64, err error) {
	if a.Len() == 0 {
		return 0, 0, nil
	}
	if _, fixed := a.DataType().(*arrow.FixedSizeListType); fixed {
		from = int64(a.Data().Offset()) * int64(n)
		return from, from + int64(a.Len()*n), nil
	}
	from, _ = a.ValueOffsets(0)
	for i := range a.Len() {
		start, end := a.ValueOffsets(i)
		switch {
		case start < 0 || end < start:
			return 0, 0, damaged("a list begins at %d and ends at %d", start, end)
		case end-start != int64(n):
			return 0, 0, fault.New(fault.Malformed, "found a list of %s, expected %d as in the first row",
				display.Count(end-start, "value"), n).InRow(row + int64(i/max(1, perRow))).
				WithHint("all records must have one shape, as in an IDX file: pad the lists, or write a file for each length")
		case n > 0 && start != from+int64(i*n):
			return 0, 0, fault.New(fault.Unsupported, "the lists of a %s do not follow one another", a.DataType().Name()).
				WithHint("write it as list or fixed_size_list")
		}
	}
	return from, from + int64(a.Len()*n), nil
}

// encoded returns the numbers or texts that the indices of a refer to. ValidateFull has checked the
// indices.
func encoded(a *array.Dictionary) (v columnar.Values, err error) {
	dictionary := a.Dictionary()
	if n := dictionary.NullN(); n > 0 {
		return v, damaged("found a dictionary of %d values with %d nulls, expected no nulls", dictionary.Len(), n)
	}
	table, err := values(dictionary)
	if err != nil {
		return v, err
	}
	if table.Value != nil {
		v.Value = func(i int) []byte { return table.Value(a.GetValueIndex(i)) }
		return v, nil
	}
	v.Number = table.Number
	size := v.Number.Size()
	v.Data = make([]byte, 0, a.Len()*size)
	for i := range a.Len() {
		v.Data = append(v.Data, table.Data[a.GetValueIndex(i)*size:][:size]...)
	}
	return v, nil
}
