package arrow

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/columnar"
)

// Polars and pandas write a whole table as one record batch. If it is not compressed, and all
// columns of the file have values of a fixed size, its rows are read straight from the file, some
// megabytes at a time.

// windowSize is the number of bytes of all columns that are read at a time. Only tests change it.
var windowSize int64 = 4 << 20

// A direct is a column whose values are in one buffer of a record batch, one row after another.
type direct struct {
	buffer int   // index
	width  int64 // bytes of a row
	number source.NumberKind
}

// directs returns all columns of a schema, and the length of each array in rows; ok is false if a
// column has values of another kind.
func directs(schema *arrow.Schema) (columns []direct, perRow []int64, ok bool) {
	buffers := 0
	for _, field := range schema.Fields() {
		d, t, elements := direct{}, storage(field.Type), int64(1)
		for list, ok := t.(*arrow.FixedSizeListType); ok; list, ok = t.(*arrow.FixedSizeListType) {
			perRow, buffers = append(perRow, elements), buffers+1
			elements, t = elements*int64(list.Len()), storage(list.Elem())
		}
		d.number = numberOf(t)
		d.width = elements * int64(d.number.Size())
		if bytes, ok := t.(*arrow.FixedSizeBinaryType); ok {
			d.width = elements * int64(bytes.ByteWidth)
		}
		if d.width <= 0 || d.width > maxBody {
			return nil, nil, false
		}
		perRow, d.buffer = append(perRow, elements), buffers+1
		columns, buffers = append(columns, d), buffers+2
	}
	return columns, perRow, true
}

// windows returns the rows of a record batch in parts, or none if it must be read as a whole.
func (m *messages) windows(msg *message) (all []*batch) {
	if m.file == nil || m.columns == nil || msg.compressed || msg.summary.body <= windowSize ||
		len(msg.nodes) != len(m.perRow) {
		return nil
	}
	for i, n := range m.perRow {
		if msg.nodes[i] != (span{msg.rows * n, 0}) {
			return nil
		}
	}
	size := int64(0)
	for _, c := range m.columns {
		if size += c.width; c.buffer >= len(msg.buffers) || msg.rows > msg.buffers[c.buffer].second/c.width {
			return nil
		}
	}
	for from := int64(0); from < msg.rows; {
		n := min(max(1, windowSize/size), msg.rows-from)
		all = append(all, &batch{first: m.first, rows: n, whole: msg, from: from})
		m.first, from = m.first+n, from+n
	}
	return all
}

// window returns the entries of l in b, which is a part of a record batch, after reading them from
// the file.
func (m *messages) window(l *leaf, b *batch) (*columnar.Chunk, error) {
	c := m.columns[l.Field]
	data, size := make([]byte, b.rows*c.width), int(c.width/l.entries)
	offset := b.whole.offset + b.whole.size + b.whole.buffers[c.buffer].first + b.from*c.width
	if err := m.readFile(data, offset); err != nil {
		return nil, err
	}
	use := func(_ []byte, from, n int, f func(columnar.Values) error) error {
		return f(columnar.Values{Number: c.number, Data: data[from*size:][:n*size]})
	}
	return &columnar.Chunk{Entries: b.rows * l.entries, Use: use}, nil
}
