package arrow

import (
	"fmt"
	"slices"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/columnar"
)

// A column is a column of the table, and the fields of the file that it is made of.
type column struct {
	columnar.Column
	fields []*field // one, or one for each element
	direct bool     // the values gathered from the only field are the records
}

// resolve finds the columns of d. The first record batch with rows is first, or nil.
func resolve(d *feed, first *batch, origin string, o source.ReadOptions) ([]*column, *columnar.Table, error) {
	in := columnar.File{Origin: origin, Meta: d.schema.metadata, Options: o}
	for _, f := range d.schema.fields {
		f.Type = "the type " + f.Type
		in.Fields = append(in.Fields, f.Field)
	}
	if first != nil {
		in.First = &firstRow{feed: d, batch: first, maxRecord: o.MaxRecord()}
	}
	found, err := columnar.Resolve(in)
	if err != nil {
		return nil, nil, err
	}
	var columns []*column
	for _, c := range found.Columns {
		columns = append(columns, newColumn(c, d.schema.fields))
	}
	return columns, found, nil
}

// A firstRow is the columnar.Sample of a record batch.
type firstRow struct {
	feed      *feed
	batch     *batch
	maxRecord int64 // bytes
}

// Names returns the values of the dictionary of field i.
func (r *firstRow) Names(i int) (names []string, err error) {
	err = caught(func() { names = r.feed.dictionary(r.batch, &r.feed.schema.fields[i]).names })
	return names, err
}

// Lengths returns the lengths of the lists in the first row, which are then expected of all lists
// of field i. Lists inside an empty list count as empty.
func (r *firstRow) Lengths(i int) (lengths []int, err error) {
	f := &r.feed.schema.fields[i]
	err = caught(func() {
		first, n := int64(0), int64(1)
		for ; f.Kind == columnar.List; f = &f.children[0] {
			if f.offsetSize > 0 && n > 0 {
				g := gatherer{batch: r.batch}
				x := g.bounds(f, first, 1)
				start, end := x.at(0)
				demand(start >= 0 && end >= start, r.batch.offset, f.column, "a list begins at %d and ends at %d", start, end)
				if end-start > maxValue {
					panic(unsupported(f.column, "", "found a list of %d values, expected at most %d", end-start, maxValue))
				}
				f.length, first = end-start, start
			} else if f.offsetSize == 0 {
				first *= f.length
			}
			lengths = append(lengths, int(f.length))
			n = min(n, f.length)
		}
	})
	return lengths, err
}

// Value returns the bytes or the number in the first row of field i, or of its member if given.
func (r *firstRow) Value(i int, member string) (value []byte, err error) {
	f := &r.feed.schema.fields[i]
	err = caught(func() {
		if r.batch.refuseNulls(f, 1); member != "" {
			f = &f.members(member)[0]
			r.batch.refuseNulls(f, 1)
		}
		if f.Kind == columnar.Number {
			value = r.batch.append(nil, f, 1, 0, 1, int64(f.Number.Size()))
			return
		}
		var a array
		g := gatherer{batch: r.batch}
		if size := g.addEnds(f, 0, 1, &a); size > 2*r.maxRecord+filesExtra { // an image file has more than its pixels
			panic(unsupported(f.column, fmt.Sprintf("allow larger records with --max-record-bytes %d", size), "found a record of %d bytes, expected at most %d", size, r.maxRecord))
		}
		g.addBytes(f, &a, 1)
		value = a.data
	})
	return value, err
}

// members returns the members of f, a struct, that have the names.
func (f *field) members(names ...string) (found []field) {
	for _, name := range names {
		i := slices.IndexFunc(f.children, func(m field) bool { return m.Name == name })
		found = append(found, f.children[i])
	}
	return found
}

