package parquet

import (
	"bytes"
	"encoding/base64"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/internal/layout"
	"github.com/idxport/idxport/schema"
	"github.com/idxport/idxport/source"
)

// Limits of a row group, see groupRows.
const (
	maxGroupRows = 122_880   // rows, as in DuckDB's files
	maxGroupSize = 128 << 20 // bytes before compression
	minGroupRows = 20_000    // rows; smaller groups would not help parallel readers
	groupsWanted = 4         // row groups of a table that is large enough, for parallel readers
	maxBuffered  = 32 << 20  // bytes that wait in memory
)

// groupRows returns the number of rows in a row group, unless it ends earlier because maxBuffered
// bytes are waiting. They are whole batches, the last of which reaches a limit.
func groupRows(s *schema.Schema) int {
	rows := min(maxGroupRows, max(maxGroupSize/max(s.RowSize(), 1), 1))
	if s.Rows >= 0 {
		part := (s.Rows + groupsWanted - 1) / groupsWanted
		rows = min(rows, max(part, minGroupRows))
	}
	batch := s.BatchRows()
	return (int(rows) + batch - 1) / batch * batch
}

// append appends a batch of rows, with a piece for each leaf, and ends the row group if it is full.
func (s *Sink) append(rows int, pieces []piece) error {
	if s.rowsInGroup == 0 {
		s.groupOffset = s.out.Offset
	}
	for i, l := range s.leaves {
		c := &s.chunks[i]
		if l.Scalar {
			c.values = append(c.values, pieces[i].values...)
			s.buffered += int64(len(pieces[i].values))
			continue
		}
		if l.dictionary != nil && c.TotalCompressedSize == 0 {
			if err := s.put(i, *l.dictionary); err != nil {
				return err
			}
		}
		if err := s.put(i, pieces[i].page); err != nil {
			return err
		}
	}
	s.rowsInGroup += rows
	if s.rowsInGroup >= s.rowsPerGroup || s.buffered >= maxBuffered {
		return s.endGroup()
	}
	return nil
}

// put appends p, which must not be used afterwards, to the chunk of leaf i. The pages of the first
// leaf are written at once, as are those of scalars, made at the end of the row group; others wait.
func (s *Sink) put(i int, p page) error {
	if p.memory != nil {
		defer s.leaves[i].pages.compressed.Put(p.memory)
	}
	s.chunks[i].add(p, s.leaves[i].Entries)
	if i == 0 || s.leaves[i].Scalar {
		return s.out.Append(p.parts...)
	}
	// A copy: the parts belong to the batch, or will be recycled.
	s.chunks[i].waiting = append(s.chunks[i].waiting, bytes.Join(p.parts, nil))
	s.buffered += p.size
	return nil
}

// endGroup writes the waiting pages of the row group and adds it to the footer.
func (s *Sink) endGroup() error {
	group := format.RowGroup{
		Columns:    make([]format.ColumnChunk, len(s.leaves)),
		NumRows:    int64(s.rowsInGroup),
		FileOffset: s.groupOffset,
		// Only for encrypted files, which cannot have more groups.
		Ordinal: int16(min(len(s.footer.RowGroups), math.MaxInt16)),
	}
	offset := s.groupOffset
	for i, l := range s.leaves {
		c := &s.chunks[i]
		if l.Scalar {
			if err := s.putScalars(i); err != nil {
				return err
			}
		}
		if err := s.out.Append(c.waiting...); err != nil {
			return err
		}
		clear(c.waiting) // frees the pages; the slice itself is kept
		s.indexes = append(s.indexes, c.describe(l, offset, &group.Columns[i]))
		group.TotalByteSize += c.TotalUncompressedSize
		group.TotalCompressedSize += c.TotalCompressedSize
		offset += c.TotalCompressedSize
		*c = chunk{waiting: c.waiting[:0], values: c.values[:0]} // keeps the memory that nothing else uses
	}
	s.footer.RowGroups = append(s.footer.RowGroups, group)
	s.footer.NumRows += group.NumRows
	s.rowsInGroup, s.buffered = 0, 0
	return nil
}

// A chunk collects one leaf of the row group that is being written. Its offsets count from its
// first byte, because its position in the file is known only when the row group ends.
type chunk struct {
	format.ColumnMetaData // of the pages so far

	pages   []format.PageLocation // the data pages
	bounds  []bounds              // of each data page, for scalars; nil if one has none
	waiting [][]byte              // pages that wait for the end of the row group
	values  []byte                // a scalar's elements, which become pages at the end of the row group
}

