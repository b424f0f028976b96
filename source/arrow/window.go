package arrow

import (
	"slices"

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

// direct finds out where the values of all columns are, if they have a fixed size: the fields
// describe the schema.
func (m *messages) direct(schema *arrow.Schema, fields []columnar.Field) {
	var columns []direct
	buffers := 0
	for i, f := range fields {
		elements := int64(1)
		for _, n := range f.Lengths {
			m.perRow = append(m.perRow, elements)
			elements, buffers = elements*int64(n), buffers+1
		}
		width := elements * int64(f.Number.Size()+f.Size)                                                  // one of them is 0
		encoded := storage(schema.Field(i).Type).ID() == arrow.DICTIONARY || f.Number == source.NumberBool // of bits
		if encoded || slices.Contains(f.Lengths, -1) || width <= 0 || width > maxBody {
			return
		}
		m.perRow = append(m.perRow, elements)
		columns, buffers = append(columns, direct{buffers + 1, width, f.Number}), buffers+2
	}
	m.columns = columns
}

// window returns the number of rows of a record batch that are read at a time, or 0 if it must be
// read as a whole.
func (m *messages) window(msg *message) int64 {
	if m.file == nil || m.columns == nil || msg.compressed || msg.summary.body <= windowSize ||
		len(msg.nodes) != len(m.perRow) {
		return 0
	}
	for i, n := range m.perRow {
		if msg.nodes[i] != (span{msg.rows * n, 0}) {
			return 0
		}
	}
	size := int64(0)
	for _, c := range m.columns {
		if size += c.width; c.buffer >= len(msg.buffers) || msg.rows > msg.buffers[c.buffer].second/c.width {
			return 0
		}
	}
	return max(1, windowSize/size)
}

// chunk returns the entries of l in some rows of b, after reading them from the file.
func (m *messages) chunk(l *leaf, b *batch, from, rows int64) (*columnar.Chunk, error) {
	c := m.columns[l.Field]
	data, size := make([]byte, rows*c.width), int(c.width/l.entries)
	msg := &b.message
	if err := m.readFile(data, msg.offset+msg.size+msg.buffers[c.buffer].first+from*c.width); err != nil {
		return nil, err
	}
	use := func(_ []byte, from, n int, f func(columnar.Values) error) error {
		return f(columnar.Values{Number: c.number, Data: data[from*size:][:n*size]})
	}
	return &columnar.Chunk{Entries: rows * l.entries, Use: use}, nil
}
