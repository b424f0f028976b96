package arrow

import (
	"encoding/binary"

	"github.com/idxport/idxport/source"
)

// Limits of the current dictionaries of a file. Useful ones, of numbers or class names, are far
// smaller.
const (
	maxDictionaries = 16 << 20 // bytes of all
	maxNames        = 1 << 16  // values of a dictionary of text
)

const hintDictionary = "write its values without a dictionary: in pandas, convert the column from category with astype; in pyarrow, use dictionary_decode()"

// A dictionary has the values that the indices of a field refer to.
type dictionary struct {
	offset int64 // of its message
	err    error // why it cannot be used; reported only if a column uses it
	size   int64 // bytes of memory

	number source.NumberKind // kind of the values; NoNumber: text
	n      int64
	values []byte   // the numbers; if the values are text, the indices 0 to n−1 as int32
	names  []string // the values if they are text
}

// readDictionary reads the dictionary in m, which the record batches that follow may use.
func (d *feed) readDictionary(m message) {
	defer refuseOutside(m.offset)
	const fieldID, fieldData, fieldDelta = 0, 1, 2
	data, ok := m.header.table(fieldData)
	id, delta := m.header.long(fieldID), m.header.byte(fieldDelta) != 0
	demand(ok, m.offset, "", "found a dictionary without values")
	f := d.schema.dictionaries[id]
	if f == nil {
		return
	}
	if old := d.dictionaries[id]; old != nil {
		d.held -= old.size
	}
	x, b := &dictionary{offset: m.offset, number: f.Number}, d.parseBatch(data, m)
	x.err = caught(func() { x.decode(b, f, d.stream, maxDictionaries-d.held, delta) })
	d.held += x.size
	d.dictionaries[id] = x
}

// decode reads the values of the dictionary: field f of b, whose body is read from r. They may need
// up to left bytes of memory.
func (x *dictionary) decode(b *batch, f *field, r *stream, left int64, delta bool) {
	if delta {
		panic(unsupported(f.column, hintDictionary, "found a delta dictionary, which extends an earlier one, expected a complete one").At(b.offset))
	}
	tooLarge := unsupported(f.column, hintDictionary, "found a dictionary of %d values in %d bytes, expected at most %d bytes in all dictionaries together, and at most %d values of text",
		b.rows, b.size, maxDictionaries, maxNames).At(b.offset)
	if b.size > left || b.rows > left/8 || x.number == source.NoNumber && b.rows > maxNames {
		panic(tooLarge)
	}
	b.load(r, nil)
	if n, nulls := b.node(f); n != b.rows || nulls > 0 {
		panic(damaged(b.offset, "found a dictionary of %d values with %d nulls, expected %d and no nulls", n, nulls, b.rows).InColumn(f.column))
	}
	x.n = b.rows
	if x.number != source.NoNumber {
		x.values = b.append(nil, f, 1, 0, b.rows, int64(x.number.Size()))
		x.size = int64(len(x.values))
		return
	}
	var a array
	g := gatherer{batch: b}
	if g.addEnds(f, 0, b.rows, &a) > left {
		panic(tooLarge)
	}
	g.addBytes(f, &a, int(b.rows))
	for i := range a.ends {
		x.names = append(x.names, string(a.value(i)))
		x.values = binary.LittleEndian.AppendUint32(x.values, uint32(i))
	}
	x.size = int64(len(x.values) + 16*len(x.names) + len(a.data)) // 16 bytes besides the text of a string
}

// dictionary returns the current dictionary of f, and records that b uses it.
func (d *feed) dictionary(b *batch, f *field) *dictionary {
	x := d.dictionaries[f.dictionary]
	demand(x != nil, b.offset, f.column, "found indices into a dictionary, but no dictionary before them")
	check(x.err)
	demand(x.number == f.Number, x.offset, f.column, "found a dictionary of several columns, whose types differ")
	if b.dictionaries == nil {
		b.dictionaries = map[int64]*dictionary{}
	}
	b.dictionaries[f.dictionary] = x
	return x
}