// add counts p as the next page of c, of a leaf with the given number of level entries per row.
func (c *chunk) add(p page, entries int) {
	if len(c.pages) == 0 { // the dictionary, or the first data page
		c.Encoding = append(c.Encoding, p.encoding)
		c.EncodingStats = append(c.EncodingStats, format.PageEncodingStats{PageType: p.kind, Encoding: p.encoding})
	}
	c.EncodingStats[len(c.EncodingStats)-1].Count++
	if p.kind == format.DictionaryPage {
		c.DataPageOffset = p.size
	} else {
		c.pages = append(c.pages, format.PageLocation{
			Offset:             c.TotalCompressedSize,
			CompressedPageSize: int32(p.size),
			FirstRowIndex:      c.NumValues / int64(entries),
		})
		c.NumValues += int64(p.entries)
		c.Statistics.NullCount += int64(p.nulls)
	}
	c.TotalCompressedSize += p.size
	c.TotalUncompressedSize += p.uncompressed
}

// describe describes c in the footer, at place, as the chunk of l that starts at offset, and
// returns the indexes of its pages.
func (c *chunk) describe(l *leaf, offset int64, place *format.ColumnChunk) chunkIndex {
	place.MetaData = c.ColumnMetaData
	m, index := &place.MetaData, chunkIndex{place: place, offset: &format.OffsetIndex{PageLocations: c.pages}}
	m.Type, m.PathInSchema, m.Codec = l.Type, l.Path, l.pages.codec.id
	if c.bounds != nil {
		all := c.bounds[0]
		for _, b := range c.bounds {
			all.min, all.max = min(all.min, b.min), max(all.max, b.max)
		}
		m.Statistics.MinValue, m.Statistics.MaxValue = l.encodeBounds(all)
		index.column = l.columnIndex(c.bounds)
	}
	if m.DataPageOffset > 0 { // there is a dictionary before it
		m.DictionaryPageOffset = offset
	}
	m.DataPageOffset += offset
	if l.MaxDefinition > 0 {
		m.Encoding = append(m.Encoding, format.RLE) // of the levels; repeated leaves have both kinds
	}
	for i := range c.pages {
		c.pages[i].Offset += offset
	}
	return index
}

// A chunkIndex contains the indexes of a chunk's pages.
type chunkIndex struct {
	place  *format.ColumnChunk // in the footer: where the positions of the indexes belong
	column *format.ColumnIndex // nil if there is none
	offset *format.OffsetIndex
}

// newFooter returns a footer without rows. The Arrow schema repeats the metadata of s, because
// pyarrow's data sets read it there. All other readers read the key-value metadata of the file.
func newFooter(s *schema.Schema, columns []layout.Column, leaves int, version string) format.FileMetaData {
	arrowSchema := schema.Pair{Key: source.KeyArrowSchema,
		Value: base64.StdEncoding.EncodeToString(layout.SchemaMessage(s, columns))}
	footer := format.FileMetaData{
		Version:   2,
		CreatedBy: "idxport version " + version,
		Schema:    []format.SchemaElement{{Name: "schema", NumChildren: thrift.New(int32(len(columns)))}},
	}
	for _, c := range columns {
		footer.Schema = append(footer.Schema, c.Elements...)
	}
	for _, p := range append(slices.Clone(s.Meta), arrowSchema) {
		footer.KeyValueMetadata = append(footer.KeyValueMetadata, format.KeyValue{Key: p.Key, Value: p.Value})
	}
	for range leaves { // without an order, readers must ignore the bounds of unsigned columns
		footer.ColumnOrders = append(footer.ColumnOrders, format.ColumnOrder{Value: new(format.TypeDefinedOrder)})
	}
	return footer
}

// writeIndexes writes the column indexes of all chunks, then their offset indexes, so that readers
// can read each kind in one piece.
func (s *Sink) writeIndexes() error {
	for _, x := range s.indexes {
		if x.column == nil {
			continue
		}
		if err := s.writeIndex(x.column, &x.place.ColumnIndexOffset, &x.place.ColumnIndexLength); err != nil {
			return err
		}
	}
	for _, x := range s.indexes {
		if err := s.writeIndex(x.offset, &x.place.OffsetIndexOffset, &x.place.OffsetIndexLength); err != nil {
			return err
		}
	}
	return nil
}

// writeIndex writes index and sets its offset and size.
func (s *Sink) writeIndex(index any, offset *int64, size *int32) error {
	encoded, err := marshal(index)
	if err != nil {
		return err
	}
	*offset, *size = s.out.Offset, int32(len(encoded))
	return s.out.Append(encoded)
}
