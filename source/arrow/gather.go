package arrow

import (
	"encoding/binary"
	"slices"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/columnar"
)

// An array holds the values of a field in rows of one record batch or several, one after another.
type array struct {
	data []byte // numbers of the kind gatheredNumber, or bytes
	ends []int  // of the kind Bytes: where each value ends in data
}

// value returns value i, of the kind Bytes.
func (a *array) value(i int) []byte {
	start := 0
	if i > 0 {
		start = a.ends[i-1]
	}
	return a.data[start:a.ends[i]]
}

// A gatherer collects rows of record batches in arrays.
type gatherer struct {
	batch   *batch // nil: there are no more rows to gather
	from, n int64  // the first row of batch to gather next, and the number of rows

	arrays [][]array // of every column: one for each field, or for each member of a struct

	offsets, sizes []byte // reused memory for offsets, sizes, indices and bits
}

// gather adds the rows to the arrays of columns.
func (g *gatherer) gather(columns []*column) {
	if g.batch == nil {
		return
	}
	for i, c := range columns {
		for k, f := range c.fields {
			g.add(f, g.from, g.n, 1, g.arrays[i][k:])
		}
	}
	g.batch = nil
}

// row returns the row of the file that holds value i of the values that are being gathered. Every
// row has perRow values.
func (g *gatherer) row(i, perRow int64) int64 { return g.batch.first + g.from + i/perRow }

// add appends n values of f, starting with the value at index from, to the first array. If f is a
// struct, it appends the values of each member to an array of its own. Every row has perRow values.
func (g *gatherer) add(f *field, from, n, perRow int64, arrays []array) {
	a := &arrays[0]
	switch f.Kind {
	case columnar.Number:
		if f.Number == source.NumberBool {
			g.addBits(f, from, n, a)
			return
		}
		a.data = g.batch.append(a.data, f, 1, from, n, int64(f.Number.Size()))
	case columnar.FixedBytes:
		a.data = g.batch.append(a.data, f, 1, from, n, int64(f.Size))
	case columnar.Dictionary:
		g.addEncoded(f, from, n, a)
	case columnar.List:
		first := g.firstInLists(f, from, n, perRow)
		g.add(&f.children[0], first, n*f.length, perRow*f.length, arrays)
	case columnar.Struct:
		for i := range f.children {
			g.add(&f.children[i], from, n, perRow, arrays[i:])
		}
	default:
		size := g.addEnds(f, from, n, a)
		if limit := n*f.limit + filesExtra; size > limit {
			panic(fault.New(fault.Malformed, "the values of %d rows from here on have %d bytes, expected at most %d", n, size, limit).
				InColumn(f.column).InRow(g.row(0, 1)).WithHint("all values must be records of one size; if they are image files, remove the metadata in them"))
		}
		g.addBytes(f, a, int(n))
	}
}

// gatheredNumber returns the kind of numbers that add appends for f.
func (f *field) gatheredNumber() source.NumberKind {
	switch {
	case f.Kind == columnar.Dictionary && f.Number == source.NoNumber: // text
		return source.NumberInt32
	case f.Number == source.NumberBool:
		return source.NumberUint8
	}
	return f.Number
}

// addBits adds truth values as bytes of 0 or 1.
func (g *gatherer) addBits(f *field, from, n int64, a *array) {
	bit := from % 8
	g.offsets = g.batch.append(g.offsets[:0], f, 1, from/8, (bit+n+7)/8, 1)
	a.data = slices.Grow(a.data, int(n))
	for i := bit; i < bit+n; i++ {
		a.data = append(a.data, g.offsets[i/8]>>(i%8)&1)
	}
}

// addEncoded adds the values of a dictionary that indices refer to.
func (g *gatherer) addEncoded(f *field, from, n int64, a *array) {
	width, size := f.indices.Size(), f.gatheredNumber().Size()
	d := g.batch.dictionaries[f.dictionary]
	g.offsets = g.batch.append(g.offsets[:0], f, 1, from, n, int64(width))
	a.data = slices.Grow(a.data, int(n)*size)
	for i := range int(n) {
		k := f.indices.Int(g.offsets[i*width:])
		if k < 0 || k >= d.n {
			panic(fault.New(fault.Malformed, "found index %d, expected one of the dictionary's %d values", k, d.n).
				InColumn(f.column).InRow(g.row(int64(i), 1)))
		}
		a.data = append(a.data, d.values[int(k)*size:int(k+1)*size]...)
	}
}

// bounds are where lists, or values of the kind Bytes, begin and end.
type bounds struct {
	offsets, sizes []byte // sizes of list views, or nil
	width          int64  // bytes of an offset or a size
}

// bounds reads the bounds of n lists or values of f, starting with the one at index from.
func (g *gatherer) bounds(f *field, from, n int64) bounds {
	x := bounds{width: f.offsetSize}
	if f.view {
		g.sizes = g.batch.append(g.sizes[:0], f, 2, from, n, x.width)
		x.sizes = g.sizes
	} else {
		n++ // the end of the last
	}
	g.offsets = g.batch.append(g.offsets[:0], f, 1, from, n, x.width)
	x.offsets = g.offsets
	return x
}

