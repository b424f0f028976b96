package parquet

import (
	"github.com/parquet-go/parquet-go/format"
)

// A chunk is what the steps gather of one leaf in the row group that is being written. Offsets count from the chunk's first byte, which has
// its place in the file only when the row group ends, except for the first leaf's.
type chunk struct {
	size         int64 // bytes of the pages so far, with their headers
	uncompressed int64 // the same without compression
	entries      int64
	nulls        int64
	rows         int64
	dictionary   int64 // bytes of the dictionary page, 0 if there is none
	encoding     format.Encoding
	pages        []format.PageLocation // the data pages
	bounds       []bounds              // of each data page, for scalars

	held [][]byte // pages that wait for the row group's end

	values []byte // a scalar's elements, which become pages at the row group's end
}

// reset makes c ready for the next row group. Its memory is kept where what was made of it is not.
func (c *chunk) reset() {
	*c = chunk{held: c.held[:0], values: c.values[:0]}
}

// add counts p as the next page.
func (c *chunk) add(p page) {
	if p.kind == format.DictionaryPage {
		c.dictionary = p.size
	} else {
		c.pages = append(c.pages, format.PageLocation{
			Offset:             c.size,
			CompressedPageSize: int32(p.size),
			FirstRowIndex:      c.rows,
		})
		c.encoding = p.encoding
		c.entries += int64(p.entries)
		c.nulls += int64(p.nulls)
		c.rows += int64(p.rows)
	}
	c.size += p.size
	c.uncompressed += p.uncompressed
}

// hold keeps a copy of p's bytes, which are the batch's or will be recycled.
func (c *chunk) hold(p page) {
	kept := make([]byte, 0, p.size)
	for _, part := range p.parts {
		kept = append(kept, part...)
	}
	c.held = append(c.held, kept)
}

// metadata describes c as the chunk of l that starts at offset.
func (c *chunk) metadata(l *leaf, offset int64) format.ColumnMetaData {
	m := format.ColumnMetaData{
		Type:                  l.Type,
		PathInSchema:          l.Path,
		Codec:                 l.press.codec.id,
		NumValues:             c.entries,
		TotalUncompressedSize: c.uncompressed,
		TotalCompressedSize:   c.size,
		DataPageOffset:        offset + c.dictionary,
		Statistics:            statistics(c.bounds, l.encodeBounds, c.nulls),
	}
	data := format.PageEncodingStats{PageType: format.DataPage, Encoding: c.encoding, Count: int32(len(c.pages))}
	if c.dictionary > 0 {
		m.DictionaryPageOffset = offset
		m.Encoding = append(m.Encoding, format.Plain)
		m.EncodingStats = append(m.EncodingStats,
			format.PageEncodingStats{PageType: format.DictionaryPage, Encoding: format.Plain, Count: 1})
	}
	m.Encoding = append(m.Encoding, c.encoding)
	if l.MaxDefinition > 0 {
		m.Encoding = append(m.Encoding, format.RLE) // of the levels; what is repeated has both
	}
	m.EncodingStats = append(m.EncodingStats, data)
	return m
}

// index is the chunk's indexes if it starts at offset.
func (c *chunk) index(l *leaf, offset int64) chunkIndex {
	for i := range c.pages {
		c.pages[i].Offset += offset
	}
	return chunkIndex{columnIndex(c.bounds, l.encodeBounds), &format.OffsetIndex{PageLocations: c.pages}}
}

// A chunkIndex is what the file's end tells of a chunk's pages.
type chunkIndex struct {
	column *format.ColumnIndex // nil if there is none
	offset *format.OffsetIndex
}
