package parquet

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/layout"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source/idx"
)

// A leaf is a leaf of the layout, with the decisions on how its chunks are written.
type leaf struct {
	layout.Leaf
	source    int // index of the schema's column that it represents
	pages     *pageCompressor
	valueSize int // bytes of one value in PLAIN pages, or of one index into the identity dictionary
	// dictionary is the page that each chunk starts with: the identity dictionary of a tensor, nil
	// if its pages are PLAIN, or the names of a leaf with names.
	dictionary *page
	sorted     []string // Names in byte order; nil if there are none or if they are too long for bounds
	ranks      []uint16 // for each of Names, its index in sorted
}

// newLeaves decides how the leaves of the columns of table are written. It returns an error if
// records are too large for a page: sizes in page headers are 32-bit integers.
func newLeaves(columns []layout.Column, table *schema.Schema, c codec) (leaves []*leaf, err error) {
	const room = 1 << 24 // for the lengths of levels, and for data that compression enlarges
	rows := groupRows(table)
	if table.Rows >= 0 {
		rows = int(min(int64(rows), table.Rows))
	}
	encoded, asIs := &pageCompressor{codec: c}, new(pageCompressor) // asIs has no codec
	for _, column := range columns {
		for _, l := range column.Leaves {
			pages := encoded
			if l.Compressed {
				pages = asIs
			}
			made, err := newLeaf(l, column.Source, rows, pages)
			if err != nil {
				return nil, err
			}
			if size := made.bodySize(table.BatchRows()); size > math.MaxInt32-room {
				return nil, fault.New(fault.Usage,
					"parquet: a page of column %s would have %d bytes, expected less than 2 GiB",
					table.Columns[column.Source].Name, size)
			}
			leaves = append(leaves, made)
		}
	}
	return leaves, nil
}

// newLeaf decides how chunks of up to groupRows rows are encoded.
func newLeaf(l layout.Leaf, source, groupRows int, pages *pageCompressor) (*leaf, error) {
	made := &leaf{Leaf: l, source: source, pages: pages, valueSize: plainSize(l)}
	if l.Names != nil {
		return made, made.setNames()
	}
	if l.Scalar || !identityPays(l, groupRows) {
		return made, nil
	}
	made.valueSize = l.Size
	return made, made.setDictionary(identityDictionary(l.Element), identityEntries(l.Element))
}

// setDictionary sets the page that each chunk starts with, from PLAIN values.
func (l *leaf) setDictionary(values []byte, entries int) error {
	p, err := l.pages.page(page{kind: format.DictionaryPage, entries: entries}, values)
	p.memory = nil // never recycled, as all chunks use it
	l.dictionary = &p
	return err
}

// plainSize returns the maximum number of bytes of a value in PLAIN pages.
func plainSize(l layout.Leaf) int {
	switch l.Type {
	case format.Int32, format.Float:
		return 4
	case format.Int64, format.Double:
		return 8
	default:
		return l.Size
	}
}

// bodySize returns about how many bytes a page of so many rows has before compression.
func (l *leaf) bodySize(rows int) int64 {
	return int64(rows) * (int64(len(l.Repetition)) + int64(l.Count)*int64(l.valueSize))
}

// page returns a page with the given number of rows of a tensor; data is the source column's bytes.
// They are copied only if they are compressed or must be widened.
func (l *leaf) page(data []byte, rows int) (page, error) {
	p := page{entries: rows * l.Entries, nulls: rows * (l.Entries - l.Count)}
	levels, values := l.levels(rows), l.Values(data, rows)
	if l.dictionary == nil {
		return l.pages.page(p, levels, widen(values, l.Element, l.Type))
	}
	p.encoding = format.RLEDictionary
	width := 8 * l.Size // bits of an index
	groups := (rows*l.Count + 7) / 8
	fill := make([]byte, groups*width-len(values)) // a group of 8 indices has width bytes
	return l.pages.page(p, appendPackedHeader(levels, width, groups), values, fill)
}

// levels returns the levels of a page with the given number of rows: the repetition levels of every
// row, and one run of definition levels, each kind after its length.
func (l *leaf) levels(rows int) (levels []byte) {
	if l.MaxRepetition > 0 {
		levels = binary.LittleEndian.AppendUint32(levels, uint32(rows*len(l.Repetition)))
		levels = append(levels, bytes.Repeat(l.Repetition, rows)...)
	}
	if l.MaxDefinition > 0 {
		run := append(binary.AppendUvarint(nil, uint64(rows*l.Entries)<<1), l.Definition)
		levels = binary.LittleEndian.AppendUint32(levels, uint32(len(run)))
		levels = append(levels, run...)
	}
	return levels
}

// identityPays reports whether a chunk of rows rows is smaller with the identity dictionary than in
// PLAIN pages. It can be smaller only for elements that PLAIN pages widen: to 4 bytes from 1, if
// there are at least 342 elements, or from 2, if there are at least 131,073.
func identityPays(l layout.Leaf, rows int) bool {
	size := l.Element.Size()
	if size != 1 && size != 2 {
		return false
	}
	n := rows * l.Count
	return n*size+4*identityEntries(l.Element) < 4*n
}

// identityEntries returns the number of values of d, which has 8 or 16 bits.
func identityEntries(d idx.DType) int { return 1 << (8 * d.Size()) }

// identityDictionary returns the PLAIN values of all elements of d, in the order of their bits.
func identityDictionary(d idx.DType) []byte {
	size := d.Size()
	elements := make([]byte, 0, size*identityEntries(d)+8)
	for i := range identityEntries(d) {
		elements = appendBits(elements, uint64(i), size)
	}
	return widen(elements, d, format.Int32)
}