// at returns where list or value i begins and ends.
func (x *bounds) at(i int) (start, end int64) {
	start = integer(x.offsets, x.width, i)
	if x.sizes != nil {
		return start, start + integer(x.sizes, x.width, i)
	}
	return start, integer(x.offsets, x.width, i+1)
}

// integer returns integer i of those in data, of width bytes each.
func integer(data []byte, width int64, i int) int64 {
	if width == 8 {
		return int64(binary.LittleEndian.Uint64(data[8*i:]))
	}
	return int64(int32(binary.LittleEndian.Uint32(data[4*i:])))
}

// firstInLists returns the index of the first value in n lists of f, starting with the list at
// index from. It requires the lists to have the expected length and to follow one another.
func (g *gatherer) firstInLists(f *field, from, n, perRow int64) int64 {
	if n == 0 {
		return 0
	}
	if f.length > 0 && from > maxRows<<8/f.length-n {
		panic(damaged(g.batch.offset, "found %d lists of %d values, expected at most %d lists", from+n, f.length, maxRows<<8/f.length).InColumn(f.column))
	}
	if f.offsetSize == 0 {
		return from * f.length
	}
	x := g.bounds(f, from, n)
	first, _ := x.at(0)
	for i := range n {
		start, end := x.at(int(i))
		size := end - start
		switch {
		case first >= 0 && size == f.length && (size == 0 || start == first+i*size):
		case start < 0 || end < start:
			panic(damaged(g.batch.offset, "a list begins at %d and ends at %d", start, end).InColumn(f.column))
		case size == f.length:
			panic(unsupported(f.column, "write it as list or fixed_size_list", "the lists of a %s do not follow one another", f.Type))
		default:
			panic(fault.New(fault.Malformed, "found a list of %s, expected %d as in the first row", display.Count(size, "value"), f.length).
				InColumn(f.column).InRow(g.row(i, perRow)).WithHint("all records must have one shape, as in an IDX file: pad the lists, or write a separate file for each length"))
		}
	}
	return first
}

// Limits of values of the kind Bytes.
const (
	maxValue   = 1<<31 - 1 // bytes of one: Arrow's own limit for all but the large types
	filesExtra = 16 << 20  // bytes by which image files together may exceed their limits, for metadata
)

// A view of a value has 16 bytes: its size, and up to 12 bytes of the value; or its first 4 bytes,
// the number of a variadic buffer, and the position there.
const (
	viewSize   = 16
	viewInline = 12
)

// addEnds appends the ends of n values of f, starting with the value at index from, and returns the
// total size of the values in bytes.
func (g *gatherer) addEnds(f *field, from, n int64, a *array) (size int64) {
	var x bounds
	if f.variadic() {
		g.offsets = g.batch.append(g.offsets[:0], f, 1, from, n, viewSize)
	} else {
		x = g.bounds(f, from, n)
	}
	a.ends = slices.Grow(a.ends, int(n))
	for i := range int(n) {
		start, end := int64(0), int64(0)
		if f.variadic() {
			end = integer(g.offsets, 4, 4*i)
		} else {
			start, end = x.at(i)
		}
		if start < 0 || end < start || end-start > maxValue {
			panic(damaged(g.batch.offset, "found a value of %d bytes", end-start).InColumn(f.column).InRow(g.row(int64(i), 1)))
		}
		size += end - start
		a.ends = append(a.ends, len(a.data)+int(size))
	}
	return size
}

// addBytes adds the bytes of the last n values whose ends were added.
func (g *gatherer) addBytes(f *field, a *array, n int) {
	ends := a.ends[len(a.ends)-n:]
	if n > 0 && !f.variadic() {
		a.data = g.batch.append(a.data, f, 2, integer(g.offsets, f.offsetSize, 0), int64(ends[n-1]-len(a.data)), 1)
		return
	}
	buffers := g.batch.variadicBuffers(f)
	for i := 0; i < n; {
		start := len(a.data)
		view := g.offsets[i*viewSize : (i+1)*viewSize]
		if size := ends[i] - start; size <= viewInline {
			a.data = append(a.data, view[4:4+size]...)
			i++
			continue
		}
		buffer, position := integer(view, 4, 2), integer(view, 4, 3)
		if buffer < 0 || buffer >= int64(buffers) {
			panic(damaged(g.batch.offset, "found a value in buffer %d, expected one of %d", buffer, buffers).InColumn(f.column).InRow(g.row(int64(i), 1)))
		}
		// Values that follow one another are read at once.
		for i++; i < n && ends[i]-ends[i-1] > viewInline; i++ {
			view = g.offsets[i*viewSize:]
			if integer(view, 4, 2) != buffer || integer(view, 4, 3) != position+int64(ends[i-1]-start) {
				break
			}
		}
		a.data = g.batch.append(a.data, f, 2+int(buffer), position, int64(ends[i-1]-start), 1)
	}
}
