package arrow

import (
	"encoding/binary"
	"slices"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/columnar"
)

// Limits of the dictionaries that a file has at a time. Those of numbers or of classes are far smaller.
const (
	maxDictionaries = 16 << 20 // bytes, before compression and after
	maxNames        = 1 << 16  // of a dictionary of text
)

const hintDictionary = "write its values without a dictionary: in pandas no category, in pyarrow with dictionary_decode()"

// A dictionary is what the indices of an encoded field stand for. It is decoded when a table first
// uses it, before the record batch is passed on to other goroutines.
type dictionary struct {
	batch   *batch // of one array, the values
	delta   bool   // the values come behind those of the dictionary before it
	held    *int64 // bytes of all dictionaries of the feed
	decoded bool
	n       int64    // values
	values  []byte   // numbers; the n indices themselves, of 4 bytes, for text
	names   []string // text
}

// addDictionary notes that a dictionary is at p of a plain file, if columns have any.
func (d *feed) addDictionary(p place) {
	if len(d.schema.dictionaries) > 0 {
		p.dictionary = true
		d.blocks = append(d.blocks, p)
	}
}

// takeDictionary takes the dictionary of the message m at p, and reads it if it comes from a stream.
// It is for the record batches that come after it.
func (d *feed) takeDictionary(m message, p place) error {
	const (
		fieldID    = 0
		fieldData  = 1
		fieldDelta = 2
	)
	data, ok := m.data.table(fieldData)
	id := m.data.long(fieldID)
	if m.data.bad || !ok {
		return damaged(p.offset, "found a dictionary without values")
	}
	if !d.schema.dictionaries[id] {
		return nil
	}
	values, err := parseBatch(data, p.offset, m.body)
	if err != nil {
		return err
	}
	values.path, values.codecs, values.once, values.start = d.path, d.codecs, true, p.offset+int64(p.metadata)
	if old := d.dictionaries[id]; old != nil {
		d.held -= old.size()
	}
	made := &dictionary{batch: values, delta: m.data.byte(fieldDelta) != 0, held: &d.held}
	if d.r == nil {
		values.at = d.file
	} else if m.body <= maxDictionaries-d.held { // else decode refuses it, if the column is used
		if err := d.load(values, nil); err != nil {
			return err
		}
		d.held += made.size()
	}
	d.dictionaries[id] = made
	return nil
}

// size is how many bytes of memory are counted for d.
func (d *dictionary) size() int64 {
	n := int64(len(d.values)) + 16*int64(len(d.names)) // with what strings have beside their text
	if !d.decoded {
		n += int64(len(d.batch.body))
	}
	for _, name := range d.names {
		n += int64(len(name))
	}
	return n
}

// dictionary is that of f in b, decoded. It is called before b is passed on to other goroutines, and
// before the next batch is found.
func (b *batch) dictionary(f *field) (*dictionary, error) {
	d := b.dictionaries[f.dictionary]
	if d == nil {
		return nil, damaged(b.offset, "found indices into a dictionary, and no dictionary before them").InColumn(f.name)
	}
	if d.decoded {
		return d, nil
	}
	before := d.size()
	if err := d.decode(f.values()); err != nil {
		return nil, err
	}
	d.decoded, d.batch.body = true, nil
	*d.held += d.size() - before
	return d, nil
}

// decode makes the values of d, whose array is f's.
func (d *dictionary) decode(f *field) error {
	b, number := d.batch, storeOf(f)
	left := maxDictionaries - *d.held
	tooLarge := unsupported(f.name, hintDictionary, "found a dictionary of %d values in %d bytes, expected all together to have at most %d bytes, and text %d values",
		b.rows, b.size, maxDictionaries, maxNames).At(b.offset)
	switch {
	case d.delta:
		return unsupported(f.name, hintDictionary, "found a dictionary that goes on, expected a whole one").At(b.offset)
	case b.body == nil && (b.at == nil || b.size > left), b.rows > left/8, number == source.NoNumber && b.rows > maxNames:
		return tooLarge
	}
	if b.body == nil {
		if err := b.load(nil, nil); err != nil {
			return err
		}
	}
	s, err := b.node(f)
	if err != nil {
		return err
	}
	if s.first != b.rows || s.second > 0 {
		return damaged(b.offset, "found a dictionary of %d values, %d of which are nulls, expected %d and no nulls", s.first, s.second, b.rows).InColumn(f.name)
	}
	d.n = b.rows
	if number != source.NoNumber {
		d.values, err = b.bytes(nil, f, 1, 0, d.n*int64(number.Size()))
		return err
	}
	c, w := &column{}, new(work)
	c.Name = f.name
	if err := c.ends(b, f, 0, d.n, w); err != nil || d.n == 0 {
		return err
	}
	if w.ends[d.n-1] > left {
		return tooLarge
	}
	text := make([]byte, w.ends[d.n-1])
	if err := c.contents(b, f, 0, w, text); err != nil {
		return err
	}
	for i, end := range w.ends {
		d.names = append(d.names, string(text[end-valueSize(w.ends, i):end]))
		d.values = binary.LittleEndian.AppendUint32(d.values, uint32(i))
	}
	return nil
}

// values is what a dictionary of f holds: its only array. Text is read as bytes are.
func (f *field) values() *field {
	v := &field{name: f.name, kind: f.kind, width: f.width, signed: f.signed}
	if i := slices.Index([]byte{typeText, typeLargeText, typeTextView}, f.kind); i >= 0 {
		v.kind = [...]byte{typeBinary, typeLargeBinary, typeBinaryView}[i]
	}
	return v
}

// An encoded reader reads numbers or labels that stand in a dictionary.
type encoded struct {
	column *column
	field  *field
}

// check finds the dictionary for b, and demands that text is that of the column's classes.
func (r *encoded) check(b *batch) error {
	d, err := b.dictionary(r.field)
	if err != nil {
		return err
	}
	if r.field.text() && !slices.Equal(d.names, r.column.Classes) {
		return columnar.OtherClasses(r.column.Name, d.names, r.column.Classes).At(d.batch.offset)
	}
	if b.found == nil {
		b.found = map[*field]*dictionary{}
	}
	b.found[r.field] = d
	return nil
}

func (r *encoded) fetch(b *batch, from, n int64, w *work, _ []byte) (err error) {
	size := int64(r.field.indices.Size())
	w.raw, err = b.bytes(w.raw, r.field, 1, from*size, n*size)
	return err
}

func (r *encoded) finish(b *batch, from, n int64, w *work, dst []byte) error {
	d, number := b.found[r.field], source.NumberInt32
	if !r.field.text() {
		number = storeOf(r.field.values())
	}
	width, size := r.field.indices.Size(), number.Size()
	w.extra = grow(w.extra, int(n)*size)
	for i := range int(n) {
		k := r.field.indices.Int(w.raw[i*width:])
		if k < 0 || k >= d.n {
			return wrong(b, r.column.Name, from+int64(i), "found index %d, expected one of the dictionary's %d values", k, d.n)
		}
		copy(w.extra[i*size:(i+1)*size], d.values[int(k)*size:])
	}
	if number.Is(r.column.DType) {
		copy(dst, w.extra)
		return nil
	}
	if bad, value := number.Convert(dst, r.column.DType, w.extra, 0, int(n)); bad >= 0 {
		return r.column.outside(b, from+int64(bad), value)
	}
	return nil
}
