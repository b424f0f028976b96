package parquet

import (
	"math"

	"github.com/parquet-go/parquet-go/format"

	"github.com/idxport/idxport/schema"
)

// Limits of a row group, see groupRows.
const (
	maxGroupRows = 122_880   // rows, as DuckDB has them
	maxGroupSize = 128 << 20 // bytes before compression
	minGroupRows = 20_000    // rows under which a table is not cut for the sake of readers in parallel
	groupsWanted = 4         // row groups of a table that is large enough
	maxHeld      = 32 << 20  // bytes of pages that wait in memory
)

// groupRows is the number of rows of a row group, unless too many bytes are held before: whole batches, the last of which goes over the limits.
func groupRows(s *schema.Schema) int {
	rows := int64(maxGroupRows)
	if size := s.RowSize(); size > 0 {
		rows = min(rows, max(maxGroupSize/size, 1))
	}
	if s.Rows >= 0 {
		part := (s.Rows + groupsWanted - 1) / groupsWanted
		rows = min(rows, max(part, minGroupRows))
	}
	batch := s.BatchRows()
	return (int(rows) + batch - 1) / batch * batch
}

// append appends a batch of rows rows, a piece for each leaf, and ends the row group when it is full.
func (s *Sink) append(rows int, pieces []piece) error {
	if s.groupRows == 0 {
		s.groupOffset = s.out.offset
	}
	for i := range s.leaves {
		l, c := &s.leaves[i], &s.chunks[i]
		if l.Scalar {
			c.values = append(c.values, pieces[i].values...)
			s.held += int64(len(pieces[i].values))
			continue
		}
		if l.dictionary != nil && c.size == 0 {
			if err := s.put(i, *l.dictionary); err != nil {
				return err
			}
		}
		if err := s.put(i, pieces[i].page); err != nil {
			return err
		}
		s.press.recycle(pieces[i].page)
	}
	s.groupRows += rows
	if s.groupRows >= s.maxGroupRows || s.held >= maxHeld {
		return s.endGroup()
	}
	return nil
}

// put appends p to the chunk of leaf i. The first leaf's pages are written at once, the others are held.
func (s *Sink) put(i int, p page) error {
	s.chunks[i].add(p)
	if i == 0 {
		return s.out.write(p.parts...)
	}
	s.chunks[i].hold(p)
	s.held += p.size
	return nil
}

// endGroup writes what was held of the row group and describes it.
func (s *Sink) endGroup() error {
	group := format.RowGroup{
		NumRows:    int64(s.groupRows),
		FileOffset: s.groupOffset,
		Ordinal:    int16(min(len(s.groups), math.MaxInt16)), // of use only in encrypted files, which have no more row groups
	}
	offset := s.groupOffset
	for i := range s.leaves {
		l, c := &s.leaves[i], &s.chunks[i]
		if err := s.endChunk(l, c); err != nil {
			return err
		}
		group.Columns = append(group.Columns, format.ColumnChunk{MetaData: c.metadata(l, offset)})
		group.TotalByteSize += c.uncompressed
		group.TotalCompressedSize += c.size
		s.indexes = append(s.indexes, c.index(l, offset))
		offset += c.size
		c.reset()
	}
	s.groups = append(s.groups, group)
	s.rows += group.NumRows
	s.groupRows, s.held = 0, 0
	return nil
}

// endChunk writes what was held of the chunk c of l: everything but what the first leaf has written already.
func (s *Sink) endChunk(l *leaf, c *chunk) error {
	if !l.Scalar {
		err := s.out.write(c.held...)
		clear(c.held) // for the collector: the slice is kept
		return err
	}
	var err error
	c.bounds, err = s.scalarPages(l, c, func(p page) error {
		c.add(p)
		err := s.out.write(p.parts...)
		s.press.recycle(p)
		return err
	})
	return err
}