// newColumn returns the column found in a file with these fields. It sets the limits of the fields,
// and removes the members of structs that are not needed.
func newColumn(found columnar.Column, fields []field) *column {
	c := &column{Column: found}
	for _, i := range found.Fields {
		c.fields = append(c.fields, &fields[i])
	}
	f := c.fields[0]
	switch c.Form {
	case columnar.Records:
		f.limit = int64(c.RecordSize())
	case columnar.Images:
		if f.Kind == columnar.Struct {
			f.children = f.members(columnar.HubBytes)
			f = &f.children[0]
		}
		f.limit = int64(c.MaxFile())
	case columnar.SparkImages:
		f.children = f.members(append(columnar.SparkSizes[:], columnar.SparkData)...)
		f.children[len(columnar.SparkSizes)].limit = int64(c.RecordSize())
	}
	c.direct = len(c.fields) == 1 && (c.Form == columnar.Records || c.Form == columnar.Numbers && f.gatheredNumber().Is(c.DType))
	return c
}

// convert makes the records of b from arrays, and writes them to dst.
func (c *column) convert(dst []byte, arrays []array, b *source.Raw) {
	size := c.RecordSize()
	switch {
	case c.Form == columnar.Records:
		c.checkSizes(&arrays[0], b.First)
		copy(dst, arrays[0].data) // copies nothing if they were gathered in dst
	case c.Form == columnar.Images:
		for i := range arrays[0].ends {
			var err error
			if b.Scratch, err = c.Image(dst[i*size:(i+1)*size], arrays[0].value(i), b.Scratch); err != nil {
				panic(fault.Wrap(fault.Malformed, err).InColumn(c.Name).InRow(b.First + int64(i)))
			}
		}
	case c.Form == columnar.SparkImages:
		for k := range columnar.SparkSizes {
			if bad, err := c.CheckSize(k, arrays[k].data); err != nil {
				panic(err.InRow(b.First + int64(bad)))
			}
		}
		pixels := &arrays[len(columnar.SparkSizes)]
		c.checkSizes(pixels, b.First)
		for i := 0; i < len(dst); i += size {
			c.SparkImage(dst[i:i+size], pixels.data[i:i+size])
		}
	case len(c.fields) == 1:
		c.convertNumbers(dst, c.fields[0].gatheredNumber(), arrays[0].data, b.First)
	default:
		size, elements := b.Rows*c.DType.Size(), make([][]byte, len(c.fields))
		b.Scratch = source.Grow(b.Scratch, len(dst))
		for i, f := range c.fields {
			elements[i] = arrays[i].data
			if number := f.gatheredNumber(); !number.Is(c.DType) {
				elements[i] = b.Scratch[i*size : (i+1)*size]
				c.convertNumbers(elements[i], number, arrays[i].data, b.First)
			}
		}
		columnar.Interleave(dst, elements, b.Rows, c.DType.Size())
	}
}

// convertNumbers fills dst with numbers, the first of which is in the given row.
func (c *column) convertNumbers(dst []byte, number source.NumberKind, numbers []byte, row int64) {
	if number.Is(c.DType) {
		copy(dst, numbers)
		return
	}
	bad, _ := number.Convert(dst, c.DType, numbers, 0, len(dst)/c.DType.Size())
	if bad < 0 {
		return
	}
	value := number.Text(numbers[bad*number.Size():])
	if len(c.fields) == 1 {
		bad /= c.Elements()
	}
	panic(fault.New(fault.Malformed, "found %s, expected a value of the type %v", value, c.DType).InColumn(c.Name).InRow(row + int64(bad)).
		WithHint("idxport uses the types of IDX, whose widest integer is int32: give the type that fits with --dtype, or convert the column first"))
}

// checkSizes checks that each value of a has the size of a record. The first value is in row.
func (c *column) checkSizes(a *array, row int64) {
	for i := range a.ends {
		if found, expected := len(a.value(i)), c.RecordSize(); found != expected {
			panic(fault.New(fault.Malformed, "found %d bytes, expected %d", found, expected).InColumn(c.Name).InRow(row + int64(i)).
				WithHint("IDX records all have the same size"))
		}
	}
}
